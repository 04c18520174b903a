"""Which parts of a program may have a pool of their own: sites of its subsystems, and instances of owners.

    subsystem "parse"     site: read_list > vector::push_back      45 % of the blocks   --> a candidate
                          site: read_text > string::append         12 %                 --> a candidate
                          27 others                                 1 %                 --> one together
    rest of the program   sites that matter are candidates; the others stay with the default heap
    site: temporary_text  30 %, of which 200 bytes are alive at a time             --> the default heap

A site is the innermost call that is no wrapper's. Only blocks of at most 1 KiB and natural alignment count:
others are not routed. Where no site that matters has a page alive, all that matter are candidates.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np

from mallard import MallardError, _native
from mallard.analysis.function_names import own_name, short_name
from mallard.analysis.partition import Limits
from mallard.analysis.progress import Progress
from mallard.analysis.store import Store
from mallard.analysis.subsystems import divide, unlike
from mallard.analysis.symbols import Symbols
from mallard.figures import share, shown, size
from mallard.plan.plan_model import LARGEST, MOST_INSTANCES, STRATEGIES, WORDS, Witness, pools_for
from mallard.plan.scopes import Until
from mallard.plan.stacks_of_plan import Stacks

NATURAL = 16  # bytes of alignment that every block has
LEAST_SHARE = 0.005  # of what can be routed, that a pool of its own is worth: the mean of blocks and bytes
LEAST_ALIVE = 4096  # bytes, the mean while it is in use: what fits into a page needs no pool to lie together
MOST = 64
TAKEN_FOR_OTHERS = 0.002  # of a site's blocks in a subsystem, above which it is no candidate of its own
CLEAR_GAIN = 0.2  # of a witness, which is enough; or
TOLD = 0.5  # of the blocks are of owners that have freed more in a row than chance would, and
MORE_OFTEN = 4  # times as often as chance and order make it, consecutive frees are of one owner
SAME_OWNERS = 0.75  # of the owners that two code paths have, if they are to share pools

Site: TypeAlias = tuple[int, int, int]  # its subsystem, and the place and the function of its node
CodePath: TypeAlias = tuple[int, ...]  # a candidate, and the calls between malloc and its site


@dataclass(frozen=True, slots=True)
class Told:
    """Where the instances of a code path are told apart."""

    place: str  # one of PLACES
    instances: int  # estimated
    gain: float
    owners: frozenset[int]  # a sample, which is the same where owners are

    def has_owners_of(self, other: "Told") -> bool:
        """Tell whether both are of the same owners."""
        least = heapq.nsmallest(max(len(self.owners), len(other.owners)), self.owners | other.owners)
        both = self.owners & other.owners
        return sum(one in both for one in least) >= SAME_OWNERS * len(least)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A site of a subsystem, or what is left of the subsystem."""

    name: str
    subsystem: str
    contexts: tuple[int, ...]  # the one that allocates most first


