"""What operations cost, estimated from the timed ones by hand."""

from typing import Any

import numpy as np
import pytest
from made_store import REALLOC, Calls, Made, make_store

from mallard.analysis.costs import Cost, Timed, busy_ns, costs, ns_per_operation
from mallard.analysis.groups import Grouping, everything

CALLS = Calls(parents=(0, 0, 1, 1), functions=("", "main", "a", "b"))
BY_CONTEXT = Grouping("context", np.array([0, 0, 0, 1], np.uint32), 2)


def timed(start: int, count: int, context: int, ns: float) -> list[Made]:
    """Return objects that were all timed: `ns` at birth, half of it at death."""
    births = range(start, start + 2 * count, 2)
    return [Made(n, n + 1, context=context, birth_ns=ns, death_ns=ns / 2) for n in births]


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


@pytest.mark.parametrize("known", [{"cpu_ns": 0, "recording_ns": 0}, {"cpu_ns": 9, "recording_ns": None}])
def test_density_is_unknown_without_cpu_time(known: dict[str, Any]) -> None:
    store = make_store(timed(0, 40, 1, 20), **known)
    assert busy_ns(store, costs(store, everything())) is None


def test_means_of_operations_for_the_census() -> None:
    store = make_store([*timed(0, 40, 2, 20), *timed(100, 40, 3, 40)], CALLS)
    assert ns_per_operation(costs(store, BY_CONTEXT)).tolist() == [15, 30]


def test_densities_sum_up_to_one_at_most() -> None:
    store = make_store(
        [*timed(0, 40, 2, 20), *timed(100, 40, 3, 40)], CALLS, cpu_ns=3_000, recording_ns=1_000
    )
    found = costs(store, BY_CONTEXT)
    busy = busy_ns(store, found)
    assert busy == 40 * 30 + 40 * 60, "more than the 2000 ns that are left"
    assert [(cost.ns or 0) / busy for cost in found] == pytest.approx([1 / 3, 2 / 3])


def test_one_huge_call_stands_for_itself_alone() -> None:
    calls = Timed(6400, np.array([10.0] * 99 + [5000.0]))
    assert calls.cost(None) == 6399 * 10 + 5000
    assert calls.mean() == 10


def test_expensive_calls_that_are_frequent_stand_for_others() -> None:
    calls = Timed(6400, np.array([10.0] * 90 + [500.0] * 10))
    assert calls.cost(None) == pytest.approx(6400 * 59)


def test_few_timed_calls_are_all_that_is_known() -> None:
    assert Timed(10, np.array([10.0, 500.0])).mean() == 255
    assert Timed(10, np.array([10.0, 500.0])).cost(7.0) == 70, "too few to be a mean of its own"
    assert Timed(0, np.array([])).cost(None) == 0
    assert Timed(1, np.array([])).cost(None) is None


def test_groups_have_their_own_timed_calls() -> None:
    store = make_store([*timed(0, 40, 3, 20), Made(200, 201, context=2)], CALLS)
    first, second = costs(store, BY_CONTEXT)
    assert (first.timed, second.timed) == (0, 80)
    assert (first.operations, second.operations) == (2, 80)
    assert first.ns == 20 + 10
