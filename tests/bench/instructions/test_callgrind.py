"""The counting itself: dumps of callgrind and rows of replays are read, and every run counts the same."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import callgrind
import instructions
from callgrind import CountError, build, built, count_in, counted
from rows import Counted, Key

DUMPS = """\
version: 1
part: 1
desc: Timerange: Basic block 0 - 900
desc: Trigger: Client Request: pair|multipool/monotonic|run-time size|64|16384|
events: Ir
fn=(1) main
12 7
totals: 409600

part: 2
desc: Trigger: Client Request: life|pool|pmr|1|256|system calls
totals: 1553 512 77
part: 3
desc: Trigger: Client Request: life|multipool|pmr|1|256|system calls
totals: 1600
part: 4
desc: Trigger: Program termination
totals: 0
"""


def test_each_dump_is_a_row() -> None:
    assert list(counted(DUMPS)) == [
        Counted(Key("pair", "multipool/monotonic", "run-time size", 64), 16384, 409600),
        Counted(Key("life", "pool", "pmr", 1), 256, 1553),
        Counted(Key("life, system calls", "pool", "pmr", 1), 1, 1),
        Counted(Key("life", "multipool", "pmr", 1), 256, 1600),
        Counted(Key("life, system calls", "multipool", "pmr", 1), 1, 0),
    ]


def test_a_dump_of_something_else_is_named() -> None:
    with pytest.raises(CountError, match="a row that is none: pair and more"):
        list(counted(DUMPS.replace("pair|multipool/monotonic|run-time size|64|16384|", "pair and more")))


def test_a_program_is_built_anew_when_something_that_it_is_made_of_is_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two sources and two headers; and compiled again is all of it."""
    own, for_c, harness, include = (tmp_path / name for name in ("own", "capi", "harness", "include"))
    made_of = [own / "main.cpp", for_c / "heap.cpp", harness / "placement.hpp", include / "heap.hpp"]
    for path in made_of:
        path.parent.mkdir()
        path.touch()
    commands: list[str] = []

    def fake(*command: str) -> str:
        commands.append(" ".join(command))
        Path(command[command.index("-o") + 1]).touch()
        return ""

    monkeypatch.setattr(callgrind, "run", fake)
    for name, folder in (("FOLDER", own), ("FOR_C", for_c), ("HARNESS", harness), ("INCLUDE", include)):
        monkeypatch.setattr(callgrind, name, folder)
    program = tmp_path / "program"
    build(program)
    assert len(commands) == 3
    os.utime(program, (time.time() + 60,) * 2)
    build(program)
    assert len(commands) == 3
    for path in made_of:
        commands.clear()
        os.utime(path, (time.time() + 120,) * 2)
        build(program)
        assert len(commands) == 3, path
        os.utime(path, (0, 0))
        os.utime(program, (time.time() + 60,) * 2)


@pytest.mark.slow
def test_what_is_counted_depends_on_where_the_program_places_its_heaps(tmp_path: Path) -> None:
    """Were it the system that places them, the test below would fail."""
    program = built(instructions.FOLDER)
    usual, further = (count_in(tmp_path, program, placed, "0", "adaptive_pairs") for placed in ("0", "4"))
    assert further != usual


@pytest.mark.slow
def test_an_unknown_scenario_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CountError, match="no scenario is named none_such"):
        count_in(tmp_path, built(instructions.FOLDER), "0", "0", "none_such")


@pytest.mark.slow
def test_every_run_counts_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment, which moves the stack, the working directory, and what is mapped already."""
    program = built(instructions.FOLDER)
    once = count_in(tmp_path, program)
    elsewhere = tmp_path / "a folder with a longer name"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("A_VARIABLE", "of no meaning " * 321)
    assert count_in(elsewhere, program, "0", "300") == once
    assert len(once) > 100


@pytest.mark.slow
def test_a_run_that_has_to_wait_counts_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For longer than the chunk cache keeps what nobody uses."""
    program = built(instructions.FOLDER)
    once = count_in(tmp_path, program, "0", "0", "adaptive_pairs")

    def run_with_waits(*command: str) -> str:
        with subprocess.Popen(command, env=callgrind.ENVIRONMENT) as running:
            while running.poll() is None:
                time.sleep(0.3)
                running.send_signal(signal.SIGSTOP)
                time.sleep(0.9)
                running.send_signal(signal.SIGCONT)
        return ""

    monkeypatch.setattr(callgrind, "run", run_with_waits)
    assert count_in(tmp_path, program, "0", "0", "adaptive_pairs") == once


def test_two_events_are_a_pair_and_others_rows_are_left_out() -> None:
    rows = [
        {"strategy": "none", "binding": "typed", "instructions_per_event": 16.0},
        {"strategy": "best_fit", "binding": "pmr", "instructions_per_event": 25.5},
        {"strategy": "boost.dlmalloc", "binding": "typed", "instructions_per_event": 83.77},
        {"strategy": "best_fit", "binding": "typed", "instructions_per_event": None},
    ]
    assert dict(callgrind.pairs("sqlite3", {"rows": rows})) == {
        Key("replay of sqlite3", "best_fit", "pmr", 1): 51.0,
        Key("replay of sqlite3", "boost.dlmalloc", "typed", 1): 167.54,
    }


def test_whole_journals_are_replayed_by_the_installed_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that counts 10 instructions an event for who stands first among what it is asked for."""
    fake = tmp_path / "mallard-replay"
    row = '{"strategy": "%s", "binding": "typed", "instructions_per_event": 10}'
    fake.write_text(f'#!/bin/sh\n[ -e "$1" ] && printf \'{{"rows": [{row}]}}\' "$3"\n', encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setattr(callgrind, "REPLAY", fake)
    assert callgrind.replayed() == {
        Key("replay of sqlite3", "best_fit", "typed", 1): 20.0,
        Key("replay of cc1plus", "best_fit", "typed", 1): 20.0,
    }
    fake.write_text("#!/bin/sh\necho no such strategy >&2\nexit 2\n", encoding="utf-8")
    with pytest.raises(CountError, match="no such strategy"):
        callgrind.replayed()
    fake.unlink()
    with pytest.raises(CountError, match="mallard-replay is not there"):
        callgrind.replayed()