@dataclass(frozen=True, slots=True)
class Part:
    """A rule before its contexts are named."""

    name: str
    contexts: tuple[int, ...]
    reason: str
    witness: Witness | None = None
    strategy: str = "pool"
    until: Until | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A pool, or the pools of instances, and the parts that share them.

    All have a witness, or none has; and all have heaps of one kind.
    """

    name: str
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, part: Part) -> Self:
        """Return a draft of one part."""
        return cls(part.name, (part,))

    @property
    def contexts(self) -> list[int]:
        """Return the contexts of all parts."""
        return [context for part in self.parts for context in part.contexts]

    @property
    def kind(self) -> int:
        """Return the number of its strategy in an image."""
        return STRATEGIES[self.parts[0].strategy]

    @property
    def has_instances(self) -> bool:
        """Tell whether it is the pools of instances."""
        return self.parts[0].witness is not None

    @property
    def used(self) -> int:
        """Return how many pools have blocks."""
        return max((part.witness.used for part in self.parts if part.witness), default=1)

    def with_(self, other: "Draft") -> "Draft":
        """Return both as one; where only one has instances, they are no longer told apart."""
        parts = (*self.parts, *other.parts)
        if self.has_instances and other.has_instances:
            most = max(self.pools, other.pools)
            parts = tuple(replace(one, witness=with_pools(one.witness, most)) for one in parts)
        else:
            parts = tuple(replace(one, witness=None) for one in parts)
        return Draft(f"{parts[0].name} and {len(parts) - 1} more", parts)

    def without_instances(self) -> "Draft":
        """Return the same with one pool for all instances."""
        return replace(self, parts=tuple(replace(one, witness=None) for one in self.parts))

    def with_fewer_pools(self, factor: int) -> "Draft":
        """Return the same with fewer pools of instances, which share them then."""
        return self.with_pools(max(self.pools // factor, 2))

    def with_pools(self, pools: int) -> "Draft":
        """Return the same with that many pools of instances."""
        parts = (replace(one, witness=with_pools(one.witness, pools)) for one in self.parts)
        return replace(self, parts=tuple(parts))

    @property
    def pools(self) -> int:
        """Return how many pools there are, most of them empty if instances have each one of their own."""
        return max((part.witness.pools for part in self.parts if part.witness), default=1)


def with_pools(witness: Witness | None, pools: int) -> Witness | None:
    """Return a witness with that many pools."""
    return replace(witness, pools=pools) if witness else None


class Candidates:
    """What of one journal may have pools."""

    def __init__(self, store: Store, symbols: Symbols) -> None:
        """Count what can be routed, and divide the program."""
        self.store, self.symbols, self.stacks = store, symbols, Stacks(store)
        count = len(store.contexts["parent"])
        self.blocks, self.bytes = np.zeros(count), np.zeros(count)  # that can be routed, by context
        # Bytes times the events that they live for; the first and the last event at which any is alive.
        self.space_time, self.first, self.last = (np.zeros(count) for _ in range(3))
        end = f"coalesce(free, {store.totals['event_numbers']})"
        query = (
            f"SELECT context, count(*), sum(size)::UBIGINT, sum(size::DOUBLE * ({end} - allocation)), "
            f"min(allocation), max({end}) FROM heap "
            f"WHERE size <= {LARGEST} AND alignment <= {NATURAL} GROUP BY context"
        )
        for context, *figures in store.rows(query):
            for column, value in zip(
                (self.blocks, self.bytes, self.space_time, self.first, self.last), figures, strict=True
            ):
                column[context] = value
        asking = np.flatnonzero(self.blocks[1:]) + 1
        self.routable = [context for context in asking.tolist() if self.stacks.is_known(context)]
        self.division = divide(store, symbols, "subtree", Limits())
        self.remarks: list[str] = []
        self.all = self.find() if self.routable else []

    def find(self) -> list[Candidate]:
        """Return the candidates among sites that hold at least a page; where there are none, among all."""
        tree, owner = self.symbols.tree, self.division.grouping.group_of
        by_site: defaultdict[Site, list[int]] = defaultdict(list)
        for context in self.routable:
            node = int(self.symbols.site_nodes[context])
            part = int(owner[context]) if context < len(owner) else 0
            by_site[part, int(tree.place[node]), int(tree.function[node])].append(context)
        sites = self.told_apart(by_site)
        kept = {site: contexts for site, contexts in sites.items() if self.alive(contexts) >= LEAST_ALIVE}
        if found := self.worth_a_pool(kept):
            return found
        self.remarks.append(
            f"no caller with {share(LEAST_SHARE)} of the small blocks keeps {size(LEAST_ALIVE)} alive: "
            "pools have little to put together"
        )
        return self.worth_a_pool(sites)

    def told_apart(self, by_site: Mapping[Site, list[int]]) -> dict[Site, list[int]]:
        """Put together what a site has in several subsystems, where a plan does not tell these apart.

        Functions that call each other can fill all the frames that a plan looks at, in each of them.
        """
        of_function: defaultdict[tuple[int, int], list[Site]] = defaultdict(list)
        for site in by_site:
            of_function[site[1:]].append(site)
        found: dict[Site, list[int]] = {}
        for same in of_function.values():
            if len(same) == 1:
                found[same[0]] = by_site[same[0]]
                continue
            seen = self.stacks.seen([by_site[site] for site in same])
            kept: dict[Site, Counter[int]] = {}  # their blocks, by what a plan sees of their stacks
            for site in sorted(same, key=lambda site: -self.blocks[by_site[site]].sum()):
                found[site], kept[site] = by_site[site], Counter[int]()
                for context in by_site[site]:
                    kept[site][seen[context]] += int(self.blocks[context])
                most = TAKEN_FOR_OTHERS * kept[site].total()
                alike = [one for one in kept if one == site or (kept[one] & kept[site]).total() > most]
                largest, *others = sorted(alike, key=lambda one: -kept[one].total())
                for other in others:
                    kept[largest] += kept.pop(other)
                    found[largest] = found[largest] + found.pop(other)
        return found

    def worth_a_pool(self, sites: Mapping[Site, list[int]]) -> list[Candidate]:
        """Return the candidates, the largest first; what is left of subsystems comes behind."""
        order = sorted(sites.items(), key=lambda site: -self.worth(site[1]))
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

    def alive(self, contexts: Sequence[int]) -> float:
        """Return how many bytes of contexts are alive, the mean from their first event to the last."""
        chosen = list(contexts)
        span = self.last[chosen].max(initial=0) - self.first[chosen].min(initial=np.inf)
        return float(self.space_time[chosen].sum() / max(span, 1))

    def is_routable(self, context: int) -> bool:
        """Tell whether a context has small blocks, and a caller that a plan can name."""
        return bool(self.blocks[context]) and self.stacks.is_known(context)

    def own_pools(self) -> list[Draft]:
        """Return a pool for each candidate."""
        return [Draft.of(self.part(one.name, one, one.contexts)) for one in self.all]

    def part(self, name: str, candidate: Candidate, contexts: Sequence[int]) -> Part:
        """Return some contexts of a candidate, without a witness."""
        reason = f"{share(self.worth(contexts))} of the small blocks, in {candidate.subsystem}"
        return Part(name, tuple(contexts), reason)

    def instance_pools(self, found: dict[CodePath, Told]) -> list[Draft]:
        """Return pools of instances where there is a witness, else a pool for each candidate.

        Code paths with the same owners share their pools: an owner's blocks lie together, whatever they are.
        """
        drafts: list[Draft] = []
        owned: list[tuple[Told, Draft]] = []
        for number, candidate in enumerate(self.all):
            by_place: defaultdict[str, list[int]] = defaultdict(list)
            best: dict[str, Told] = {}
            for context in candidate.contexts:
                if row := found.get(self.code_path(number, context)):
                    by_place[row.place].append(context)
                    best[row.place] = max(row, best.get(row.place, row), key=lambda one: one.instances)
            told = {place: some for place, some in by_place.items() if self.worth(some) >= LEAST_SHARE}
            others = set(candidate.contexts).difference(*told.values())
            for place, contexts in told.items():
                own = f" by {place}" if others or len(told) > 1 else ""
                part = self.part(candidate.name + own, candidate, contexts)
                draft = Draft.of(witnessed(part, best[place]))
                same = (at for at, (one, _) in enumerate(owned) if one.has_owners_of(best[place]))
                if (at := next(same, None)) is None:
                    owned.append((best[place], draft))
                else:
                    owned[at] = (owned[at][0], owned[at][1].with_(draft))
            if others:
                drafts.append(Draft.of(self.part(candidate.name, candidate, self.most_first(list(others)))))
        return [*(draft for _, draft in owned), *drafts]

    def witnesses(self, progress: Progress) -> tuple[dict[CodePath, Told], str]:
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
        try:
            snapshots, found = _native.owner_places(self.store.path, group_of, progress)
        except _native.JournalError as error:
            raise MallardError(f"cannot read {self.store.path} again: {error}") from error
        journal = shown(self.store.path)
        if not snapshots:
            return (
                {},
                f"{journal} has nothing that tells instances apart: `mallard record --witness` keeps it",
            )
        paths, told = list(number_of), dict[CodePath, Told]()
        groups, first = np.unique(found["group"], return_index=True)  # the first of each is the best
        for group, row in zip(groups.tolist(), first.tolist(), strict=True):
            of = {name: column[row].item() for name, column in found.items() if column.ndim == 1}
            otherwise = max(of["chance"], of["in_order"])
            is_told = of["told"] >= TOLD and of["together"] >= MORE_OFTEN * otherwise
            if of["gain"] >= CLEAR_GAIN or is_told:
                sample = frozenset(found["sketch"][row].tolist())
                instances = min(of["owners"], MOST_INSTANCES)
                told[paths[group - 1]] = Told(WORDS[of["place"]], instances, of["gain"], sample)
        if not told:
            return {}, f"no word at the calls in {journal} explains in which order blocks are freed"
        return told, ""

    def code_path(self, number: int, context: int) -> CodePath:
        """Return the calls between malloc and the site of a context of that candidate."""
        site = np.searchsorted(self.symbols.tree.innermost, self.symbols.site_nodes[context])
        return (number, *self.stacks.inner(context, int(site)))


def witnessed(part: Part, told: Told) -> Part:
    """Return a part with the pools of a witness."""
    more = share(told.gain)
    reason = (
        f"{told.instances:,} instances by {told.place}: "
        f"{more} more of consecutive frees share it than by chance"
    )
    witness = Witness(told.place, told.instances, pools_for(told.instances))
    return replace(part, witness=witness, reason=reason)
