"""Each promise of `./dev process`: held, missed alone, and unjudged where nothing was measured."""

from process import figures, limits

RESIDENT = {"before": 3.0, "after": 4100.0, "later": 4.0, "trimmed": 5.0}
ROUNDS = {"checked": [{"DS1": 1.05}, {"DS1": 9.0}, {"DS1": 1.0}], "unchecked": [{"DS1": 1.0}] * 3}


def held(rounds: dict[str, list[dict[str, float]]], resident: dict[str, float]) -> list[bool | None]:
    """Return which promises are."""
    return [each.held for each in limits(rounds, resident)]


def test_a_program_prints_a_name_and_a_figure_in_each_line() -> None:
    assert figures("DS1 2.5\nDS12 40\n") == {"DS1": 2.5, "DS12": 40.0}


def test_all_is_held_where_little_is_paid_and_left() -> None:
    assert held(ROUNDS, RESIDENT) == [True, True, True]


def test_each_is_missed_alone() -> None:
    assert held({**ROUNDS, "checked": [{"DS1": 1.2}] * 3}, RESIDENT) == [False, True, True]
    assert held(ROUNDS, {**RESIDENT, "later": 20.0}) == [True, False, True]
    assert held(ROUNDS, {**RESIDENT, "trimmed": 20.0}) == [True, True, False]


def test_the_structure_that_pays_most_is_named() -> None:
    both = {
        "checked": [{"DS1": 1.0, "DS2": 1.05}],
        "unchecked": [{"DS1": 1.0, "DS2": 1.0}],
    }
    assert "DS2" in limits(both, RESIDENT)[0].where


def test_what_was_not_measured_is_not_held() -> None:
    assert held({"checked": [], "unchecked": []}, {}) == [None, None, None]
