"""From a journal to a plan of a known family.

    journal --> candidates --> drafts, one a rule --> what they would hold --> contexts named --> Plan
                                   ^----- fewer ------- too much

pools      a pool for each site that matters, of each subsystem of the profile
groups     the same, where pools whose blocks live alike, or at different times, are one
instances  a pool for each instance of an owner, where a witness explains the order of frees; else as pools
blind      one pool for everything: the control, the same heap without routing

A plan that would hold too much has fewer pools, down to one; several degrees of that are predicted in one
reading of the journal (src/profile/held_by_pools.hpp).
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, pairwise
from typing import Any

import numpy as np

from mallard import MallardError, _native
from mallard.analysis.function_names import own_name
from mallard.analysis.progress import Progress
from mallard.analysis.store import Store
from mallard.analysis.symbols import Symbols
from mallard.figures import share, shown, size
from mallard.plan.merge_pools import ever_fewer, grouped, lives_of
from mallard.plan.plan_model import Context, Plan, Rule
from mallard.plan.pool_candidates import Candidates, Draft, fewer_pools

FEWER_INSTANCES = (1, 2, 4, 8, 16)  # parts of the pools that instances would have
BASE = 2 << 20  # bytes that a process has at least beside its heap: libraries, stack
HEAP = 2 << 10  # bytes that a pool takes itself
TOLD_APART = 0.998  # of the blocks: below, a remark says so

READ, DIVIDED, WITNESSED = 0.4, 0.5, 0.7  # how far the work is


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may choose."""

    family: str | None = None  # None: instances where a witness tells them, else pools
    max_rss: float = 1.25
    default_heap: str = "mallard"


