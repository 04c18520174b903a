"""Figures of sets of objects, each counted by hand."""

import numpy as np
import pytest
from made_store import REALLOC, Calls, Made, make_store

from mallard.analysis.behaviour import behaviours, chain_lengths, spread, spreads
from mallard.analysis.groups import Grouping, everything
from mallard.analysis.model import Behaviour, FreeOrder, Reallocations, Spread, Temporaries, ThreadCount
from mallard.analysis.store import Columns, Store

CALLS = Calls(parents=(0, 0, 1, 1), functions=("", "main", "a", "b"))


def counted(groups: int) -> Columns:
    """Return what the second pass might say: group g has the figures 10 g + 1, 10 g + 2, ..."""
    names = ("max_live_bytes", "max_live_objects", "one_by_one", "lifo", "together", "reallocated", "never")
    return {name: 10 * np.arange(groups) + place for place, name in enumerate(names, 1)}


def of_all(store: Store, few_limit: int = 8, short_ns: int = 1000) -> Behaviour:
    """Return the behaviour of all objects."""
    (found,) = behaviours(store, everything(), counted(1), few_limit, short_ns)
    assert found is not None
    return found


def test_sums_and_what_the_second_pass_counted() -> None:
    found = of_all(make_store([Made(0, 5, size=10), Made(1, None, size=30)]))
    assert (found.allocations, found.bytes) == (2, 40)
    assert (found.max_live_bytes, found.max_live_objects) == (1, 2)
    assert found.free_order == FreeOrder(one_by_one=3, lifo=4, together=5, reallocated=6, never=7)


def test_live_at_peak_is_what_lives_at_that_event() -> None:
    objects = [Made(0, 2, size=100), Made(1, 4, size=50), Made(2, 3, size=10), Made(5, None, size=7)]
    found = of_all(make_store(objects, peak_event=2))
    assert found.live_at_peak_objects == 2, (
        "the one allocated at the peak counts, the one freed at it does not"
    )
    assert found.live_at_peak_bytes == 60


def test_quantiles_are_values_that_occur() -> None:
    store = make_store([Made(100 * n, 100 * n + n, size=n) for n in range(1, 11)])
    found = of_all(store)
    assert found.sizes == Spread(min=1, p50=5, p90=9, p99=10, max=10, mean=5.5)
    assert found.lifetime_events == found.sizes
    assert found.lifetime_ns == Spread(min=10, p50=50, p90=90, p99=100, max=100, mean=55)


def test_objects_that_live_on_have_no_lifetime() -> None:
    assert of_all(make_store([Made(0, None)])).lifetime_events is None
    found = of_all(make_store([Made(0, None), Made(1, 4)]))
    assert found.lifetime_events == Spread(3, 3, 3, 3, 3, 3)


def test_histogram_counts_by_the_largest_size_of_a_class() -> None:
    store = make_store([Made(n, None, size=size) for n, size in enumerate([1, 8, 9, 10, 16, 1 << 30])])
    assert of_all(store).size_histogram == {8: 2, 10: 2, 16: 1, 458752: 1}


def test_temporaries_by_each_definition() -> None:
    objects = [
        Made(0, 1, between=0),  # 10 ns
        Made(2, 9, between=3),  # 70 ns
        Made(3, 5, between=2),  # 20 ns
        Made(10, None, between=0),
        Made(11, 12, between=0, free_kind=REALLOC),  # lives on as another
    ]
    found = of_all(make_store(objects), few_limit=2, short_ns=70)
    assert found.temporaries == Temporaries(last=1, few=2, short=2)


def test_threads_most_first_and_foreign_frees() -> None:
    objects = [
        Made(0, 9, thread=1, free_thread=2),
        Made(1, 8, thread=3, free_thread=2),
        Made(2, 7, thread=3, free_thread=3),
        Made(3, None, thread=3),
    ]
    found = of_all(make_store(objects))
    assert found.allocating_threads == [ThreadCount(3, 3), ThreadCount(1, 1)]
    assert found.freeing_threads == [ThreadCount(2, 2), ThreadCount(3, 1)]
    assert found.foreign_frees == 2


