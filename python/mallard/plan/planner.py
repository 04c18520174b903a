"""From a journal to a plan of a known family.

    journal --> candidates --> drafts, one a rule --> what they would hold --> contexts named --> Plan
                                   ^----- fewer ------- too much

pools      a pool for each site that matters, of each subsystem of the profile
groups     the same, where pools whose blocks live alike, or at different times, are one
instances  a pool for each instance of an owner, where a witness explains the order of frees; else as pools
blind      one pool for everything: the control, the same heap without routing

Or somebody who knows the program says what is wanted for which contexts (Wanted).

A plan that would hold too much has fewer pools, down to one; several degrees of that are predicted in one
reading of the journal (src/profile/held_by_pools.hpp).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice, pairwise

import numpy as np

from mallard import MallardError, _native
from mallard.analysis.function_names import own_name
from mallard.analysis.progress import Progress
from mallard.analysis.store import Columns, Store
from mallard.analysis.subsystems import unlike
from mallard.analysis.symbols import Symbols
from mallard.figures import share, shown, size
from mallard.plan.merge_pools import ever_fewer, grouped, lives_of, thriftier
from mallard.plan.plan_model import (
    MANY_POOLS,
    SCOPED,
    STRATEGIES,
    WORDS,
    Context,
    Plan,
    Rule,
    Witness,
)
from mallard.plan.pool_candidates import LEAST_SHARE, Candidates, Draft, Part
from mallard.plan.process_memory import Held, add_process, heaps_of, memory_of
from mallard.plan.scopes import Calls, Until, ends_of

FEWER_INSTANCES = (1, 2, 4, 8, 16)  # parts of the pools that instances would have
LEAN = 1.1  # times the recorded peak: above, small owners share pools, whose pages are half empty otherwise
SMALL_POOL = 64 << 10  # bytes that an owner's pool holds, below which it is small
RESERVE = 0.04  # of the limit, for what predictions are off
LIBRARY = 128 << 10  # bytes that the malloc takes itself
HEAP = 2 << 10  # and a pool
PLACINGS = {STRATEGIES[how]: number for how, number in (("monotonic", 1), ("region", 1), ("reap", 2))}
IN_PARTS = 3  # pools of many instances
TOLD_APART = 0.998  # of the blocks: below, a remark says so

READ, DIVIDED, WITNESSED = 0.4, 0.5, 0.7  # how far the work is


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may choose."""

    family: str | None = None  # None: instances where a witness tells them, else pools
    max_rss: float = 1.25
    default_heap: str = "mallard"
    huge_pages: bool = True  # where they are worth it and max_rss allows them
    title: str = ""  # of the plan; empty: what it is of in the end


@dataclass(frozen=True, slots=True)
class Wanted:
    """A heap for some contexts: what `Planner.of` makes a rule of, or several that share the heap."""

    name: str
    contexts: tuple[int, ...]  # by their numbers in the store's contexts
    strategy: str  # one of STRATEGIES that is not the default heap
    reason: str
    witness: Witness | None = None  # what tells instances apart, which then have a heap each
    until: str | None = None  # of a region or a reap: the function whose return ends it


