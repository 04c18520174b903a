"""`mallard bench`: a run's groups one after the other, each kept as soon as it is done."""

import contextlib
import json
import lzma
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from bench_runs import MALLARD, RESULTS, Bench

TWO = ("density", "--structure", "DS3", "--size", "6", "--size", "2^10")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def wait_for(told: Path) -> None:
    """Return when something has been written into a file."""
    while not told.exists() or not told.read_text():
        time.sleep(0.01)


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


def part_of(bench: Bench, *options: str) -> str:
    """Return the file of a run of two sizes, DS3 unless other structures are asked for."""
    bench.results.unlink(missing_ok=True)
    asked = options if "--structure" in options else ("--structure", "DS3", *options)
    sizes = () if "--size" in options else ("--size", "6", "--size", "10")
    done = bench.run("density", "--quick", *asked, *sizes)
    assert (done.returncode, done.stderr) == (0, "")
    return bench.results.read_text()


def test_cat_joins_parts(bench: Bench) -> None:
    parts = [part_of(bench, "--structure", name) for name in ("DS3", "DS1", "DS2")]
    bench.results.write_text("".join(parts))
    shown = bench.table()
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "\n6 groups (quick, " in shown.stdout
    bench.results.write_bytes(b"".join(lzma.compress(part.encode()) for part in parts))
    assert bench.table().stdout == shown.stdout
    sizes = [part_of(bench, "--size", size) for size in ("6", "10")]
    bench.results.write_text("".join(sizes))
    assert "\n2 groups (quick, " in bench.table().stdout


def test_a_joined_file_is_resumed(bench: Bench) -> None:
    whole, cut = part_of(bench, "--structure", "DS3"), part_of(bench, "--structure", "DS1")
    bench.results.write_text(whole + "".join(cut.splitlines(keepends=True)[:-1]))
    assert "\n3 of 4 groups (quick, " in bench.table().stdout
    calls = len(bench.calls())
    both = ("--structure", "DS3", "--structure", "DS1", "--size", "10", "--size", "6")
    assert bench.run("density", "--quick", *both, "--resume").returncode == 0
    (call,) = bench.calls()[calls:]
    assert {"--structure=1", "--size=10"} < set(call), "what is in any part is not measured again"
    assert "\n4 groups (quick, " in bench.table().stdout


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (("--structure", "DS3"), "it may have the same groups"),
        (("--structure", "DS3", "--structure", "DS1"), "its structure is 3, not 1 3"),
        (("--structure", "DS1", "--size", "7"), "its size is 6 10, not 7"),
        (("--structure", "DS1", "--rounds", "6"), "its rounds is 5, not 6"),
        (("--structure", "DS1", "--leaves", "12"), "its leaves is the usual, not 12"),
        (("--structure", "DS1", "--uncached-hashes"), "it was measured without --uncached-hashes"),
        (("--structure", "DS1", "--memory-limit", "1G"), "its memory limit is the usual, not 1G"),
    ],
)
def test_other_parts_are_not_joined(bench: Bench, other: tuple[str, ...], reason: str) -> None:
    bench.results.write_text(part_of(bench) + part_of(bench, *other))
    refused = bench.table()
    said = f"mallard: results.jsonl, line 4: this part cannot be joined to the first: {reason}\n"
    assert (refused.returncode, refused.stderr) == (2, said)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            ("glibc 2.36", "glibc 2.31"),
            "line 5: DS1 2^6 is of another machine: its c library is glibc 2.36, not glibc 2.31",
        ),
        (('"narrowed": {', '"narrowed": 5, "more": {'), "line 4: is no header"),
        (('"mallard"', '"duck"'), "line 4: is no header"),
    ],
)
def test_a_spoiled_part_is_told_by_its_line(bench: Bench, change: tuple[str, str], reason: str) -> None:
    first, second = part_of(bench), part_of(bench, "--structure", "DS1")
    bench.results.write_text(first + second.replace(*change))
    refused = bench.table()
    assert (refused.returncode, refused.stderr) == (2, f"mallard: results.jsonl, {reason}\n")


