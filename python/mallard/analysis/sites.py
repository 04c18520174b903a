"""The largest sites: calling contexts, and what each allocates.

A site is as large as it has of all: the mean of its shares of allocations and of bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from mallard.analysis.groups import Grouping
from mallard.analysis.model import Behaviour, Site
from mallard.analysis.store import Store
from mallard.analysis.symbols import Symbols

LARGEST = """
    SELECT context FROM heap GROUP BY context
    ORDER BY count(*) / $allocations::DOUBLE + sum(size) / greatest($bytes, 1)::DOUBLE DESC, context
"""


@dataclass(frozen=True, slots=True)
class Sites:
    """Some contexts, each a group of its own from 1 on; group 0 is all others."""

    contexts: list[int]
    total: int  # of all that allocate
    grouping: Grouping

    @classmethod
    def largest(cls, store: Store, most: int) -> Self:
        """Take at most so many."""
        known = {"allocations": store.totals["allocations"], "bytes": store.totals["bytes"]}
        contexts = [context for (context,) in store.sql.execute(LARGEST, known).fetchall()]
        group_of = np.zeros(len(store.contexts["parent"]), np.uint32)
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
