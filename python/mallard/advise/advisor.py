"""From a journal to advice.

    Program --parts--> proposals --Replays--> candidates --judged--> picks --> plans, verdict
                `--> growths, estimated ---------^

A candidate is picked if it is faster than the A/A row beyond doubt, by LEAST of the CPU time, and holds what
--max-rss allows. Otherwise the part is best left alone. Changes of several parts add up; those of a plan have
beside them what the default heap changes for all other blocks, and what recognising callers costs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from mallard import MallardError, _native
from mallard.advise import source_change
from mallard.advise.advice_model import (
    LEAST,
    LEAVE,
    PLAN,
    Advice,
    Candidate,
    Offer,
    Options,
    SourceChange,
    SubsystemAdvice,
    Verdict,
    WholeMalloc,
)
from mallard.advise.candidates import ONE, Estimate, Proposal, does, estimates, proposals, route_of
from mallard.advise.measure import MINUTES, Measured, Replay, Replays, added, scaled
from mallard.advise.parts import Part, Program, name_of
from mallard.analysis.progress import Progress
from mallard.analysis.strategies import one_size
from mallard.analysis.verdict import LEAST_ALLOCATIONS
from mallard.compare.intervals import Interval
from mallard.compare.mallocs import libraries
from mallard.figures import share, shown
from mallard.plan import Plan
from mallard.plan.planner import Options as PlanOptions
from mallard.plan.planner import Planned, Wanted, base_of

READ = 0.3  # how far reading is of the whole
ESTIMATED = (1.25, 0.5)  # of an estimate's median, its bounds: half of it should show
NEARLY = 0.95  # of the best gain: what runs as a plan is as good
KEPT = 0.5  # of the best gain that is measured: what keeps blocks together is as good
LEAST_OF_COST = 0.05  # of what a block costs, where the program's CPU time is not known
NO_CANDIDATES = ("glibc-arenas", "mallard-checked")
COPY_NS = 0.03  # of a byte that is copied from one block to the next, at least
CALLER_NS, FRAME_NS = 2.0, 0.5  # that a plan takes of an allocation, and of each frame that it looks at
OWN = "mallard"
MOST_PLANS = 4
NO_CHANGE = Interval(0.0, 0.0, 0.0)


def advised(journal: str, options: Options, progress: Progress = lambda share: None) -> Advice:
    """Measure what would pay in the program of a journal."""
    program = Program(journal, lambda done: progress(READ * done))
    with TemporaryDirectory(prefix="mallard-") as folder:
        return Advisor(
            program, options, Path(folder), lambda done: progress(READ + (1 - READ) * done)
        ).advice()


class Advisor:
    """One journal, its replays, and what they come to."""

    def __init__(self, program: Program, options: Options, folder: Path, progress: Progress) -> None:
        """Take a program that has been read."""
        self.program, self.options = program, options
        self.folder, self.progress = folder, progress
        self.recorded = base_of(program.store) + int(
            program.store.totals["over_time"]["held_bytes"].max(initial=0)
        )
        self.spare = (options.max_rss - 1) * self.recorded
        self.remarks = list(program.remarks)
        self.malloc_level = 0.0  # ns that mallocs have to stay below to be faster than glibc

    def advice(self) -> Advice:
        """Measure and judge."""
        profile = self.program.profile
        told = Advice(
            program=tuple(map(shown, profile.arguments)) or (shown(profile.program),),
            journal=profile.journal,
            verdict=Verdict("nothing", ""),
            machine=dict(profile.machine),
        )
        if headline := self.hopeless():
            return replace(told, verdict=Verdict("nothing", headline, NO_CHANGE), remarks=self.said())
        parts = list(self.program.parts(self.options.top))
        asked = [(part, list(proposals(part, self.spare))) for part in parts]
        planned = 1 + sum(len({one.route for one in some}) for _, some in asked)
        replays = Replays(
            self.program.path,
            self.program.profile.totals.events,
            self.folder,
            self.options.budget or MINUTES,
            planned,
            self.progress,
        )
        found: list[SubsystemAdvice] = []
        mallocs: list[WholeMalloc] = []
        for number, (part, some) in enumerate(asked):
            try:
                found.append(self.subsystem(part, some, replays))
                mallocs = mallocs if number else self.mallocs(replays)
            except KeyboardInterrupt:
                replays.interrupted = True
            if replays.interrupted:
                break
        found.sort(key=gain, reverse=True)
        parts_of = {part.name: part for part in parts}
        offers = self.offers(found, parts_of, mallocs)
        if replays.left_out:
            self.remarks.append(f"the budget had no time for {replays.left_out} replays: --budget gives more")
        if replays.interrupted:
            self.remarks.append("interrupted: what was measured before is told")
        self.progress(1.0)
        return replace(
            told,
            verdict=self.verdict(found, mallocs, offers, not (replays.interrupted or replays.left_out)),
            subsystems=tuple(found),
            mallocs=tuple(mallocs),
            offers=tuple(offers),
            remarks=self.said(),
            method={"budget_minutes": self.options.budget or MINUTES, "replay": replays.method},
            machine=replays.machine or told.machine,
        )

    def said(self) -> tuple[str, ...]:
        """Return all remarks, each once."""
        journal = self.program.profile.journal
        warnings = [f"warning: {journal}: {line}" for line in self.program.profile.warnings]
        return tuple(dict.fromkeys([*warnings, *self.remarks]))

    def hopeless(self) -> str:
        """Say why nothing can be gained, if that is known without measuring."""
        profile = self.program.profile
        density, allocations = profile.dvluc.density.value, profile.totals.allocations
        if density is not None and density < LEAST:
            return f"Nothing to gain: allocation takes {share(density)} of the CPU time (D)."
        if density is None and allocations < LEAST_ALLOCATIONS:
            return f"Nothing to gain: the program allocates {allocations:,} times in all."
        return ""

    def of_cpu(self, change: Interval, blocks: float) -> Interval | None:
        """Return a change per block as a share of the CPU time."""
        busy = self.program.busy_ns
        return scaled(change, blocks / busy) if busy else None

    # --- what is measured ---

    def mallocs(self, replays: Replays) -> list[WholeMalloc]:
        """Measure the installed mallocs under the whole program, the best first."""
        known = {one["name"]: one["object"] for one in _native.mallocs() if one["object"] or one["tunables"]}
        files = libraries(name for name in known.values() if name)
        names = [
            name
            for name, library in known.items()
            if name not in NO_CANDIDATES and (not library or files[library])
        ]
        route = np.zeros(self.program.profile.totals.events, "<u4")
        events = self.program.store.sql.execute("SELECT allocation FROM heap").fetchnumpy()["allocation"]
        route[np.asarray(events).astype(np.int64)] = 1
        measured = replays.part(route, names, threads=self.program.threads > 1)
        if measured is None:
            return []
        found = [
            WholeMalloc(
                name, self.of_cpu(row.ns_per_block, measured.blocks), row.ns_per_block, row.peak_bytes
            )
            for name, row in measured.rows.items()
            if name in names
        ]
        self.malloc_level = measured.level * measured.blocks
        return sorted(found, key=lambda one: one.ns_per_block.median)

    def subsystem(self, part: Part, asked: Sequence[Proposal], replays: Replays) -> SubsystemAdvice:
        """Measure a part's candidates, and pick one or none."""
        found: list[Candidate] = []
        cost, noises = 0.0, [NO_CHANGE]
        whole = part.subsystem.behaviour.allocations
        for route in by_worth(asked):
            rows = [one for one in asked if one.route == route]
            is_threads = any("thread" in one.row or "synchronized" in one.row for one in rows)
            heaps = route_of(part, route, replays.events)
            replay = replays.part(heaps, [one.row for one in rows], is_threads)
            if replay is None:
                found += [self.candidate(part, one, None) for one in rows if one.apart]
                continue
            cost = cost or replay.cost_ns
            noises.append(scaled(replay.noise, replay.blocks / whole))
            for one in rows:
                if (row := replay.rows.get(one.row)) is not None:
                    found.append(self.measured(self.candidate(part, one, row), row, replay, whole))
        found += [self.estimated(part, one, cost) for one in estimates(part)]
        found.sort(key=lambda one: (bool(one.refused), one.ns_per_block.median if one.ns_per_block else 0.0))
        noise = Interval(0.0, min(one.low for one in noises), max(one.high for one in noises))
        busy = self.program.busy_ns
        found = self.judged(found, noise, LEAST * busy / whole if busy else LEAST_OF_COST * cost)
        best = pick(found, noise)
        if best:
            found.remove(best)
            found.insert(0, best)
        stays = Candidate(LEAVE, PLAN, True, "as it is", "", NO_CHANGE, NO_CHANGE, 0, 0)
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
            apart=asked.apart,
        )

    def measured(self, one: Candidate, row: Measured, replay: Replay, blocks: int) -> Candidate:
        """Return a candidate with its figures."""
        refused = ""
        if row.peak_bytes is not None and row.peak_bytes > self.spare:
            more = share(row.peak_bytes / self.recorded)
            refused = f"the peak grows by {more}, more than --max-rss {self.options.max_rss:g} allows"
        return replace(
            one,
            cpu=self.of_cpu(row.ns_per_block, replay.blocks),
            ns_per_block=scaled(row.ns_per_block, replay.blocks / blocks),
            peak_bytes=row.peak_bytes,
            held_bytes=row.held_bytes,
            refused=refused,
        )

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

    def judged(self, found: Sequence[Candidate], noise: Interval, each: float) -> list[Candidate]:
        """Return candidates with what is beyond noise marked; `each` is LEAST in ns a block."""
        level = min(noise.low, 0.0)
        return [
            replace(one, is_clear=of(one).high < level and of(one).median <= level - each)
            if one.ns_per_block
            else one
            for one in found
        ]

    # --- plans ---

    def offers(
        self, found: Sequence[SubsystemAdvice], parts: dict[str, Part], mallocs: Sequence[WholeMalloc]
    ) -> list[Offer]:
        """Make the plans that may pay, the best first."""
        planner = self.program.planner
        if planner is None:
            return []
        chosen = [(one, best) for one in found if (best := as_plan(one)) is not None]
        wanted = [(one, best, list(self.wanted(parts[one.name], best))) for one, best in chosen]
        makers: list[tuple[str, Callable[[], Planned], list[tuple[SubsystemAdvice, Candidate]]]] = []
        options = PlanOptions(max_rss=self.options.max_rss)

        def made_of(some: Sequence[Wanted], title: str) -> Callable[[], Planned]:
            return lambda: planner.of(some, replace(options, title=title))

        def of_family(family: str) -> Callable[[], Planned]:
            return lambda: planner.plan(replace(options, family=family))

        if wanted:
            makers.append(("picks", made_of([w for *_, some in wanted for w in some], "picks"), chosen))
        if self.program.told:
            makers.append(("instances", of_family("instances"), of_rows(found, ("instances", "pool"))))
        if wanted:
            makers.append(("pools", of_family("pools"), of_rows(found, ("pool",))))
        if len(wanted) > 1:
            makers.append(("best", made_of(wanted[0][2], "best"), chosen[:1]))
        offers: list[Offer] = []
        for name, make, of in makers:
            try:
                planned = make()
            except MallardError as reason:
                self.remarks.append(f"no plan {name}: {reason}")
                continue
            if any(rules_of(planned.plan) == rules_of(other.plan) for other in offers):
                continue
            offers.append(Offer(name, planned.plan, self.expected(planned, [one for _, one in of], mallocs)))
        if not any(one.picked and one.picked.apart for one in found):
            offers.sort(key=lambda one: one.cpu.median if one.cpu else 0.0)
        return offers[:MOST_PLANS]

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

    def expected(
        self, planned: Planned, parts: Sequence[Candidate], mallocs: Sequence[WholeMalloc]
    ) -> Interval | None:
        """Return what a plan is expected to change of the CPU time."""
        busy, own = self.program.busy_ns, next((one for one in mallocs if one.name == OWN), None)
        changes = [one.cpu for one in parts if one.cpu]
        if not busy or not changes:
            return None
        rest = scaled(own.cpu, max(1 - planned.share_of_blocks, 0.0)) if own and own.cpu else NO_CHANGE
        contexts = [context for rule in planned.plan.rules for context in rule.contexts]
        frames = sum(len(context.frames) for context in contexts) / max(len(contexts), 1)
        lookup = (CALLER_NS + FRAME_NS * frames) * self.program.profile.totals.allocations / busy
        return added([*changes, rest, Interval(lookup, lookup, lookup)])

    # --- the answer ---

    def verdict(
        self,
        found: Sequence[SubsystemAdvice],
        mallocs: Sequence[WholeMalloc],
        offers: Sequence[Offer],
        complete: bool,
    ) -> Verdict:
        """Say what to do: a plan where it beats another malloc by LEAST, that where it beats glibc by it."""
        plan = next(
            (one for one in offers if one.cpu and one.cpu.high < 0 and one.cpu.median <= -LEAST), None
        )
        malloc = next((one for one in mallocs if self.is_good(one)), None)
        source = next((one for one in found if one.picked), None)
        best_malloc = malloc.cpu.median if malloc and malloc.cpu else 0.0
        best_plan = plan.cpu.median if plan and plan.cpu else 0.0
        best_source = source.picked.cpu.median if source and source.picked and source.picked.cpu else 0.0
        walked = next((one for one in found if one.picked and one.picked.apart), None)
        if walked and offers:
            peak = offers[0].plan.predicted_peak / max(offers[0].plan.recorded_peak, 1) - 1
            headline = (
                f"Try the plan `{offers[0].name}`: what {walked.name} uses together lies apart now. "
                f"Allocation itself: {told(offers[0].cpu)}, peak {signed(peak)}; a trial shows what it gains."
            )
            return Verdict("plan", headline, offers[0].cpu, peak)
        if plan and best_plan <= best_malloc - LEAST and best_plan <= best_source + LEAST:
            peak = plan.plan.predicted_peak / max(plan.plan.recorded_peak, 1) - 1
            headline = f"Try the plan `{plan.name}`: {told(plan.cpu)} expected, peak {signed(peak)}."
            return Verdict("plan", headline, plan.cpu, peak)
        if malloc and best_malloc <= best_source + LEAST:
            peak = (malloc.peak_bytes or 0) / self.recorded
            headline = f"Try another malloc, {malloc.name}: {told(malloc.cpu)} expected, peak {signed(peak)}."
            return Verdict("malloc", headline, malloc.cpu, peak)
        if source and source.picked:
            one = source.picked
            how = "expected" if one.measured else "estimated, not tried"
            peak = (one.peak_bytes or 0) / self.recorded
            where = name_of(source.site)
            headline = f"Change the source: {one.strategy} in {where}, {told(one.cpu)} {how}."
            return Verdict("source", headline, one.cpu, peak)
        if not complete:
            return Verdict("nothing", "Nothing found that would pay, but not all was measured.")
        density = self.program.profile.dvluc.density.value
        cost = f" D is {share(density)}, all that allocation costs of the CPU time." if density else ""
        return Verdict("nothing", f"Nothing to gain: keep what you have.{cost}", NO_CHANGE)

    def is_good(self, one: WholeMalloc) -> bool:
        """Return whether a malloc is faster beyond noise, within the memory that it may take."""
        whole, level = self.program.profile.totals.allocations, self.malloc_level
        return (
            one.cpu is not None
            and one.ns_per_block.high * whole < level
            and one.cpu.median <= -LEAST
            and (one.peak_bytes or 0) <= self.spare
        )


