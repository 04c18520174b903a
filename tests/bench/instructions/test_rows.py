"""Figures made of counts: whose loop is subtracted, that nothing is left unsaid, and what fails the check."""

from pathlib import Path

import pytest

from rows import BaselineError, Counted, GoldenError, Key, accept, accepted, changes, net


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


POOL = Key("pair", "pool", "typed", 64)
OTHER = Key("pair", "multipool/monotonic", "run-time size and alignment", 1)
ACCEPTED = {POOL: 50.0, OTHER: 0.0}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    accept(tmp_path / "golden.txt", ACCEPTED)
    assert accepted(tmp_path / "golden.txt") == ACCEPTED
    assert "     50.00  pair | pool | typed | 64\n" in (tmp_path / "golden.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("figure", [50.0, 52.0, 48.0, 52.5, 47.5])
def test_five_per_cent_are_no_change(figure: float) -> None:
    assert list(changes(ACCEPTED, {**ACCEPTED, POOL: figure})) == []


@pytest.mark.parametrize("figure", [53.0, 47.0])
def test_six_per_cent_are_a_change_in_either_direction(figure: float) -> None:
    [change] = changes(ACCEPTED, {**ACCEPTED, POOL: figure})
    assert change == f"pair: pool, typed, 64 live: {figure:.2f}, 50.00 accepted"


def test_anything_is_a_change_of_nothing() -> None:
    [change] = changes(ACCEPTED, {**ACCEPTED, OTHER: 1.0})
    assert change.endswith("1 live: 1.00, 0.00 accepted")


def test_a_row_that_is_missing_is_a_change() -> None:
    [change] = changes(ACCEPTED, {OTHER: 0.0})
    assert change == "pair: pool, typed, 64 live: no longer counted, 50.00 accepted"


def test_a_row_that_is_new_is_a_change() -> None:
    [change] = changes({OTHER: 0.0}, ACCEPTED)
    assert change == "pair: pool, typed, 64 live: 50.00, none accepted"


@pytest.mark.parametrize("line", ["50.00 pair | pool | typed", "x pair | pool | typed | 1", "", "50.00"])
def test_a_line_that_is_no_row_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "golden.txt"
    path.write_text(f"# head\n{line}\n", encoding="utf-8")
    with pytest.raises(GoldenError, match=r"golden\.txt:2: no row"):
        accepted(path)


def test_a_golden_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(GoldenError, match=r"cannot read .*golden\.txt: No such file"):
        accepted(tmp_path / "golden.txt")
