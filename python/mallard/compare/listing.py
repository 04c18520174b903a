"""The table of a terminal: the mallocs, the verdict below them, what has no row, and how all was measured."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mallard import figures
from mallard.compare.intervals import Interval
from mallard.compare.outcome import Line, Outcome

GAP = 2


def seconds(value: float) -> str:
    """Return a time."""
    return figures.time(value * 1e9)


@dataclass(frozen=True, slots=True)
class Column:
    """A column; where there is too little room, those of the highest rank go first."""

    heading: str
    cell: Callable[[Line], str]
    rank: int

    def width(self, lines: list[Line]) -> int:
        """Return how many columns of the terminal it takes."""
        return GAP + max(len(self.heading), *(len(self.cell(line)) for line in lines))


def figure(heading: str, name: str, write: Callable[[float], str], rank: int) -> Column:
    """Return the column of a figure."""

    def cell(line: Line) -> str:
        found = line.figures[name]
        return figures.UNKNOWN if found is None else write(found.median)

    return Column(heading, cell, rank)


def ratio(base: str, name: str, bounds: bool, rank: int) -> Column:
    """Return the column of a figure's ratio to the base's."""

    def cell(line: Line) -> str:
        return bounded(line.ratios[name]) if bounds else middle(line.ratios[name])

    return Column(f"x {base}", cell, rank)


def middle(of: Interval | None) -> str:
    """Return a ratio."""
    return "-" if of is None else f"{of.median:.2f}"


def bounded(of: Interval | None) -> str:
    """Return a ratio with its bounds."""
    return "-" if of is None else f"{of.median:.2f} {of.low:.2f}..{of.high:.2f}"


def columns(of: Outcome) -> Iterator[Column]:
    """Yield all columns that have something in them."""
    base = of.base.name
    if any(line.says for line in of.lines):
        yield Column("rounds", lambda line: str(len(line.rounds["cpu_s"])), 1)
        yield Column("verdict", lambda line: line.says or "-", 0)
    if any(line.figures["figure"] for line in of.lines):
        yield figure("figure", "figure", figures.number, 0)
        yield ratio(base, "figure", True, 0)
    yield figure("CPU", "cpu_s", seconds, 0)
    yield ratio(base, "cpu_s", True, 0)
    yield figure("elapsed", "elapsed_s", seconds, 0)
    yield ratio(base, "elapsed_s", False, 5)
    yield figure("max RSS", "max_rss_bytes", figures.size, 0)
    yield ratio(base, "max_rss_bytes", False, 1)
    yield figure("minor faults", "minor_faults", figures.count, 2)
    yield figure("major", "major_faults", figures.count, 6)
    yield figure("voluntary", "voluntary_switches", figures.count, 3)
    yield figure("involuntary", "involuntary_switches", figures.count, 4)


def fitting(of: Outcome, width: int) -> list[Column]:
    """Return the columns that have room beside the names."""
    shown = list(columns(of))
    room = width - max(len(line.name) for line in of.lines) + GAP
    while any(one.rank for one in shown) and sum(one.width(of.lines) for one in shown) > room:
        shown.remove(max(shown, key=lambda one: one.rank))
    return shown


def table(of: Outcome, width: int) -> Table:
    """Return a row for each malloc."""
    made = Table(box=None, header_style="bold", padding=(0, GAP, 0, 0), pad_edge=False)
    made.add_column("malloc", no_wrap=True)
    shown = fitting(of, width)
    for column in shown:
        made.add_column(column.heading, justify="right", no_wrap=True)
    for line in of.lines:
        made.add_row(Text(line.name), *(column.cell(line) for column in shown))
    return made


def render(of: Outcome, console: Console) -> None:
    """Print all of it."""
    console.print(table(of, console.width))
    console.print()
    for line in of.verdict:
        console.print(Text(line))
    for name, reason in of.left_out.items():
        console.print(Text(f"Not measured: {name}: {reason}.", style="bold"))
    for note in of.notes:
        console.print(Text(f"Note: {note}."))
    console.print()
    for name, text in (of.method | facts(of)).items():
        console.print(Text(f"{name}: {text}", style="dim"))


def facts(of: Outcome) -> dict[str, str]:
    """Return what was really loaded, and on what machine."""
    known = of.machine
    loaded = dict.fromkeys(line.loaded for line in of.lines if line.loaded)
    machine = (
        known["cpu"],
        f"{known['cores']} cores",
        figures.size(known["memory"]),
        known["kernel"],
        known["c_library"],
        f"huge pages: {known['transparent_huge_pages']}",
    )
    return {"loaded": ", ".join(str(Path(file).resolve()) for file in loaded), "machine": ", ".join(machine)}