def test_only_the_threads_with_most_objects_are_told() -> None:
    objects = [
        Made(100 * t + n, 100 * t + n + 1, thread=t, free_thread=t) for t in range(40) for n in range(t + 1)
    ]
    found = of_all(make_store(objects))
    assert found.allocating_threads == [ThreadCount(t, t + 1) for t in range(39, 7, -1)]
    assert found.freeing_threads == found.allocating_threads


def grown(*allocations: int, context: int = 1) -> list[Made]:
    """Return one block that is reallocated at each allocation but the first."""
    ends = [*allocations[1:], None]
    return [
        Made(
            allocation,
            end,
            context=context,
            previous=allocations[place - 1] if place else None,
            origin=(1 if allocation % 2 else 2) if place else 0,
            free_kind=REALLOC,
        )
        for place, (allocation, end) in enumerate(zip(allocations, ends, strict=True))
    ]


def test_longest_chain_of_reallocations() -> None:
    found = of_all(make_store([*grown(0, 3, 7, 8), *grown(1, 4), Made(2, 5)]))
    assert found.reallocations == Reallocations(in_place=2, moved=2, longest_chain=3)


def test_chains_of_each_group() -> None:
    store = make_store([*grown(0, 3, 7, 8, context=2), *grown(1, 4, context=3)], CALLS)
    by_context = Grouping("context", np.array([0, 0, 1, 2], np.uint32), 3)
    nothing, first, second = behaviours(store, by_context, counted(3), 8, 1000)
    assert nothing is None, "no object has this group"
    assert first is not None
    assert second is not None
    assert (first.reallocations.longest_chain, second.reallocations.longest_chain) == (3, 1)
    assert (first.allocations, second.allocations) == (4, 2)
    assert (first.free_order.never, second.free_order.never) == (17, 27)


def test_long_chains_are_found_in_few_rounds() -> None:
    count = 1 << 20
    allocations = np.arange(1, count + 1)
    assert (chain_lengths(allocations, allocations - 1) == allocations).all(), (
        "0 is no reallocation, so the chain begins at 1"
    )


def test_chains_whose_beginning_is_lost() -> None:
    assert chain_lengths(np.array([5, 9]), np.array([2, 5])).tolist() == [1, 2]
    assert chain_lengths(np.array([], np.uint64), np.array([], np.uint64)).tolist() == []


def test_blocks_of_regions_are_left_out() -> None:
    assert of_all(make_store([Made(0, 5), Made(1, 4, region=1)])).allocations == 1


def test_contexts_beyond_the_grouping_are_of_group_0() -> None:
    store = make_store([Made(0, None, context=1), Made(1, None, context=3)], CALLS)
    found = behaviours(store, Grouping("context", np.array([0, 1], np.uint32), 2), counted(2), 8, 1000)
    assert [part and part.allocations for part in found] == [1, 1]


def of_groups(store_of: list[Made], figure: str, grouping: Grouping) -> list[Spread | None]:
    """Return the spreads of a figure."""
    store = make_store(store_of)
    with grouping.objects(store) as objects:
        return spreads(store, objects, figure, grouping.groups)


def test_each_group_has_its_own_and_an_empty_one_has_none() -> None:
    objects = [Made(n, n + 1, thread=n % 2, size=100 * (n % 2) + n) for n in range(10)]
    found = of_groups(objects, "size", Grouping("thread", np.array([3, 1], np.uint32), 5))
    assert found == [None, Spread(101, 105, 109, 109, 109, 105), None, Spread(0, 4, 8, 8, 8, 4), None]


def test_null_does_not_count() -> None:
    assert of_groups([Made(0, None), Made(1, 4)], "free - allocation", everything()) == [
        Spread(3, 3, 3, 3, 3, 3)
    ]
    assert of_groups([Made(0, None)], "free - allocation", everything()) == [None]


@pytest.mark.parametrize("count", [1, 2, 3, 10, 99, 100, 101, 1000])
def test_quantile_is_the_smallest_that_so_many_do_not_exceed(count: int) -> None:
    found = spread(np.arange(count)[::-1].copy())
    assert found is not None
    for percent, value in ((50, found.p50), (90, found.p90), (99, found.p99)):
        not_exceeding = value + 1  # of 0, 1, 2, ...
        assert 100 * not_exceeding >= percent * count > 100 * (not_exceeding - 1)
    assert (found.min, found.max, found.mean) == (0, count - 1, (count - 1) / 2)
