"""Ratios of a run: made round by round, printed with how far their rounds lie from them, and of two runs."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench_runs import MALLARD, Bench
from bench_sample import sample_run
from mallard_bench.expected_documents import documents
from mallard_bench.ratios import ratios, with_ratios
from mallard_bench.repeated import Repeated, middle_of, of_rounds
from mallard_bench.tables.columns import PERCENT, compared

SLOWING = (1.0, 1.3, 0.9, 1.1, 2.0)  # a machine that others use, too


def test_what_slows_both_sides_of_a_round_is_in_no_ratio() -> None:
    one, base = of_rounds([5 * slow for slow in SLOWING]), of_rounds([10 * slow for slow in SLOWING])
    assert one.width is not None
    assert one.width > 0.5
    ratio = one.over(base)
    assert ratio is not None
    assert ratio.value == pytest.approx(0.5)
    assert ratio.width == pytest.approx(0)


def test_a_ratio_has_the_noise_of_both_sides() -> None:
    one, base = of_rounds([5.0] * 5), of_rounds([9.0, 9.5, 10.0, 10.5, 11.0])
    ratio = one.over(base)
    assert ratio is not None
    assert ratio.value == 0.5
    assert ratio.spread == pytest.approx((5 / 10.8, 5 / 9.2), rel=1e-3)


def test_the_first_rounds_of_who_had_more_are_those_of_the_other() -> None:
    ratio = of_rounds([5.0, 10.0, 5.0]).over(of_rounds([10.0, 20.0, 10.0, 1.0, 1.0]))
    assert ratio is not None
    assert ratio.rounds == (0.5, 0.5, 0.5)


def test_without_rounds_a_ratio_lies_between_the_widest_bounds() -> None:
    ratio = Repeated(5.0, (), (4.0, 6.0)).over(Repeated(10.0, (), (8.0, 12.0)))
    assert ratio == Repeated(0.5, (), (4 / 12, 6 / 8))
    assert Repeated(5.0).over(Repeated(10.0, (), (8.0, 12.0))) == Repeated(0.5)
    assert Repeated(5.0).over(Repeated(0.0)) is None


def test_two_rounds_have_no_spread() -> None:
    assert of_rounds([1.0, 2.0]).spread is None


def test_the_median_of_several_figures_is_that_of_each_round() -> None:
    middle = middle_of([of_rounds([1.0, 9.0, 1.0]), of_rounds([2.0, 2.0, 2.0]), of_rounds([3.0, 3.0, 3.0])])
    assert middle.rounds == (2.0, 3.0, 2.0)
    assert middle_of([Repeated(1.0), Repeated(3.0)]) == Repeated(2.0)


def test_a_multiple_has_all_parts_of_it() -> None:
    assert Repeated(1.0, (1.0, 2.0), (0.5, 1.5)).times(2) == Repeated(2.0, (2.0, 4.0), (1.0, 3.0))


@pytest.mark.parametrize(
    ("ratio", "unit", "printed"),
    [
        (of_rounds([0.50, 0.51, 0.52]), 1.0, "0.51±0.01"),
        (of_rounds([0.50, 0.51, 0.52]), PERCENT, "51.0±0.8"),
        (of_rounds([0.050, 0.051, 0.053]), PERCENT, "5.10±0.16"),
        (of_rounds([3.0, 3.1, 3.2]), PERCENT, "310±8"),
        (of_rounds([0.5, 0.5, 0.5]), PERCENT, "50.0"),
        (of_rounds([0.5, 0.6]), PERCENT, "55.0"),
        (Repeated(0.333, (), (0.32, 0.34)), PERCENT, "33"),
    ],
)
def test_behind_a_ratio_stands_how_far_its_rounds_lie(ratio: Repeated, unit: float, printed: str) -> None:
    assert compared(ratio, unit).whole == printed


def test_each_row_tells_its_ratio_to_the_first_strategy() -> None:
    document = sample_run("density").documents[0]
    base = next(row for row in document["rows"] if row["label"] == "AS1")
    told = {
        row["label"]: row for row in with_ratios(document)["rows"] if row["label"] and not row["repeated"]
    }
    assert told["AS1"]["ratio"] == 1
    one = told["AS7"]
    pairs = sorted(mine / first for mine, first in zip(one["rounds_ns"], base["rounds_ns"], strict=True))
    assert one["ratio"] == pairs[2]
    assert pairs[0] < one["ratio_spread"][0] < one["ratio_spread"][1] < pairs[-1]
    assert one["wall_ratio"] is one["degradation"] is None


def test_walks_are_compared_with_those_before_the_shuffle() -> None:
    for document in documents("locality"):
        for row, found in zip(document["rows"], ratios(document), strict=True):
            after = row.get("shuffled") or row.get("factor")
            assert ("degradation" in found) == bool(after)
            if after:
                assert found["degradation"].value == pytest.approx(row["ns_per_event"])


def test_the_object_of_a_run_has_ratios(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    arguments = ("contention", "--quick", "--threads", "1", "--iterations", "15", "--block", "6")
    (group,) = json.loads(bench.run(*arguments, "--json").stdout)["results"]
    told = {row["label"]: row for row in group["rows"] if row["label"]}
    assert told["AS7"]["ratio"] == pytest.approx(0.25)
    assert told["AS7"]["wall_ratio_spread"] == pytest.approx([0.25, 0.25])
    assert told["AS3"]["ratio"] is None
    assert '"ratio"' not in bench.results.read_text()


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
    """Let strategies take this many times as long; all, if none is named."""

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
