"""`./dev scale`: which figure a limit is about, when nobody can tell, the large journals, what a run used."""

import sys
from pathlib import Path

import pytest

from large_journals import Workload, record, unit
from scale import GIB, Help, Row, limits
from usage import RunError, Usage, run

FINE = Usage(wall=5.0, cpu=6.0, memory=GIB)
STARTED = Help([0.6, 0.5, 9.0], [0.1, 0.1, 0.1])


def rows(**changed: Usage | None) -> list[Row]:
    """Two journals, each read by both commands; `changed` by journal and command."""
    return [
        Row(journal, command, changed.get(f"{journal}_{command}", FINE))
        for journal in ("cc1plus", "python3")
        for command in ("profile", "report")
    ]


def held(made: list[Row], started: Help = STARTED) -> list[bool | None]:
    """Judge them."""
    return [limit.held for limit in limits(made, started)]


def test_all_are_held() -> None:
    assert held(rows()) == [True, True, True, True]


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({"python3_profile": Usage(20.1, 1.0, 1)}, 0),
        ({"cc1plus_report": Usage(30.1, 1.0, 1)}, 1),
        ({"python3_report": Usage(1.0, 1.0, 2 * GIB + GIB // 10)}, 2),
    ],
)
def test_each_limit_can_be_missed_alone(changed: dict[str, Usage | None], missed: int) -> None:
    assert [place for place, kept in enumerate(held(rows(**changed))) if not kept] == [missed]


def test_help_is_judged_by_medians() -> None:
    assert STARTED.ratio == pytest.approx(6.0)
    assert held(rows(), Help([0.81], [0.1])) == [True, True, True, False]


def test_run_that_failed_leaves_its_limits_unjudged() -> None:
    assert held(rows(cc1plus_profile=None)) == [None, True, None, True]
    assert held([], Help([], [])) == [None, None, None, None]


def test_limit_names_where_it_is_tightest() -> None:
    slowest = next(iter(limits(rows(python3_profile=Usage(12.0, 1.0, 1)), STARTED)))
    assert (slowest.figure, slowest.where) == (12.0, "on each, most on python3")


MALLARD = str(Path(sys.executable).with_name("mallard"))


def test_unit_has_its_parts_and_is_the_same_each_time() -> None:
    assert unit(3) == unit(3)
    assert [f"int fill_{n}(int count)" in unit(3) for n in range(4)] == [True, True, True, False]


def test_journal_that_is_too_small_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"true made \d+ events only: 10,000,000 are wanted"):
        record(Workload("true", ("/bin/true",)), MALLARD, tmp_path)


def test_program_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="mallard: "):
        record(Workload("absent", ("/absent/program",)), MALLARD, tmp_path)


def python(code: str) -> tuple[str, ...]:
    """Return a command."""
    return (sys.executable, "-c", code)


def test_memory_is_the_most_that_was_resident() -> None:
    # More than this process has itself: a child counts what its parent had when it began.
    assert 900_000_000 < run(python("b'x' * 900_000_000")).memory < 950_000_000


def test_cpu_counts_threads_and_not_sleep() -> None:
    slept = run(python("import time; time.sleep(0.3)"))
    assert slept.wall > 0.3 > slept.cpu
    hashes = "hashlib.sha256(b'x' * 30_000_000)"
    thread = f"import hashlib, threading; t = threading.Thread(target=lambda: {hashes}); t.start(); t.join()"
    assert run(python(thread)).cpu > slept.cpu


def test_environment_is_added() -> None:
    run(python("import os; assert os.environ['WANTED'] == 'yes' and 'PATH' in os.environ"), {"WANTED": "yes"})


@pytest.mark.parametrize(
    ("code", "reason"), [("raise SystemExit('no room')", "no room"), ("exit(3)", "exit code 3")]
)
def test_run_that_fails_says_why(code: str, reason: str) -> None:
    with pytest.raises(RunError, match=reason):
        run(python(code))
