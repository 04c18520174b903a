"""The five dimensions of each group of objects; docs/profile.md has the formulas.

    timed calls, CPU time --> D        size classes --> V        second pass --> L, U, C

What operations cost is estimated from those that were timed, about one in 64:

    all allocations: number x mean of the timed ones  +  all frees: the same  =  cost of the program
                      | divided among the groups, by their numbers and their sizes
                      v
    parts that sum up to it

A large block can take a hundred times as long as a small one, and a small group may have none that was
timed. So an operation of a group is taken to cost the mean of its size class over the whole program, or what
the group's own timed ones took, where those are many.

A timed call that took more than an eighth of all time that was timed (the first one of the program, which
sets up the heap, or one that lost the processor) counts only once: nothing shows that there were 63 more of
its kind.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mallard import _native
from mallard.analysis.groups import Grouping, Numbers
from mallard.analysis.model import (
    Behaviour,
    Contention,
    Density,
    Dvluc,
    Locality,
    Utilization,
    Variation,
)
from mallard.analysis.store import Columns, Store

# What a single timed call may be of all time that was timed.
LARGEST_PART = 1 / 8

# Fewer timed calls say nothing of their own.
LEAST_TIMED = 32

# A mean is taken with as many further calls that took what was expected, lest a few decide.
EXPECTED = 8

# 24 to 29: the frees among the kinds of events (mallard/journal/event.hpp).
ALLOCATIONS = "allocation_ns", "true"
FREES = "free_ns", "free_kind BETWEEN 24 AND 29"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a group's operations cost."""

    operations: int
    timed: int
    ns: float | None  # None: nothing in the program was timed


@dataclass(frozen=True, slots=True)
class Timed:
    """All operations of one kind; those that were timed as columns of equal length."""

    counts: NDArray[np.int64]  # operations by group and size class
    group: NDArray[np.int64]
    size_class: NDArray[np.int64]
    ns: NDArray[np.float64]

    @classmethod
    def read(cls, store: Store, objects: str, groups: int, duration: str, which: str) -> Self:
        """Take them from a table with `grp`, as Grouping.objects gives it."""
        counts = np.zeros((groups, len(_native.largest_of_size_classes())), np.int64)
        query = f"SELECT grp, size_class, count(*) FROM {objects} WHERE {which} GROUP BY ALL"
        for group, size_class, count in store.rows(query):
            counts[group, size_class] = count
        columns = store.sql.execute(
            f"SELECT grp, size_class, {duration} AS ns FROM {objects} WHERE {which} AND {duration} > 0 "
            "ORDER BY ALL"
        ).fetchnumpy()
        group, size_class, ns = (columns[name] for name in ("grp", "size_class", "ns"))
        return cls(counts, group.astype(np.int64), size_class.astype(np.int64), ns.astype(np.float64))

    def is_alone(self) -> NDArray[np.bool_]:
        """Return which of the timed ones count only once."""
        if len(self.ns) < LEAST_TIMED:
            return np.zeros(len(self.ns), bool)
        return self.ns > LARGEST_PART * math.fsum(self.ns)

    def mean(self) -> float | None:
        """Return the mean of those that represent others; None if none was timed."""
        usual = self.ns[~self.is_alone()]
        return math.fsum(usual) / len(usual) if len(usual) else None

    def cost(self, mean: float) -> NDArray[np.float64]:
        """Return what those of each group take; `mean` is that of all."""
        groups = len(self.counts)
        alone = self.is_alone()
        group, size_class, ns = self.group[~alone], self.size_class[~alone], self.ns[~alone]
        band = bands(np.bincount(size_class, minlength=self.counts.shape[1]))
        of_class = tempered(band[size_class], ns, np.full(band[-1] + 1, mean))[band]
        operations = self.counts.sum(axis=1)
        expected = self.counts @ of_class / np.maximum(operations, 1)
        many = np.bincount(group, minlength=groups) >= LEAST_TIMED
        of_group = np.where(many, tempered(group, ns, expected), expected)
        parts = (operations - np.bincount(self.group[alone], minlength=groups)) * of_group
        total = (operations.sum() - alone.sum()) * mean
        scaled: NDArray[np.float64] = parts * (total / parts.sum() if total else 0)
        return scaled + np.bincount(self.group[alone], self.ns[alone], groups)


