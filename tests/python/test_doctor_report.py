"""The page of `mallard doctor`: the verdict first, what was tried as dots, what advice measured as bars."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from report_browser import opened
from report_sample import sample_call_tree, sample_profile

from mallard.advise.doctor_findings import ranked
from mallard.commands.doctor import in_the_source
from mallard.report.data import JournalReport
from mallard.report.marks import Axis, change
from mallard.report.page import render_doctor

DIFF = """--- a/orders.cpp
+++ b/orders.cpp
@@ -52,2 +52,3 @@
 std::vector<line> read(const json& from) {
+  lines.reserve(from.size());
-  lines.clear();
"""


def interval(middle: float, around: float = 0.02) -> dict[str, float]:
    return {"median": middle, "low": middle - around, "high": middle + around}


def row(name: str, kind: str, cpu: float, memory: float = 1.0) -> dict[str, Any]:
    """Return a row of a trial."""
    return {
        "name": name,
        "kind": kind,
        "plan": f"out/{name}.toml" if kind == "plan" else None,
        "cpu_s": interval(cpu),
        "max_rss_bytes": interval(memory * (8 << 20), 1000.0),
        "ratios": {"cpu_s": None, "max_rss_bytes": None}
        if kind == "baseline"
        else {"cpu_s": interval(cpu), "max_rss_bytes": interval(memory)},
        "verdict": "faster" if cpu < 0.98 else "no difference",
    }


def candidate(
    strategy: str, cpu: float | None, runs_as: str = "plan", diff: str | None = None
) -> dict[str, Any]:
    """Return a candidate of advice."""
    place = {"type": "std::vector", "function": "read", "file": "src/orders.cpp", "line": 52}
    return {
        "strategy": strategy,
        "measured": runs_as == "plan",
        "runs_as": runs_as,
        "cpu": None if cpu is None else interval(cpu),
        "peak_bytes": 4096,
        "held_bytes": None,
        "reason": f"{strategy} <fits>",
        "refused": None,
        "is_clear": cpu is not None and cpu < 0,
        "change": {**place, "text": "reserve(from.size())", "diff": diff} if diff else None,
        "wrong_if": "sizes change",
    }


def document() -> dict[str, Any]:
    """Return what a doctor has found in a program that never ran."""
    rows = [
        row("glibc", "baseline", 1.0),
        row("mimalloc", "malloc", 0.88),
        row("plan-pools", "plan", 0.69, 1.02),
        row("blind", "control", 0.9),
        row("glibc a/a", "twin", 1.01),
    ]
    subsystem = {
        "name": "parse <orders>",
        "blocks": 9000,
        "bytes": 120_000,
        "share_of_blocks": 0.4,
        "share_of_cpu": 0.2,
        "dvluc": {"density": 0.2, "variation": 0.1, "locality": None, "utilization": 0.5, "contention": 0.0},
        "does": "frees its blocks together",
        "threads": 1,
        "owners": {"place": "rbx", "instances": 60, "gain": 0.9},
        "site": {"function": "read", "file": "src/orders.cpp", "line": 50},
        "pick": "pool",
        "candidates": [
            candidate("pool", -0.12),
            candidate("reserve", -0.06, "source", DIFF),
            candidate("thread-pool", None),
        ],
    }
    return {
        "program": ["./orders", "--fast", "a b"],
        "stages": [{"name": "try", "state": "done", "seconds": 61.0, "says": "60 runs"}],
        "advice": {"subsystems": [subsystem], "remarks": ["some replays had no time"]},
        "trial": {
            "rows": rows,
            "left_out": [{"name": "tcmalloc", "reason": "it prints something else"}],
            "notes": ["two measurements of glibc lie up to 6 % apart"],
            "verdict": {"sentences": ["Use plan-pools.", "To use it: mallard run"]},
        },
        "rounds": {
            name: [{"round": at, "change": of + at / 100, "decides": at > 1} for at in range(4)]
            for name, of in (("plan-pools", -0.31), ("mimalloc", -0.12), ("glibc a/a", 0.01))
        },
        "verdict": {
            "kind": "plan",
            "use": "plan-pools",
            "headline": "Use this plan: -31 % CPU, +2 % memory",
            "confirmed": True,
            "command": "mallard run --plan out/plan-pools.toml -- ./orders",
        },
        "predictions": [
            {
                "name": "plan-pools",
                "predicted_cpu": -0.25,
                "tried_cpu": -0.31,
                "interval": [-0.33, -0.29],
                "predicted_peak_bytes": 8 << 20,
                "tried_peak_bytes": 9 << 20,
            }
        ],
        "commands": ["mallard advise out/orders.mlrd", "mallard try out/plan-pools.toml -- ./orders"],
        "remarks": ["2 processes were recorded"],
    }


def page_of(found: dict[str, Any], report: JournalReport | None = None) -> str:
    return render_doctor(found, report, "1.2.3", ["mallard", "doctor", "--", "./orders"])


def sample_report() -> JournalReport:
    return JournalReport(sample_profile(20), sample_call_tree(200), None, "Not replayed.")


def without_tags(page: str) -> str:
    body = page[page.index("<body>") : page.index('<script type="text/plain"')]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def test_page_has_the_verdict_first_and_all_that_it_stands_on() -> None:
    text = without_tags(page_of(document(), sample_report()))
    order = [
        "Use this plan: -31 % CPU, +2 % memory.",
        "mallard run --plan out/plan-pools.toml -- ./orders",
        "Best plan -31 %", "Best malloc -12 %", "In the source -6.0 %", "Noise +1.0 %",
        "Note: 2 processes were recorded.",
        "The trial", "Use plan-pools.", "Not measured: tcmalloc: it prints something else",
        "Predicted and tried", "-25 %", "8 MiB", "9 MiB",
        "parse &lt;orders&gt;", "60 owners, told apart by rbx",
        "It frees its blocks together.", "Best, measured in the replay: pool: -12 %",
        "pool &lt;fits&gt;. Wrong if sizes change.",
        "reserve in the source: std::vector reserve(from.size())",
        "read, src/orders.cpp:52", "+ lines.reserve(",
        "Note: some replays had no time.",
        "mallard advise out/orders.mlrd mallard try out/plan-pools.toml -- ./orders",
        "The recording", sample_profile().verdict.findings[0].title,
    ]  # fmt: skip
    at = 0
    for words in order:
        found = text.find(words, at)
        assert found >= 0, (words, text[at : at + 600])
        at = found


def test_page_gives_one_answer_and_the_trials() -> None:
    text = without_tags(page_of(document(), sample_report()))
    assert sample_profile().verdict.headline not in text


def test_best_malloc_is_one_of_the_stage_that_decides() -> None:
    lucky = row("jemalloc", "malloc", 0.5) | {"verdict": "dropped"}
    found = document()
    found["trial"]["rows"].insert(1, lucky)
    assert "Best malloc -12 %" in without_tags(page_of(found))


def test_what_was_dropped_stands_below_what_was_judged() -> None:
    rows = [row("glibc", "baseline", 1.0)]
    rows += [row("lucky", "malloc", 0.5) | {"verdict": "dropped"}, row("slow", "malloc", 0.9)]
    rows += [row("quick", "malloc", 0.8), row("late", "malloc", 0.95) | {"verdict": "dropped"}]
    assert [one["name"] for one in ranked(rows)] == ["glibc", "quick", "slow", "lucky", "late"]


def test_best_plan_is_the_one_to_use() -> None:
    found = document()
    found["trial"]["rows"].insert(1, row("plan-picks", "plan", 0.6))
    assert "Best plan -31 % CPU (-33 % to -29 %), +2.0 % memory plan-pools.toml: confirmed: use it" in (
        without_tags(page_of(found))
    )


def test_a_part_that_was_not_measured_has_no_advice() -> None:
    found = document()
    part = found["advice"]["subsystems"][0]
    leave = candidate("leave", 0.0)
    part |= {"pick": "leave", "candidates": [candidate("pool", 0.1), leave]}
    assert "Leave it alone." in without_tags(page_of(found))
    part["candidates"] = [leave]
    text = without_tags(page_of(found))
    assert "Nothing was measured here: there is no advice." in text
    assert "Leave it alone." not in text


def test_a_change_of_the_source_that_may_be_chance_is_not_told() -> None:
    found = document()
    found["advice"]["subsystems"][0]["candidates"][1]["is_clear"] = False
    assert "In the source" not in without_tags(page_of(found))


def test_a_part_that_is_best_left_alone_has_no_change_of_the_source() -> None:
    found = document()
    found["advice"]["subsystems"][0]["pick"] = "leave"
    assert "In the source" not in without_tags(page_of(found))


def test_changes_of_one_line_are_told_apart_by_their_parts() -> None:
    found = document()
    (part,) = found["advice"]["subsystems"]
    (alone,) = in_the_source(found["advice"])
    assert alone == "In the source, not tried: -6 % CPU by std::vector at orders.cpp:52"
    found["advice"]["subsystems"].append(part | {"name": "write"})
    assert list(in_the_source(found["advice"])) == [f"{alone}, for parse <orders>", f"{alone}, for write"]


def test_strategies_that_come_down_to_one_change_are_told_once() -> None:
    found = document()
    (part,) = found["advice"]["subsystems"]
    told = list(in_the_source(found["advice"]))
    best = next(one for one in part["candidates"] if one["runs_as"] == "source" and one["change"])
    worse = {name: change / 2 for name, change in best["cpu"].items()}
    for twice in ([best, best | {"cpu": worse}], [best | {"cpu": worse}, best]):
        part["candidates"] = twice
        assert list(in_the_source(found["advice"])) == told
    unknown = best["change"] | {"file": None, "line": None}
    other = best | {"change": unknown | {"function": "another"}}
    part["candidates"] = [best | {"change": unknown}, other]
    assert len(list(in_the_source(found["advice"]))) == 2, "two functions"


def test_page_has_a_dot_for_each_round_and_a_bar_for_each_candidate_that_was_measured() -> None:
    page = page_of(document())
    assert page.count('class="dot"') == 2 * 3
    assert page.count('class="dot pale"') == 2 * 3
    assert page.count('class="less"') == 2
    assert page.count('class="promise"') == 1
    assert '<span class="added">+  lines.reserve' in page
    assert '<span class="removed">-  lines.clear' in page


def test_page_of_what_is_not_done_says_so() -> None:
    nothing: dict[str, Any] = {
        "trial": None,
        "advice": None,
        "predictions": [],
        "rounds": {},
        "remarks": [],
        "commands": [],
    }
    stages = [
        {"name": "run", "state": "done", "seconds": 1.0, "says": ""},
        {"name": "try", "state": "waiting", "seconds": 0.0, "says": ""},
    ]
    verdict = {
        "kind": "unknown",
        "use": None,
        "headline": "No verdict: nothing is tried yet",
        "command": None,
    }
    text = without_tags(page_of(document() | nothing | {"stages": stages, "verdict": verdict}))
    assert "No verdict: nothing is tried yet." in text
    assert "Not at its end yet: try" in text
    assert "To use it" not in text


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([-0.31, 0.02], [-0.4, -0.3, -0.2, -0.1, 0.0, 0.1]),
        ([], [0.0, 0.01]),
        ([0.005], [0.0, 0.01]),
        ([-0.02], [-0.02, -0.01, 0.0, 0.01]),
        ([7.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ],
)
def test_axis_holds_zero_and_all_changes(values: list[float], ticks: list[float]) -> None:
    axis = Axis.over(values)
    assert axis.low <= min([0.0, *values])
    assert axis.ticks()[0] == pytest.approx(axis.low)
    assert axis.ticks()[-1] == pytest.approx(axis.high)
    assert float(axis.at(9.0)) <= float(axis.at(axis.high))
    assert any(abs(tick) < 1e-9 for tick in axis.ticks())
    assert len(axis.ticks()) <= 9
    if values == [-0.31, 0.02]:
        assert axis.ticks() == pytest.approx(ticks)


def test_changes_are_written_with_their_sign() -> None:
    assert [change(value) for value in (-0.314, -0.052, 0.021, 0.0, -0.0001)] == [
        "-31 %", "-5.2 %", "+2.1 %", "0 %", "0 %",
    ]  # fmt: skip


@pytest.mark.slow
def test_page_works_in_a_browser_with_a_journal_and_without(browser: Browser, tmp_path: Path) -> None:
    for name, report in (("with", sample_report()), ("without", None)):
        path = tmp_path / f"{name}.html"
        path.write_text(page_of(document(), report), encoding="utf-8")
        for width in (1366, 420):
            with opened(browser, path, viewport={"width": width, "height": 900}) as page:
                assert page.locator("#doctor-verdict .headline").is_visible()
                assert page.locator(".answer").count() == 4
                wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wider <= 0, f"{name}: the page is wider than its window of {width}"
                assert page.locator('.chart[data-chart="timeline"]').count() == (1 if report else 0)
