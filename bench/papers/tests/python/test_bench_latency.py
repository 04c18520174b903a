"""`mallard bench latency`: replays of journals, one after the other, each kept as soon as it is done."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from replay_sample import threads_replay, timed_replay
from report_browser import opened, wait_until_drawn

from bench_runs import MALLARD, lines
from mallard_bench import latency

# mallard-replay, which measures nothing: it writes down how it was called, and prints what lies beside it.
FAKE = f"""#!{sys.executable}
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).parent
words = sys.argv[1:]
how = "threads" if "--threads" in words else "blocks"
if "--list-strategies" in words:
    print(json.dumps([{{"strategy": name}} for name in ("none", "glibc", "jemalloc", *[f"only_{{how}}"])]))
    sys.exit()
replay = json.loads((here / f"{{how}}.json").read_text())
replay["journal"]["file"] = words[0]
if "--check-only" not in words:
    with (here / "calls").open("a") as calls:
        calls.write(json.dumps(words) + "\\n")
    if os.environ.get("FAKE_WAITS") == how:
        (here / "waiting").write_text(str(os.getpid()))
        time.sleep(1000)
print(json.dumps(replay))
"""
MACHINE = {
    "cpu": "A CPU",
    "cores": 2,
    "memory": 1 << 34,
    "kernel": "Linux 6.1",
    "transparent_huge_pages": "madvise",
    "c_library": "glibc 2.36",
    "compiler": "gcc 12.2.0",
    "flags": "-O2",
}
RESULTS = "results.jsonl"


class Bench:
    """A folder with a mallard-replay and two journals, one of a thread and one of two."""

    def __init__(self, folder: Path) -> None:
        """Make them."""
        self.folder = folder
        (folder / "fake").write_text(FAKE)
        (folder / "fake").chmod(0o755)
        blocks = timed_replay(strategies=4, dots=60, points=20, events=2000)
        blocks["journal"]["threads"] = 1
        threads = threads_replay(copies=2)
        threads["journal"]["threads"] = 2
        for how, replay in (("blocks", blocks), ("threads", threads)):
            (folder / f"{how}.json").write_text(json.dumps(replay | {"machine": MACHINE}))
        (folder / "one.txt").write_text("a 8 10 1 1\nf 10 1 2\n")
        (folder / "two.txt").write_text("a 8 10 1 1\nf 10 2 2\n")

    def start(self, *words: str, **environment: str) -> "subprocess.Popen[str]":
        """Begin a run."""
        return subprocess.Popen(
            [MALLARD, "bench", *words],
            cwd=self.folder,
            env={**os.environ, "COLUMNS": "250", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run one to its end."""
        with self.start(*words) as running:
            shown, said = running.communicate()
        return subprocess.CompletedProcess(running.args, running.returncode, shown, said)

    def latency(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run the benchmark to its end."""
        return self.run("latency", "--native", "./fake", "-o", RESULTS, *words)

    @property
    def calls(self) -> list[list[str]]:
        """How the tool was called to measure."""
        return lines(self.folder / "calls")

    @property
    def kept(self) -> list[tuple[str, str]]:
        """Which replays are kept."""
        groups = [document["group"] for document in lines(self.folder / RESULTS)[1:]]
        return [(group["journal"], group["replayed"]) for group in groups]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_calls_are_timed_and_journals_of_threads_replayed_on_threads(bench: Bench) -> None:
    done = bench.latency("one.txt", "two.txt", "--passes", "7")
    assert (done.returncode, done.stderr) == (0, "")
    timed = ["--json", "--latency", "--passes=7", "--curve"]
    assert bench.calls == [["one.txt", *timed], ["two.txt", *timed], ["two.txt", "--json", "--threads"]]
    assert bench.kept == [("one.txt", "blocks"), ("two.txt", "blocks"), ("two.txt", "threads")]


def test_one_table_has_a_row_for_each_journal_and_strategy(bench: Bench) -> None:
    shown = bench.latency("one.txt", "two.txt").stdout
    rows = {
        line[:33].rstrip(): line[33:].split()
        for line in shown.splitlines()
        if line.startswith(("one", "two"))
    }
    assert {"one.txt glibc (malloc)", "two.txt glibc (malloc)", "two.txt threads/multipool (typed)"} <= set(
        rows
    )
    assert "one.txt threads/multipool (typed)" not in rows, "it was not replayed on threads"
    glibc = next(row for row in timed_replay(4, 60, 20, 2000)["rows"] if row["strategy"] == "glibc")
    assert rows["one.txt glibc (malloc)"][:2] == [
        f"{glibc['ns_per_event']:.2f}",
        f"{glibc['fragmentation']:.2f}",
    ]
    assert f"event {glibc['worst'][0]['event']:,}" in shown
    assert "< 10 ns" in shown, "no time is finer than the clock"
    assert rows["one.txt glibc (malloc)"][-2:] == ["-", "-"]
    assert "-" not in rows["two.txt glibc (malloc)"][-2:]
    assert "gcc 12.2.0" in shown
    assert "3 replays" in shown


def test_strategies_are_asked_for_where_they_are_known(bench: Bench) -> None:
    words = ["two.txt", "--strategy", "jemalloc", "--strategy", "only_threads"]
    assert bench.latency(*words).returncode == 0
    assert [call[-2:] for call in bench.calls] == [
        ["--curve", "--strategy=jemalloc"],
        ["--strategy=jemalloc", "--strategy=only_threads"],
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_done_is_kept_after_ctrl_c_and_gone_on_with(bench: Bench, number: signal.Signals) -> None:
    words = ["latency", "--native", "./fake", "-o", RESULTS, "two.txt"]
    with bench.start(*words, FAKE_WAITS="threads") as running:
        waiting = bench.folder / "waiting"
        while not waiting.exists() or not waiting.read_text():
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(number)
        shown, said = running.communicate()
    assert running.returncode == 130
    assert said == f"mallard: interrupted; --resume goes on with {RESULTS}\n"
    assert "1 of 2 replays" in shown
    assert bench.kept == [("two.txt", "blocks")]
    assert not Path(f"/proc/{waiting.read_text()}").exists()
    assert bench.latency("two.txt", "--resume").returncode == 0
    assert bench.kept == [("two.txt", "blocks"), ("two.txt", "threads")]
    assert len(bench.calls) == 3


def test_results_are_printed_again_as_table_and_json(bench: Bench) -> None:
    first = bench.latency("two.txt")
    assert "2 replays" in first.stdout
    assert bench.run("table", RESULTS).stdout == first.stdout
    printed = json.loads(bench.run("table", RESULTS, "--json").stdout)
    assert printed["benchmark"] == "latency"
    assert [result["group"]["replayed"] for result in printed["results"]] == ["blocks", "threads"]


def test_what_cannot_be_run_is_one_line(bench: Bench) -> None:
    known = "none, glibc, jemalloc, only_blocks, only_threads"
    (bench.folder / "there").touch()
    reasons = {
        ("absent.mlrd",): "cannot read absent.mlrd: ",
        ("one.txt", "--strategy", "hoard"): f"--strategy hoard: is unknown; there are {known}",
        ("one.txt", "--html", "absent/page"): "cannot write absent/page: ",
        ("-o", "there"): "there is there already: --resume goes on with it, -o names another file",
        ("one.txt", "--native", "./absent"): "cannot run ./absent: No such file or directory",
    }
    for words, reason in reasons.items():
        refused = bench.latency(*words)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"mallard: {reason}")
        assert refused.stderr.count("\n") == 1
    assert not (bench.folder / RESULTS).exists()
    assert not (bench.folder / "there.d").exists(), "what was recorded for other results stays"
    assert bench.calls == []


def test_other_results_are_not_on_its_page(bench: Bench) -> None:
    assert bench.latency("one.txt").returncode == 0
    other = {**lines(bench.folder / RESULTS)[0], "benchmark": "density", "groups": 0}
    (bench.folder / "density.jsonl").write_text(json.dumps(other) + "\n")
    refused = bench.run("table", RESULTS, "density.jsonl", "--html", "page.html")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "latency has a page of its own" in refused.stderr


def test_a_program_that_is_not_there_is_left_out_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(latency, "RECORDED", {"absent": ["/absent/xz", "-T4"], "there": ["/bin/true"]})
    found = list(latency.usual(tmp_path / "journals", False))
    assert [journal.name for journal in found] == ["cc1plus.txt.xz", "sqlite3.txt.xz", "there.mlrd"]
    assert capsys.readouterr().err == "mallard: warning: absent is left out: xz is not installed\n"
    recorded = found[-1].stat().st_mtime_ns
    assert list(latency.usual(tmp_path / "journals", True)) == found
    assert found[-1].stat().st_mtime_ns == recorded, "what is gone on with is not recorded again"


def test_the_page_has_a_panel_for_each_journal_with_the_reports_charts(
    bench: Bench, browser: Browser
) -> None:
    done = bench.latency("one.txt", "two.txt", "--html", "page.html")
    assert (done.returncode, done.stderr) == (0, "")
    with opened(browser, bench.folder / "page.html") as page:
        assert page.get_by_role("tab").count() == 2
        first = page.locator("#journal-0")
        for name in ("replay", "operations", "tails", "held", "requests"):
            assert first.locator(f'.chart[data-chart="{name}"] .main-svg').count() >= 1, name
        assert first.locator("table.printed tbody tr").count() == 4
        assert page.locator("#journal-1").is_hidden()
        page.get_by_role("tab", name="two.txt").click()
        wait_until_drawn(page)
        second = page.locator("#journal-1")
        assert second.locator('.chart[data-chart="replay"] .main-svg').count() >= 2, (
            "of blocks and of threads"
        )
        assert "on the recorded threads" in second.inner_text()
        assert page.locator(".notice:visible").count() == 0
