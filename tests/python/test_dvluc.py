"""The five dimensions, computed by hand."""

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
UNKNOWN = Locality(None, None, None, None, None)

FIGURES: Columns = {
    "max_live_bytes": np.array([48]),
    "max_live_objects": np.array([2]),
    "contention": np.array([0.25]),
    "overlaps": np.array([17.5]),
    "active_threads": np.array([3]),
} | {name: np.array([0]) for name in ("one_by_one", "lifo", "together", "reallocated", "never")}


def timed(start: int, count: int, context: int, ns: float) -> list[Made]:
    """Return objects that were all timed: `ns` at birth, half of it at death."""
    births = range(start, start + 2 * count, 2)
    return [Made(n, n + 1, context=context, birth_ns=ns, death_ns=ns / 2) for n in births]


def of_all(store: Store) -> Behaviour:
    """Return the behaviour of all objects."""
    (found,) = behaviours(store, everything(), FIGURES, 8, 1000)
    assert found is not None
    return found


def test_cost_is_the_mean_of_the_timed_times_the_number() -> None:
    store = make_store([*timed(0, 32, 1, 20), Made(100, 101), Made(102, None)])
    assert costs(store, everything()) == [Cost(operations=67, timed=64, ns=34 * 20.0 + 33 * 10.0)]


def test_groups_with_few_timed_operations_cost_as_the_whole() -> None:
    store = make_store([*timed(0, 60, 2, 10), *timed(200, 20, 3, 50)], CALLS)
    own, borrowed = costs(store, BY_CONTEXT)
    assert own.ns == 60 * 10 + 60 * 5
    assert borrowed.ns == pytest.approx(20 * 20 + 20 * 10), "20 is the mean of 60 x 10 and 20 x 50"


def test_a_reallocation_is_one_operation() -> None:
    store = make_store([Made(0, 1, death_kind=REALLOC), Made(1, 2, previous=0, origin=1)])
    assert costs(store, everything())[0].operations == 3


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
    store = make_store(timed(0, 40, 1, 20), cpu_ns=9_000, recording_ns=1_000)
    found = costs(store, everything())
    result = dvluc(found[0], busy_ns(store, found), of_all(store), FIGURES, UNKNOWN, 0)
    assert result.density.value == pytest.approx(40 * 30 / 8_000)
    assert result.density.timed == 80


def test_densities_sum_up_to_one_at_most() -> None:
    store = make_store(
        [*timed(0, 40, 2, 20), *timed(100, 40, 3, 40)], CALLS, cpu_ns=3_000, recording_ns=1_000
    )
    found = costs(store, BY_CONTEXT)
    busy = busy_ns(store, found)
    assert busy == 40 * 30 + 40 * 60, "more than the 2000 ns that are left"
    assert [(cost.ns or 0) / busy for cost in found] == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize("known", [{"cpu_ns": 0, "recording_ns": 0}, {"cpu_ns": 9, "recording_ns": None}])
def test_density_is_unknown_without_cpu_time(known: dict[str, Any]) -> None:
    store = make_store(timed(0, 40, 1, 20), **known)
    assert busy_ns(store, costs(store, everything())) is None


def test_means_of_operations_for_the_census() -> None:
    store = make_store([*timed(0, 40, 2, 20), *timed(100, 40, 3, 40)], CALLS)
    assert ns_per_operation(costs(store, BY_CONTEXT)).tolist() == [15, 30]


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


def test_utilization_and_contention_come_from_the_census() -> None:
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
