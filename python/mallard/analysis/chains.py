"""Chains of reallocations: one block that is given another size again and again.

    malloc 16 --realloc--> 32 --realloc--> 64 --realloc--> 128        a chain of three

Each object that came from a reallocation knows the allocation of the one before it. Lengths are found by
doubling: each round, an object adds the length of where it points to and points twice as far, so that
the longest chain of millions takes a few rounds.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.store import Store


def chain_lengths(allocation: NDArray[Any], previous: NDArray[Any]) -> NDArray[np.int64]:
    """Return for each object that came from a reallocation how many led to it, its own among them.

    `allocation` rises; `previous` is the allocation of the object before, which may have come from none.
    """
    count = len(allocation)
    place = np.searchsorted(allocation, previous)
    known = allocation[np.minimum(place, count - 1)] == previous if count else np.zeros(0, bool)
    points_to = np.where(known, place, count)  # one more place, behind the last, is where chains begin
    points_to = np.append(points_to, count)
    length = np.append(np.ones(count, np.int64), 0)
    while (points_to < count).any():
        length += length[points_to]
        points_to = points_to[points_to]
    return length[:count]


def longest_chains(store: Store, objects: str, groups: int) -> list[int]:
    """Return the longest chain of each group: that of the last object in it that was reallocated.

    `objects` is a table with `grp`, as Grouping.objects gives it.
    """
    columns = store.sql.execute(
        f"SELECT allocation, previous, grp FROM {objects} WHERE previous IS NOT NULL ORDER BY allocation"
    ).fetchnumpy()
    longest = np.zeros(groups, np.int64)
    lengths = chain_lengths(np.asarray(columns["allocation"]), np.asarray(columns["previous"]))
    np.maximum.at(longest, np.asarray(columns["grp"]), lengths)
    return [int(length) for length in longest]
