"""The arithmetic of `./dev scale`: which figure a limit is about, and when nobody can tell."""

import pytest

from scale import GIB, Help, Row, limits
from usage import Usage

FINE = Usage(wall=5.0, cpu=6.0, memory=GIB)
STARTED = Help([0.6, 0.5, 9.0], [0.1, 0.1, 0.1])


def rows(**changed: Usage | None) -> list[Row]:
    """Two journals, each read by both commands; `changed` by journal and command."""
    return [
        Row(journal, command, changed.get(f"{journal}_{command}", FINE))
        for journal in ("cc1plus", "python3")
        for command in ("profile", "report")
    ]


def held(made: list[Row], started: Help = STARTED) -> list[bool | None]:
    """Judge them."""
    return [limit.held for limit in limits(made, started)]


def test_all_are_held() -> None:
    assert held(rows()) == [True, True, True, True]


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({"python3_profile": Usage(20.1, 1.0, 1)}, 0),
        ({"cc1plus_report": Usage(30.1, 1.0, 1)}, 1),
        ({"python3_report": Usage(1.0, 1.0, 2 * GIB + GIB // 10)}, 2),
    ],
)
def test_each_limit_can_be_missed_alone(changed: dict[str, Usage | None], missed: int) -> None:
    assert [place for place, kept in enumerate(held(rows(**changed))) if not kept] == [missed]


def test_help_is_judged_by_medians() -> None:
    assert STARTED.ratio == pytest.approx(6.0)
    assert held(rows(), Help([0.81], [0.1])) == [True, True, True, False]


def test_run_that_failed_leaves_its_limits_unjudged() -> None:
    assert held(rows(cc1plus_profile=None)) == [None, True, None, True]
    assert held([], Help([], [])) == [None, None, None, None]


def test_limit_names_where_it_is_tightest() -> None:
    slowest = next(iter(limits(rows(python3_profile=Usage(12.0, 1.0, 1)), STARTED)))
    assert (slowest.figure, slowest.where) == (12.0, "on each, most on python3")
