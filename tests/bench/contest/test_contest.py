"""Each promise of `./dev contest`: held, missed alone, and unjudged where a row is missing."""

import pytest

from contest import BEFORE, COLD, FRESH, HELD, LITTERED, RIVAL, WARM, Standing, limits, mean, strategies
from limits import Limit

OURS = (("multipool", "typed"), ("multipool", "pmr"), ("synchronized_multipool", "typed"))
OTHERS = (
    (RIVAL, "malloc"),
    (BEFORE, "typed"),
    ("locked_multipool", "typed"),
    ("reap", "typed"),
    ("sized_reap", "typed"),
)


def standing(journal: str, steady: bool, **changed: float) -> Standing:
    """Return a journal on which ours take half of what others take, but for what is changed."""
    rows = []
    for strategy, binding in (*OURS, *OTHERS):
        size = 50.0 if (strategy, binding) in OURS else 100.0
        row = {"strategy": strategy, "binding": binding, "status": "ok", WARM: size, COLD: size, HELD: 100.0}
        if f"{strategy}_{binding}" in changed:
            row[WARM] = row[COLD] = changed[f"{strategy}_{binding}"]
        rows.append(row)
    return Standing(journal, steady, rows)


def missed(judged: list[Limit]) -> list[str]:
    """Return what is not held."""
    return [each.promise for each in judged if not each.held]


def test_all_is_held_where_ours_are_twice_as_fast() -> None:
    both = [standing("a", False), standing("b", True)]
    assert missed(list(limits(both, 0))) == []
    assert missed(list(limits(both, 1))) == []


def test_a_journal_that_is_slow_is_named_and_counts_in_the_mean() -> None:
    judged = list(limits([standing("a", False), standing("slow", False, multipool_typed=95.0)], 0))
    warm = [each for each in judged if each.promise == FRESH[0].words]
    assert [each.held for each in warm] == [False, True]
    assert "slow" in warm[0].where
    assert warm[1].figure == pytest.approx(mean([0.5, 0.95]))


def test_steady_churn_is_judged_by_itself() -> None:
    slow = standing("churn", True, multipool_typed=95.0)
    assert set(missed(list(limits([standing("a", False), slow], 0)))) == {
        each.words for each in FRESH if each.steady and each.over == RIVAL
    }


def test_what_was_not_measured_is_not_held() -> None:
    rows = [row | {"status": "failed"} for row in standing("a", False).rows]
    judged = list(limits([Standing("a", False, rows)], 1))
    assert [each.figure for each in judged] == [None] * len(LITTERED)
    assert missed(judged) == [each.words for each in LITTERED]


def test_replay_is_asked_for_what_promises_are_about() -> None:
    assert set(strategies(0)) == {name for name, _ in (*OURS, *OTHERS)}
    assert set(strategies(10)) == {"multipool", BEFORE, RIVAL}
