"""What a run used, as the kernel counts it."""

import sys

import pytest

from usage import RunError, run


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
