"""Spreads of figures over groups of objects."""

import numpy as np
import pytest
from made_store import Made, make_store

from mallard.analysis.groups import Grouping, everything
from mallard.analysis.model import Spread
from mallard.analysis.spreads import spread, spreads


def of(store_of: list[Made], figure: str, grouping: Grouping) -> list[Spread | None]:
    """Return the spreads of a figure."""
    store = make_store(store_of)
    with grouping.objects(store) as objects:
        return spreads(store, objects, figure, grouping.groups)


def test_each_group_has_its_own_and_an_empty_one_has_none() -> None:
    objects = [Made(n, n + 1, thread=n % 2, size=100 * (n % 2) + n) for n in range(10)]
    found = of(objects, "size", Grouping("thread", np.array([3, 1], np.uint32), 5))
    assert found == [None, Spread(101, 105, 109, 109, 109, 105), None, Spread(0, 4, 8, 8, 8, 4), None]


def test_null_does_not_count() -> None:
    assert of([Made(0, None), Made(1, 4)], "free - allocation", everything()) == [Spread(3, 3, 3, 3, 3, 3)]
    assert of([Made(0, None)], "free - allocation", everything()) == [None]


@pytest.mark.parametrize("count", [1, 2, 3, 10, 99, 100, 101, 1000])
def test_quantile_is_the_smallest_that_so_many_do_not_exceed(count: int) -> None:
    found = spread(np.arange(count)[::-1].copy())
    assert found is not None
    for percent, value in ((50, found.p50), (90, found.p90), (99, found.p99)):
        not_exceeding = value + 1  # of 0, 1, 2, ...
        assert 100 * not_exceeding >= percent * count > 100 * (not_exceeding - 1)
    assert (found.min, found.max, found.mean) == (0, count - 1, (count - 1) / 2)