@dataclass(frozen=True, slots=True)
class Row:
    """What a rule is for, in figures."""

    name: str
    rule: Rule
    sites: tuple[str, ...]  # the largest first
    blocks: int
    bytes: int
    share: float  # of all blocks of the program
    peak: int  # bytes that its pools hold, with other rules of the same ones


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan and what is known of it."""

    plan: Plan
    rows: list[Row]
    share_of_blocks: float  # of all, that it routes
    share_of_bytes: float
    mistaken: float  # share of the small blocks whose context is taken for another
    remarks: list[str]


def planned(path: str, options: Options, progress: Progress = lambda share: None) -> Planned:
    """Make a plan from the journal at `path`."""
    return Planner(path, progress).plan(options)


class Planner:
    """One journal, read."""

    def __init__(
        self, path: str, progress: Progress = lambda share: None, peak_rss: float | None = None
    ) -> None:
        """Read the journal and divide the program; `peak_rss` as memory_of has it."""
        self.path, self.progress = path, progress
        self.store = Store.read(path, lambda done: progress(READ * done))
        if len(self.store.contexts["parent"]) < 2:
            raise MallardError(f"{shown(path)} has no calling contexts: `mallard record` writes them")
        self.symbols = Symbols(self.store)
        self.candidates = Candidates(self.store, self.symbols)
        if not self.candidates.routable:
            raise MallardError(f"{shown(path)} has no small blocks whose callers a plan can name")
        if not self.candidates.all:
            raise MallardError(f"{shown(path)} has no caller with {share(LEAST_SHARE)} of its small blocks")
        self.memory = memory_of(self.store, peak_rss)
        self.heaps = heaps_of(self.store.threads) if self.store.processes == 1 else None
        self.remarks: list[str] = []
        progress(DIVIDED)

    @cached_property
    def snapshots(self) -> Columns:
        """The journal's snapshots, by rising event."""
        try:
            found = _native.snapshots(self.path)
        except _native.JournalError as error:
            raise MallardError(f"cannot read {self.path} again: {error}") from error
        order = np.argsort(found["event"], kind="stable")
        return {name: column[order] for name, column in found.items()}

    def plan(self, options: Options) -> Planned:
        """Make the plan of a family."""
        self.remarks = list(self.candidates.remarks)
        return self.first_that_fits(self.attempts(options.family), options)

    def of(self, wanted: Sequence[Wanted], options: Options) -> Planned:
        """Make a plan of what is wanted; pools and instances become fewer where --max-rss asks for it.

        What a plan cannot name goes to the default heap, and a remark says so. A context of several has the
        first one's heap. Raises MallardError where nothing is left, or nothing stays below the limit.
        """
        self.remarks = []
        drafts = self.drafts_of(wanted)
        if not drafts:
            raise MallardError(f"no caller that is asked for can be named by a plan of {shown(self.path)}")
        own = [draft.without_instances() for draft in drafts]
        return self.first_that_fits(self.degrees_of(drafts, own), options)

    def first_that_fits(self, attempts: Iterator[list[list[Draft]]], options: Options) -> Planned:
        """Make the plan of the first drafts that stay below the limit."""
        recorded = self.memory.peak
        allowed = options.max_rss * recorded * (1 - RESERVE)
        refused: list[int] = []
        for degrees in attempts:
            held = self.predict(degrees, options, allowed)
            for drafts, one in zip(degrees, held, strict=True):
                if one["peak"] <= allowed:
                    if refused:
                        more = f"pools for all would take {size(refused[0])}, which"
                        self.remarks.append(f"{more} --max-rss {allowing(refused[0], recorded)} allows")
                    chosen, held_then = self.leaner(drafts, one, options)
                    in_huge_pages = held_then["peak"] + held_then["more"]
                    if options.huge_pages and in_huge_pages > allowed and not held_then["huge_pages"]:
                        more = f"huge pages would take {size(held_then['more'])} more, which"
                        self.remarks.append(f"{more} --max-rss {allowing(in_huge_pages, recorded)} allows")
                    return self.finished(options, chosen, held_then)
                refused.append(one["peak"])
        least = min(refused)
        room = f"{options.max_rss:g} of the recorded {size(recorded)}, with {share(RESERVE)} in reserve"
        said = f"no plan of {shown(self.path)} stays below {room}"
        more = (
            f"with fewest pools it would be {size(least)}, which --max-rss {allowing(least, recorded)} allows"
        )
        raise MallardError(f"{said}: {more}")

    def leaner(self, drafts: list[Draft], held: Held, options: Options) -> tuple[list[Draft], Held]:
        """Return the same with the pools of small owners reduced until it takes little more than recorded.

        What several of them have is near enough together: it fits into the nearest cache all the same.
        """
        small = [
            draft.has_instances and peak < SMALL_POOL * draft.used
            for draft, peak in zip(drafts, held["peaks"], strict=True)
        ]
        most = LEAN * self.memory.peak
        if held["peak"] <= most or not any(small):
            return drafts, held
        which = list(zip(drafts, small, strict=True))
        degrees = [
            [draft.with_fewer_pools(factor) if is_small else draft for draft, is_small in which]
            for factor in FEWER_INSTANCES
        ]
        found = zip(degrees, self.predict(degrees, options, most), strict=True)
        lean = [(fewer, one) for fewer, one in found if one["peak"] <= most]
        in_huge_pages = [(fewer, one) for fewer, one in lean if one["huge_pages"]]
        return next(iter(in_huge_pages or ([] if held["huge_pages"] else lean)), (drafts, held))

    def attempts(self, family: str | None) -> Iterator[list[list[Draft]]]:
        """Yield plans of the family, from most memory to least: those of a list are predicted together."""
        candidates = self.candidates
        if family == "blind":
            reason = "the control: this heap, without routing"
            yield [[Draft.of(Part("everything", tuple(candidates.routable), reason))]]
            return
        own = candidates.own_pools()
        if family == "groups":
            own = grouped(lives_of(self.store, own))
        drafts = self.instances(family == "instances") if family in (None, "instances") else []
        yield from self.degrees_of(drafts or own, own)

    def degrees_of(self, drafts: list[Draft], own: list[Draft]) -> Iterator[list[list[Draft]]]:
        """Yield drafts, then fewer pools of instances, then `own` drafts without any, then fewer of these."""
        yield [drafts]
        if any(draft.has_instances for draft in drafts):
            fewer = thriftier(lives_of(self.store, drafts))
            yield [[one.with_fewer_pools(factor) for one in fewer] for factor in FEWER_INSTANCES]
            yield [own]
        if more := ever_fewer(lives_of(self.store, own)):
            yield more

    def drafts_of(self, wanted: Sequence[Wanted]) -> list[Draft]:
        """Return what is wanted as far as a plan can name it."""
        candidates, calls = self.candidates, Calls(self.store, self.symbols)
        taken: set[int] = set()
        names: list[str] = []
        found: list[Draft] = []
        for one in wanted:
            if one.strategy not in STRATEGIES or one.strategy == "default":
                raise MallardError(f"{one.name}: {one.strategy} is no strategy of a plan")
            own = candidates.most_first([c for c in {*one.contexts} - taken if candidates.is_routable(c)])
            taken.update(own)
            name = unlike(one.name, names)
            names.append(name)
            ends: dict[Until | None, list[int]] = {None: list(own)}
            if one.until and one.strategy in SCOPED:
                ends = ends_of(calls, candidates.stacks, own, one.until)
                if lost := ends.pop(None, []):
                    part = share(candidates.blocks[lost].sum() / max(candidates.blocks[list(own)].sum(), 1))
                    self.remarks.append(f"{name}: {part} of its blocks are not seen to end with {one.until}")
            parts = [
                Part(name, tuple(contexts), one.reason, one.witness, one.strategy, until)
                for until, contexts in ends.items()
                if contexts
            ]
            if parts:
                found.append(Draft(name, tuple(parts)))
        return found

    def instances(self, wanted: bool) -> list[Draft]:
        """Return pools of instances; if there are none, it is an error or a remark."""
        between = WITNESSED - DIVIDED
        found, reason = self.candidates.witnesses(lambda done: self.progress(DIVIDED + between * done))
        drafts = self.candidates.instance_pools(found)
        if any(draft.has_instances for draft in drafts):
            return drafts
        reason = reason or f"no site of {shown(self.path)} that matters has instances"
        if wanted:
            raise MallardError(reason)
        self.remarks.append(reason)
        return []

    def predict(self, degrees: Sequence[Sequence[Draft]], options: Options, limit: float) -> list[Held]:
        """Return what each plan would hold, as add_process has it; `peaks` by draft."""
        contexts = len(self.candidates.blocks)
        routes, begins = [], []
        for drafts in degrees:
            first, pools, kinds, places = (
                np.full(contexts, each, np.uint32) for each in (0, 1, 0, len(WORDS))
            )
            begin = [1]  # 0 is the default heap
            for draft in drafts:
                first[draft.contexts], pools[draft.contexts] = begin[-1], draft.used
                kinds[draft.contexts] = PLACINGS.get(draft.kind, IN_PARTS * (draft.pools > MANY_POOLS))
                begin.append(begin[-1] + draft.used)
                for part in draft.parts:
                    if part.witness:
                        places[list(part.contexts)] = WORDS.index(part.witness.place)
            routes.append((first, pools, kinds, places))
            begins.append(begin)
        have_instances = any(draft.has_instances for drafts in degrees for draft in drafts)
        try:
            work = _native.PoolsPass(
                self.path,
                routes,
                snapshots=self.snapshots if have_instances else None,
                heaps=self.heaps,
                default_in_segments=options.default_heap == "mallard",
            )
            while work.advance():
                self.progress(WITNESSED + (1 - WITNESSED) * work.progress)
        except _native.JournalError as error:
            raise MallardError(f"cannot read {self.path} again: {error}") from error
        held = [work.held(number) for number in range(len(degrees))]
        for one, begin in zip(held, begins, strict=True):
            beside = self.memory.beside + LIBRARY + HEAP * begin[-1]
            add_process(one, beside, options.default_heap, limit if options.huge_pages else 0)
            one["peaks"] = [int(one["peaks"][at:end].sum()) for at, end in pairwise(begin)]
        return held

    def finished(self, options: Options, drafts: Sequence[Draft], held: Held) -> Planned:
        """Name the contexts, and put the plan together."""
        blocks, stacks, totals = self.candidates.blocks, self.candidates.stacks, self.store.totals
        journal, warnings = shown(self.path), [*totals["warnings"], *self.symbols.warnings]
        parts = [(draft, part) for draft in drafts for part in draft.parts]
        rule_of = dict.fromkeys(self.candidates.routable, 0)
        for number, (_, part) in enumerate(parts, 1):
            rule_of.update(dict.fromkeys(part.contexts, number))
        least = {number: 1 + part.until.depth for number, (_, part) in enumerate(parts, 1) if part.until}
        exact = {number for number, (_, part) in enumerate(parts, 1) if STRATEGIES[part.strategy] in PLACINGS}
        told, mistaken = stacks.told_apart(rule_of, blocks, least, exact)
        contexts: defaultdict[int, list[Context]] = defaultdict(list)
        for one in sorted(told, key=lambda one: -blocks[one.example]):
            contexts[one.rule].append(Context(one.frames, self.note(one.example)))
        peaks = {draft.name: peak for draft, peak in zip(drafts, held["peaks"], strict=True)}
        rows = [
            self.row(rule_from(draft, part, contexts[number]), part, peaks[draft.name])
            for number, (draft, part) in enumerate(parts, 1)
            if number in contexts  # else all of its callers are taken for others
        ]
        rules = [row.rule for row in rows]
        if 0 in contexts:
            rules.append(Rule("default", tuple(contexts[0]), reason="callers that no rule above means"))
        named = {frame.module for rule in rules for context in rule.contexts for frame in context.frames}
        mistaken /= max(float(blocks.sum()), 1)
        if mistaken > 1 - TOLD_APART:
            self.remarks.append(f"{share(mistaken)} of the small blocks get the heap of another rule")
        plan = Plan(
            title=options.title or title_of(options.family, drafts),
            modules=(stacks.modules[0], *(one for one in stacks.modules[1:] if one.name in named)),
            rules=tuple(rules),
            default_heap=options.default_heap,
            max_rss=options.max_rss,
            recorded_peak=self.memory.peak,
            predicted_peak=held["peak"],
            recorded=date_of(totals["start_unix_ns"]),
            journal=journal,
            huge_pages=held["huge_pages"],
        )
        expected = stacks.expected(plan, {context: int(blocks[context]) for context in rule_of})
        return Planned(
            replace(plan, expected=tuple(Context(frames, self.note(one)) for frames, one in expected)),
            rows,
            held["routed_events"] / max(totals["allocations"], 1),
            held["routed_bytes"] / max(totals["bytes"], 1),
            mistaken,
            [*(f"warning: {journal}: {line}" for line in warnings), *self.remarks],
        )

    def row(self, rule: Rule, part: Part, peak: int) -> Row:
        """Return the figures of a rule."""
        found = list(self.candidates.most_first(part.contexts))
        sites = tuple(dict.fromkeys(self.symbols.site_name(context) for context in found))
        blocks, amount = (int(of[found].sum()) for of in (self.candidates.blocks, self.candidates.bytes))
        return Row(
            part.name, rule, sites, blocks, amount, blocks / max(self.store.totals["allocations"], 1), peak
        )

    def note(self, context: int) -> str:
        """Return the functions of a context from its site on, in short."""
        outwards = self.symbols.tree.outwards(int(self.symbols.site_nodes[context]))
        return " < ".join(own_name(name) for name, _ in islice(outwards, 3))


def rule_from(draft: Draft, part: Part, contexts: Sequence[Context]) -> Rule:
    """Return the rule of one part."""
    until = part.until.frame if part.until else None
    return Rule(part.strategy, tuple(contexts), draft.name, part.reason, witness=part.witness, until=until)


def title_of(family: str | None, drafts: Sequence[Draft]) -> str:
    """Return the family that the plan is of in the end; of heaps of several kinds, all of these."""
    if family in ("groups", "blind"):
        return family
    if any(draft.has_instances for draft in drafts):
        return "instances"
    return " and ".join(dict.fromkeys(f"{part.strategy}s" for draft in drafts for part in draft.parts))


def allowing(peak: int, recorded: int) -> str:
    """Return the limit that allows a peak, rounded up."""
    return f"{peak / recorded / (1 - RESERVE) + 0.005:.2f}"


def date_of(unix_ns: int) -> str:
    """Return the day and time of a moment; empty if it is unknown."""
    return datetime.fromtimestamp(unix_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if unix_ns else ""
