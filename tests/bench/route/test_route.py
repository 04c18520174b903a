"""Each promise of `./dev route`: held, missed alone, and unjudged where nothing was measured."""

from dataclasses import replace

from route import CASES, Case, Found, found, limits

CACHE = 1 << 20
CPU = {"glibc": 4.0, "mimalloc": 3.0, "mallard": 1.0, "plan": 1.9, "blind": 1.5}
ACCESS = {"glibc": 3.0, "mimalloc": 2.0, "mallard": 0.1, "plan": 0.9, "blind": 1.5}
RSS = {"glibc": 1e6, "mimalloc": 1e6, "mallard": 1e6, "plan": 1.1e6, "blind": 1e6}
GOOD = Found(next(case for case in CASES if case.name == "60"), 60, 1_060_000, CPU, ACCESS, RSS, "plan")
KINDS = replace(GOOD, case=next(case for case in CASES if case.name == "kinds"))


def held(one: Found) -> list[bool | None]:
    """Return which promises are."""
    return [each.held for each in limits([one], CACHE)]


def test_all_is_held_where_the_plan_is_good() -> None:
    assert held(GOOD) == [True, True, True, True]
    assert held(KINDS) == [True, True]


def test_each_is_missed_alone() -> None:
    assert held(replace(GOOD, cpu=CPU | {"glibc": 3.7})) == [False, True, True, True]
    assert held(replace(GOOD, access=ACCESS | {"plan": 1.1})) == [True, False, True, True]
    assert held(replace(GOOD, max_rss=RSS | {"glibc": 0.95e6})) == [True, True, False, True]
    assert held(replace(GOOD, predicted=900_000)) == [True, True, True, False]
    assert held(replace(KINDS, cpu=CPU | {"mimalloc": 2.8})) == [False, True]


def test_the_best_malloc_is_none_of_ours() -> None:
    assert GOOD.over_best(CPU) == 1.9 / 3.0
    assert GOOD.over_best({"mallard": 1.0, "plan": 1.9, "blind": 1.5}) is None


def test_less_is_promised_of_data_beyond_the_last_cache() -> None:
    slower = replace(GOOD, access=ACCESS | {"plan": 1.5})
    assert held(slower)[1] is False
    assert held(replace(slower, max_rss=RSS | {"glibc": 1.1e6}))[1] is True


def test_what_was_not_measured_is_not_held() -> None:
    assert held(Found(GOOD.case, 60, 1, {}, {}, {}, None)) == [None, None, None, None]


def test_figures_are_of_a_trial_without_repetitions() -> None:
    figures = {"cpu_s": {"median": 1.0}, "max_rss_bytes": {"median": 2.0}, "figure": {"median": 3.0}}
    rows = [{"name": name, "repeated": name == "glibc a/a", **figures} for name in ("glibc", "glibc a/a")]
    tried = {"rows": rows, "verdict": {"use": "nothing"}}
    case = Case("a", ("a",), has_access=True)
    one = found(case, {"pools": 3, "predicted_peak_bytes": 5}, tried)
    assert one == Found(case, 3, 5, {"glibc": 1.0}, {"glibc": 3.0}, {"glibc": 2.0}, "nothing")
    assert held(one) == [None]
