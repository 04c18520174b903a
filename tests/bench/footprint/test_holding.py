"""The arithmetic of `./dev footprint`: which figure a limit is about, and when nobody can tell."""

import pytest

from holding import Weighed, limits

Figures = dict[str, object]


def figures(mapped: int = 1_000, live: int = 1_000, peaks: int = 1_000) -> Figures:
    """Return a journal's figures: of 1,000 bytes live and 1,000 requested, so much is received."""
    return {
        "max_live": 800,
        "multipool": {
            "max_held": 900,
            "max_mapped": mapped,
            "at_max_live": {"requested": 1_000, "granted": live},
            "sum_of_peaks": {"requested": 1_000, "granted": peaks},
        },
    }


def held(seen: Figures, unseen: Figures | None = None) -> list[bool | None]:
    """Judge one journal of each kind."""
    weighed = [Weighed("a", True, figures()), Weighed("b", True, seen)]
    weighed.append(Weighed("c", False, unseen or figures()))
    return [limit.held for limit in limits(weighed)]


def test_all_are_held() -> None:
    assert held(figures(1_150, 1_100)) == [True] * 6


@pytest.mark.parametrize(
    ("broken", "missed"),
    [
        (figures(mapped=1_151), [0]),
        (figures(live=1_101), [1]),
        (figures(mapped=1_200, peaks=1_101), [2]),
    ],
)
def test_each_limit_can_be_missed_alone(broken: Figures, missed: list[int]) -> None:
    assert [place for place, kept in enumerate(held(broken)) if not kept] == missed


def test_unseen_journals_have_a_tenth_of_slack() -> None:
    assert held(figures(), figures(1_265, 1_210)) == [True] * 6
    assert held(figures(), figures(1_266, 1_211)) == [True, True, True, False, False, True]


def test_what_the_process_keeps_counts() -> None:
    one = Weighed("a", True, figures(mapped=1_100))
    assert one.held_over_sum == pytest.approx(1.1)
    assert one.sum_over_live == pytest.approx(1.25)


def test_limit_names_the_journal_that_is_tightest() -> None:
    first = next(iter(limits([Weighed("a", True, figures(1_010)), Weighed("b", True, figures(1_020))])))
    assert first.figure == pytest.approx(1.02)
    assert first.where == "on each, most on b"


def test_without_journals_nobody_can_tell() -> None:
    assert [limit.held for limit in limits([])] == [None] * 6
    assert [limit.held for limit in limits([Weighed("a", True, figures())])] == [True] * 3 + [None] * 3
