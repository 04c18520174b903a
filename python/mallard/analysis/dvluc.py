"""The five dimensions of each group of objects; docs/profile.md has the formulas.

timed calls, CPU time --> D        size classes --> V        the census --> L, U, C
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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

# With fewer timed operations of its own, a group is taken to cost what the whole program does.
LEAST_TIMED = 32

# 24 to 29: the frees among the kinds of events (mallard/journal/event.hpp). Sums are of whole picoseconds,
# so that they do not depend on the order of rows.
TIMED = """
    SELECT grp,
        count(*),
        count(*) FILTER (birth_ns > 0),
        coalesce(sum((birth_ns * 1000)::BIGINT), 0)::DOUBLE / 1000,
        count(*) FILTER (death_kind BETWEEN 24 AND 29),
        count(*) FILTER (death_kind BETWEEN 24 AND 29 AND death_ns > 0),
        coalesce(sum((death_ns * 1000)::BIGINT) FILTER (death_kind BETWEEN 24 AND 29), 0)::DOUBLE / 1000
    FROM {objects} GROUP BY grp ORDER BY grp
"""


@dataclass(frozen=True, slots=True)
class Timed:
    """Operations of one kind, and what those took that were timed."""

    count: int = 0
    timed: int = 0
    ns: float = 0.0

    def mean(self, otherwise: float | None) -> float | None:
        """Return what one takes; `otherwise` where too few were timed."""
        return self.ns / self.timed if self.timed >= LEAST_TIMED else otherwise

    def __add__(self, other: "Timed") -> "Timed":
        """Take both together."""
        return Timed(self.count + other.count, self.timed + other.timed, self.ns + other.ns)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a group's operations cost."""

    operations: int
    timed: int
    ns: float | None  # None: nothing in the program was timed


def costs(store: Store, grouping: Grouping) -> list[Cost]:
    """Return the cost of each group's operations, estimated from the timed ones."""
    births = [Timed()] * grouping.groups
    frees = [Timed()] * grouping.groups
    with grouping.objects(store) as objects:
        for group, *figures in store.rows(TIMED.format(objects=objects)):
            births[group], frees[group] = Timed(*figures[:3]), Timed(*figures[3:])
    of_birth, of_free = mean_of_all(births), mean_of_all(frees)
    return [
        Cost(
            operations=birth.count + free.count,
            timed=birth.timed + free.timed,
            ns=cost_of(birth, of_birth, free, of_free),
        )
        for birth, free in zip(births, frees, strict=True)
    ]


def mean_of_all(parts: Sequence[Timed]) -> float | None:
    """Return the mean of what all groups timed, however few."""
    whole = sum(parts, Timed())
    return whole.ns / whole.timed if whole.timed else None


def cost_of(birth: Timed, of_birth: float | None, free: Timed, of_free: float | None) -> float | None:
    """Return what births and frees cost together; None if what one of them takes is unknown."""
    total = 0.0
    for kind, otherwise in ((birth, of_birth), (free, of_free)):
        if kind.count:
            mean = kind.mean(otherwise)
            if mean is None:
                return None
            total += kind.count * mean
    return total


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


def dvluc(
    cost: Cost, busy: float | None, behaviour: Behaviour, figures: Columns, tight: Locality, group: int
) -> Dvluc:
    """Put a group's five dimensions together; `figures` and `tight` are the census's."""
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
    """Return what the census's compactness says of each group."""
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