def test_a_damaged_part_is_not_left_out(bench: Bench) -> None:
    packed = [lzma.compress(part_of(bench, "--structure", name).encode()) for name in ("DS3", "DS1")]
    bench.results.write_bytes(packed[0] + packed[1][:-20])
    refused = bench.table()
    assert (refused.returncode, refused.stderr) == (
        2,
        "mallard: cannot read results.jsonl: it is a damaged .xz file\n",
    )


def test_resume_without_results_begins(bench: Bench) -> None:
    assert bench.run(*TWO, "--quick", "--resume").returncode == 0
    assert len(bench.kept()) == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_is_done_is_kept_and_shown_after_ctrl_c(bench: Bench, number: signal.Signals) -> None:
    running = bench.start(*TWO, "--quick", FAKE_BENCH_WAITS="3 10")
    waiting = bench.folder / "waiting"
    wait_for(waiting)
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
    wait_for(bench.folder / "waiting")
    running.send_signal(signal.SIGINT)
    shown, said = running.communicate()
    assert (running.returncode, shown, said) == (130, "", "mallard: interrupted; nothing was done yet\n")
    assert not bench.results.exists()


def test_a_group_that_kills_the_program_does_not_stop_the_others(bench: Bench) -> None:
    broken = bench.run(*TWO, "--quick", FAKE_BENCH_DIES="3 6")
    assert broken.returncode == 1
    assert broken.stderr == (
        "mallard: warning: DS3 2^6: mallard-bench was ended by signal 6\n"
        "mallard: not all could be measured; --resume goes on with results.jsonl\n"
    )
    assert "\n2^10 " in broken.stdout
    assert [group["size"] for group in bench.kept()] == [10]
    assert bench.run(*TWO, "--quick", "--resume").returncode == 0
    assert [group["size"] for group in bench.kept()] == [10, 6]


def test_a_run_that_only_has_its_header_is_resumed(bench: Bench) -> None:
    assert bench.run(*TWO, "--quick").returncode == 0
    header = bench.results.read_text().splitlines(keepends=True)[0]
    bench.results.write_text(header + '{"benchm')
    assert bench.run(*TWO, "--quick", "--resume").returncode == 0
    assert [group["size"] for group in bench.kept()] == [6, 10]


@pytest.mark.parametrize("resume", [(), ("--resume",)])
def test_two_runs_do_not_write_one_file(bench: Bench, resume: tuple[str, ...]) -> None:
    first = bench.start(*TWO, "--quick", FAKE_BENCH_WAITS="3 10")
    wait_for(bench.folder / "waiting")
    second = bench.run(*TWO, "--quick", *resume)
    first.send_signal(signal.SIGINT)
    first.communicate()
    assert second.returncode == 2
    assert second.stderr == ("mallard: results.jsonl: another run is writing it; -o names another file\n")
    assert [group["size"] for group in bench.kept()] == [6]


def test_the_program_ends_with_a_mallard_that_is_killed(bench: Bench) -> None:
    running = bench.start(*TWO, "--quick", FAKE_BENCH_WAITS="3 10")
    wait_for(bench.folder / "waiting")
    status = Path(f"/proc/{(bench.folder / 'waiting').read_text()}/status")
    running.kill()
    running.communicate()
    with contextlib.suppress(OSError):  # the system may forget it between two looks
        while "(zombie)" not in status.read_text():
            time.sleep(0.01)
    assert bench.run(*TWO, "--quick", "--resume").returncode == 0


def test_another_program_or_machine_is_not_mixed_in(bench: Bench) -> None:
    assert bench.run(*TWO, "--quick").returncode == 0
    header, first, _ = bench.results.read_text().splitlines(keepends=True)
    bench.results.write_text(header + first.replace("glibc 2.36", "glibc 2.31"))
    mixed = bench.run(*TWO, "--quick", "--resume")
    assert mixed.returncode == 2
    assert mixed.stderr == (
        "mallard: cannot go on with results.jsonl: it was measured on another machine: its c library is "
        "glibc 2.31, not glibc 2.36\n"
    )
    assert len(bench.kept()) == 1
    assert len(bench.calls()) == 2, "nothing was measured for it"
    bench.program.write_text(bench.program.read_text() + "# another\n")
    refused = bench.run(*TWO, "--quick", "--resume")
    assert refused.stderr == (
        "mallard: cannot go on with results.jsonl: it was measured by another mallard-bench\n"
    )


