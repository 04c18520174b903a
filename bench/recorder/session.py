"""The runs, in an order that favours nobody.

    round 1   jq: native, a/a, caller, full ...    xmllint: native, a/a ...    perl ...
    round 2   jq: a/a, caller, full ... native     ...

Within a round a program runs in every way, one after the other, and every round begins with another one, so
that a slow spell of the machine meets all of them. A round counts for a program only when it is whole.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType

from cost_figures import Measured, Run
from workloads import Variant, Workload

METER = Path(__file__).parent / "meter.py"
# perl's hashes are seeded at random; the same seed gives the same work in every run.
SAME_WORK = {"LC_ALL": "C.UTF-8", "PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}
CLOSING_LINE = re.compile(r"^mallard-record: .*: (\d+) events, (\d+) bytes\b", re.MULTILINE)


class RunError(Exception):
    """A run that gives no figure, and why."""


class Interrupt:
    """Ctrl-C: the first one lets the present run end and then stops, the second one ends it at once."""

    def __init__(self) -> None:
        """Nothing was asked for yet."""
        self.asked = False

    def __enter__(self) -> "Interrupt":
        """Take the signal over."""
        self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Give the signal back."""
        signal.signal(signal.SIGINT, self._before)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def closing_line(said: str) -> tuple[int, int]:
    """Return events and bytes of the journal from what mallard-record says when it ends."""
    found = CLOSING_LINE.findall(said)
    if not found:
        raise RunError(f"it does not say how many events it recorded: {last_line(said)}")
    return int(found[-1][0]), int(found[-1][1])


def last_line(text: str) -> str:
    """Return the last line that says something."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"


def run(workload: Workload, variant: Variant, folder: Path) -> Run:
    """Run one program in one way; what it writes lies in `folder`/run until the next run."""
    output = folder / "run"
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir()
    errors = output / "stderr"
    command = variant.wrap(workload.command, output / "journal")
    # A group of its own, so that Ctrl-C at the terminal does not end a run half-way.
    metering = subprocess.Popen(
        [sys.executable, "-S", "-E", METER, errors, *command],
        cwd=folder,
        env=os.environ | SAME_WORK,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        measured, complaint = metering.communicate()
    except KeyboardInterrupt:
        os.killpg(metering.pid, signal.SIGTERM)
        metering.communicate()
        raise
    if metering.returncode != 0:
        raise RunError(last_line(complaint))
    figures = json.loads(measured)
    said = errors.read_text(encoding="utf-8", errors="replace")
    if figures["exit_code"] != 0:
        raise RunError(f"exit code {figures['exit_code']}: {last_line(said)}")
    return Run(figures["cpu"], *(closing_line(said) if variant.journal else ()))


def stack_depth(mallard: str, journal: Path) -> float:
    """Return the median depth of the stacks in a journal."""
    told = subprocess.run([mallard, "info", "--json", journal], capture_output=True, text=True, check=False)
    if told.returncode != 0:
        raise RunError(f"{mallard} info: {last_line(told.stderr)}")
    depth = json.loads(told.stdout).get("stack_depth_median")
    if depth is None:
        raise RunError(f"{mallard} info --json tells none")
    return float(depth)


class Session:
    """All rounds over all programs, with what has been measured so far."""

    def __init__(
        self,
        chosen: list[Workload],
        ways: list[Variant],
        folder: Path,
        after_run: Callable[[Workload, Variant, Path], None],
        tell: Callable[[str], None],
    ) -> None:
        """Prepare; `after_run` sees the first output of each program and variant, `tell` the progress."""
        self.measured = {w.name: Measured(w.name, w.does, deep=w.deep) for w in chosen}
        self.rounds_done = 0
        self._chosen, self._ways, self._folder = chosen, ways, folder
        self._after_run, self._tell = after_run, tell
        self._seconds: dict[tuple[str, str], float] = {}

    def measure(self, rounds: int, interrupt: Interrupt) -> None:
        """Run everything `rounds` times, or until the interrupt."""
        for number in range(rounds):
            turn = number % len(self._ways)
            order = self._ways[turn:] + self._ways[:turn]
            for place, workload in enumerate(self._chosen):
                self._tell(
                    f"round {number + 1} of {rounds}, {workload.name}{self._left(rounds - number, place)}"
                )
                if not self._round_of(workload, order, interrupt):
                    return
            self.rounds_done = number + 1

    def _round_of(self, workload: Workload, order: list[Variant], interrupt: Interrupt) -> bool:
        measured = self.measured[workload.name]
        runs: dict[str, Run] = {}
        for variant in order:
            if variant.name in measured.failed:
                continue
            if interrupt.asked:
                return False
            start = time.monotonic()
            try:
                runs[variant.name] = run(workload, variant, self._folder)
            except RunError as reason:
                measured.failed[variant.name] = str(reason)
                continue
            except KeyboardInterrupt:
                return False
            if (workload.name, variant.name) not in self._seconds:
                self._after_run(workload, variant, self._folder / "run" / "journal")
            self._seconds[workload.name, variant.name] = time.monotonic() - start
        measured.rounds.append(runs)
        return True

    def _left(self, rounds: int, place: int) -> str:
        """Say how long the rest takes, from program `place` of this round on, once every run is known."""
        if self.rounds_done == 0:
            return ""
        whole = sum(self._seconds.values())
        names = {workload.name for workload in self._chosen[:place]}
        done = sum(seconds for (program, _), seconds in self._seconds.items() if program in names)
        left = round(rounds * whole - done)
        return f", {left // 60}:{left % 60:02} left"
