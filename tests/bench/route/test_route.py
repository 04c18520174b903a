"""Each promise of `./dev route`: held, missed alone, and unjudged where nothing was measured."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import contexts
from mallard.native import MALLOC, malloc_library
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


@pytest.mark.parametrize("name", [*contexts.FRAMES, contexts.OWNER])
def test_a_plan_looks_at_as_many_frames_as_it_is_named_for(program: Path, tmp_path: Path, name: str) -> None:
    own, *others = contexts.rules(program, name)
    frames = contexts.FRAMES.get(name, 1)
    assert [len(one.frames) for one in own.contexts] == [frames]
    at_each = [len(one.frames) for rule in others for one in rule.contexts]
    assert at_each == ([*range(1, frames + 1)] if name in contexts.FRAMES else [])
    image, counters = tmp_path / "contexts.image", tmp_path / "counters"
    contexts.write_image(program, name, image)
    environment = {
        "LD_PRELOAD": str(malloc_library(MALLOC)),
        "MALLARD_MALLOC_PLAN": str(image),
        "MALLARD_MALLOC_PLAN_COUNTERS": str(counters),
    }
    done = subprocess.run((program, name, "100"), env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    told = [json.loads(line) for line in counters.read_text().splitlines()]
    hits = {one["rule"]: one["hits"] for one in told}
    rounds, live, replacements = 9, 64, 2 * 100
    assert hits[1] == rounds * (live + replacements)
    assert hits.get(2, 0) == 0
