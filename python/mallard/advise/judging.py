"""What replays and the journal say about a part's candidates, and which of them is worth doing.

    Replay, by route --measured--> Candidate --judged--> is it clear?  --pick--> SubsystemAdvice
    growths ---------estimated------^

A candidate is picked if it is faster than both rows of glibc in so many rounds that chance is ruled out, by
LEAST of the CPU time, and holds what --max-rss allows. Otherwise the part is best left alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from mallard import MallardError
from mallard.advise import source_change
from mallard.advise.advice_model import (
    LEAST,
    LEAVE,
    PLAN,
    SOURCE,
    Candidate,
    Options,
    SourceChange,
    SubsystemAdvice,
    WholeMalloc,
)
from mallard.advise.candidates import Estimate, Proposal, by_worth, does, estimates
from mallard.advise.measure import Measured, Replay, added, scaled
from mallard.advise.parts import Part, Program
from mallard.analysis.strategies import one_size
from mallard.compare.intervals import Interval
from mallard.figures import share
from mallard.plan.planner import Options as PlanOptions
from mallard.plan.planner import Wanted

ESTIMATED = (1.25, 0.5)  # of an estimate's median, its bounds: half of it should show
NEARLY = 0.95  # of the best gain: what runs as a plan is as good
ALIKE = 0.9  # of the best gain: it is as good where the intervals of both overlap
DOUBT = 0.001  # at most, that a candidate looks faster by chance: a program has dozens of them
KEPT = 0.5  # of the best gain that is measured: what keeps blocks together is as good
LEAST_OF_COST = 0.05  # of what a block costs, where the program's CPU time is not known
POOLS = ("pool", "instances")  # which a plan serves from segments that it shares
COPY_NS = 0.03  # of a byte that is copied from one block to the next, at least
NO_CHANGE = Interval(0.0, 0.0, 0.0)


class Judge:
    """One program, and how far its memory may grow."""

    def __init__(self, program: Program, options: Options) -> None:
        """Take a program that has been read."""
        self.program, self.options = program, options
        self.recorded = program.memory.peak
        self.spare = (options.max_rss - 1) * self.recorded
        self.plans: dict[tuple[int, str], tuple[int | None, str]] = {}  # peaks, by part and strategy
        self.has_time: Callable[[], bool] = lambda: True  # to read the journal again
        self.starts: Mapping[str, Interval] = {}  # ns that other mallocs take to start, beyond glibc

    def of_cpu(self, change: Interval, blocks: float) -> Interval | None:
        """Return a change per block as a share of the CPU time."""
        busy = self.program.busy_ns
        return scaled(change, blocks / busy) if busy else None

    def mallocs(self, asked: Sequence[Proposal], measured: Replay | None) -> list[WholeMalloc]:
        """Return what other mallocs change, the best first."""
        if measured is None:
            return []
        found = []
        for name in (one.row for one in asked if one.row in measured.rows):
            row, start = measured.rows[name], self.starts.get(name)
            with_start = added([scaled(row.ns_per_block, measured.blocks), start or NO_CHANGE])
            found.append(
                WholeMalloc(name, self.of_cpu(with_start, 1), row.ns_per_block, row.peak_bytes, start)
            )
        return sorted(found, key=lambda one: (one.cpu or one.ns_per_block).median)

    def subsystem(
        self, part: Part, asked: Sequence[Proposal], replays: Mapping[str, Replay]
    ) -> SubsystemAdvice:
        """Judge a part's candidates by the replays of its routes, and pick one or none."""
        found: list[Candidate] = []
        cost, whole = 0.0, part.subsystem.behaviour.allocations
        for route in by_worth(asked):
            rows = [one for one in asked if one.route == route]
            replay = replays.get(route)
            if replay is None:
                found += [self.candidate(part, one, None) for one in rows if one.apart]
                continue
            cost = cost or replay.cost_ns
            for one in rows:
                if (row := replay.rows.get(one.row)) is not None:
                    found.append(self.measured(part, self.candidate(part, one, row), row, replay, whole))
        found += [self.estimated(part, one, cost) for one in estimates(part)]
        busy = self.program.busy_ns
        least = LEAST * busy / whole if busy else LEAST_OF_COST * cost
        found = [replace(one, is_clear=is_clear(one, least)) for one in found]
        best = self.feasible(part, found)
        found.sort(key=lambda one: (bool(one.refused), one.ns_per_block.median if one.ns_per_block else 0.0))
        if best:
            found.remove(best)
            found.insert(0, best)
        stays = Candidate(LEAVE, PLAN, True, "as it is", "", NO_CHANGE, NO_CHANGE, peak_bytes=0, held_bytes=0)
        behaviour, totals = part.subsystem.behaviour, self.program.profile.totals
        return SubsystemAdvice(
            name=part.name,
            blocks=whole,
            bytes=behaviour.bytes,
            share_of_blocks=whole / totals.allocations,
            dvluc=part.subsystem.dvluc,
            threads=part.threads,
            owners=part.owner[0] if part.owner else None,
            site=part.site,
            pick=best.strategy if best else LEAVE,
            candidates=(*found, stays),
            sentence=does(part),
        )

    def wanted(self, part: Part, candidate: Candidate) -> Iterator[Wanted]:
        """Yield what a plan is to do for a part."""
        name, reason = part.name, candidate.reason
        if candidate.strategy == "instances":
            for witness, contexts in part.witnesses:
                yield Wanted(name, contexts, "pool", reason, witness)
        elif candidate.strategy == "pool":
            for site, contexts in self.program.candidates_of(part.contexts):
                yield Wanted(site, contexts, "pool", reason)
        else:
            yield Wanted(name, part.contexts, candidate.strategy, reason, None, candidate.until)

    def feasible(self, part: Part, found: list[Candidate]) -> Candidate | None:
        """Return the candidate to recommend; one that runs as a plan needs a plan within the limit.

        Only such a candidate is asked for its plan: each takes a few passes over the journal. What has none
        may still be a change of the source, if its memory is known. Pools may not: they were replayed with
        the segments of a plan, and those of the source are candidates of their own.
        """
        while best := pick(found):
            peak, refused = self.plan_of(part, best) if best.runs_as == PLAN else (None, "")
            at = found.index(best)
            if refused and best.strategy not in POOLS and best.peak_bytes is not None:
                reason = f"{best.reason}; in the source, as there is no plan ({refused})"
                found[at] = replace(best, runs_as=SOURCE, reason=reason)
                continue
            known = peak if best.peak_bytes is None else best.peak_bytes
            found[at] = replace(best, peak_bytes=known, refused=refused)
            if not refused:
                return found[at]
        return None

    def plan_of(self, part: Part, candidate: Candidate) -> tuple[int | None, str]:
        """Return what a plan for a part changes of the peak, or why there is none; neither without time.

        Its pools share what is empty, among themselves and with the default heap; those of a replay do not.
        """
        key = (part.number, candidate.strategy)
        if key not in self.plans:
            if self.program.planner is None or not self.has_time():
                return None, ""
            # Whether there are huge pages is decided for the whole program, not for a part.
            options = PlanOptions(max_rss=self.options.max_rss, huge_pages=False)
            try:
                plan = self.program.planner.of(list(self.wanted(part, candidate)), options).plan
                self.plans[key] = plan.predicted_peak - plan.recorded_peak, ""
            except MallardError as reason:
                self.plans[key] = None, str(reason)
        return self.plans[key]

    def candidate(self, part: Part, asked: Proposal, row: Measured | None) -> Candidate:
        """Put a candidate together that is measured, or could not be."""
        return Candidate(
            strategy=asked.strategy,
            runs_as=asked.runs_as,
            measured=row is not None,
            reason=asked.reason,
            wrong_if=asked.wrong_if,
            until=asked.until,
            change=self.change(part, asked.strategy, asked.until),
            row=asked.row,
            route=asked.route,
            apart=asked.apart,
        )

    def measured(self, part: Part, one: Candidate, row: Measured, replay: Replay, blocks: int) -> Candidate:
        """Return a candidate with its figures."""
        refused, peak, spared = "", row.peak_bytes, 0.0
        is_in_question = peak is not None and (bool(one.apart) or peak > self.spare)
        if is_in_question and one.runs_as == PLAN and one.strategy in POOLS:
            peak, spared = self.as_planned(part, one, row)
        if peak is not None and peak > self.spare:
            more = share(peak / self.recorded)
            refused = f"the peak grows by {more}, more than --max-rss {self.options.max_rss:g} allows"
        change = added([row.ns_per_block, Interval(-spared, -spared, -spared)])
        each, lead = replay.blocks / blocks, row.lead(spared)
        return replace(
            one,
            cpu=self.of_cpu(change, replay.blocks),
            ns_per_block=scaled(change, each),
            noise=scaled(row.noise, each),
            lead=replace(lead, median=each * lead.median),
            peak_bytes=peak,
            held_bytes=row.held_bytes,
            refused=refused,
        )

    def as_planned(self, part: Part, one: Candidate, row: Measured) -> tuple[int | None, float]:
        """Return a plan's peak, and the ns a block of the first touch of what a plan does not need."""
        planned, _ = self.plan_of(part, one)
        if planned is None or row.peak_bytes is None or row.peak_bytes <= max(planned, 0):
            return row.peak_bytes if planned is None else planned, 0.0
        handed_on = 1 - max(planned, 0) / row.peak_bytes
        return planned, max(row.first_ns, 0.0) * handed_on

    def change(self, part: Part, strategy: str, until: str | None) -> SourceChange | None:
        """Return what a strategy is in the source."""
        is_one_size = one_size(part.subsystem) is not None
        return source_change.of_strategy(strategy, part.sites, part.threads, is_one_size, until)

    def estimated(self, part: Part, one: Estimate, cost: float) -> Candidate:
        """Put an estimated candidate together: what is saved costs what it costs under glibc."""
        density = part.subsystem.dvluc.density
        each = cost or (density.cost_ns or 0.0) / part.subsystem.behaviour.allocations
        saved = (
            -(one.saving.blocks * each + one.saving.copied * COPY_NS) / part.subsystem.behaviour.allocations
        )
        change = Interval(saved, *(saved * factor for factor in ESTIMATED))
        return Candidate(
            strategy=one.strategy,
            runs_as="source",
            measured=False,
            reason=one.reason,
            wrong_if=one.wrong_if,
            cpu=self.of_cpu(change, part.subsystem.behaviour.allocations),
            ns_per_block=change,
            change=source_change.of_estimate(one.strategy, one.site, one.saving),
        )

    def is_good(self, one: WholeMalloc, measured: Replay) -> bool:
        """Return whether a malloc is faster by LEAST, not by chance, and not known to take too much."""
        lead = measured.rows[one.name].lead()
        start = one.start_ns.median if one.start_ns else 0.0
        whole = lead.median * measured.blocks + start
        busy = self.program.busy_ns
        is_faster = busy is not None and lead.doubt <= DOUBT and whole <= -LEAST * busy
        return is_faster and (one.peak_bytes is None or one.peak_bytes <= self.spare)


