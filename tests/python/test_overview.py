"""What is reported of the whole program, and its largest sites, counted by hand."""

import numpy as np
from made_store import Calls, Made, Names, make_store

from mallard.analysis import overview
from mallard.analysis.behaviour import behaviours
from mallard.analysis.groups import Grouping
from mallard.analysis.model import Regions, Site, Thread, ThreadMatrix
from mallard.analysis.overview import Sites, site_list
from mallard.analysis.store import Store


def test_heat_map_counts_by_size_and_lifetime() -> None:
    objects = [
        Made(0, 1, size=8),  # 10 ns
        Made(2, 3, size=5),  # 10 ns
        Made(4, 7, size=100),  # 30 ns
        Made(8, None, size=100),
    ]
    found = overview.heat_map(make_store(objects))
    assert (found.sizes[0], found.sizes[-1]) == (8, 112)
    assert found.sizes == [8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112], "without gaps"
    assert found.lifetimes_ns == [16, 32, 0], "powers of two, and at last what lives on"
    assert (found.objects[0], found.objects[-1]) == ([2, 0, 0], [0, 1, 1])
    assert (found.bytes[0], found.bytes[-1]) == ([13, 0, 0], [0, 100, 100])
    assert sum(map(sum, found.objects[1:-1])) == 0


def test_heat_map_has_no_gaps_between_lifetimes() -> None:
    found = overview.heat_map(make_store([Made(0, 1), Made(2, 102)]))
    assert found.lifetimes_ns == [16, 32, 64, 128, 256, 512, 1024, 0]


def test_lifetimes_of_a_power_of_two_belong_to_it() -> None:
    store = make_store([Made(0, 1)])
    store.sql.execute("UPDATE objects SET free_time = allocation_time + 16")
    assert overview.heat_map(store).lifetimes_ns == [16, 0]
    store.sql.execute("UPDATE objects SET free_time = allocation_time")
    assert overview.heat_map(store).lifetimes_ns == [1, 0]


def test_thread_matrix_by_allocation_and_free() -> None:
    objects = [Made(0, 3, thread=1, free_thread=0), Made(1, 2, thread=1, free_thread=1), Made(4, None)]
    found = overview.thread_matrix(make_store(objects), 2)
    assert found == ThreadMatrix(threads=[0, 1], objects=[[0, 0, 1], [1, 1, 0]], allocating=2)


def test_threads_with_few_objects_share_a_row_and_a_column() -> None:
    objects = [
        Made(100 * t + n, 100 * t + n + 1, thread=t, free_thread=t)
        for t in range(34)
        for n in range(2 if t < 2 else 3)
    ]
    objects += [Made(9000, 9001, thread=0, free_thread=33), Made(9002, None, thread=1)]
    found = overview.thread_matrix(make_store(objects), 34)
    assert found.threads == list(range(2, 34))
    assert (len(found.objects), found.allocating) == (33, 34)
    assert [row[row_number] for row_number, row in enumerate(found.objects)] == [3] * 32 + [4]
    assert found.objects[32] == [0] * 31 + [1, 4, 1]


def test_threads_that_only_events_tell_of() -> None:
    found = overview.threads(make_store([Made(0, 1, thread=5, free_thread=2)]))
    assert len(found) == 6
    assert found[1] == Thread("t1", 101, 0, None)
    assert found[5] == Thread("", 0, 0, None)


def test_regions_are_told_apart_from_the_heap() -> None:
    objects = [
        Made(0, None),
        Made(1, 4, region=1, free_kind=42),
        Made(2, 5, region=1, free_kind=43),
        Made(3, 6, region=2, free_kind=44),
        Made(4, None, region=2),
    ]
    known = {
        "objects": np.array([2, 2], np.uint64),
        "bytes": np.array([64, 64], np.uint64),
        "max_live_bytes": np.array([64, 32], np.uint64),
    }
    assert overview.regions(make_store(objects, regions=known)) == Regions(2, 4, 128, 1, 2, 64)
    nothing = {name: column[:0] for name, column in known.items()}
    assert overview.regions(make_store([Made(0, None)], regions=nothing)) is None


CALLS = Calls(parents=(0, 0, 1, 1, 3), functions=("", "main", "many", "few", "malloc"))
OBJECTS = [*(Made(n, None, context=2, size=1) for n in range(8)), *(Made(n, None, 500, 4) for n in (8, 9))]


def listed(store: Store, most: int, division: Grouping, order: list[int]) -> list[Site]:
    """Return the sites of a store."""
    sites = Sites.largest(store, most)
    nothing = ("max_live_bytes", "max_live_objects", "one_by_one", "lifo", "together", "reallocated", "never")
    figures = {name: np.zeros(sites.grouping.groups) for name in nothing}
    found = behaviours(store, sites.grouping, figures, 8, 1000)
    return site_list(store, Names(store, CALLS.functions), sites, found, division, order)


def test_largest_is_the_mean_of_both_shares() -> None:
    store = make_store(OBJECTS, CALLS)
    found = Sites.largest(store, 1)
    assert found.contexts == [4], "0.2 of the allocations and 0.99 of the bytes, against 0.8 and 0.01"
    assert (found.total, found.grouping.groups) == (2, 2)
    assert found.grouping.group_of.tolist() == [0, 0, 0, 0, 1]


def test_sites_have_a_name_a_stack_and_their_own_behaviour() -> None:
    division = Grouping("context", np.array([0, 0, 2, 1, 1], np.uint32), 3)
    first, second = listed(make_store(OBJECTS, CALLS), 9, division, [2, 1])
    assert (first.name, second.name) == ("few", "many")
    assert [frame.function for frame in first.stack] == ["malloc", "few", "main"]
    assert first.stack[first.frame].function == "few", "the wrapper is passed over"
    assert (first.subsystem, second.subsystem) == (1, 0), "as the subsystems are listed"
    assert (first.behaviour.bytes, second.behaviour.bytes) == (1000, 8)


def test_a_site_of_several_threads_belongs_to_the_one_that_allocates_most() -> None:
    objects = [Made(n, None, context=2, thread=[0, 1, 1][n % 3]) for n in range(9)]
    by_thread = Grouping("thread", np.array([0, 1], np.uint32), 2)
    (only,) = listed(make_store(objects, CALLS), 9, by_thread, [0, 1])
    assert only.subsystem == 1
    (only,) = listed(
        make_store([Made(9, None, context=2, thread=1), *OBJECTS[:8]], CALLS), 9, by_thread, [0, 1]
    )
    assert only.subsystem == 0
