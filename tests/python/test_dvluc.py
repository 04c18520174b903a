"""The five dimensions, and what operations cost, computed by hand."""

import math
from typing import Any

import numpy as np
import pytest
from made_store import REALLOC, Calls, Made, make_store

from mallard.analysis.behaviour import behaviours
from mallard.analysis.dvluc import Cost, busy_ns, costs, dvluc, localities, ns_per_operation
from mallard.analysis.groups import Grouping, everything
from mallard.analysis.model import Behaviour, Locality
from mallard.analysis.store import Columns, Store

CALLS = Calls(parents=(0, 0, 1, 1), functions=("", "main", "a", "b"))
BY_CONTEXT = Grouping("context", np.array([0, 0, 0, 1], np.uint32), 2)


def timed(start: int, count: int, context: int, ns: float, size: int = 32) -> list[Made]:
    """Return objects that were all timed: `ns` for the allocation, half of it for the free."""
    allocations = range(start, start + 2 * count, 2)
    return [Made(n, n + 1, size, context, allocation_ns=ns, free_ns=ns / 2) for n in allocations]


def untimed(start: int, count: int, context: int, size: int = 32) -> list[Made]:
    """Return objects that were not timed."""
    return timed(start, count, context, 0, size)


def test_cost_is_the_mean_of_the_timed_times_the_number() -> None:
    store = make_store([*timed(0, 32, 1, 20), Made(100, 101), Made(102, None)])
    (cost,) = costs(store, everything())
    assert (cost.operations, cost.timed) == (67, 64)
    assert cost.ns == pytest.approx(34 * 20.0 + 33 * 10.0)


def test_parts_sum_up_to_the_whole() -> None:
    objects = [
        *timed(0, 60, 2, 10),
        *untimed(200, 1000, 2),
        *timed(3000, 3, 3, 1500, 1 << 20),
        *untimed(4000, 200, 3, 1 << 20),
        Made(5000, 5001, allocation_ns=1e6, context=3),
    ]
    store = make_store(objects, CALLS)
    (whole,) = costs(store, everything())
    parts = costs(store, BY_CONTEXT)
    assert sum(part.ns or 0 for part in parts) == pytest.approx(whole.ns, rel=1e-12)
    assert sum(part.operations for part in parts) == whole.operations
    assert (parts[1].ns or 0) > 1e6, "the huge call is its own"


def test_a_large_block_costs_what_large_blocks_cost() -> None:
    small = [*timed(0, 1000, 2, 40), *untimed(2000, 6000, 2)]
    large = [*timed(20_000, 20, 3, 1500, 1 << 20), *untimed(21_000, 120, 3, 1 << 20)]
    _, mapped = costs(make_store([*small, *large], CALLS), BY_CONTEXT)
    assert (mapped.ns or 0) / 140 == pytest.approx(1.5 * 1500, rel=0.3), "an allocation and its free"


def test_groups_without_timed_calls_cost_what_their_sizes_do() -> None:
    store = make_store(
        [*timed(0, 500, 2, 10), *timed(1000, 500, 2, 100, 4096), *untimed(3000, 50, 3, 4096)], CALLS
    )
    _, borrowed = costs(store, BY_CONTEXT)
    assert (borrowed.ns or 0) / 50 == pytest.approx(150, rel=0.05)


def test_many_timed_calls_of_a_group_outweigh_its_sizes() -> None:
    store = make_store([*timed(0, 400, 2, 20), *timed(2000, 400, 3, 60)], CALLS)
    cheap, dear = costs(store, BY_CONTEXT)
    assert (dear.ns or 0) / (cheap.ns or 1) == pytest.approx(3, rel=0.1)
    few = make_store([*timed(0, 400, 2, 20), *timed(2000, 1, 3, 60)], CALLS)
    assert (costs(few, BY_CONTEXT)[1].ns or 0) == pytest.approx(30, rel=0.2), "one alone says little"


def test_frees_that_nobody_timed_cost_as_much_as_allocations() -> None:
    store = make_store([*(Made(n, None, allocation_ns=20) for n in range(40)), Made(50, 51)])
    assert costs(store, everything())[0].ns == pytest.approx(42 * 20)
    nothing = costs(make_store([Made(0, 1)]), everything())[0]
    assert (nothing.operations, nothing.timed, nothing.ns) == (2, 0, None)


def test_a_reallocation_is_one_operation() -> None:
    store = make_store([Made(0, 1, free_kind=REALLOC), Made(1, 2, previous=0, origin=1)])
    assert costs(store, everything())[0].operations == 3


@pytest.mark.parametrize(
    "known",
    [
        {"cpu_ns": 0, "recording_ns": 0},
        {"cpu_ns": 9, "recording_ns": None},
        {"cpu_ns": 9000, "recording_ns": 9000},
    ],
)
def test_density_is_unknown_without_cpu_time(known: dict[str, Any]) -> None:
    store = make_store(timed(0, 40, 1, 20), **known)
    assert busy_ns(store, costs(store, everything())) is None


def test_means_of_operations_for_the_second_pass() -> None:
    store = make_store([*timed(0, 4000, 2, 20), *timed(10_000, 4000, 3, 40)], CALLS)
    assert ns_per_operation(costs(store, BY_CONTEXT)) == pytest.approx([15, 30], rel=0.02)