def is_clear(one: Candidate, least: float) -> bool:
    """Return whether a candidate is faster by at least `least` ns a block, and not by chance."""
    if one.lead is None:
        return one.ns_per_block is not None and one.ns_per_block.median <= -least
    return one.lead.doubt <= DOUBT and one.lead.median <= -least


def may_be_in_the_source(one: Candidate) -> bool:
    """Return whether a candidate that no plan can do needs no more than its memory known."""
    is_refused = bool(one.refused) and one.strategy not in POOLS
    return is_refused and one.is_clear and one.measured and one.peak_bytes is None


def pick(found: Sequence[Candidate]) -> Candidate | None:
    """Return the candidate to recommend: the best of those that are clear; None where there is none.

    One that keeps together what is used together is as good as the best that is measured, unless that makes
    it slower: its gain is in the program's own work. Where nothing is clear, its loss must lie within noise.
    Of those about as good as the best, as far as noise tells, one that runs as a plan is preferred.
    """
    good = [one for one in found if one.is_clear and not one.refused]
    best = min(good, key=lambda one: of(one).median, default=None)
    most = of(best).median if best and best.measured else 0.0
    keeping = (one for one in found if one.apart and not one.refused)
    for one in sorted(keeping, key=lambda one: one.strategy != "instances"):
        noise = max(one.noise.high, 0.0) if one.noise else 0.0
        if one.ns_per_block is None or (of(one).median <= KEPT * most if most < 0 else of(one).low <= noise):
            return one
    if best is None or not best.measured:
        return best
    as_good = [
        one
        for one in good
        if one.measured
        and (
            of(one).median <= NEARLY * most
            or (of(one).median <= ALIKE * most and of(one).low <= of(best).high)
        )
    ]
    return min(as_good, key=lambda one: (one.runs_as != PLAN, of(one).median))


def of(one: Candidate) -> Interval:
    """Return the change of one block."""
    assert one.ns_per_block is not None
    return one.ns_per_block


def gain(one: SubsystemAdvice) -> tuple[float, float]:
    """Return what a part is ranked by: what its pick gains, then its share of the CPU time."""
    best = one.picked.ns_per_block.median if one.picked and one.picked.ns_per_block else 0.0
    return -best * one.blocks, one.dvluc.density.value or 0.0


def as_plans(one: SubsystemAdvice) -> list[Candidate]:
    """Return the candidates that run as plans and are worth it: the pick, if it does, then the best first."""
    fit = [
        c
        for c in one.candidates
        if c.runs_as == PLAN and c.is_clear and not c.refused and c is not one.picked
    ]
    fit.sort(key=lambda c: of(c).median)
    return [one.picked, *fit] if one.picked and one.picked.runs_as == PLAN else fit
