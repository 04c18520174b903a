"""From a journal to advice.

    Program --parts--> proposals --Replays--> candidates --judged--> picks --> plans, verdict
                `--> growths, estimated ---------^

Each part that matters is replayed once, divided over heaps in the most promising way, before any is replayed
again; what may be picked is then replayed once more, if that tells more.

A plan changes what its default heap changes for the whole program, what its parts change beyond that, and
what recognising callers costs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from mallard import MallardError, _native
from mallard.advise.advice_model import (
    LEAST,
    PLAN,
    SOURCE,
    Advice,
    Candidate,
    Offer,
    Options,
    SubsystemAdvice,
    Verdict,
    WholeMalloc,
)
from mallard.advise.candidates import Proposal, proposals
from mallard.advise.huge_pages import are_dear
from mallard.advise.judging import NO_CHANGE, Judge, as_plans, gain
from mallard.advise.looks import ALL, OWN, Look, Looking
from mallard.advise.measure import MINUTES, Replays, added, scaled
from mallard.advise.parts import Part, Program, name_of
from mallard.advise.start_up import LONG_NS, start_ns
from mallard.analysis.progress import Progress
from mallard.analysis.verdict import LEAST_ALLOCATIONS, known_density
from mallard.compare.intervals import Interval
from mallard.compare.mallocs import libraries
from mallard.figures import share, shown
from mallard.plan import Plan
from mallard.plan.planner import Options as PlanOptions
from mallard.plan.planner import Planned, Wanted

READ = 0.3  # how far reading is of the whole
NO_CANDIDATES = ("glibc-arenas", "mallard-checked")
CALLER_NS, FRAME_NS = 2.0, 0.5  # that a plan takes of an allocation, and of each frame that it looks at
STARTING, PLANNING = 0.02, 0.05  # of the budget, for starts of mallocs and for plans

Served = tuple[SubsystemAdvice, Candidate]  # a part, and what serves it
Make = Callable[[PlanOptions], Planned]
Maker = tuple[str, Make, list[Served]]


def advised(journal: str, options: Options, progress: Progress = lambda share: None) -> Advice:
    """Measure what would pay in the program of a journal."""
    program = Program(journal, lambda done: progress(READ * done), options.cpu_seconds, options.peak_rss)
    with TemporaryDirectory(prefix="mallard-") as folder:
        return Advisor(
            program, options, Path(folder), lambda done: progress(READ + (1 - READ) * done)
        ).advice()


class Advisor:
    """One journal, its replays, and their results."""

    def __init__(self, program: Program, options: Options, folder: Path, progress: Progress) -> None:
        """Take a program that has been read."""
        self.program, self.options = program, options
        self.folder, self.progress = folder, progress
        self.judge = Judge(program, options)
        self.remarks = list(program.remarks)
        self.plan_options = PlanOptions(max_rss=options.max_rss)
        self.knows_huge_pages = False  # whether it is known what their first touch takes

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
        looks = [Look(part, list(self.asked(part))) for part in self.program.parts(self.options.top)]
        whole = Look(None, list(self.mallocs()))
        until = self.options.until or monotonic() + 60 * (self.options.budget or MINUTES)
        replays = Replays(
            self.program.path,
            self.program.store.totals["event_numbers"],
            self.program.blocks,
            self.folder,
            until - PLANNING * (until - monotonic()),
            self.progress,
            self.program.call_ns,
        )
        self.judge.has_time = replays.may_read
        looking = Looking(self.judge, replays)
        with replays.noted():
            self.judge.starts = self.starts(whole, replays.left)
        with replays.noted():
            looking.look_at(looks, whole)
            for look in looks:
                looking.judged(look)  # what it asks of plans is kept; after Ctrl-C it asks no more
        found = sorted((looking.judged(look) for look in looks), key=gain, reverse=True)
        mallocs = looking.mallocs(whole)
        good = next((one for one in mallocs if self.judge.is_good(one, whole.found[ALL])), None)
        parts_of = {look.part.name: look.part for look in looks if look.part}
        offers = self.offers(found, parts_of, mallocs, replays, until)
        self.remarks += [f"a replay has failed: {reason}" for reason in replays.failures]
        if replays.left_out:
            self.remarks.append(f"the budget had no time for {replays.left_out} replays: --budget gives more")
        if replays.in_stretches:
            self.remarks.append(
                "the journal is long for the budget: candidates were measured in stretches of it, "
                "and their memory, of those that gain, with all of it"
            )
        if replays.interrupted:
            self.remarks.append("interrupted: what was measured before is reported")
        self.progress(1.0)
        return replace(
            told,
            verdict=self.verdict(found, good, offers, replays.complete),
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
        density, allocations = known_density(profile), profile.totals.allocations
        if density is not None and density < LEAST:
            return f"Nothing to gain: allocation takes {share(density)} of the CPU time (D)."
        if density is None and allocations < LEAST_ALLOCATIONS:
            return f"Nothing to gain: the program allocates {allocations:,} times in all."
        return ""

    # --- what is measured ---

    def asked(self, part: Part) -> Iterator[Proposal]:
        """Yield what is to be measured for a part; without a planner, what is to be written."""
        for one in proposals(part, self.judge.spare):
            yield one if self.program.planner else replace(one, runs_as=SOURCE)

    def mallocs(self) -> Iterator[Proposal]:
        """Yield the installed mallocs as candidates for the whole program."""
        known = {one["name"]: one["object"] for one in _native.mallocs() if one["object"] or one["tunables"]}
        files = libraries(name for name in known.values() if name)
        for name, library in known.items():
            if name not in NO_CANDIDATES and (not library or files[library]):
                yield Proposal(name, PLAN, ALL, name, "", "")

    def starts(self, whole: Look, left: float) -> Mapping[str, Interval]:
        """Return what the mallocs take to start, if that is much beside what the program takes."""
        busy = self.program.busy_ns
        if not busy or busy > LONG_NS or left <= 0:
            return {}
        try:
            names = [one.row for one in whole.asked]
            return start_ns(names, self.program.store.modules, STARTING * left)
        except MallardError as reason:
            self.remarks.append(f"what other mallocs take to start is not known: {reason}")
            return {}

    # --- plans ---

    def makers(self, found: Sequence[SubsystemAdvice], parts: dict[str, Part]) -> Iterator[Maker]:
        """Yield the plans that may pay: the name of each, what makes it, and what it is made of."""
        planner = self.program.planner
        if planner is None:
            return
        chosen = []
        for one in found:
            with_plan = (best for best in as_plans(one) if not self.judge.plan_of(parts[one.name], best)[1])
            best = next(with_plan, None)
            if best and (best.apart or beside_slabs(one, best).median <= 0):  # or the default heap is better
                chosen.append((one, best))
        wanted = [list(self.judge.wanted(parts[one.name], best)) for one, best in chosen]

        def made_of(some: Sequence[Wanted], title: str) -> Make:
            return lambda options: planner.of(some, replace(options, title=title))

        def of_family(family: str) -> Make:
            return lambda options: planner.plan(replace(options, family=family))

        if wanted:
            yield "picks", made_of([one for some in wanted for one in some], "picks"), chosen
        if self.program.told:
            yield "instances", of_family("instances"), of_rows(found, ("instances", "pool"))
        if wanted:
            yield "pools", of_family("pools"), of_rows(found, ("pool",))
        if len(wanted) > 1:
            yield "best", made_of(wanted[0], "best"), chosen[:1]

    def made(self, make: Make, replays: Replays) -> tuple[Planned, float]:
        """Return a plan, and the seconds that it took to make.

        It has huge pages unless their first touch takes more than they can bring, which is asked once, or
        after Ctrl-C, when nothing is measured any more.
        """
        options = self.plan_options
        if replays.interrupted and not self.knows_huge_pages:
            options = replace(options, huge_pages=False)
        began = monotonic()
        planned = make(options)
        seconds = monotonic() - began
        if not planned.plan.huge_pages or self.knows_huge_pages:
            return planned, seconds
        made = replace(planned, plan=replace(planned.plan, huge_pages=False))
        with replays.noted():
            if not are_dear(planned.plan.predicted_peak, self.program.busy_ns):
                made = planned
            else:
                self.plan_options = replace(options, huge_pages=False)
                self.remarks.append(
                    "plans keep to small pages: the first touch of huge ones takes long on this machine, "
                    "as it does in a virtual machine that returns free memory to its host"
                )
                made = make(self.plan_options)  # it takes less memory
            self.knows_huge_pages = True
        return made, seconds

    def offers(
        self,
        found: Sequence[SubsystemAdvice],
        parts: dict[str, Part],
        mallocs: Sequence[WholeMalloc],
        replays: Replays,
        until: float,
    ) -> list[Offer]:
        """Make plans, the best first: one in any case, and more while there is time for another."""
        offers: list[Offer] = []
        longest = 0.0  # seconds that one has taken
        with replays.noted():
            for name, make, of in self.makers(found, parts):
                if offers and (replays.interrupted or monotonic() + longest > until):
                    self.remarks.append(f"no plan {name}: there was no time left for it")
                    continue
                try:
                    planned, seconds = self.made(make, replays)
                except MallardError as reason:
                    self.remarks.append(f"no plan {name}: {reason}")
                    continue
                longest = max(longest, seconds)
                if all(rules_of(planned.plan) != rules_of(other.plan) for other in offers):
                    offers.append(Offer(name, planned.plan, self.expected(planned, of, mallocs)))
        if not any(one.picked and one.picked.apart for one in found):
            offers.sort(key=lambda one: one.cpu.median if one.cpu else 0.0)
        return offers

    def expected(
        self, planned: Planned, parts: Sequence[Served], mallocs: Sequence[WholeMalloc]
    ) -> Interval | None:
        """Return what a plan is expected to change of the CPU time.

        That is what its default heap changes for the whole program, and what its parts change beyond that.
        """
        busy = self.program.busy_ns
        own = next((one.cpu for one in mallocs if one.name == OWN and one.cpu), None)
        changes = [beside_slabs(part, one) if own else one.cpu for part, one in parts if one.cpu]
        if not busy or not (own or changes):
            return None
        changes.append(own or scaled(self.judge.starts.get(OWN, NO_CHANGE), 1 / busy))
        contexts = [context for rule in planned.plan.rules for context in rule.contexts]
        frames = sum(len(context.frames) for context in contexts) / max(len(contexts), 1)
        lookup = (CALLER_NS + FRAME_NS * frames) * self.program.profile.totals.allocations / busy
        return added([*changes, Interval(lookup, lookup, lookup)])

    # --- the answer ---

    def verdict(
        self,
        found: Sequence[SubsystemAdvice],
        malloc: WholeMalloc | None,
        offers: Sequence[Offer],
        complete: bool,
    ) -> Verdict:
        """Say what to do: a plan where it beats another malloc by LEAST, that where it beats glibc by it.

        All of the interval of a plan must be a gain.
        """
        plan = next(
            (one for one in offers if one.cpu and one.cpu.high < 0 and one.cpu.median <= -LEAST), None
        )
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
            more = self.share_of_peak(malloc.peak_bytes)
            headline = f"Try another malloc, {malloc.name}: {told(malloc.cpu)} expected, peak {signed(more)}."
            return Verdict("malloc", headline, malloc.cpu, more)
        if source and source.picked:
            one = source.picked
            how = "expected" if one.measured else "estimated, not tried"
            where = name_of(source.site)
            headline = f"Change the source: {one.strategy} in {where}, {told(one.cpu)} {how}."
            return Verdict("source", headline, one.cpu, self.share_of_peak(one.peak_bytes))
        if not complete:
            return Verdict("nothing", "Nothing found that would pay, but not all was measured.")
        density = self.program.profile.dvluc.density.value
        cost = f" D is {share(density)}, all that allocation costs of the CPU time." if density else ""
        return Verdict("nothing", f"Nothing to gain: keep what you have.{cost}", NO_CHANGE)

    def share_of_peak(self, change: int | None) -> float | None:
        """Return a change of memory as a share of the recorded peak."""
        return None if change is None else change / self.judge.recorded


def beside_slabs(part: SubsystemAdvice, served: Candidate) -> Interval:
    """Return what serving a part so changes beyond the default heap of a plan, which has a pool's slabs.

    Beside rows of glibc, each part gains less than its share of what a malloc gains for all: it leaves glibc
    the rest. So a part is compared with what else has slabs: with the multipool of the same replay, or
    instances with the pools of another one. The difference is noise where the part has few blocks. It counts
    the less, the wider it is beside all that the part's allocation takes (D).
    """
    if served.strategy == "pool" or served.cpu is None:
        return NO_CHANGE
    density = part.dvluc.density.value
    slabs = "pool" if served.strategy == "instances" else "multipool"
    of_slabs = next((one.cpu for one in part.candidates if one.strategy == slabs and one.cpu), None)
    if of_slabs is None:
        return Interval(0.0, -(density or 0.0), density or 0.0)
    change = added([served.cpu, Interval(-of_slabs.median, -of_slabs.high, -of_slabs.low)])
    spread = (change.high - change.low) / 2
    if density is None or not spread:
        return change
    trust = density**2 / (density**2 + spread**2)
    middle, around = trust * change.median, scaled(change, trust**0.5)
    return Interval(middle, middle + around.low - around.median, middle + around.high - around.median)


def of_rows(found: Sequence[SubsystemAdvice], strategies: Sequence[str]) -> list[Served]:
    """Return with each part the candidate of the first of these strategies that it has, as a plan runs it."""
    ranked = (
        [(part, one) for name in strategies for one in part.candidates if one.strategy == name]
        for part in found
    )
    fit = ([served for served in some if fits(served[1])] for some in ranked)
    return [some[0] for some in fit if some]


def fits(one: Candidate) -> bool:
    """Return whether a plan can run a candidate."""
    return one.runs_as == PLAN and not one.refused


def rules_of(plan: Plan) -> list[tuple[Any, ...]]:
    """Return what a plan does, whatever it calls it."""
    return [(rule.strategy, rule.contexts, rule.witness, rule.until) for rule in plan.rules]


def told(cpu: Interval | None) -> str:
    """Return a change of CPU time as text."""
    if cpu is None:
        return "CPU time unknown"
    return f"{signed(cpu.median)} CPU time ({signed(cpu.low)} to {signed(cpu.high)})"


def signed(of: float | None) -> str:
    """Return a change in per cent, with its sign."""
    return "unknown" if of is None else f"{100 * of:+.1f} %"
