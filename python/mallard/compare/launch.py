"""One run of the program under one malloc, and what it took.

    mallard --> mallard-launch (src/harness/whole/launch.c) --> PROGRAM
    stdin: a file from its start, or empty        stdout, stderr: files without a name, read afterwards

Launcher and program are a session of their own, without a terminal: Ctrl-C reaches mallard alone, which ends
them. The program's children that are left are ended, too, so that they do not disturb the next run; but not
those that have made a session or a process group of their own, as daemons do.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from tempfile import TemporaryFile
from types import FrameType
from typing import BinaryIO

from mallard import MallardError
from mallard.compare.mallocs import OWN_SETTINGS
from mallard.native import tool

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)  # which end what is measured, and keep what has been


@dataclass(frozen=True, slots=True)
class Program:
    """What is run, and in which environment."""

    arguments: tuple[str, ...]
    file: str  # what is executed
    folder: Path
    stdin: Path | None = None
    setup: str | None = None  # a shell's command before each run, and after it
    cleanup: str | None = None
    timeout: float | None = None  # seconds
    figure: re.Pattern[str] | None = None

    @property
    def is_elsewhere(self) -> bool:
        """Return whether it is run in another folder than the command."""
        return self.folder.absolute() != Path().absolute()


@dataclass(frozen=True, slots=True)
class Taken:
    """What one run took: of the program and of those descendants that were waited for."""

    cpu_s: float
    elapsed_s: float
    max_rss_bytes: float  # of the process that had most
    minor_faults: float
    major_faults: float
    voluntary_switches: float
    involuntary_switches: float
    figure: float | None  # the program's own
    exit_code: int
    output: str  # a digest of what was printed
    errors: str  # the end of what it wrote to standard error


class RunError(MallardError):
    """A run that gives no figures."""


def found(arguments: Sequence[str], folder: Path) -> str:
    """Return the file that a shell in that folder would execute."""
    name = arguments[0]
    if "/" in name:
        file = folder / name
        if not file.is_file() or not os.access(file, os.X_OK):
            raise MallardError(f"cannot run {name}: {'not executable' if file.exists() else 'not found'}")
        return str(file)
    path = shutil.which(name)
    if path is None:
        raise MallardError(f"cannot run {name}: not found")
    return str(Path(path).absolute())


def plain_environment() -> dict[str, str]:
    """Return the environment without what would choose or tune a malloc."""
    return {name: value for name, value in os.environ.items() if name not in OWN_SETTINGS}


def run(program: Program, environment: dict[str, str]) -> Taken:
    """Run the program once, its set-up before it and its clean-up after it."""
    if program.setup is not None:
        shell("--setup", program.setup, program.folder)
    try:
        return launched(program, environment)
    except OSError as error:
        raise MallardError(f"cannot run {program.arguments[0]}: {error.strerror}") from error
    finally:
        if program.cleanup is not None:
            shell("--cleanup", program.cleanup, program.folder)


def shell(option: str, command: str, folder: Path) -> None:
    """Run a command of the user's around a run."""
    with TemporaryFile() as printed:  # no pipe, which a server that the command leaves would keep open
        code = subprocess.call(
            command,
            shell=True,
            cwd=folder,
            env=plain_environment(),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
        if code != 0:
            raise MallardError(f"{option} {command!r} {ending(code, end_of(printed))}")


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Let Ctrl-C and a SIGTERM wait: the starter of a process must know it, or nobody ends it.

    What is ignored, or left to the system, stays so: it is the same in what is started.
    """
    before = {int(number): by for number in INTERRUPTS if callable(by := signal.getsignal(number))}
    came: list[tuple[int, FrameType | None]] = []
    for number in before:
        signal.signal(number, lambda told, frame: came.append((told, frame)))
    try:
        yield
    finally:
        for number, by in before.items():
            signal.signal(number, by)
        for number, frame in came[:1]:
            before[number](number, frame)


def launched(program: Program, environment: dict[str, str]) -> Taken:
    """Run the program by the launcher."""
    with ExitStack() as opened:
        given = opened.enter_context((program.stdin or Path(os.devnull)).open("rb"))
        output, errors = (opened.enter_context(TemporaryFile()) for _ in range(2))
        reading, writing = os.pipe()
        opened.callback(os.close, reading)
        launcher = None
        try:
            with held_interrupts():
                launcher = subprocess.Popen(
                    [tool("mallard-launch"), str(writing), program.file, *program.arguments],
                    stdin=given,
                    stdout=output,
                    stderr=errors,
                    cwd=program.folder,
                    env={**plain_environment(), **environment},
                    pass_fds=(writing,),
                    start_new_session=True,
                )
                os.close(writing)
            launcher.wait(program.timeout)
        except subprocess.TimeoutExpired as error:
            raise RunError(f"it was not done after {program.timeout:g} s (--timeout)") from error
        finally:
            if launcher is not None:
                end(launcher)
        return taken(program, os.read(reading, 4096).decode(), output, errors)


def end(launcher: subprocess.Popen[bytes]) -> None:
    """End a launcher, its program and what that has left behind."""
    with held_interrupts():
        with suppress(ProcessLookupError):
            os.killpg(launcher.pid, signal.SIGKILL)
        launcher.wait()


def taken(program: Program, report: str, output: BinaryIO, errors: BinaryIO) -> Taken:
    """Return what the launcher reports, and what the program printed."""
    words = report.split()
    if words[:1] == ["error"]:
        raise RunError(f"it cannot be executed: {os.strerror(int(words[1]))}")
    if not words:
        raise RunError("mallard-launch was ended before the program")
    elapsed, user, system, rss, minor, major, voluntary, involuntary, status = map(int, words)
    digest = hashlib.sha256()
    output.seek(0)
    while chunk := output.read(1 << 20):
        digest.update(chunk)
    return Taken(
        cpu_s=(user + system) / 1e6,
        elapsed_s=elapsed / 1e9,
        max_rss_bytes=rss * 1024,
        minor_faults=minor,
        major_faults=major,
        voluntary_switches=voluntary,
        involuntary_switches=involuntary,
        figure=own_figure(program.figure, output, errors),
        exit_code=os.waitstatus_to_exitcode(status),
        output=digest.hexdigest(),
        errors=end_of(errors),
    )


def own_figure(pattern: re.Pattern[str] | None, *printed: BinaryIO) -> float | None:
    """Return the last figure that the pattern finds in what was printed: its first group, else all of it."""
    for file in printed if pattern else ():
        file.seek(0)
        matches = list(pattern.finditer(file.read().decode(errors="replace"))) if pattern else []
        file.seek(0)
        if matches:
            text = matches[-1][1 if matches[-1].re.groups else 0] or ""
            number = number_of(text)
            if number is None:
                raise RunError(f"--figure finds {text!r}, which is no number")
            return number
    return None


def number_of(text: str) -> float | None:
    """Return what is written, None where that is no number; infinity is none either, nor is "nan"."""
    try:
        number = float(text.replace(",", "").replace("_", ""))
    except ValueError:
        return None
    return number if isfinite(number) else None


def end_of(file: BinaryIO) -> str:
    """Return the last lines of what was printed."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
    return file.read().decode(errors="replace")


def ending(code: int, printed: str) -> str:
    """Say how a process ended, and the last thing that it said."""
    lines = printed.strip().splitlines()
    said = f": {lines[-1].strip()}" if lines else ""
    if code >= 0:
        return f"exited with {code}{said}"
    return f"was ended by signal {-code} ({signal.strsignal(-code) or 'unknown'}){said}"
