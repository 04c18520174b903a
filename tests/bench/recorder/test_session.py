"""The runs of `./dev cost`: all processes are counted, failures reported, an interrupt keeps what is done."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from session import METER, Interrupt, RunError, Session, closing_line, run, stack_depth
from workloads import Variant, Workload

PROGRAM = Workload("program", "nothing", ("/bin/sh", "-c", ":"))
NATIVE = Variant("native", lambda program, _output: program)
TWICE = Variant("twice", lambda program, _output: program)
BROKEN = Variant("broken", lambda _program, _output: ("/bin/sh", "-c", "echo no such option >&2; exit 3"))

# Works until it has used this much CPU time.
WORKED = 0.3
WORK = f"import time\nwhile time.process_time() < {WORKED}: pass"


def session(folder: Path, *ways: Variant) -> Session:
    """One program, these variants."""
    return Session([PROGRAM], list(ways), folder, lambda *_: None, lambda _: None)


def metered(folder: Path, *command: str) -> float:
    """CPU seconds of a command as the meter tells them."""
    told = subprocess.run(
        [sys.executable, "-S", "-E", METER, folder / "stderr", *command], capture_output=True, check=True
    )
    return float(json.loads(told.stdout)["cpu"])


def test_processes_left_behind_are_waited_for_and_counted(tmp_path: Path) -> None:
    # The shell ends at once; its grandchild has no parent left and still works.
    orphan = f"({sys.executable} -c '{WORK}' &) ; exit 0"
    assert metered(tmp_path, "/bin/sh", "-c", orphan) >= WORKED
    assert metered(tmp_path, "/bin/sh", "-c", "exit 0") < WORKED


def test_what_was_used_before_is_not_counted(tmp_path: Path) -> None:
    became = f'{sys.executable} -c "$1"; exec {sys.executable} -S -E {METER} {tmp_path}/stderr true'
    told = subprocess.run(["/bin/sh", "-c", became, "sh", WORK], capture_output=True, check=True)
    assert json.loads(told.stdout)["cpu"] < WORKED


def test_failing_run_tells_exit_code_and_last_line(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"^exit code 3: no such option$"):
        run(PROGRAM, BROKEN, tmp_path)


def test_program_that_is_not_there_is_a_failing_run(tmp_path: Path) -> None:
    absent = Variant("absent", lambda _program, _output: ("/absent/program",))
    with pytest.raises(RunError, match="/absent/program"):
        run(PROGRAM, absent, tmp_path)


def test_failing_variant_leaves_the_others_running(tmp_path: Path) -> None:
    both = session(tmp_path, NATIVE, BROKEN, TWICE)
    with Interrupt() as interrupt:
        both.measure(3, interrupt)
    measured = both.measured["program"]
    assert [len(measured.runs(v.name)) for v in (NATIVE, BROKEN, TWICE)] == [3, 0, 3]
    assert measured.failed == {"broken": "exit code 3: no such option"}
    assert both.rounds_done == 3


def test_every_round_begins_with_another_variant(tmp_path: Path) -> None:
    order = session(tmp_path, NATIVE, TWICE)
    with Interrupt() as interrupt:
        order.measure(2, interrupt)
    assert [list(runs) for runs in order.measured["program"].rounds] == [
        ["native", "twice"],
        ["twice", "native"],
    ]


def test_interrupt_keeps_whole_rounds_only(tmp_path: Path) -> None:
    seen: list[str] = []

    def stop(_workload: Workload, variant: Variant, _journal: Path) -> None:
        if variant is BROKEN_OFF:
            os.kill(os.getpid(), signal.SIGINT)
        seen.append(variant.name)

    broken_off = Session([PROGRAM], [NATIVE, BROKEN_OFF, TWICE], tmp_path, stop, lambda _: None)
    with Interrupt() as interrupt:
        broken_off.measure(3, interrupt)
    assert interrupt.asked
    assert seen == ["native", "broken off"]
    assert broken_off.measured["program"].rounds == []
    assert broken_off.rounds_done == 0


BROKEN_OFF = Variant("broken off", lambda program, _output: program)


def test_closing_line_of_the_recorder_is_found_among_others() -> None:
    said = "program: 7 events, 8 bytes\nmallard-record: /tmp/a b: 3545878 events, 2048231 bytes\nbye\n"
    assert closing_line(said) == (3545878, 2048231)


@pytest.mark.parametrize("said", ["", "program: 7 events, 8 bytes\n", "mallard-record: the disk is full\n"])
def test_recorder_that_does_not_close_is_a_failing_run(said: str) -> None:
    with pytest.raises(RunError):
        closing_line(said)


def info_that(folder: Path, does: str) -> str:
    """A `mallard` that is only asked for the figures of a journal."""
    mallard = folder / "mallard"
    mallard.write_text(f'#!/bin/sh\n[ "$*" = "info --json journal" ] || exit 3\n{does}\n', encoding="utf-8")
    mallard.chmod(0o755)
    return str(mallard)


def test_stack_depth_is_what_info_tells(tmp_path: Path) -> None:
    mallard = info_that(tmp_path, 'echo \'{"events": 7, "stack_depth_median": 17}\'')
    assert stack_depth(mallard, Path("journal")) == 17


@pytest.mark.parametrize(
    ("does", "reason"),
    [
        ('echo \'{"events": 7, "stack_depth_median": null}\'', "info --json tells none"),
        ("echo '{\"events\": 7}'", "info --json tells none"),
        ("echo 'mallard: cannot read it' >&2; exit 2", "cannot read it"),
    ],
)
def test_unknown_stack_depth_has_a_reason(tmp_path: Path, does: str, reason: str) -> None:
    with pytest.raises(RunError, match=reason):
        stack_depth(info_that(tmp_path, does), Path("journal"))
