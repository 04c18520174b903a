"""mallard-bench, or what else measures: one group at a time, in a process group of its own.

Ctrl-C is heard here alone. Whatever ends the wait for a group ends mallard-bench and its workers, too; the
kernel does so where this process is killed.
"""

import ctypes
import hashlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from mallard import MallardError
from mallard_bench.options import Group, Options

NAME = "mallard-bench"
BROKE_ITS_CHECK = 1  # a strategy did; the document says which
TICK = 0.25  # seconds
PR_SET_PDEATHSIG = 1  # of prctl
DIGITS = 16  # of a digest

PRCTL = ctypes.CDLL(None).prctl  # found before any process is made


class GroupError(MallardError):
    """A group that could not be measured; the others still can."""


class Program:
    """A mallard-bench, or another program that is asked and measures as it does."""

    name = NAME

    def __init__(self, path: str, *first: str) -> None:
        """Measure with a program; `first` are the words that each call begins with: the benchmark."""
        self.path = path
        self.first = first
        self.arguments: list[str] = []

    def strategies(self) -> list[dict[str, str | None]]:
        """Return what can be measured: label, strategy, binding and destruction of each."""
        listed: list[dict[str, str | None]] = self.answer(
            ["--list-strategies"],
            lambda said: all({"label", "strategy"} <= set(one) for one in said),
            "it lists no strategies",
        )
        return listed

    def machine(self) -> dict[str, Any]:
        """Return what the machine is, as it stands in each document."""
        told: dict[str, Any] = self.answer(["--machine"], lambda said: "cpu" in said, "it tells no machine")
        return told

    def answer(self, question: list[str], fits: Callable[[Any], bool], otherwise: str) -> Any:
        """Return its answer to a question, in place of a measurement."""
        code, said, complaint = self.call(question, lambda: None)
        try:
            answer = json.loads(said)
            sound = code == 0 and fits(answer)
        except (ValueError, TypeError):
            sound = False
        if not sound:
            raise MallardError(f"{self.path} is no {self.name}: {complaint.strip() or otherwise}")
        return answer

    def digest(self) -> str:
        """Return what tells this program from another one."""
        try:
            with Path(shutil.which(self.path) or self.path).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]
        except OSError as error:
            raise MallardError(f"cannot run {self.path}: {error.strerror}") from error

    def told(self, options: Options, memory_limit: int) -> None:
        """Measure as the options say, from here on."""
        self.arguments = [
            f"--rounds={options.rounds}",
            f"--litter={options.litter}",
            f"--memory-limit={memory_limit}",
            *(f"--strategy={name}" for name in options.strategies),
        ]

    def measure(self, group: Group, tick: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Return the document of a group; `tick` is called every now and then."""
        return self.document(group, [*self.arguments, *group.arguments()], tick)

    def document(self, group: Group, arguments: list[str], tick: Callable[[], None]) -> dict[str, Any]:
        """Return what a call prints of a group."""
        code, said, complaint = self.call(arguments, tick)
        if code not in (0, BROKE_ITS_CHECK):
            reason = complaint.strip().removeprefix(f"{self.name}: ") or self.ending(code)
            raise GroupError(f"{group.title}: {reason}")
        try:
            document: dict[str, Any] = json.loads(said)
        except ValueError as error:
            raise GroupError(f"{group.title}: {self.name} printed no JSON") from error
        return document

    def ending(self, code: int) -> str:
        """Say how the program ended that said nothing."""
        return f"{self.name} was ended by signal {-code}" if code < 0 else f"{self.name} ended with {code}"

    def call(self, arguments: list[str], tick: Callable[[], None]) -> tuple[int, str, str]:
        """Run it to its end; return its exit code and what it printed."""
        return call([self.path, *self.first, *arguments], tick)


def call(command: list[str], tick: Callable[[], None]) -> tuple[int, str, str]:
    """Run a program to its end; return its exit code and what it printed."""
    parent = os.getpid()

    def end_with_parent() -> None:
        PRCTL(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    try:
        running = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
            preexec_fn=end_with_parent,  # there is no other thread
        )
    except OSError as error:
        raise MallardError(f"cannot run {command[0]}: {error.strerror}") from error
    with running:
        try:
            said, complaint = wait_for(running, tick)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
    return running.returncode, said, complaint


def wait_for(running: subprocess.Popen[str], tick: Callable[[], None]) -> tuple[str, str]:
    """Return what a process printed, when it has ended."""
    while True:
        with suppress(subprocess.TimeoutExpired):
            return running.communicate(timeout=TICK)
        tick()
