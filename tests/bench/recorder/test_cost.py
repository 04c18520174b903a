"""`./dev cost`: how it refuses, whom it asks, inputs that are always the same, and its figures and limits."""

import io
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import inputs
from cost import ROOT, info_tool
from cost_figures import Measured, Row, Run, limits, method, row, show, spread, whole
from limits import Limit
from workloads import CALLER, COMPRESSED, FULL, NATIVE, RAW, WITNESS

COST = Path(__file__).resolve().parents[3] / "bench/recorder/cost.py"


@pytest.mark.parametrize(
    "arguments", [["--recorder", "/absent/mallard-record"], ["--rounds", "0"], ["--program", "emacs"]]
)
def test_refusal_names_what_is_wrong_and_measures_nothing(arguments: list[str]) -> None:
    refused = subprocess.run(
        [sys.executable, COST, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT / "bench/shared")},
    )
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert arguments[1] in refused.stderr.splitlines()[-1]


def test_journals_are_read_by_the_mallard_beside_their_recorder(tmp_path: Path) -> None:
    beside = tmp_path / "mallard"
    beside.touch(mode=0o755)
    assert info_tool(str(tmp_path / "mallard-record")) == str(beside)
    beside.unlink()
    assert info_tool(str(tmp_path / "mallard-record")) == str(
        Path(sys.executable).with_name("mallard").resolve()
    )


def made(folder: Path) -> dict[str, bytes]:
    inputs.make(folder, 0.01)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_same_bytes_every_time(tmp_path: Path) -> None:
    first = made(tmp_path / "first")
    assert first == made(tmp_path / "second")
    assert len(first) == 5


def test_inputs_are_well_formed(tmp_path: Path) -> None:
    files = made(tmp_path)
    assert len(json.loads(files[inputs.ORDERS_JSON])) == 240
    assert len(ElementTree.fromstring(files[inputs.CATALOG_XML]).findall("item")) == 600
    roster = files[inputs.ROSTER_SMT2].decode()
    assert roster.count("(") == roster.count(")")
    assert files[inputs.HISTORY].count(b"commit refs/heads/main\n") == 100
    shop = sqlite3.connect(":memory:")
    shop.executescript(files[inputs.SHOP_SQL].decode())
    assert shop.execute("select count(*) from purchase").fetchone() == (500,)


PROGRAMS = ("jq", "xmllint", "sqlite3", "perl", "churn")


def measured(*rounds: tuple[float, float, float]) -> Measured:
    """Rounds of native, full and raw; full has a journal of 1000 events and 2500 bytes."""
    return Measured(
        "jq",
        "sums",
        [{NATIVE: Run(native), FULL: Run(full, 1000, 2500), RAW: Run(raw)} for native, full, raw in rounds],
    )


def test_added_is_compared_within_a_round() -> None:
    # The machine becomes ever slower: that is in all three, and so in no difference.
    found = row(measured((1.0, 1.3, 2.0), (2.0, 2.1, 3.0), (4.0, 4.2, 5.0)), FULL)
    assert found.added_s == pytest.approx(0.2)
    assert found.of_raw == pytest.approx(0.2)
    assert found.added_ns_per_event == pytest.approx(2e5)
    assert found.cpu_s == pytest.approx(2.1)
    assert found.bytes_per_event == pytest.approx(2.5)
    assert found.rounds == 3


def test_one_disturbed_round_does_not_move_the_result() -> None:
    assert row(measured((1.0, 1.1, 1.5), (1.0, 9.0, 1.5), (1.0, 1.1, 1.5)), FULL).of_raw == pytest.approx(0.2)


def test_witnesses_are_compared_with_full_stacks_within_a_round() -> None:
    made = Measured(
        "jq", "sums", [{FULL: Run(f), WITNESS: Run(w)} for f, w in ((1, 1.5), (2, 4.0), (4, 6.0))]
    )
    assert row(made, WITNESS).of_full == pytest.approx(1.5)
    assert row(made, FULL).of_full is None
    made.failed[FULL] = "exit code 1"
    assert row(made, WITNESS).of_full is None


def test_native_adds_nothing_to_itself() -> None:
    found = row(measured((1.0, 1.1, 1.5)), NATIVE)
    assert found.cpu_s == 1.0
    assert (found.added_s, found.of_raw, found.bytes_per_event) == (None, None, None)


def test_no_ratio_where_heaptrack_adds_nothing() -> None:
    found = row(measured((1.0, 1.1, 0.9)), FULL)
    assert found.added_s == pytest.approx(0.1)
    assert found.of_raw is None


@pytest.mark.parametrize(("variant", "lacks"), [(COMPRESSED, False), (RAW, True), (FULL, True)])
def test_heaptrack_may_fail_where_it_compresses(variant: str, lacks: bool) -> None:
    cut = measured((1.0, 1.1, 1.5))
    assert not cut.lacks_a_figure()
    cut.failed[variant] = "exit code 141: std::bad_alloc"
    assert cut.lacks_a_figure() == lacks


def test_variant_that_failed_says_why_and_has_no_figures() -> None:
    cut = measured((1.0, 1.1, 1.5))
    cut.failed[RAW] = "exit code 1"
    assert (row(cut, RAW).status, row(cut, RAW).reason, row(cut, RAW).cpu_s) == (
        "failed",
        "exit code 1",
        None,
    )
    assert row(cut, FULL).of_raw is None, "the yardstick is gone"


def test_variant_without_a_whole_round_was_skipped() -> None:
    assert row(Measured("jq", "sums"), FULL).status == "skipped"