@dataclass(frozen=True, slots=True)
class Row:
    """What a rule is for, in figures."""

    rule: Rule
    sites: tuple[str, ...]  # the largest first
    blocks: int
    bytes: int
    share: float  # of all blocks of the program
    peak: int  # bytes that its pools hold


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

    def __init__(self, path: str, progress: Progress = lambda share: None) -> None:
        """Read the journal and divide the program."""
        self.path, self.progress = path, progress
        self.store = Store.read(path, lambda done: progress(READ * done))
        if len(self.store.contexts["parent"]) < 2:
            raise MallardError(f"{shown(path)} has no calling contexts: `mallard record` writes them")
        self.symbols = Symbols(self.store)
        self.candidates = Candidates(self.store, self.symbols)
        if not self.candidates.all:
            raise MallardError(f"{shown(path)} has no small blocks whose callers a plan can name")
        self.remarks: list[str] = []
        progress(DIVIDED)

    def plan(self, options: Options) -> Planned:
        """Make the plan."""
        recorded = BASE + int(self.store.totals["over_time"]["held_bytes"].max(initial=0))
        family, degrees = self.degrees(options.family)
        held = self.predict(degrees)
        if not fits(held, options.max_rss * recorded) and family != "blind":
            degrees = ever_fewer(lives_of(self.store, degrees[-1])) or degrees
            held = self.predict(degrees)
        fitting = fits(held, options.max_rss * recorded)
        if not fitting:
            least = min(one["peak"] for one in held)
            raise MallardError(
                f"no {family} plan of {shown(self.path)} stays below {options.max_rss:g} of the recorded "
                f"{size(recorded)}: with fewest pools it would be {size(least)}, which "
                f"--max-rss {least / recorded + 0.005:.2f} allows"
            )
        return self.finished(family, options, degrees[fitting[0]], held[fitting[0]], recorded)

    def degrees(self, family: str | None) -> tuple[str, list[list[Draft]]]:
        """Return the family, and its plans from most pools to fewest."""
        candidates = self.candidates
        if family == "blind":
            every = Draft("everything", tuple(candidates.routable), "the control: this heap, without routing")
            return family, [[every]]
        own = candidates.own_pools()
        if family == "groups":
            return family, [grouped(lives_of(self.store, own))]
        if family == "pools":
            return family, [own]
        between = WITNESSED - DIVIDED
        found, reason = candidates.witnesses(lambda done: self.progress(DIVIDED + between * done))
        if not found:
            if family == "instances":
                raise MallardError(reason)
            self.remarks.append(reason)
            return "pools", [own]
        drafts = candidates.instance_pools(found)
        return "instances", [*(fewer_pools(drafts, factor) for factor in FEWER_INSTANCES), own]

    def predict(self, degrees: Sequence[Sequence[Draft]]) -> list[dict[str, Any]]:
        """Return what each plan would hold; `peak` is that of the process, `peaks` by draft."""
        contexts = len(self.candidates.blocks)
        routes, begins = [], []
        for drafts in degrees:
            first, pools = np.zeros(contexts, np.uint32), np.ones(contexts, np.uint32)
            begin = [1]  # 0 is the default heap
            for draft in drafts:
                first[list(draft.contexts)], pools[list(draft.contexts)] = begin[-1], draft.used
                begin.append(begin[-1] + draft.used)
            routes.append((first, pools))
            begins.append(begin)
        try:
            work = _native.PoolsPass(self.path, routes)
            while work.advance():
                self.progress(WITNESSED + (1 - WITNESSED) * work.progress)
        except _native.JournalError as error:
            raise MallardError(f"cannot read {self.path} again: {error}") from error
        held = [work.held(number) for number in range(len(degrees))]
        for one, begin in zip(held, begins, strict=True):
            one["peak"] += BASE + HEAP * begin[-1]
            one["peaks"] = [int(one["peaks"][at:end].sum()) for at, end in pairwise(begin)]
        return held

    def finished(
        self, family: str, options: Options, drafts: Sequence[Draft], held: dict[str, Any], recorded: int
    ) -> Planned:
        """Name the contexts, and put the plan together."""
        blocks, stacks, totals = self.candidates.blocks, self.candidates.stacks, self.store.totals
        rule_of = dict.fromkeys(self.candidates.routable, 0)
        for number, draft in enumerate(drafts, 1):
            rule_of.update(dict.fromkeys(draft.contexts, number))
        told, mistaken = stacks.told_apart(rule_of, blocks)
        journal, warnings = shown(self.path), [*totals["warnings"], *self.symbols.warnings]
        contexts: defaultdict[int, list[Context]] = defaultdict(list)
        for one in sorted(told, key=lambda one: -blocks[one.example]):
            contexts[one.rule].append(Context(one.frames, self.note(one.example)))
        rows = [
            self.row(rule_from(draft, contexts[number]), draft, held["peaks"][number - 1])
            for number, draft in enumerate(drafts, 1)
            if number in contexts  # else all of its callers are taken for others
        ]
        rules = [row.rule for row in rows]
        if 0 in contexts:
            rules.append(Rule("default", tuple(contexts[0]), reason="callers that no rule above means"))
        named = {frame.module for rule in rules for context in rule.contexts for frame in context.frames}
        mistaken /= max(float(blocks.sum()), 1)
        if mistaken > 1 - TOLD_APART:
            self.remarks.append(
                f"{share(mistaken)} of the small blocks have frames that cannot be told apart"
            )
        plan = Plan(
            title=family,
            modules=(stacks.modules[0], *(one for one in stacks.modules[1:] if one.name in named)),
            rules=tuple(rules),
            default_heap=options.default_heap,
            max_rss=options.max_rss,
            recorded_peak=recorded,
            predicted_peak=held["peak"],
            recorded=date_of(totals["start_unix_ns"]),
            journal=journal,
        )
        return Planned(
            plan,
            rows,
            held["routed_events"] / max(totals["allocations"], 1),
            held["routed_bytes"] / max(totals["bytes"], 1),
            mistaken,
            [*(f"warning: {journal}: {line}" for line in warnings), *self.remarks],
        )

    def row(self, rule: Rule, draft: Draft, peak: int) -> Row:
        """Return the figures of a rule."""
        found = list(self.candidates.most_first(draft.contexts))
        sites = tuple(dict.fromkeys(self.symbols.site_name(context) for context in found))
        blocks, amount = (int(of[found].sum()) for of in (self.candidates.blocks, self.candidates.bytes))
        return Row(rule, sites, blocks, amount, blocks / max(self.store.totals["allocations"], 1), peak)

    def note(self, context: int) -> str:
        """Return the functions of a context from its site on, in short."""
        outwards = self.symbols.tree.outwards(int(self.symbols.site_nodes[context]))
        return " < ".join(own_name(name) for name, _ in islice(outwards, 3))


def rule_from(draft: Draft, contexts: Sequence[Context]) -> Rule:
    """Return the rule of a draft."""
    return Rule("pool", tuple(contexts), draft.pool, draft.reason, witness=draft.witness)


def fits(held: Sequence[dict[str, Any]], limit: float) -> list[int]:
    """Return the numbers of those that stay below a limit of bytes."""
    return [number for number, one in enumerate(held) if one["peak"] <= limit]


def date_of(unix_ns: int) -> str:
    """Return the day and time of a moment; empty if it is unknown."""
    return datetime.fromtimestamp(unix_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if unix_ns else ""
