"""The five dimensions, computed by hand."""

import math

import numpy as np
import pytest
from made_store import Made, make_store

from mallard.analysis.behaviour import behaviours
from mallard.analysis.costs import Cost, busy_ns, costs, ns_per_operation
from mallard.analysis.dvluc import dvluc, localities
from mallard.analysis.groups import everything
from mallard.analysis.model import Behaviour, Locality
from mallard.analysis.store import Columns, Store

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
