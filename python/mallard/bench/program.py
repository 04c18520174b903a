"""mallard-bench: one group at a time, in a process group of its own.

Ctrl-C is heard here alone. Whatever ends the wait for a group ends mallard-bench and its workers, too.
"""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from mallard.bench.group import Group
from mallard.bench.options import Options
from mallard.errors import MallardError

NAME = "mallard-bench"
BROKE_ITS_CHECK = 1  # a strategy did; the document says which
REFUSED = 2
TICK = 0.25  # seconds


class Program:
    """A mallard-bench, and how it is told to measure."""

    def __init__(self, path: str, options: Options, memory_limit: int) -> None:
        """Measure as the options say."""
        self.path = path
        self.benchmark = options.benchmark
        self.arguments = [
            f"--rounds={options.rounds}",
            f"--litter={options.litter}",
            f"--memory-limit={memory_limit}",
            *(f"--strategy={name}" for name in options.strategies),
        ]

    def measure(self, group: Group, tick: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Return the document of a group; `tick` is called every now and then."""
        command = [self.path, self.benchmark, *self.arguments, *group.arguments()]
        try:
            running = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
            )
        except OSError as error:
            raise MallardError(f"cannot run {self.path}: {error.strerror}") from error
        with running:
            try:
                said, complaint = wait_for(running, tick)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)
                running.wait()
        if running.returncode == REFUSED:
            raise MallardError(complaint.strip())
        if running.returncode not in (0, BROKE_ITS_CHECK):
            raise MallardError(f"{group.title}: {complaint.strip() or ending(running.returncode)}")
        try:
            document: dict[str, Any] = json.loads(said)
        except ValueError as error:
            raise MallardError(f"{group.title}: {NAME} printed no JSON") from error
        return document


def wait_for(running: subprocess.Popen[str], tick: Callable[[], None]) -> tuple[str, str]:
    """Return what a process printed, when it has ended."""
    while True:
        with suppress(subprocess.TimeoutExpired):
            return running.communicate(timeout=TICK)
        tick()


def ending(code: int) -> str:
    """Say how the program ended that said nothing."""
    if code < 0:
        return f"{NAME} was ended by signal {-code}"
    return f"{NAME} ended with {code}"
