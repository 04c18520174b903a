"""Sets of objects: each context, or each allocating thread, belongs to one of some groups.

    context 0 1 2 3 4 ...          thread 0 1 2 ...
    group   0 2 2 1 0 ...    or    group  0 1 1 ...

What is beyond the end of the array belongs to group 0, in native code and in SQL alike.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.store import Store

Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Grouping:
    """A division of all objects into groups, by their contexts or by their allocating threads."""

    key: str  # context or thread
    group_of: NDArray[np.uint32]
    groups: int

    def statistics_plan(self, costs: Numbers, moments: int, buckets: int) -> dict[str, Any]:
        """Return what StatisticsPass asks of a grouping; `costs` are ns an operation, or empty."""
        return {
            f"of_{self.key}": self.group_of,
            "groups": self.groups,
            "ns_per_operation": costs,
            "moments": moments,
            "buckets": buckets,
        }

    @contextmanager
    def objects(self, store: Store) -> Iterator[str]:
        """Give the objects of the malloc family, each with its `grp`, the name of a table in SQL."""
        keys = np.arange(len(self.group_of), dtype=np.uint32)
        store.sql.register("group_of_key", {"key": keys, "grp": self.group_of})
        yield (
            "(SELECT heap.*, coalesce(group_of_key.grp, 0) AS grp "
            f"FROM heap LEFT JOIN group_of_key ON heap.{self.key} = group_of_key.key)"
        )
        store.sql.unregister("group_of_key")


def everything() -> Grouping:
    """Put all objects into one group."""
    return Grouping("thread", np.zeros(1, np.uint32), 1)
