"""The counting itself: callgrind's dumps are read, and every run counts the same."""

from pathlib import Path

import pytest

from callgrind import CountError, build, count_in, counted
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


def test_every_run_counts_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment, which moves the stack, and the working directory."""
    program = tmp_path / "instructions"
    build(program)
    once = count_in(tmp_path, program)
    elsewhere = tmp_path / "a folder with a longer name"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("A_VARIABLE", "of no meaning " * 321)
    assert count_in(elsewhere, program) == once
    assert len(once) > 100
