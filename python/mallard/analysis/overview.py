"""What belongs to the whole program: totals, threads, timeline, maps of sizes, lifetimes and threads, sites.

A site is as large as it has of all: the mean of its shares of allocations and of bytes; or of one metric.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mallard import _native
from mallard.analysis.call_tree import METRICS
from mallard.analysis.groups import Grouping
from mallard.analysis.model import Behaviour, HeatMap, Regions, Site, Thread, ThreadMatrix, Timeline, Totals
from mallard.analysis.store import Reading, Store
from mallard.analysis.symbols import Symbols

# The last column is that of objects never freed; column n holds lifetimes up to 2^n ns.
SIZES_AND_LIFETIMES = """
    SELECT size_class,
        CASE WHEN free IS NULL THEN -1
            ELSE ceil(log2(greatest(free_time - allocation_time, 1)))::INTEGER END AS lifetime,
        count(*) AS objects, sum(size) AS bytes
    FROM heap GROUP BY ALL ORDER BY ALL
"""

# Threads that have a row and a column of their own.
MOST_THREADS = 32

THREADS = "SELECT thread, free_thread, count(*) FROM heap GROUP BY ALL ORDER BY ALL"

# 42: region_free (mallard/journal/event.hpp)
IN_REGIONS = """
    SELECT count(*) FILTER (free_kind = 42), count(*) FILTER (free IS NOT NULL AND free_kind <> 42)
    FROM objects WHERE region > 0
"""


def totals(store: Store) -> Totals:
    """Return the figures of the whole program."""
    known = store.totals
    return Totals(
        events=known["events"],
        events_by_kind=known["events_by_kind"],
        duration_ns=known["end_time"],
        cpu_ns=known["cpu_ns"] or None,
        recording_ns=known["recording_ns"] or None,
        allocations=known["allocations"],
        bytes=known["bytes"],
        peak_live_bytes=known["peak_live_bytes"],
        peak_live_objects=known["peak_live_objects"],
        peak_event=known["peak_event"],
        peak_ns=known["peak_time"],
        end_live_bytes=known["end_live_bytes"],
        end_live_objects=known["end_live_objects"],
        unmatched_frees=known["unmatched_frees"],
        inversions=known["inversions"],
        failed=known["failed"],
        contexts=max(len(store.contexts["parent"]) - 1, 0),
    )


def threads(store: Store) -> list[Thread]:
    """Return the threads of the program, including those of which only the events are known."""
    known = [
        Thread(row["name"], row["system_id"], row["start_ns"], row["end_ns"] or None) for row in store.threads
    ]
    ((last,),) = store.rows("SELECT greatest(max(thread), max(free_thread)) FROM heap")
    return known + [Thread("", 0, 0, None)] * (last + 1 - len(known))


def timeline(store: Store) -> Timeline:
    """Return the program's live and held memory over time."""
    over_time = store.totals["over_time"]
    return Timeline(
        bucket_ns=int(over_time["bucket_ns"]),
        live_bytes=numbers(over_time["live_bytes"]),
        live_objects=numbers(over_time["live_objects"]),
        held_bytes=numbers(over_time["held_bytes"]),
        allocations=numbers(over_time["allocations"]),
    )


def numbers(column: NDArray[Any]) -> list[int]:
    """Return a column as plain numbers."""
    return [int(value) for value in column]


def heat_map(store: Store) -> HeatMap:
    """Return objects and bytes by size class and lifetime, from the least to the most that occurs."""
    largest = _native.largest_of_size_classes()
    rows = store.rows(SIZES_AND_LIFETIMES)
    sizes = [*range(rows[0][0], rows[-1][0] + 1)]
    ended = [row[1] for row in rows if row[1] >= 0]
    columns = [*range(min(ended), max(ended) + 1), -1] if ended else [-1]
    objects = np.zeros((len(sizes), len(columns)), np.int64)
    size = np.zeros_like(objects)
    for size_class, lifetime, count, total in rows:
        place = size_class - sizes[0], columns.index(lifetime)
        objects[place], size[place] = count, total
    return HeatMap(
        sizes=[largest[size_class] for size_class in sizes],
        lifetimes_ns=[2**column if column >= 0 else 0 for column in columns],
        objects=objects.tolist(),
        bytes=size.tolist(),
    )


def thread_matrix(store: Store, count: int) -> ThreadMatrix:
    """Return objects by the threads that allocated and freed them; there are `count` threads."""
    rows = store.rows(THREADS)
    weight: Counter[int] = Counter()
    for allocation, free, objects in rows:
        weight[allocation] += objects
        if free is not None:
            weight[free] += objects
    largest = sorted(range(count), key=lambda thread: (-weight[thread], thread))[:MOST_THREADS]
    place = {thread: row for row, thread in enumerate(sorted(largest))}
    size = min(count, MOST_THREADS + 1)
    matrix = np.zeros((size, size + 1), np.int64)
    for allocation, free, objects in rows:
        column = size if free is None else place.get(free, MOST_THREADS)
        matrix[place.get(allocation, MOST_THREADS), column] += objects
    return ThreadMatrix(list(place), matrix.tolist(), len({row[0] for row in rows}))


def regions(store: Store) -> Regions | None:
    """Return what the program's own regions did; None if it has none."""
    known = store.totals["regions"]
    instances = len(known["objects"])
    if instances == 0:
        return None
    one_by_one, cleared = store.rows(IN_REGIONS)[0]
    return Regions(
        instances=instances,
        objects=int(known["objects"].sum()),
        bytes=int(known["bytes"].sum()),
        freed_one_by_one=one_by_one,
        cleared=cleared,
        max_live_bytes=int(known["max_live_bytes"].max()),
    )


@dataclass(frozen=True, slots=True)
class Sites:
    """Some contexts, each a group of its own from 1 on; group 0 is all others."""

    contexts: list[int]
    total: int  # of all that allocate
    grouping: Grouping

    @classmethod
    def largest(cls, reading: Reading, most: int, metric: str | None = None) -> Self:
        """Take the `most` largest: by a metric of the call tree, or by size."""
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