def bands(timed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the band of each size class; neighbours of which few were timed are one."""
    few = timed < LEAST_TIMED
    first = np.ones(len(timed), bool)
    first[1:] = ~(few[1:] & few[:-1])
    band: NDArray[np.int64] = np.cumsum(first) - 1
    return band


def tempered(part: NDArray[np.int64], ns: NDArray[np.float64], expected: Numbers) -> Numbers:
    """Return the mean of each part, drawn to what is expected of it."""
    parts = len(expected)
    sums, numbers = np.bincount(part, ns, parts), np.bincount(part, minlength=parts)
    means: Numbers = (sums + EXPECTED * expected) / (numbers + EXPECTED)
    return means


def costs(store: Store, grouping: Grouping) -> list[Cost]:
    """Return the cost of each group's operations."""
    with grouping.objects(store) as objects:
        allocations = Timed.read(store, objects, grouping.groups, *ALLOCATIONS)
        frees = Timed.read(store, objects, grouping.groups, *FREES)
    operations = allocations.counts.sum(axis=1) + frees.counts.sum(axis=1)
    timed = np.bincount(np.concatenate([allocations.group, frees.group]), minlength=grouping.groups)
    # Where only one kind was timed, the other one is taken to cost as much.
    of_allocation, of_free = allocations.mean(), frees.mean()
    known = of_free if of_allocation is None else of_allocation
    if known is None:
        return [Cost(int(n), 0, None) for n in operations]
    ns = allocations.cost(known) + frees.cost(known if of_free is None else of_free)
    return [Cost(int(n), int(t), float(part)) for n, t, part in zip(operations, timed, ns, strict=True)]


def ns_per_operation(found: Sequence[Cost]) -> Numbers:
    """Return what the second pass needs to find contention: empty if no operation was timed."""
    if any(cost.ns is None for cost in found):
        return np.zeros(0)
    return np.array([(cost.ns or 0) / max(cost.operations, 1) for cost in found])


def busy_ns(store: Store, found: Sequence[Cost]) -> float | None:
    """Return the CPU time that densities are shares of; None where it or the cost is not known.

    The cost and the recording's share are both estimates. Where they do not fit into the CPU time together,
    it is the cost of all groups: densities sum up to one, and are no more than bounds.
    """
    cpu, recording = store.totals["cpu_ns"], store.totals["recording_ns"]
    cost = [part.ns for part in found]
    if not cpu or recording is None or recording >= cpu or None in cost:
        return None
    return max(float(cpu - recording), math.fsum(ns or 0.0 for ns in cost)) or None


def dvluc(
    cost: Cost, busy: float | None, behaviour: Behaviour, figures: Columns, tight: Locality, group: int
) -> Dvluc:
    """Put a group's five dimensions together; `figures` and `tight` are of the second pass."""
    density = None if busy is None or cost.ns is None else cost.ns / busy
    return Dvluc(
        density=Density(density, cost.ns, cost.timed, cost.operations),
        variation=variation(behaviour),
        locality=tight,
        utilization=Utilization(
            behaviour.max_live_bytes / behaviour.bytes if behaviour.bytes else 0.0,
            behaviour.max_live_bytes,
            behaviour.bytes,
        ),
        contention=Contention(
            value=None if cost.ns is None else float(figures["contention"][group]),
            overlaps=None if cost.ns is None else float(figures["overlaps"][group]),
            active_threads=int(figures["active_threads"][group]),
        ),
    )


def variation(behaviour: Behaviour) -> Variation:
    """Return V: the entropy of the size classes over that of 64 alike."""
    counts = behaviour.size_histogram.values()
    entropy = sum(n * math.log2(behaviour.allocations / n) for n in counts) / behaviour.allocations
    return Variation(entropy / 6, entropy, len(counts))


def localities(rows: Columns, groups: int) -> list[Locality]:
    """Return what the second pass's compactness says of each group."""
    found = [Locality(None, None, None, None, None)] * groups
    for group in np.unique(rows["group"]):
        mine = rows["group"] == group
        live = rows["live_bytes"][mine].astype(float)
        lines = live / np.maximum(rows["line_bytes"][mine], 1)
        pages = live / np.maximum(rows["page_bytes"][mine], 1)
        quarter = math.ceil(len(pages) / 4)
        found[int(group)] = Locality(
            value=None,
            lines=float(lines.mean()),
            pages=float(pages.mean()),
            pages_first=float(pages[:quarter].mean()),
            pages_last=float(pages[-quarter:].mean()),
        )
    return found
