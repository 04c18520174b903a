"""A run: group after group is measured and kept, until all are done or somebody presses Ctrl-C.

schedule --> mallard-bench, a group at a time --> the results file, a line each --> tables

Progress, and the time that is left, go to stderr if it is a terminal:

    left = expected of those not done * (measured / expected of those done)

What was skipped cost nothing and shows nothing. As long as nothing is done, probes give the estimate.
"""

import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Protocol

from mallard import MallardError
from mallard_bench.options import Group
from mallard_bench.program import GroupError
from mallard_bench.results import result
from mallard_bench.results_file import ResultsFile

MINUTE, HOUR, DAY = 60, 3600, 86400


class Pace:
    """The account of a run."""

    def __init__(self, expected: Iterable[float]) -> None:
        """Begin with what all groups are expected to cost, in seconds."""
        self.left = sum(expected)
        self.expected = 0.0
        self.measured = 0.0
        self.probe_factor = 1.0

    def probed(self, expected: float, measured: float) -> None:
        """Learn from something that is not part of the run."""
        self.probe_factor = measured / expected

    def done(self, expected: float, measured: float, skipped: bool) -> None:
        """Count a group as done."""
        self.left -= expected
        if not skipped:
            self.expected += expected
            self.measured += measured

    def seconds_left(self, running_for: float = 0) -> float:
        """Return how long the rest takes, a group among it that has been running for a while."""
        factor = self.measured / self.expected if self.expected else self.probe_factor
        return max(self.left * factor - running_for, 0.0)


def duration(seconds: float) -> str:
    """Return a duration as people say it."""
    if seconds < 1.5 * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 1.5 * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    if seconds < 2 * DAY:
        minutes = round(seconds / MINUTE)
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{seconds / DAY:.0f} days"


Report = Callable[
    [str, int, float], None
]  # hears the title of a group, how many are done, and the seconds left


@contextmanager
def progress(groups: int) -> Iterator[Report]:
    """Show how far a run of some groups is, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda title, done, left: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=groups, left="", visible=False)
        yield lambda title, done, left: bar.update(
            task,
            description=title,
            completed=done,
            left=f"about {duration(left)} left",
            visible=True,
            refresh=True,
        )


@dataclass
class Outcome:
    """How a run ended, beside what its file holds."""

    failed: list[str] = field(default_factory=list)  # groups that could not be measured, and why
    stopped: str | None = None  # why it could not go on
    interrupted: bool = False


class Measures(Protocol):
    """What measures a group."""

    def measure(self, group: Group, tick: Callable[[], None] = ...) -> dict[str, Any]:
        """Return its document; `tick` is called every now and then."""


def run(
    groups: Sequence[Group], program: Measures, file: ResultsFile, probes: Sequence[Group] = ()
) -> Outcome:
    """Measure what is not in the file yet; a group that fails does not stop the others.

    Where there are probes, it says beforehand what that takes.
    """
    pace = Pace(group.seconds for group in groups)
    waiting = []
    for group in groups:
        kept = file.kept(group.settings)
        if kept is None:
            waiting.append(group)
        else:
            pace.done(group.seconds, kept["seconds"], result(kept).skipped is not None)
    outcome = Outcome()
    try:
        with ended_in_order():
            if waiting and probes:
                say_how_long(probes, program, pace)
            with progress(len(groups)) as report:
                for group in waiting:
                    try:
                        measure(group, program, file, pace, report)
                    except GroupError as error:
                        outcome.failed.append(str(error))
                        pace.done(group.seconds, 0, skipped=True)
    except KeyboardInterrupt:
        outcome.interrupted = True
    except MallardError as error:
        outcome.stopped = str(error)
    return outcome


def say_how_long(probes: Sequence[Group], program: Measures, pace: Pace) -> None:
    """Tell what the run takes, known from a few short groups."""
    for group in probes:
        start = time.monotonic()
        with suppress(GroupError):
            program.measure(group)
            pace.probed(group.seconds, time.monotonic() - start)
    print(
        f"mallard: this takes about {duration(pace.seconds_left())}; Ctrl-C keeps what is done",
        file=sys.stderr,
    )


def measure(group: Group, program: Measures, file: ResultsFile, pace: Pace, report: Report) -> None:
    """Measure one group and keep it."""
    start = time.monotonic()

    def tick() -> None:
        report(group.title, len(file.documents), pace.seconds_left(time.monotonic() - start))

    tick()
    document = program.measure(group, tick)
    seconds = round(time.monotonic() - start, 3)
    file.append({**document, "title": group.title, "settings": group.settings, "seconds": seconds})
    pace.done(group.seconds, seconds, result(document).skipped is not None)


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Let what else ends a process end it as Ctrl-C does, with what it runs."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
