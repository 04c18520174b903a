"""What of a program may have a pool of its own: the sites of its subsystems, and the instances of owners.

    subsystem "parse"     site: read_list > vector::push_back      45 % of the blocks   --> a candidate
                          site: read_text > string::append         12 %                 --> a candidate
                          27 others                                 1 %                 --> one together
    rest of the program   sites that matter are candidates; the others stay with the default heap

A site is the innermost call that is no wrapper's. Only blocks of at most 1 KiB and natural alignment count:
others are not routed.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from mallard import MallardError, _native
from mallard.analysis.function_names import own_name, short_name
from mallard.analysis.partition import Limits
from mallard.analysis.progress import Progress
from mallard.analysis.store import Store
from mallard.analysis.subsystems import divide, unlike
from mallard.analysis.symbols import Symbols
from mallard.figures import share, shown
from mallard.plan.plan_model import LARGEST, PLACES, Witness, pools_for
from mallard.plan.stacks_of_plan import Stacks

NATURAL = 16  # bytes of alignment that every block has
LEAST_SHARE = 0.005  # of what can be routed, that a pool of its own is worth: the mean of blocks and bytes
MOST = 64
LEAST_GAIN = 0.1  # of a witness

CodePath: TypeAlias = tuple[int, ...]  # a candidate, and the calls between malloc and its site
WitnessRow: TypeAlias = dict[str, Any]  # src/profile/owner_witness.hpp, witness_found


@dataclass(frozen=True, slots=True)
class Candidate:
    """A site of a subsystem, or what is left of the subsystem."""

    name: str
    subsystem: str
    contexts: tuple[int, ...]  # the one that allocates most first


@dataclass(frozen=True, slots=True)
class Draft:
    """A rule before its contexts are named."""

    pool: str
    contexts: tuple[int, ...]
    reason: str
    witness: Witness | None = None
    parts: tuple[str, ...] = ()  # pools that are one here

    @property
    def used(self) -> int:
        """Return how many pools have blocks."""
        return self.witness.used if self.witness else 1


class Candidates:
    """What of one journal may have pools."""

    def __init__(self, store: Store, symbols: Symbols) -> None:
        """Count what can be routed, and divide the program."""
        self.store, self.symbols, self.stacks = store, symbols, Stacks(store)
        count = len(store.contexts["parent"])
        self.blocks, self.bytes = np.zeros(count), np.zeros(count)  # that can be routed, by context
        query = (
            "SELECT context, count(*), sum(size)::UBIGINT FROM heap "
            f"WHERE size <= {LARGEST} AND alignment <= {NATURAL} GROUP BY context"
        )
        for context, blocks, size in store.rows(query):
            self.blocks[context], self.bytes[context] = blocks, size
        asking = np.flatnonzero(self.blocks[1:]) + 1
        self.routable = [context for context in asking.tolist() if self.stacks.is_known(context)]
        self.division = divide(store, symbols, "subtree", Limits())
        self.all = self.find() if self.routable else []

    def find(self) -> list[Candidate]:
        """Return the candidates, the largest first; what is left of subsystems comes behind."""
        tree, owner = self.symbols.tree, self.division.grouping.group_of
        by_site: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
        for context in self.routable:
            node = int(self.symbols.site_nodes[context])
            part = int(owner[context]) if context < len(owner) else 0
            by_site[part, int(tree.place[node]), int(tree.function[node])].append(context)
        order = sorted(by_site.items(), key=lambda site: -self.worth(site[1]))
        number = min(sum(self.worth(contexts) >= LEAST_SHARE for _, contexts in order), MOST)
        often = Counter(self.symbols.site_name(contexts[0]) for _, contexts in order[:number])
        left: defaultdict[int, list[int]] = defaultdict(list)
        found: list[tuple[int, list[int], str]] = []
        for (part, *_), contexts in order[:number]:
            found.append((part, contexts, self.name(contexts[0], often)))
        for (part, *_), contexts in order[number:]:
            left[part] += contexts if part else []
        for part, contexts in left.items():
            if self.worth(contexts) >= LEAST_SHARE:
                found.append((part, contexts, f"other sites of {self.division.names[part]}"))
        names: list[str] = []
        for _, _, name in found:
            names.append(unlike(name, names))
        return [
            Candidate(name, self.division.names[part], self.most_first(contexts))
            for (part, contexts, _), name in zip(found, names, strict=True)
        ]

    def name(self, context: int, often: Counter[str]) -> str:
        """Return the name of a site; where several have it, with its types, and what the site calls."""
        tree, site = self.symbols.tree, int(self.symbols.site_nodes[context])
        name, node = self.symbols.site_name(context), int(tree.innermost[context])
        if often[name] == 1:
            return name
        name = short_name(tree.functions[tree.function[site]][0])
        if node == site:
            return name
        while int(tree.parent[node]) != site:
            node = int(tree.parent[node])
        return f"{name}: {own_name(tree.functions[tree.function[node]][0])}"

    def most_first(self, contexts: Sequence[int]) -> tuple[int, ...]:
        """Return contexts in the order of what they allocate."""
        return tuple(sorted(contexts, key=lambda context: (-self.blocks[context], context)))

    def worth(self, contexts: Sequence[int]) -> float:
        """Return what contexts have of all that can be routed: the mean of blocks and bytes."""
        chosen = list(contexts)
        shares = (column[chosen].sum() / max(column.sum(), 1) for column in (self.blocks, self.bytes))
        return float(sum(shares)) / 2

    def own_pools(self) -> list[Draft]:
        """Return a draft of a pool of its own for each candidate."""
        return [self.own_pool(candidate) for candidate in self.all]

    def own_pool(self, candidate: Candidate) -> Draft:
        """Return a draft of a pool of its own."""
        reason = f"{share(self.worth(candidate.contexts))} of the small blocks, in {candidate.subsystem}"
        return Draft(candidate.name, candidate.contexts, reason)

    def instance_pools(self, found: dict[CodePath, WitnessRow]) -> list[Draft]:
        """Return drafts of pools of instances where there is a witness, else of a pool of its own."""
        drafts = []
        for number, candidate in enumerate(self.all):
            by_place: defaultdict[int, list[int]] = defaultdict(list)
            best: dict[int, WitnessRow] = {}
            for context in candidate.contexts:
                row = found.get(self.code_path(number, context), {"place": -1, "instances": 0})
                place = row["place"]
                by_place[place].append(context)
                best[place] = max(row, best.get(place, row), key=lambda one: int(one["instances"]))
            for place, contexts in by_place.items():
                own = f" by {list(PLACES)[place]}" if place >= 0 and len(by_place) > 1 else ""
                part = replace(candidate, name=candidate.name + own, contexts=tuple(contexts))
                draft = self.own_pool(part)
                drafts.append(draft if place < 0 else witnessed(draft, best[place]))
        return drafts

    def witnesses(self, progress: Progress) -> tuple[dict[CodePath, WitnessRow], str]:
        """Return the witness of each code path that has one; if none has, why.

        The same code has the owner in the same place, so contexts are judged together if they differ in
        their site's callers only.
        """
        number_of: dict[CodePath, int] = {}
        group_of = np.zeros(len(self.blocks), np.uint32)
        for number, candidate in enumerate(self.all):
            for context in candidate.contexts:
                path = self.code_path(number, context)
                group_of[context] = number_of.setdefault(path, 1 + len(number_of))
        work = _native.WitnessPass(self.store.path, group_of)
        try:
            while work.advance():
                progress(work.progress)
        except _native.JournalError as error:
            raise MallardError(f"cannot read {self.store.path} again: {error}") from error
        journal = shown(self.store.path)
        if not work.snapshots:
            return (
                {},
                f"{journal} has nothing that tells instances apart: `mallard record --witness` keeps it",
            )
        found = {name: column.tolist() for name, column in work.found(LEAST_GAIN).items()}
        rows = [dict(zip(found, row, strict=True)) for row in zip(*found.values(), strict=True)]
        if not rows:
            return {}, f"no word at the calls in {journal} explains in which order blocks are freed"
        paths = list(number_of)
        return {paths[row["group"] - 1]: row for row in rows}, ""

    def code_path(self, number: int, context: int) -> CodePath:
        """Return the calls between malloc and the site of a context of that candidate."""
        site = np.searchsorted(self.symbols.tree.innermost, self.symbols.site_nodes[context])
        return (number, *self.stacks.inner(context, int(site)))


def witnessed(draft: Draft, row: WitnessRow) -> Draft:
    """Return a draft with the pools of a witness."""
    place, instances = list(PLACES)[row["place"]], max(row["instances"], 2)
    more = share(row["gain"])
    reason = f"{instances:,} instances by {place}: {more} more of consecutive frees share it than by chance"
    return replace(draft, witness=Witness(place, instances, pools_for(instances)), reason=reason)


def fewer_pools(drafts: Sequence[Draft], factor: int) -> list[Draft]:
    """Return the same with fewer pools of instances, which share them then."""
    return [
        replace(one, witness=replace(one.witness, pools=max(one.witness.pools // factor, 2)))
        if one.witness
        else one
        for one in drafts
    ]
