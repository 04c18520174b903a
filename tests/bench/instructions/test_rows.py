"""Figures made of counts: whose loop is subtracted, and that nothing is left unsaid."""

import pytest

from rows import BaselineError, Counted, Key, net


def counted(allocator: str, way: str, instructions: int, operations: int = 100, live: int = 1) -> Counted:
    """Make a row of pairs."""
    return Counted(Key("pair", allocator, way, live), operations, instructions)


def test_the_loop_is_subtracted() -> None:
    figures = net([counted("none", "typed", 800), counted("pool", "typed", 1500)])
    assert figures == {Key("pair", "pool", "typed", 1): 7.0}


def test_the_loop_bound_in_the_same_way_goes_first() -> None:
    baselines = [counted("none", "typed", 800), counted("none", "run-time size", 1000)]
    figures = net([*baselines, counted("pool", "run-time size", 1500), counted("pool", "pmr", 1500)])
    assert list(figures.values()) == [5.0, 7.0]


def test_what_goes_in_and_out_of_the_loop_is_below_a_hundredth() -> None:
    rows = [counted("none", "typed", 0, 16384), counted("pool", "typed", 7 * 16384 + 16, 16384)]
    [figure] = net(rows).values()
    assert figure == 7.0


@pytest.mark.parametrize(
    "baseline", [counted("none", "typed", 800, live=64), counted("none", "typed", 800, operations=50)]
)
def test_a_row_without_its_floor_is_no_figure(baseline: Counted) -> None:
    with pytest.raises(BaselineError, match="pair: pool, typed, 1 live"):
        net([baseline, counted("pool", "typed", 1500)])
