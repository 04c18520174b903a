"""What `mallard profile` and `mallard report` take on journals of ten million events and more.

Records two programs, reads each journal with both commands, and prints wall time, CPU time and memory;
beside them what `mallard --help` takes over bare Python, in turns. Exit code 0 when everything ran, 1 with
--check when a promise is missed, 2 when something could not be run.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from large_journals import Journal, prepare, record, workloads
from limits import Limit, exit_code, number, verdict
from machine import machine
from usage import RunError, Usage, run

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


ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "scale"
ROUNDS_OF_HELP = 21
WIDTH = 120

METHOD = {
    "wall, CPU": "of one run each, user and system time of all its threads; limits are about wall time",
    "memory": "the most that was resident, as the kernel counts it",
    "help": f"user and system time, {ROUNDS_OF_HELP} runs each in turns after one that does not count",
}


def arguments(given: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev scale", description="Measure what a profile and a report of ten million events take."
    )
    parser.add_argument("--mallard", metavar="PATH", help="another mallard than the checkout's own")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    return parser.parse_args(given)


def commands(mallard: str, journal: Journal, folder: Path) -> dict[str, tuple[str, ...]]:
    """Return what is measured on a journal."""
    path = str(journal.path)
    return {
        "profile": (mallard, "profile", path),
        "report": (mallard, "report", path, "-o", str(folder / f"{journal.name}.html")),
    }


def measure(mallard: str, journal: Journal, folder: Path) -> list[Row]:
    """Run each command on a journal."""
    rows = []
    for name, command in commands(mallard, journal, folder).items():
        try:
            rows.append(Row(journal.name, name, run(command)))
        except RunError as reason:
            rows.append(Row(journal.name, name, None, str(reason)))
    return rows


def measure_help(mallard: str) -> Help:
    """Run `mallard --help` and its Python alone in turns."""
    python = str(Path(mallard).with_name("python"))
    asked, bare = [], []
    for _ in range(1 + ROUNDS_OF_HELP):
        asked.append(run((mallard, "--help")).cpu)
        bare.append(run((python, "-c", "pass")).cpu)
    return Help(asked[1:], bare[1:])


def show(journals: list[Journal], rows: list[Row], started: Help) -> None:
    """Print the table, the machine and the method."""
    console = Console(width=WIDTH, highlight=False)
    events = {journal.name: journal.events for journal in journals}
    table = Table(box=None, header_style="bold")
    table.add_column("journal")
    table.add_column("events", justify="right")
    table.add_column("command")
    for name in ("wall s", "CPU s", "memory GiB"):
        table.add_column(name, justify="right")
    for row in rows:
        told = (number(figure, ".2f") for figure in (row.wall, row.cpu, row.memory))
        table.add_row(row.journal, f"{events[row.journal]:,}", row.command, *told)
    console.print(table)
    for row in rows:
        if row.used is None:
            console.print(Text(f"failed: {row.reason}"), soft_wrap=True)
    console.print(f"mallard --help: {number(started.ratio, '.2f')} times the CPU time of bare Python")
    for group in (machine(), METHOD):
        console.print()
        for name, value in group.items():
            console.print(Text(f"{name.replace('_', ' ')}: {value}"), soft_wrap=True)
    console.print()


def main(given: list[str]) -> int:
    """Record, measure, print."""
    wanted = arguments(given)
    mallard = shutil.which(wanted.mallard or ROOT / ".venv/bin/mallard")
    if mallard is None:
        raise RunError(f"{wanted.mallard or '.venv/bin/mallard'} is not there or cannot be executed")
    prepare(FOLDER)
    journals, rows = [], []
    for workload in workloads(FOLDER):
        print(f"recording {workload.name}", file=sys.stderr)
        journals.append(record(workload, mallard, FOLDER))
        print(f"reading {journals[-1].events:,} events of {workload.name}", file=sys.stderr)
        rows += measure(mallard, journals[-1], FOLDER)
    started = measure_help(mallard)
    show(journals, rows, started)
    judged = list(limits(rows, started))
    for limit in judged:
        print(verdict(limit))
    failed = any(row.used is None for row in rows)
    return exit_code(False, failed, wanted.check, [limit.held for limit in judged])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RunError as reason:
        print(f"scale: {reason}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
