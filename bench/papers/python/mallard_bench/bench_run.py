"""A run: group after group is measured and kept, until all are done or somebody presses Ctrl-C.

schedule --> mallard-bench, a group at a time --> the results file, a line each --> tables
"""

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType

from mallard import MallardError
from mallard_bench.bench_progress import Pace, Report, duration, progress
from mallard_bench.options import Group, Options
from mallard_bench.program import GroupError, Program
from mallard_bench.results import result
from mallard_bench.results_file import ResultsFile
from mallard_bench.schedules import is_long, probes


@dataclass
class Outcome:
    """How a run ended, beside what its file holds."""

    failed: list[str] = field(default_factory=list)  # groups that could not be measured, and why
    stopped: str | None = None  # why it could not go on
    interrupted: bool = False


def run(groups: Sequence[Group], program: Program, file: ResultsFile, options: Options) -> Outcome:
    """Measure what is not in the file yet; a group that fails does not stop the others."""
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
            if waiting and is_long(options):
                say_how_long(options, program, pace)
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


def say_how_long(options: Options, program: Program, pace: Pace) -> None:
    """Tell what the run takes, known from a few short groups."""
    for group in probes(options):
        start = time.monotonic()
        with suppress(GroupError):
            program.measure(group)
            pace.probed(group.seconds, time.monotonic() - start)
    print(
        f"mallard: this takes about {duration(pace.seconds_left())}; Ctrl-C keeps what is done",
        file=sys.stderr,
    )


def measure(group: Group, program: Program, file: ResultsFile, pace: Pace, report: Report) -> None:
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
