"""What a group's operations cost, estimated from those that were timed, about one in 64.

    births: number x mean of the timed ones  +  frees: the same  =  cost

A timed call that took more than an eighth of all time that was timed (the first one of the program, which
sets up the heap, or one that lost the processor) stands for itself alone: nobody knows that there were 63
more of its kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.groups import Grouping, Numbers
from mallard.analysis.store import Store

# With fewer timed operations of its own, a group is taken to cost what the whole program does.
LEAST_TIMED = 32

# What a single timed call may be of all time that was timed.
LARGEST_PART = 1 / 8

# 24 to 29: the frees among the kinds of events (mallard/journal/event.hpp).
BIRTHS = "true"
FREES = "death_kind BETWEEN 24 AND 29"


@dataclass(frozen=True, slots=True)
class Timed:
    """Operations of one kind, and what those took that were timed."""

    count: int
    ns: NDArray[np.float64]  # rising

    def mean(self) -> float | None:
        """Return what one takes that stands for others; None if none was timed."""
        return float(self.usual().mean()) if len(self.ns) else None

    def usual(self) -> NDArray[np.float64]:
        """Return what those took that stand for others."""
        if len(self.ns) < LEAST_TIMED:
            return self.ns
        few = int(np.searchsorted(self.ns, LARGEST_PART * float(self.ns.sum()), side="right"))
        return self.ns[:few]

    def cost(self, otherwise: float | None) -> float | None:
        """Return what all take; `otherwise` is the mean where too few were timed."""
        if len(self.ns) < LEAST_TIMED:
            return 0.0 if self.count == 0 else None if otherwise is None else self.count * otherwise
        usual = self.usual()
        alone = self.ns[len(usual) :]
        return (self.count - len(alone)) * float(usual.mean()) + float(alone.sum())


@dataclass(frozen=True, slots=True)
class Cost:
    """What a group's operations cost."""

    operations: int
    timed: int
    ns: float | None  # None: nothing in the program was timed


def costs(store: Store, grouping: Grouping) -> list[Cost]:
    """Return the cost of each group's operations."""
    with grouping.objects(store) as objects:
        births = timed(store, objects, grouping.groups, "birth_ns", BIRTHS)
        frees = timed(store, objects, grouping.groups, "death_ns", FREES)
    of_birth, of_free = mean_of_all(births), mean_of_all(frees)
    found = []
    for birth, free in zip(births, frees, strict=True):
        parts = birth.cost(of_birth), free.cost(of_free)
        ns = None if parts[0] is None or parts[1] is None else parts[0] + parts[1]
        found.append(Cost(birth.count + free.count, len(birth.ns) + len(free.ns), ns))
    return found


def timed(store: Store, objects: str, groups: int, duration: str, which: str) -> list[Timed]:
    """Return the operations of each group; `objects` is a table with `grp`, as Grouping.objects gives it."""
    counts = dict(store.rows(f"SELECT grp, count(*) FROM {objects} WHERE {which} GROUP BY grp"))
    columns = store.sql.execute(
        f"SELECT grp, {duration} AS ns FROM {objects} WHERE {which} AND {duration} > 0 ORDER BY grp, ns"
    ).fetchnumpy()
    ends = np.searchsorted(columns["grp"], np.arange(groups), side="right")
    parts = np.split(np.asarray(columns["ns"], np.float64), ends[:-1])
    return [Timed(counts.get(group, 0), part) for group, part in enumerate(parts)]


def mean_of_all(parts: Sequence[Timed]) -> float | None:
    """Return the mean of what all groups timed, however few."""
    return Timed(0, np.sort(np.concatenate([part.ns for part in parts]))).mean()


def ns_per_operation(found: Sequence[Cost]) -> Numbers:
    """Return what the census needs to find contention: empty if no operation was timed."""
    if any(cost.ns is None for cost in found):
        return np.zeros(0)
    return np.array([(cost.ns or 0) / max(cost.operations, 1) for cost in found])


def busy_ns(store: Store, found: Sequence[Cost]) -> float | None:
    """Return the CPU time that densities are shares of; None where it or the cost is not known.

    The cost and the recording's share are both estimates. Where they do not fit into the CPU time together,
    it is the cost of all groups, so that their densities sum up to one.
    """
    cpu, recording = store.totals["cpu_ns"], store.totals["recording_ns"]
    cost = [part.ns for part in found]
    if not cpu or recording is None or None in cost:
        return None
    return max(float(cpu - recording), sum(ns or 0.0 for ns in cost)) or None