def by_worth(asked: Sequence[Proposal]) -> list[str]:
    """Return the ways to divide a part over heaps: those first that keep together what is used together."""
    routes = dict.fromkeys(one.route for one in sorted(asked, key=lambda one: one.route != ONE))
    apart = {one.route for one in asked if one.apart}
    return sorted(routes, key=lambda route: route not in apart)


def pick(found: Sequence[Candidate], noise: Interval) -> Candidate | None:
    """Return the candidate to recommend: the best beyond noise; None where there is none.

    One that keeps together what is used together is as good as the best that is measured, unless it loses by
    that: its gain is in the program's own work.
    """
    fit = [one for one in found if not one.refused and one.ns_per_block]
    good = [one for one in fit if one.is_clear]
    best = min(good, key=lambda one: of(one).median, default=None)
    most = of(best).median if best and best.measured else 0.0
    keeping = (one for one in found if one.apart and not one.refused)
    for one in sorted(keeping, key=lambda one: one.strategy != "instances"):
        if one.ns_per_block is None or of(one).median <= min(max(noise.high, 0.0), KEPT * most):
            return one
    as_good = [one for one in good if one.runs_as == PLAN and of(one).median <= NEARLY * most]
    return as_good[0] if as_good and best and best.measured else best


def of(one: Candidate) -> Interval:
    """Return the change of one block."""
    assert one.ns_per_block is not None
    return one.ns_per_block


