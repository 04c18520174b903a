"""The largest sites: calling contexts, and what each allocates.

A site is as large as it has of all: the mean of its shares of allocations and of bytes; or of one metric.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from mallard.analysis.call_tree import METRICS
from mallard.analysis.groups import Grouping
from mallard.analysis.model import Behaviour, Site
from mallard.analysis.store import Reading, Store
from mallard.analysis.symbols import Symbols


@dataclass(frozen=True, slots=True)
class Sites:
    """Some contexts, each a group of its own from 1 on; group 0 is all others."""

    contexts: list[int]
    total: int  # of all that allocate
    grouping: Grouping

    @classmethod
    def largest(cls, reading: Reading, most: int, metric: str | None = None) -> Self:
        """Take at most so many: those that have most of a call tree's metric, or of all."""
        allocations, size = reading.by_context("allocations"), reading.by_context("bytes")
        if metric is None:
            weight = allocations / reading.totals["allocations"] + size / max(reading.totals["bytes"], 1)
        else:
            weight = reading.by_context(METRICS[metric]).astype(np.float64)
        order = np.argsort(-weight, kind="stable")
        contexts: list[int] = order[allocations[order] > 0].tolist()
        group_of = np.zeros(len(reading.contexts["parent"]), np.uint32)
        shown = contexts[:most]
        group_of[shown] = np.arange(1, len(shown) + 1)
        return cls(shown, len(contexts), Grouping("context", group_of, len(shown) + 1))


def site_list(
    store: Store,
    symbols: Symbols,
    sites: Sites,
    found: Sequence[Behaviour | None],
    division: Grouping,
    order: Sequence[int],
) -> list[Site]:
    """Put the sites together; `order` are the division's groups as they are listed."""
    place = {group: rank for rank, group in enumerate(order)}
    with division.objects(store) as objects:
        query = f"SELECT context, grp FROM {objects} GROUP BY context, grp ORDER BY count(*), grp DESC"
        group_of = dict(store.rows(query))  # of several threads the one that allocates most
    return [
        Site(
            context=context,
            name=symbols.site_name(context),
            stack=symbols.frames(context),
            subsystem=place[group_of[context]],
            behaviour=behaviour,
            frame=symbols.site_frame(context),
        )
        for context, behaviour in zip(sites.contexts, found[1:], strict=True)
        if behaviour
    ]
