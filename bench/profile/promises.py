"""What is promised about large journals and about the command's own start, and whether it is held."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from limits import Limit
from usage import Usage

# s of wall time, which is what somebody waits for.
AT_MOST = {"profile": 20.0, "report": 30.0}
AT_MOST_GIB = 2.0
AT_MOST_HELP = 8.0

GIB = 1 << 30


@dataclass(frozen=True)
class Row:
    """A journal read by a command; None: it could not be run, and why."""

    journal: str
    command: str
    used: Usage | None
    reason: str = ""

    @property
    def wall(self) -> float | None:
        """Return the seconds that somebody waited."""
        return None if self.used is None else self.used.wall

    @property
    def cpu(self) -> float | None:
        """Return the CPU seconds."""
        return None if self.used is None else self.used.cpu

    @property
    def memory(self) -> float | None:
        """Return the GiB that were resident at most."""
        return None if self.used is None else self.used.memory / GIB


@dataclass(frozen=True)
class Help:
    """CPU seconds of `mallard --help` and of Python alone, in pairs of one moment."""

    help: Sequence[float]
    bare: Sequence[float]

    @property
    def ratio(self) -> float | None:
        """Return the median of one over that of the other."""
        return median(self.help) / median(self.bare) if self.help and self.bare else None


def limits(rows: Sequence[Row], started: Help) -> Iterator[Limit]:
    """Yield every promise, judged by these rows: what is missing leaves it unjudged."""
    for command, seconds in AT_MOST.items():
        waited = {row.journal: row.wall for row in rows if row.command == command}
        yield worst(f"mallard {command}, seconds", seconds, waited)
    memory = {f"{row.command} of {row.journal}": row.memory for row in rows}
    yield worst("resident memory, GiB", AT_MOST_GIB, memory)
    pairs = len(started.help)
    yield Limit(
        "CPU time of mallard --help over bare Python's", AT_MOST_HELP, started.ratio, f"median of {pairs}"
    )


def worst(promise: str, at_most: float, figures: dict[str, float | None]) -> Limit:
    """Judge a promise that holds on each: one that is unknown leaves it unjudged."""
    known = {name: figure for name, figure in figures.items() if figure is not None}
    if not known or len(known) < len(figures):
        return Limit(promise, at_most, None, "on each")
    name = max(known, key=lambda name: known[name])
    return Limit(promise, at_most, known[name], f"on each, most on {name}")
