"""The five dimensions of each group of objects; docs/profile.md has the formulas.

timed calls, CPU time --> D        size classes --> V        second pass --> L, U, C
"""

import math

import numpy as np

from mallard.analysis.costs import Cost
from mallard.analysis.model import (
    Behaviour,
    Contention,
    Density,
    Dvluc,
    Locality,
    Utilization,
    Variation,
)
from mallard.analysis.store import Columns


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