@pytest.mark.parametrize(
    ("figures", "low", "high"), [([3.0], 3.0, 3.0), ([1.0, 2.0], 1.1, 1.9), ([5, 1, 2, 3, 4], 1.4, 4.6)]
)
def test_spread_is_from_ten_to_ninety_percent(figures: list[float], low: float, high: float) -> None:
    assert spread(figures) == pytest.approx((low, high))


def rows(full: list[float], caller: list[float], size: list[float], witness: list[float]) -> list[Row]:
    """Rows of five programs with these ratios and bytes an event, the last one's stacks deep."""
    return [
        made
        for name, f, c, s, w in zip(PROGRAMS, full, caller, size, witness, strict=True)
        for made in (
            Row(name, FULL, "ok", of_raw=f, bytes_per_event=s, deep=name == PROGRAMS[-1]),
            Row(name, CALLER, "ok", of_raw=c, bytes_per_event=9.0, deep=name == PROGRAMS[-1]),
            Row(name, WITNESS, "ok", of_full=w, deep=name == PROGRAMS[-1]),
            Row(name, RAW, "ok", of_raw=1.0, deep=name == PROGRAMS[-1]),
        )
    ]


HELD = ([0.4] * 4 + [0.6], [0.25, 0.25, 0.15, 0.1, 0.1], [4.5, 4.5, 3.0, 1.0, 1.0], [2.0] * 5)


def judged(made: list[Row]) -> list[bool | None]:
    """Return which limits are held."""
    return [limit.held for limit in limits(made)]


def test_figures_at_the_limits_hold_them() -> None:
    assert judged(rows(*HELD)) == [True] * 7


@pytest.mark.parametrize(
    ("which", "figures", "missed"),
    [
        (0, [0.1, 0.1, 0.1, 0.41, 0.1], [0]),
        (0, [0.1, 0.1, 0.1, 0.1, 0.61], [1]),
        (1, [0.1, 0.26, 0.1, 0.1, 0.1], [2]),
        (1, [0.16, 0.16, 0.16, 0.1, 0.1], [3]),
        (3, [1.0, 1.0, 1.0, 1.0, 2.1], [4]),
        (2, [3.1, 3.1, 3.1, 1.0, 1.0], [5]),
        (2, [1.0, 1.0, 1.0, 1.0, 4.6], [6]),
    ],
)
def test_each_limit_can_be_missed_alone(which: int, figures: list[float], missed: list[int]) -> None:
    given = list(HELD)
    given[which] = figures
    assert [place for place, held in enumerate(judged(rows(*given))) if held is False] == missed


def test_limit_names_the_program_that_is_worst() -> None:
    full = next(iter(limits(rows([0.1, 0.2, 0.9, 0.3, 0.1], *HELD[1:]))))
    assert (full.figure, full.held, full.where) == (0.9, False, "on each, most on sqlite3")


def test_program_without_the_figure_leaves_the_limit_unjudged() -> None:
    made = [r for r in rows(*HELD) if not (r.program == "perl" and r.variant == FULL)]
    made.append(Row("perl", FULL, "failed", "exit code 1"))
    assert judged(made) == [None, True, True, True, True, None, None]


def test_deep_programs_are_judged_where_some_were_run() -> None:
    made = [r for r in rows(*HELD) if not r.deep]
    assert [limit.at_most for limit in limits(made)] == [0.4, 0.25, 0.15, 2, 3, 4.5]


def test_nothing_measured_holds_nothing() -> None:
    assert judged([]) == [None] * 7


FACTS = {"cpu": "a processor", "transparent_huge_pages": "madvise"}
ROWS = [
    Row("jq", "full", "ok", None, 15, 0.75, (0.7, 0.8), 0.125, 61.23, 0.3951, None, 2.5),
    Row("jq", "heaptrack", "failed", "exit code 1: it fell over"),
]
MISSED = Limit("full stacks add", 0.3, 0.3951, "on each, most on jq")


def shown(*measured: Measured) -> str:
    out = io.StringIO()
    show(list(measured), ROWS, [MISSED], FACTS, method(15, 1), out)
    return out.getvalue()


def test_row_shows_every_figure_and_a_failure_its_reason() -> None:
    text = shown(Measured("jq", "sums", stack_depth=17.5))
    full = next(line for line in text.splitlines() if line.split()[:2] == ["jq", "full"]).split()
    assert full == ["jq", "full", "17.5", "0.750", "[0.700,", "0.800]", "0.125", "61.2", "0.395", "-", "2.50"]
    assert "failed: jq, heaptrack: exit code 1: it fell over" in text


def test_depth_stands_beside_every_figure() -> None:
    text = shown(Measured("jq", "sums", stack_depth=17.5))
    figures = [
        line.split() for line in text.splitlines() if line.split()[:1] == ["jq"] and "sums" not in line
    ]
    assert [line[2] for line in figures] == ["17.5", "17.5"]


def test_unknown_depth_is_a_dash_and_a_reason() -> None:
    text = shown(Measured("jq", "sums", no_depth="mallard info: it fell over"))
    assert next(line for line in text.splitlines() if line.split()[:2] == ["jq", "full"]).split()[2] == "-"
    assert "unknown depth: jq: mallard info: it fell over" in text


def test_small_inputs_are_said_to_judge_nothing() -> None:
    assert "too short" in method(3, 0.1)["inputs"]
    assert "too short" not in method(15, 1)["inputs"]


def test_json_has_the_figures_of_the_table() -> None:
    made = json.loads(json.dumps(whole([Measured("jq", "sums")], ROWS, [MISSED], FACTS, method(15, 1))))
    assert made["machine"]["cpu"] == "a processor"
    assert made["programs"] == [{"program": "jq", "does": "sums", "events": None, "stack_depth_median": None}]
    assert made["rows"][0]["of_raw"] == 0.3951
    assert made["rows"][1]["status"] == "failed"
    assert made["limits"][0]["held"] is False
