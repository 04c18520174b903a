"""Each promise about our malloc missed alone; what was not measured does not pass."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import malloc
import malloc_drift
from limits import exit_code
from malloc_programs import compared_programs, programs, replayed_programs
from malloc_table import Comparison, Replay, limits, mallocs, mean, mean_of

# CPU seconds and bytes under each malloc that hold every limit.
HELD = {
    "glibc": (1.0, 100.0),
    "tcmalloc": (0.95, 120.0),
    "mimalloc": (0.92, 110.0),
    "jemalloc": (0.9, 130.0),
    "mallard": (0.85, 101.0),
}


def comparison(program: str, figures: Mapping[str, tuple[float, float]]) -> Comparison:
    """Return a program under these mallocs, glibc measured twice."""

    def row(name: str, cpu: float, held: float, repeated: bool = False) -> dict[str, Any]:
        return {
            "name": name,
            "repeated": repeated,
            "cpu_s": {"median": cpu},
            "max_rss_bytes": {"median": held},
        }

    rows = [row(name, *values) for name, values in figures.items()]
    return Comparison(program, [*rows, row("glibc", 3.0, 300.0, repeated=True)])


def held(*comparisons: Comparison) -> list[bool | None]:
    """Return which promises are kept."""
    return [limit.held for limit in limits(comparisons)]


def test_all_limits_can_be_held() -> None:
    assert held(comparison("jq", HELD), comparison("lua", HELD)) == [True] * 6


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({"mallard": (0.87, 101.0), "tcmalloc": (1.0, 1.0), "mimalloc": (1.0, 1.0)}, 0),
        ({"tcmalloc": (0.88, 120.0)}, 1),
        ({"mimalloc": (0.88, 110.0)}, 2),
        ({"jemalloc": (0.84, 130.0)}, 3),
        ({"mallard": (0.85, 107.0)}, 4),
    ],
)
def test_each_limit_is_missed_alone(changed: dict[str, tuple[float, float]], missed: int) -> None:
    kept = held(comparison("jq", HELD | changed))
    assert [number for number, one in enumerate(kept) if not one] == [missed]


def test_one_program_that_holds_too_much_is_found_beside_others() -> None:
    large, small = (
        comparison("jq", HELD | {"mallard": (0.85, 140.0)}),
        comparison("lua", HELD | {"mallard": (0.85, 70.0)}),
    )
    found = list(limits([large, small]))
    assert [limit.held for limit in found] == [True] * 5 + [False]
    assert found[-1].where == "jq"


def test_a_malloc_that_was_not_measured_passes_no_limit() -> None:
    without = {name: figures for name, figures in HELD.items() if name != "mallard"}
    kept = held(comparison("jq", HELD), comparison("lua", without))
    assert kept == [None] * 6
    assert exit_code(False, False, True, kept) == 1


def test_a_program_that_crashes_under_a_rival_is_left_out_of_that_mean_alone() -> None:
    without = {name: figures for name, figures in HELD.items() if name != "mimalloc"}
    found = list(limits([comparison("jq", HELD), comparison("php", without)]))
    assert [limit.held for limit in found] == [True] * 6
    assert [limit.where for limit in found[1:3]] == ["2 programs", "the 1 that run under it, of 2 programs"]


def test_means_are_geometric_and_glibcs_second_measurement_does_not_count() -> None:
    half, twice = comparison("a", HELD | {"mallard": (0.5, 1)}), comparison("b", HELD | {"mallard": (2.0, 1)})
    assert mean([half, twice], "mallard", "cpu_s") == pytest.approx(1)
    assert mallocs([half]) == list(HELD)


def test_a_replay_is_a_part_of_glibcs_and_what_failed_has_no_mean() -> None:
    rows: list[dict[str, Any]] = [
        {"strategy": "glibc", "status": "ok", "ns_per_event": 10.0},
        {"strategy": "mallard", "status": "ok", "ns_per_event": 5.0},
        {"strategy": "jemalloc", "status": "failed", "ns_per_event": 1.0},
        {"strategy": "tcmalloc", "status": "ok", "ns_per_event": None},
    ]
    replay = Replay("jq", "littered", rows)
    ratios = {name: replay.ratio(name) for name in ("mallard", "jemalloc", "tcmalloc", "tbbmalloc")}
    assert ratios == {"mallard": 0.5, "jemalloc": None, "tcmalloc": None, "tbbmalloc": None}
    assert mean_of([0.5, 2.0]) == pytest.approx(1)
    assert mean_of([0.5, None]) is None
    assert mean_of([]) is None


# Most resident in each tenth: ours 1.2 of glibc's, and not more in the second half.
DRIFTS = {
    "glibc": [100, 100, 100, 100, 100, 100, 100, 100, 100, 100],
    "mallard": [90, 120, 50, 90, 120, 50, 90, 120, 50, 90],
}


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ({}, [True, True]),
        ({"glibc": [90] * 10}, [False, True]),
        ({"mallard": [90, 100, 50, 90, 100, 50, 90, 110, 50, 90]}, [True, False]),
        ({"mallard": []}, [None, None]),
    ],
)
def test_what_is_held_while_sizes_drift_has_limits(
    changed: dict[str, list[int]], kept: list[bool | None]
) -> None:
    curves = {
        name: [malloc_drift.Point(n, 10, 1, most) for n, most in enumerate(values)]
        for name, values in (DRIFTS | changed).items()
        if values
    }
    assert [limit.held for limit in malloc_drift.limits(curves)] == kept


def test_a_program_that_is_compared_besides_is_in_no_mean() -> None:
    found: dict[str, Any] = {one.name: {"rows": []} for one in compared_programs()}
    assert len(found) > len(programs())
    assert [each.program for each in malloc.of_means(found)] == [one.name for one in programs()]


def test_what_is_replayed_is_each_program_and_does_less_where_there_is_much() -> None:
    replayed = {one.name: one.command for one in replayed_programs()}
    compared = {one.name: one.command for one in programs()}
    assert replayed.keys() > compared.keys()
    less = {name for name, command in compared.items() if replayed[name] != command}
    assert less == {"factor", "minimise", "serve"}
    assert all(replayed[name][0] == command[0] for name, command in compared.items())


def test_what_is_measured_is_the_mallard_of_this_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mallard = tmp_path / ".venv/bin/mallard"
    mallard.parent.mkdir(parents=True)
    mallard.touch(0o755)
    monkeypatch.setattr(malloc, "ROOT", tmp_path)
    assert malloc.installed() == str(mallard)  # a word of a shell's command