def test_only_regular_files_hold_results(bench: Bench) -> None:
    (bench.folder / "link").symlink_to("nowhere")
    reasons = {
        "/dev/full": "/dev/full is not a regular file",
        ".": ". is a folder, not a file of results",
        "link": "cannot write link: it is a link to nowhere, which is not there",
    }
    for path, reason in reasons.items():
        for resume in ((), ("--resume",)):
            refused = bench.run(*TWO, "--quick", "-o", path, *resume)
            assert (refused.returncode, refused.stderr) == (2, f"mallard: {reason}\n")


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_full_and_closed_output_is_one_line_or_none(bench: Bench, form: tuple[str, ...]) -> None:
    assert bench.run(*TWO, "--quick").returncode == 0
    shown = " ".join([MALLARD, "bench", "table", RESULTS, *form])
    full = subprocess.run(
        ["bash", "-c", f"{shown} > /dev/full"], cwd=bench.folder, capture_output=True, text=True, check=False
    )
    assert (full.returncode, full.stderr) == (
        2,
        "mallard: cannot write to standard output: No space left on device\n",
    )
    closed = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{shown} | true"],
        cwd=bench.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (closed.returncode, closed.stderr) == (0, "")


def test_a_strategy_that_broke_its_check_is_told_and_makes_the_exit_code(bench: Bench) -> None:
    done = bench.run(*TWO, "--quick", FAKE_BENCH_FAILS="3 10")
    assert done.returncode == 1
    assert "broke" in done.stdout
    assert done.stderr == "mallard: warning: DS3 2^10, AS7: blocks overlap\n"
    assert len(bench.kept()) == 2


