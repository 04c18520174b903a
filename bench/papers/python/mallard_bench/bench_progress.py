"""How far a run is, and how long it still takes: on stderr, and nothing where nobody looks.

    left = expected of those not done * (measured / expected of those done)

What was skipped cost nothing and tells nothing. As long as nothing is done, probes tell.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

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
