"""`mallard bench compare`: which spreads of two runs overlap."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench_runs import MALLARD, Bench

Change = Callable[[dict[str, Any]], None]
RUN = ("density", "--quick", "--structure", "1", "--size", "6", "--size", "10")


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """The results of a run."""
    bench = Bench(tmp_path)
    assert bench.run(*RUN).returncode == 0
    return bench.results


def changed(path: Path, name: str, change: Change) -> Path:
    """Write results once more, each line changed."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        change(line)
    other = path.with_name(name)
    other.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return other


def times(factor: float, *labels: str) -> Change:
    """Let strategies take so many times as long; all, if none is named."""

    def change(line: dict[str, Any]) -> None:
        for row in line.get("rows", []):
            if row["status"] == "ok" and (not labels or row["label"] in labels):
                row["ns_per_event"] *= factor
                row["rounds_ns"] = [factor * ns for ns in row["rounds_ns"]]

    return change


def compare(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Compare two files."""
    command = [MALLARD, "bench", "compare", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_run_agrees_with_itself(first: Path) -> None:
    done = compare(first, first)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[3:] == [
        "ratios to AS1: spreads overlap in 36 of 36 (100.0 %); second over first: median 1.000",
        "",
        "times: spreads overlap in 38 of 38 (100.0 %); second over first: median 1.000",
    ]


def test_a_slower_machine_changes_times_but_no_ratios(first: Path) -> None:
    told = compare(first, changed(first, "slow.jsonl", times(1.25))).stdout
    assert "ratios to AS1: spreads overlap in 36 of 36 (100.0 %); second over first: median 1.000" in told
    assert "times: spreads overlap in 0 of 38 (0 %); second over first: median 1.250" in told


def test_the_farthest_apart_are_named_first(first: Path) -> None:
    other = changed(changed(first, "a.jsonl", times(2.0, "AS7")), "b.jsonl", times(0.25, "AS9"))
    done = compare(first, other, "--most", "2")
    assert done.returncode == 0
    ratios = done.stdout.splitlines()[3:7]
    assert ratios == [
        "ratios to AS1: spreads overlap in 32 of 36 (88.9 %); second over first: median 1.000",
        "  DS1 2^6 AS9    0.111 to 0.111   0.0278 to 0.0278   300.0 % apart",
        "  DS1 2^10 AS9   0.111 to 0.111   0.0278 to 0.0278   300.0 % apart",
        "  and 2 more",
    ]
    kinds = json.loads(compare(first, other, "--json").stdout)["kinds"]
    assert kinds["ratio"]["figures"] == 36
    assert kinds["ratio"]["overlap"] == pytest.approx(32 / 36)
    assert {one["figure"] for one in kinds["ratio"]["apart"][2:]} == {"DS1 2^6 AS7", "DS1 2^10 AS7"}


def test_what_else_differs_is_a_warning(first: Path) -> None:
    def elsewhere(line: dict[str, Any]) -> None:
        if "machine" in line:
            line["machine"]["cpu"] = "Another"
        else:
            line |= {"program": "0123456789abcdef", "level": "default"}

    done = compare(first, changed(first, "other.jsonl", elsewhere))
    assert done.returncode == 0
    assert done.stderr == (
        "mallard: warning: they were measured by two different mallard-bench\n"
        "mallard: warning: their level is quick and default\n"
        "mallard: warning: they were measured on two machines: its cpu is A CPU, not Another\n"
    )


def test_what_cannot_be_compared_is_refused(first: Path, tmp_path: Path) -> None:
    def of_utilization(line: dict[str, Any]) -> None:
        line["benchmark"] = "utilization"
        if "group" in line:
            line["group"] = {"total": 1, "active": 1, "block": 1}

    def without_rounds(line: dict[str, Any]) -> None:
        for row in line.get("rows", []):
            row |= {"rounds_ns": None, "spread": None}

    other = changed(first, "other.jsonl", of_utilization)
    done = compare(first, other)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"mallard: {first} is of density, {other} of utilization\n"
    done = compare(first, changed(first, "none.jsonl", without_rounds))
    assert done.returncode == 2
    assert done.stderr.endswith("none.jsonl have no figure with a spread in common\n")
    assert compare(first, tmp_path / "absent.jsonl").returncode == 2