def test_long_runs_say_beforehand_how_long_they_take(bench: Bench) -> None:
    for long in ([*TWO, "--full"], ["utilization", "--quick", "-o", "quick.jsonl"]):
        done = bench.run(*long)
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
        with contextlib.suppress(OSError):  # so the end of a terminal is reported
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
        (("density", "--structure", "DS13"), "--structure DS13: must be DS1 to DS12"),
        (("density", "--size", "two"), "--size two: must be an exponent N from 0 to 40, for 2^N"),
        (
            ("density", "--structure", "DS4", "--size", "17"),
            "--size 17: DS4 has strings as keys, and 2^16 elements at most",
        ),
        (
            ("utilization", "--total", "20", "--active", "21", "--block", "10"),
            "T 2^20, A 2^21, S 2^10 cannot be measured: T must be more than A, else no block is replaced",
        ),
        (("contention", "--litter", "2"), "--litter does not reach what threads allocate"),
        (
            ("locality", "-12", "8", "8", "+3", "32"),
            "No such option: -1; write `-- -12 8 8 +3 32`",
        ),
        (
            ("locality", "--", "-12", "8", "x", "+3", "32"),
            "-12 8 x +3 32 is no run: AF is x, no whole number",
        ),
        (
            ("locality", "--", "-12", "13", "8", "+3", "32"),
            "-12 13 8 +3 32 is no run: S is 13: a list has 2^0 links at least, and at most all",
        ),
        (
            ("locality", "--", "-12", "8", "2000000", "+3", "32"),
            "-12 8 2000000 +3 32 is no run: AF is 2000000: not from 0 to 2^20",
        ),
        (("locality", "--", "5"), "5 is no run: it takes five numbers, G S AF SF RF, not 1"),
        (
            ("locality", "--global", "10", "--subsystem", "4", "--subsystem", "12"),
            "--subsystem 12: a list of 2^12 links is longer than all, which are 2^10",
        ),
        (
            ("locality", "--quick", "--", "-12", "8", "8", "+3", "32"),
            "--quick says nothing of the run -12 8 8 +3 32: leave one of them out",
        ),
        (("density", "--memory-limit", "much"), "--memory-limit much is not a size; write 512M or 4G"),
        (
            ("density", "--strategy", "nobody"),
            "--strategy nobody: is unknown; there are "
            + ", ".join([*(f"AS{number}" if number > 1 else "AS1, ours" for number in range(1, 15))])
            + ", jemalloc, std.pool, boost.pool, synchronized_multipool",
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


def test_compressed_results_are_printed_and_damaged_ones_told(bench: Bench) -> None:
    shown = bench.run(*TWO, "--quick").stdout
    packed = lzma.compress(bench.results.read_bytes())
    bench.results.write_bytes(packed)
    again = bench.table()
    assert (again.returncode, again.stdout) == (0, shown)
    bench.results.write_bytes(packed[:-20])
    damaged = bench.table()
    assert damaged.returncode == 2
    assert damaged.stderr == "mallard: cannot read results.jsonl: it is a damaged .xz file\n"


@pytest.mark.parametrize("contents", ["", "quack\n", "{}\n", "[]\n", '{"benchmark": "density"}\n'])
def test_what_holds_no_results_is_told(bench: Bench, contents: str) -> None:
    bench.results.write_text(contents)
    refused = bench.table()
    assert refused.returncode == 2
    assert refused.stderr == "mallard: results.jsonl holds no results of mallard bench\n"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"a":1}', "is no result of density: benchmark is missing"),
        ("[1]", "is no object"),
        ("quack", "is no JSON"),
    ],
)
def test_a_line_that_is_no_result_is_named(bench: Bench, line: str, reason: str) -> None:
    assert bench.run(*TWO, "--quick").returncode == 0
    header, first, second = bench.results.read_text().splitlines(keepends=True)
    bench.results.write_text(f"{header}{first}{line}\n{second}")
    refused = bench.table()
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == f"mallard: results.jsonl, line 3: {reason}\n"


def test_results_of_another_version_are_told(bench: Bench) -> None:
    assert bench.run(*TWO, "--quick").returncode == 0
    header, *rest = bench.results.read_text().splitlines(keepends=True)
    newer = {**json.loads(header), "mallard": "9.0", "phase": "moon"}
    bench.results.write_text("".join([json.dumps(newer) + "\n", *rest]))
    refused = bench.table()
    assert refused.returncode == 2
    assert refused.stderr == (
        "mallard: results.jsonl, line 1: was made by another version of mallard, 9.0: phase is unknown here\n"
    )


def test_names_of_strategies_are_in_any_case_and_what_is_named_twice_is_measured_once(bench: Bench) -> None:
    assert bench.run(*TWO, "--size", "6", "--quick", "--strategy", "as7", "--strategy", "AS7").returncode == 0
    assert len(bench.calls()) == 2
    assert [argument for argument in bench.calls()[0] if "strategy" in argument] == ["--strategy=AS7"]


def test_bench_alone_says_what_there_is() -> None:
    alone = subprocess.run([MALLARD, "bench"], capture_output=True, text=True, check=False)
    asked = subprocess.run([MALLARD, "bench", "--help"], capture_output=True, text=True, check=False)
    assert (alone.returncode, alone.stdout) == (0, asked.stdout)
    wrong = subprocess.run([MALLARD, "bench", "densty"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "Benchmark." not in wrong.stderr


def test_a_second_ctrl_c_ends_at_once_and_says_no_more(bench: Bench) -> None:
    running = bench.start(*TWO, "--quick", FAKE_BENCH_WAITS="3 10")
    wait_for(bench.folder / "waiting")
    running.send_signal(signal.SIGINT)
    assert running.stderr is not None
    assert running.stderr.readline() == "mallard: interrupted; --resume goes on with results.jsonl\n"
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    # At its very end the interpreter has given the interrupt back to the system.
    assert (running.returncode in (130, -signal.SIGINT), said) == (True, "")
