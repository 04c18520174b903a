"""What any set of objects does: sizes, lifetimes, temporaries, how objects are freed, reallocations, threads.

    objects with their groups --SQL--> Behaviour of each group <-- figures of the second pass

An object that a reallocation ended has ended: its lifetime counts. But it is no temporary: its block lives
on, as another object.
"""

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mallard import _native
from mallard.analysis.groups import Grouping
from mallard.analysis.model import Behaviour, FreeOrder, Reallocations, Spread, Temporaries, ThreadCount
from mallard.analysis.store import Columns, Store

# Not 16 and 17, the reallocations among the kinds of events (mallard/journal/event.hpp).
FREED = "free IS NOT NULL AND free_kind NOT IN (16, 17)"

# Of each group, the threads with most objects.
MOST_THREADS = 32

# 1: in place, 2: moved (enum origin in src/profile/object.hpp)
SUMS = """
    SELECT grp,
        count(*) AS allocations,
        sum(size) AS bytes,
        coalesce(sum(size) FILTER (allocation <= $peak AND (free IS NULL OR free > $peak)), 0) AS peak_bytes,
        count(*) FILTER (allocation <= $peak AND (free IS NULL OR free > $peak)) AS peak_objects,
        coalesce(sum(size) FILTER (free IS NULL), 0) AS leaked_bytes,
        count(*) FILTER ({freed} AND between = 0) AS last,
        count(*) FILTER ({freed} AND between <= $few) AS few,
        count(*) FILTER ({freed} AND free_time - allocation_time < $short) AS short,
        count(*) FILTER (origin = 1) AS in_place,
        count(*) FILTER (origin = 2) AS moved,
        count(*) FILTER (free_thread <> thread) AS foreign_frees
    FROM {objects} GROUP BY grp
"""


def behaviours(
    store: Store, grouping: Grouping, figures: Columns, few_limit: int, short_ns: int
) -> list[Behaviour | None]:
    """Return the behaviour of each group, None where it has no object; `figures` are of the second pass."""
    found: list[Behaviour | None] = [None] * grouping.groups
    with grouping.objects(store) as objects:
        sums = named_rows(
            store,
            SUMS.format(objects=objects, freed=FREED),
            {"peak": store.totals["peak_event"], "few": few_limit, "short": short_ns},
        )
        sizes, lifetimes_in_events, lifetimes_in_ns = (
            spreads(store, objects, figure, grouping.groups)
            for figure in ("size", "free - allocation", "free_time - allocation_time")
        )
        classes = histograms(store, objects)
        allocating = thread_counts(store, objects, "thread", "true")
        freeing = thread_counts(store, objects, "free_thread", "free IS NOT NULL")
        chains = longest_chains(store, objects, grouping.groups)
    for row in sums:
        group = row["grp"]
        size = sizes[group]
        assert size is not None
        found[group] = Behaviour(
            allocations=row["allocations"],
            bytes=int(row["bytes"]),
            max_live_bytes=int(figures["max_live_bytes"][group]),
            max_live_objects=int(figures["max_live_objects"][group]),
            live_at_peak_bytes=int(row["peak_bytes"]),
            live_at_peak_objects=row["peak_objects"],
            leaked_bytes=int(row["leaked_bytes"]),
            sizes=size,
            size_histogram=classes[group],
            lifetime_events=lifetimes_in_events[group],
            lifetime_ns=lifetimes_in_ns[group],
            temporaries=Temporaries(row["last"], row["few"], row["short"]),
            free_order=free_order_of(figures, group),
            reallocations=Reallocations(row["in_place"], row["moved"], chains[group]),
            allocating_threads=allocating[group],
            freeing_threads=freeing[group],
            foreign_frees=row["foreign_frees"],
        )
    return found


def free_order_of(figures: Columns, group: int) -> FreeOrder:
    """Take from the second pass how a group's objects were freed."""
    return FreeOrder(
        one_by_one=int(figures["one_by_one"][group]),
        lifo=int(figures["lifo"][group]),
        together=int(figures["together"][group]),
        reallocated=int(figures["reallocated"][group]),
        never=int(figures["never"][group]),
    )


def named_rows(store: Store, query: str, parameters: dict[str, object]) -> list[dict[str, Any]]:
    """Return the rows of a query as dicts."""
    result = store.sql.execute(query, parameters)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def histograms(store: Store, objects: str) -> dict[int, dict[int, int]]:
    """Return for each group its objects by the largest size of their class, smallest first."""
    largest = _native.largest_of_size_classes()
    found: dict[int, dict[int, int]] = defaultdict(dict)
    query = f"SELECT grp, size_class, count(*) FROM {objects} GROUP BY grp, size_class ORDER BY size_class"
    for group, size_class, count in store.rows(query):
        found[group][largest[size_class]] = count
    return found


def thread_counts(store: Store, objects: str, thread: str, which: str) -> dict[int, list[ThreadCount]]:
    """Return for each group how many objects each thread has, most first; at most MOST_THREADS."""
    found: dict[int, list[ThreadCount]] = defaultdict(list)
    query = f"""SELECT grp, {thread}, count(*) AS n FROM {objects} WHERE {which} GROUP BY grp, {thread}
        QUALIFY row_number() OVER (PARTITION BY grp ORDER BY n DESC, {thread}) <= {MOST_THREADS}
        ORDER BY n DESC, {thread}"""
    for group, number, count in store.rows(query):
        found[group].append(ThreadCount(number, count))
    return found


# Spreads of a figure over the objects of each group:
#
#     group  2 0 0 1 ...  --sorted by group--> | 0 0 ... | 1 ... | 2 ... |  --each sorted--> Spread
#     figure 7 3 9 4 ...                       | 9 3     | 4     | 7     |
#
# Quantiles are nearest-rank: p50 is the smallest value that at least half of the objects do not exceed, so
# that each is a value that occurs. Sorting columns takes a tenth of what quantiles take in SQL, which keeps a
# list of values for each group.


def spreads(store: Store, objects: str, figure: str, groups: int) -> list[Spread | None]:
    """Return the spread of `figure`, an SQL expression, in each group; None where no object has it.

    `objects` is a table with `grp`, as Grouping.objects gives it.
    """
    columns = store.sql.execute(
        f"SELECT grp, value FROM (SELECT grp, {figure} AS value FROM {objects}) WHERE value IS NOT NULL"
    ).fetchnumpy()
    group = np.asarray(columns["grp"]).astype(np.min_scalar_type(groups))
    order = np.argsort(group, kind="stable")  # takes a few passes where numbers of groups are small
    values = np.asarray(columns["value"])[order]
    ends = np.cumsum(np.bincount(group, minlength=groups))
    return [spread(part) for part in np.split(values, ends[:-1])]


def spread(values: NDArray[Any]) -> Spread | None:
    """Return the spread of some values, which are sorted in place; None if there are none."""
    if not len(values):
        return None
    values.sort()
    p50, p90, p99 = (float(values[-(-percent * len(values) // 100) - 1]) for percent in (50, 90, 99))
    return Spread(float(values[0]), p50, p90, p99, float(values[-1]), float(values.mean()))


# Chains of reallocations, one block that is given another size again and again:
#
#     malloc 16 --realloc--> 32 --realloc--> 64 --realloc--> 128        a chain of three
#
# Each object that came from a reallocation knows the allocation of the one before it. Lengths are found by
# doubling: each round, an object adds the length of where it points to and points twice as far, so that
# the longest chain of millions takes a few rounds.


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