def test_densities_sum_up_to_one_at_most() -> None:
    store = make_store(
        [*timed(0, 40, 2, 20), *timed(100, 40, 3, 40)], CALLS, cpu_ns=3_000, recording_ns=1_000
    )
    found = costs(store, BY_CONTEXT)
    busy = busy_ns(store, found)
    assert busy is not None
    assert busy == pytest.approx(40 * 30 + 40 * 60), "more than the 2000 ns that are left"
    assert sum((cost.ns or 0) / busy for cost in found) == pytest.approx(1)


def allocations(*ns: float, untimed: int = 0) -> list[Made]:
    """Return objects that live on, some of them with a timed allocation."""
    return [Made(n, None, allocation_ns=time) for n, time in enumerate([*ns, *[0.0] * untimed])]


def test_one_huge_call_stands_for_itself_alone() -> None:
    store = make_store(allocations(*[10.0] * 99, 5000.0, untimed=900))
    assert costs(store, everything())[0].ns == pytest.approx(999 * 10 + 5000)


def test_expensive_calls_that_are_frequent_stand_for_others() -> None:
    store = make_store(allocations(*[10.0] * 90, *[500.0] * 10, untimed=900))
    assert costs(store, everything())[0].ns == pytest.approx(1000 * 59)


def test_few_timed_calls_are_all_that_is_known() -> None:
    assert costs(make_store(allocations(10, 500)), everything())[0].ns == pytest.approx(510)


def test_groups_have_their_own_timed_calls() -> None:
    store = make_store([*timed(0, 40, 3, 20), Made(200, 201, context=2)], CALLS)
    first, second = costs(store, BY_CONTEXT)
    assert (first.timed, second.timed) == (0, 80)
    assert (first.operations, second.operations) == (2, 80)
    assert first.ns == pytest.approx(20 + 10)


UNKNOWN = Locality(None, None, None, None, None)

FIGURES: Columns = {
    "max_live_bytes": np.array([48]),
    "max_live_objects": np.array([2]),
    "contention": np.array([0.25]),
    "overlaps": np.array([17.5]),
    "active_threads": np.array([3]),
} | {name: np.array([0]) for name in ("one_by_one", "lifo", "together", "reallocated", "never")}


def of_all(store: Store) -> Behaviour:
    """Return the behaviour of all objects."""
    (found,) = behaviours(store, everything(), FIGURES, 8, 1000)
    assert found is not None
    return found


def test_cost_is_unknown_if_nothing_was_timed() -> None:
    store = make_store([Made(0, 1)], cpu_ns=1000, recording_ns=100)
    found = costs(store, everything())
    assert found[0].ns is None
    assert busy_ns(store, found) is None
    assert ns_per_operation(found).size == 0, "contention cannot be found either"
    result = dvluc(found[0], None, of_all(store), FIGURES, UNKNOWN, 0)
    assert (result.density.value, result.density.cost_ns) == (None, None)
    assert (result.contention.value, result.contention.overlaps) == (None, None)


def test_density_leaves_out_the_recording() -> None:
    store = make_store(
        [Made(n, n + 1, allocation_ns=20, free_ns=10) for n in range(0, 80, 2)],
        cpu_ns=9_000,
        recording_ns=1_000,
    )
    found = costs(store, everything())
    result = dvluc(found[0], busy_ns(store, found), of_all(store), FIGURES, UNKNOWN, 0)
    assert result.density.value == pytest.approx(40 * 30 / 8_000)
    assert result.density.timed == 80


def variation_of(sizes: list[int]) -> tuple[float, float, int]:
    """Return V, entropy and classes of objects of these sizes."""
    store = make_store([Made(n, None, size=size) for n, size in enumerate(sizes)])
    found = dvluc(Cost(0, 0, None), None, of_all(store), FIGURES, UNKNOWN, 0).variation
    return found.value, found.entropy, found.classes


def test_variation_is_the_entropy_of_size_classes() -> None:
    assert variation_of([24, 24, 23]) == (0, 0, 1)
    assert variation_of([8, 8, 100, 100]) == pytest.approx((1 / 6, 1, 2))
    entropy = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    assert variation_of([8, 8, 8, 500]) == pytest.approx((entropy / 6, entropy, 2))


def test_utilization_and_contention_come_from_the_second_pass() -> None:
    store = make_store([Made(n, None, size=size) for n, size in enumerate([32, 64])])
    found = dvluc(Cost(2, 0, 9.0), None, of_all(store), FIGURES, UNKNOWN, 0)
    assert (found.utilization.value, found.utilization.bytes) == (0.5, 96)
    assert (found.contention.value, found.contention.overlaps, found.contention.active_threads) == (
        0.25,
        17.5,
        3,
    )


def test_locality_is_not_measured_but_compactness_is_told() -> None:
    rows = {
        "group": np.array([1, 1, 1, 1, 1]),
        "live_bytes": np.array([64, 64, 64, 64, 32]),
        "line_bytes": np.array([64, 128, 64, 128, 64]),
        "page_bytes": np.array([128, 256, 64, 64, 320]),
    }
    empty, found = localities(rows, 2)
    assert empty == UNKNOWN
    assert found.value is None
    assert found.lines == pytest.approx((1 + 0.5 + 1 + 0.5 + 0.5) / 5)
    assert found.pages == pytest.approx((0.5 + 0.25 + 1 + 1 + 0.1) / 5)
    assert found.pages_first == pytest.approx((0.5 + 0.25) / 2), "a quarter of five, rounded up"
    assert found.pages_last == pytest.approx((1 + 0.1) / 2)