def gain(one: SubsystemAdvice) -> tuple[float, float]:
    """Return what a part is ranked by: what its pick gains, then its share of the CPU time."""
    best = one.picked.ns_per_block.median if one.picked and one.picked.ns_per_block else 0.0
    return -best * one.blocks, one.dvluc.density.value or 0.0


def as_plan(one: SubsystemAdvice) -> Candidate | None:
    """Return the best candidate that runs as a plan; None if none is worth it."""
    if one.picked and one.picked.runs_as == PLAN:
        return one.picked
    fit = [c for c in one.candidates if c.runs_as == PLAN and c.is_clear and not c.refused]
    return min(fit, key=lambda c: of(c).median, default=None)


def of_rows(
    found: Sequence[SubsystemAdvice], strategies: Sequence[str]
) -> list[tuple[SubsystemAdvice, Candidate]]:
    """Return of each part the candidate of the first of some strategies that it has, as a plan runs it."""
    return [
        (one, best)
        for one in found
        if (
            best := next(
                (c for s in strategies for c in one.candidates if c.strategy == s and c.runs_as == PLAN), None
            )
        )
    ]


def rules_of(plan: Plan) -> list[tuple[Any, ...]]:
    """Return what a plan does, whatever it calls it."""
    return [(rule.strategy, rule.contexts, rule.witness, rule.until) for rule in plan.rules]


def told(cpu: Interval | None) -> str:
    """Return a change of CPU time as text."""
    if cpu is None:
        return "CPU time unknown"
    return f"{signed(cpu.median)} CPU time ({signed(cpu.low)} to {signed(cpu.high)})"


def signed(of: float) -> str:
    """Return a change in per cent, with its sign."""
    return f"{100 * of:+.1f} %"
