"""`mallard bench`: a run's groups one after the other, each kept as soon as it is done."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from bench_runs import Bench

TWO = ("density", "--structure", "DS3", "--size", "6", "--size", "2^10")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_each_group_is_kept_below_a_header(bench: Bench) -> None:
    done = bench.run(*TWO, "--quick", "--rounds", "7", "--litter", "3", "--memory-limit", "2G")
    assert (done.returncode, done.stderr) == (0, "")
    header, *documents = [json.loads(line) for line in bench.results.read_text().splitlines()]
    assert (header["benchmark"], header["level"], header["groups"]) == ("density", "quick", 2)
    assert [document["group"]["size"] for document in documents] == [6, 10]
    assert [document["settings"]["size"] for document in documents] == [6, 10]
    for call in bench.calls():
        assert call[0] == "density"
        assert {"--rounds=7", "--litter=3", f"--memory-limit={2 << 30}", "--structure=3"} < set(call)


def test_results_of_another_run_are_left_alone(bench: Bench) -> None:
    assert bench.run(*TWO, "--quick").returncode == 0
    kept = bench.results.read_bytes()
    refused = bench.run(*TWO, "--quick")
    assert refused.returncode == 2
    assert refused.stderr == (
        "mallard: results.jsonl is there already: --resume goes on with it, -o names another file\n"
    )
    assert bench.results.read_bytes() == kept


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (("--rounds", "6"), "its rounds is 5, not 6"),
        (("--litter", "1"), "its litter is 0, not 1"),
        (("--strategy", "AS7"), "its strategies is all, not AS7"),
        (("--structure", "4"), "its structure is 3, not 3 4"),
    ],
)
def test_only_the_same_run_is_resumed(bench: Bench, changed: tuple[str, ...], reason: str) -> None:
    assert bench.run(*TWO, "--quick").returncode == 0
    kept = bench.results.read_bytes()
    refused = bench.run(*TWO, "--quick", *changed, "--resume")
    assert refused.returncode == 2
    assert refused.stderr == f"mallard: cannot go on with results.jsonl: {reason}\n"
    assert bench.results.read_bytes() == kept


def test_a_resumed_run_measures_what_is_missing(bench: Bench) -> None:
    assert bench.run(*TWO, "--quick").returncode == 0
    whole = bench.results.read_text()
    header, first, second = whole.splitlines(keepends=True)
    bench.results.write_text(header + first + second[: len(second) // 2])
    assert bench.run(*TWO, "--quick", "--resume").returncode == 0
    assert len(bench.calls()) == 3
    assert bench.calls()[2] == bench.calls()[1]
    assert [group["size"] for group in bench.kept()] == [6, 10]


def test_a_limit_that_was_half_of_what_was_available_stays_when_resumed(bench: Bench) -> None:
    assert bench.run(*TWO, "--quick").returncode == 0
    header, first, _ = bench.results.read_text().splitlines(keepends=True)
    was = {**json.loads(header), "memory_limit": 12345678}
    bench.results.write_text(json.dumps(was) + "\n" + first)
    assert bench.run(*TWO, "--quick", "--resume").returncode == 0
    assert "--memory-limit=12345678" in bench.calls()[2]


def test_resume_without_results_begins(bench: Bench) -> None:
    assert bench.run(*TWO, "--quick", "--resume").returncode == 0
    assert len(bench.kept()) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_is_done_is_kept_and_shown_after_ctrl_c(bench: Bench, number: signal.Signals) -> None:
    running = bench.start(*TWO, "--quick", FAKE_BENCH_WAITS="3 10")
    waiting = bench.folder / "waiting"
    while not waiting.exists() or not waiting.read_text():
        time.sleep(0.01)
    running.send_signal(number)
    shown, said = running.communicate()
    assert running.returncode == 130
    assert said == "mallard: interrupted; --resume goes on with results.jsonl\n"
    assert [group["size"] for group in bench.kept()] == [6]
    assert "\n2^6 " in shown
    assert "\n2^10 " not in shown
    assert "1 of 2 groups" in shown
    assert not Path(f"/proc/{waiting.read_text()}").exists()
    assert bench.run(*TWO, "--quick", "--resume").returncode == 0
    assert [group["size"] for group in bench.kept()] == [6, 10]


def test_ctrl_c_before_anything_is_done_leaves_no_file(bench: Bench) -> None:
    running = bench.start(*TWO, "--quick", FAKE_BENCH_WAITS="3 6")
    while not (bench.folder / "waiting").exists():
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    shown, said = running.communicate()
    assert (running.returncode, shown, said) == (130, "", "mallard: interrupted; nothing was done yet\n")
    assert not bench.results.exists()


def test_a_program_that_dies_is_told_and_what_is_done_is_kept(bench: Bench) -> None:
    broken = bench.run(*TWO, "--quick", FAKE_BENCH_DIES="3 10")
    assert broken.returncode == 2
    assert broken.stderr == "mallard: DS3 2^10: mallard-bench was ended by signal 6\n"
    assert [group["size"] for group in bench.kept()] == [6]


def test_a_strategy_that_broke_its_check_is_told_and_makes_the_exit_code(bench: Bench) -> None:
    done = bench.run(*TWO, "--quick", FAKE_BENCH_FAILS="3 10")
    assert done.returncode == 1
    assert "broke" in done.stdout
    assert done.stderr == "mallard: warning: DS3 2^10, AS7: blocks overlap\n"
    assert len(bench.kept()) == 2


def test_long_runs_say_beforehand_how_long_they_take(bench: Bench) -> None:
    done = bench.run(*TWO, "--full")
    assert done.returncode == 0
    assert done.stderr.startswith("mallard: this takes about ")
    assert done.stderr.count("\n") == 1
    assert bench.run("density", "--size", "6", "--quick", "-o", "other.jsonl").stderr == ""


def test_a_terminal_sees_which_group_is_measured_and_how_long_it_takes(bench: Bench) -> None:
    terminal, end = os.openpty()
    with subprocess.Popen(
        bench.command(*TWO, "--quick"),
        cwd=bench.folder,
        env=bench.environment(TERM="xterm", COLUMNS="100"),
        stdout=subprocess.DEVNULL,
        stderr=end,
    ) as running:
        os.close(end)
        shown = b""
        with contextlib.suppress(OSError):  # so the end of a terminal is told
            while part := os.read(terminal, 4096):
                shown += part
    os.close(terminal)
    assert running.returncode == 0
    text = shown.decode()
    assert "DS3 2^6" in text
    assert "1/2" in text
    assert re.search(r"about \d+ s left", text)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("density", "--quick", "--full"), "--quick and --full exclude each other"),
        (("density", "--structure", "DS13"), "--structure DS13: must be from 1 to 12"),
        (("density", "--size", "two"), "--size two: must be from 0 to 40"),
        (("density", "--memory-limit", "much"), "--memory-limit much is not a size; write 512M or 4G"),
        (
            ("density", "--strategy", "nobody"),
            "mallard-bench: unknown strategy nobody (see --list-strategies)",
        ),
        (
            ("density", "-o", "absent/results"),
            "cannot write absent/results: its folder is not there, or cannot be written",
        ),
        (
            ("density", "--html", "absent/page"),
            "cannot write absent/page: its folder is not there, or cannot be written",
        ),
        (("density", "--native", "./absent"), "cannot run ./absent: No such file or directory"),
    ],
)
def test_what_cannot_be_run_is_one_line(bench: Bench, arguments: tuple[str, ...], reason: str) -> None:
    refused = bench.run(*arguments)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr == f"mallard: {reason}\n"
    assert not bench.results.exists()


def test_json_is_the_header_and_all_documents(bench: Bench) -> None:
    printed = json.loads(bench.run(*TWO, "--quick", "--json").stdout)
    assert printed["benchmark"] == "density"
    assert [result["group"]["size"] for result in printed["results"]] == [6, 10]


def test_a_page_is_written_of_a_run_and_of_kept_results(bench: Bench) -> None:
    assert bench.run(*TWO, "--quick", "--html", "run.html").returncode == 0
    page = (bench.folder / "run.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "mallard bench table results.jsonl --html run.html" in page
    assert bench.table("--html", "again.html").returncode == 0
    assert (bench.folder / "again.html").exists()


def test_kept_results_are_printed_again(bench: Bench) -> None:
    shown = bench.run(*TWO, "--quick").stdout
    again = bench.table()
    assert (again.returncode, again.stdout) == (0, shown)
    assert len(bench.calls()) == 2


@pytest.mark.parametrize("contents", ["", "quack\n", "{}\n", "[]\n", '{"benchmark": "density"}\n'])
def test_what_holds_no_results_is_told(bench: Bench, contents: str) -> None:
    bench.results.write_text(contents)
    refused = bench.table()
    assert refused.returncode == 2
    assert refused.stderr == "mallard: results.jsonl holds no results of mallard bench\n"
