"""Each promise of `./dev route`: held, missed alone, and unjudged where nothing was measured."""

from dataclasses import replace
from pathlib import Path

import pytest

import contexts
from mallard.native import MALLOC, malloc_library
from mallard.plan.plan_image import claims_of, decision_trie
from route import CASES, Case, Found, found, limits

CACHE = 1 << 20
CPU = {
    "glibc": 4.0,
    "jemalloc": 5.0,
    "tcmalloc": 5.0,
    "mimalloc": 3.0,
    "mallard": 1.0,
    "plan": 1.9,
    "blind": 1.5,
}
ACCESS = {
    "glibc": 3.0,
    "jemalloc": 5.0,
    "tcmalloc": 5.0,
    "mimalloc": 2.0,
    "mallard": 0.1,
    "plan": 0.9,
    "blind": 1.5,
}
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
    assert GOOD.over_best(CPU | {"tcmalloc": 2.5}) == 1.9 / 2.5
    assert GOOD.over_best({name: s for name, s in CPU.items() if name != "tcmalloc"}) is None, "is it best?"


def test_less_is_promised_of_data_beyond_the_last_cache() -> None:
    slower = replace(GOOD, access=ACCESS | {"plan": 1.5})
    assert held(slower)[1] is False
    beyond = replace(slower, max_rss=RSS | {"glibc": 1.1e6})
    assert held(beyond)[1] is True
    assert [each.held for each in limits([beyond], 0)][1] is False, "nobody knows"


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


TIMES = {
    name: {"mimalloc": [2.5, 9.0, 2.4], "mallard": [2.0, 2.0, 9.0], "plan": [2.6, 2.6, 9.0]}
    for name in (*contexts.FRAMES, contexts.OWNER)
}


def slower(name: str, ns: float) -> contexts.Times:
    """Return times with another one under a plan."""
    return TIMES | {name: TIMES[name] | {"plan": [ns]}}


def test_each_context_is_missed_alone() -> None:
    assert [each.held for each in contexts.limits(TIMES)] == [True] * 5
    for number, (name, most) in enumerate(zip(contexts.FRAMES, (3.6, 4.2, 5.4, 7.8), strict=True)):
        held = [each.held for each in contexts.limits(slower(name, 2.0 + most + 0.01))]
        assert held[number] is False
        assert held.count(False) == (2 if number == 0 else 1), (
            "the pair of one frame is beyond mimalloc's, too"
        )
    assert [each.held for each in contexts.limits(slower("1 frame", 2.8))] == [True] * 4 + [False]


def test_times_that_were_not_measured_are_not_held() -> None:
    assert [each.held for each in contexts.limits({})] == [None] * 5


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program whose contexts are recognised."""
    return contexts.build(tmp_path_factory.mktemp("contexts"))


@pytest.mark.parametrize("way", [*contexts.WAYS, "8 frames" + contexts.RARE])
def test_a_plan_looks_at_as_many_frames_as_it_is_named_for(program: Path, tmp_path: Path, way: str) -> None:
    plan = contexts.plan(program, way)
    frames = contexts.FRAMES.get(way.removesuffix(contexts.RARE), 1)
    assert len(decision_trie(claims_of(plan))) == frames, "a node for each, as they diverge there"
    library = str(malloc_library(MALLOC))
    image = contexts.write_image(program, way, tmp_path)
    environment = {"LD_PRELOAD": library, "MALLARD_MALLOC_PLAN": str(image)}
    rounds, live, replacements = 9, 64, 2 * 100
    hits = contexts.routed(program, way, environment, tmp_path)
    own, other = (2, 1) if way.endswith(contexts.RARE) else (1, 2)
    assert (hits[own], hits.get(other, 0)) == (rounds * (live + replacements), 0)


def test_a_plan_that_is_not_in_force_is_no_measurement(program: Path, tmp_path: Path) -> None:
    image = contexts.write_image(program, "1 frame", tmp_path)
    image.write_bytes(image.read_bytes()[:-1])
    environment = {"LD_PRELOAD": str(malloc_library(MALLOC)), "MALLARD_MALLOC_PLAN": str(image)}
    with pytest.raises(contexts.ContextsError, match="no call is routed"):
        contexts.routed(program, "1 frame", environment, tmp_path)
