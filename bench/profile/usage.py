"""Runs a command and says what it used.

The CPU time is that of the process and of all that it waited for, the memory that of the largest of them.
The kernel counts both. It counts as memory what this process itself holds, if that is more.
"""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class RunError(Exception):
    """A command that did not do its work, and why."""


@dataclass(frozen=True)
class Usage:
    """What one run took."""

    wall: float  # s
    cpu: float  # s, user and system
    memory: int  # bytes, the most that were resident


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Usage:
    """Run a command with its output going nowhere; raises RunError if it fails."""
    started = time.perf_counter()
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=None if environment is None else os.environ | environment,
        text=True,
    ) as child:
        assert child.stderr is not None
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if child.returncode != 0:
        reason = said.strip().splitlines()
        raise RunError(f"{' '.join(command)}: {reason[-1] if reason else f'exit code {child.returncode}'}")
    return Usage(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
