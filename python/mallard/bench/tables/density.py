"""Benchmark I, a structure at a time.

1. the paper's table: seconds for 2^27 leaves, warm
2. everybody else, and AS1 measured twice: time over that of AS1
3. the paper's table once more, cold: the first structure of a process
4. what a process held at most, and its page faults in 3
"""

from collections.abc import Callable, Iterator, Sequence

from mallard import figures
from mallard.bench.results import Result, Row
from mallard.bench.tables.figure import end, over, three_digits
from mallard.bench.tables.grid import Cell, Column, Columns, Grid, Line
from mallard.bench.tables.heat import around_one, over_chart
from mallard.bench.tables.section import Section

PAPERS_LEAVES = 2**27
SECONDS = PAPERS_LEAVES / 1e9  # for 2^27 leaves of one ns
CONTENTS = ("int", "string")
FAMILIES = {
    "global": {"AS1": "", "AS2": "virt"},
    "monotonic": {"AS3": "", "AS4": "wink", "AS5": "virt", "AS6": "v+w"},
    "multipool": {"AS7": "", "AS8": "wink", "AS9": "virt", "AS10": "v+w"},
    "mono + multi": {"AS11": "", "AS12": "wink", "AS13": "virt", "AS14": "v+w"},
}
MAKERS = ("std", "boost")
WIDE_NAME = 12  # characters
IN_MEMORY = ("AS1", "AS3", "AS7", "AS11")


def sections(results: Sequence[Result]) -> Iterator[Section]:
    """Yield the tables of each structure."""
    names = {result.group["structure"] for result in results}
    for structure in sorted(names, key=lambda name: int(name[2:])):
        yield Section(structure, list(tables(results, structure)))
    yield Section("all", [])


def tables(results: Sequence[Result], structure: str) -> Iterator[Grid]:
    """Yield the tables of a structure."""
    of = sorted(
        (result for result in results if result.group["structure"] == structure),
        key=lambda result: int(result.group["size"]),
    )
    yield paper_table(of, f"{title(structure)}: seconds for 2^27 leaves", lambda row: row.ns)
    if any(row.label is None or row.repeated for result in of for row in result.rows):
        yield others(of, f"{structure}, beyond the paper: time over that of AS1")
    if any(row.cold_ns is not None for result in of for row in result.rows):
        yield paper_table(of, f"{structure}, first touch: seconds for 2^27 leaves", lambda row: row.cold_ns)
        yield memory(of, f"{structure}, memory: held at most, and page faults of the first touch")


def title(structure: str) -> str:
    """Return a structure with what it is: DS7, vector<unordered_set<int>>."""
    number = int(structure[2:]) - 1
    inside = CONTENTS[number % 2]
    containers = ("vector", "unordered_set")
    name = f"{containers[number // 2 % 2]}<{inside}>"
    if number >= 4:
        name = f"{containers[number // 8]}<{name}>"
    return f"{structure}, {name}"


def paper_table(results: Sequence[Result], title: str, time: Callable[[Row], float | None]) -> Grid:
    """Return the paper's table of a time."""
    measured = {row.label for result in results for row in result.rows}
    families = {
        family: [label for label in labels if label in measured] for family, labels in FAMILIES.items()
    }

    def cell(row: Row | None) -> Cell:
        ns = None if row is None else time(row)
        return end(row) if ns is None else Cell(three_digits(ns * SECONDS), ns)

    labels = [label for family in families.values() for label in family]
    grid = Grid(
        title,
        "size",
        [
            Columns(family, [Column(label, FAMILIES[family][label]) for label in labels])
            for family, labels in families.items()
            if labels
        ],
        [line(result, [cell(result.row(label)) for label in labels]) for result in results],
    )
    return coloured(grid)


def others(results: Sequence[Result], title: str) -> Grid:
    """Return the table of who is not in the paper."""
    groups: dict[str, list[Row]] = {}
    for row in results[0].rows:
        if row.label is None:
            groups.setdefault(maker(row), []).append(row)
    names = [row.name for rows in groups.values() for row in rows]
    columns = [Columns(of, [column(row) for row in rows]) for of, rows in groups.items()]

    def cells(result: Result) -> list[Cell]:
        first = result.row("AS1")
        rows = [*(result.row(name) for name in names), result.row("AS1", repeated=True)]
        return [over(row, first) for row in rows]

    return Grid(
        title,
        "size",
        [*columns, Columns("", [Column("A/A")])],
        [line(result, cells(result)) for result in results],
        around_one(),
    )


def maker(row: Row) -> str:
    """Return whose strategy it is, or that it is another malloc under AS1."""
    if row.binding == "malloc":
        return "AS1 over other mallocs"
    start = row.strategy.partition(".")[0]
    return start if start in MAKERS else "mallard"


def column(row: Row) -> Column:
    """Return the heading of a strategy under its maker's; winked out it stands beside itself."""
    if row.destruction == "winkout":
        return Column("wink")
    name = row.strategy.removeprefix(f"{maker(row)}.")
    if len(name) <= WIDE_NAME:
        return Column(name)
    first, _, last = name.rpartition("_")
    return Column(first, last)


def memory(results: Sequence[Result], title: str) -> Grid:
    """Return the table of bytes held and page faults."""

    def cells(result: Result) -> list[Cell]:
        rows = [result.row(label) for label in labels]
        held = [
            end(row) if row is None or row.max_held is None else Cell(figures.size(row.max_held))
            for row in rows
        ]
        faults = [
            end(row) if row is None or row.page_faults is None else Cell(figures.count(row.page_faults))
            for row in rows
        ]
        return [*held, *faults]

    measured = {row.label for result in results for row in result.rows}
    labels = [label for label in IN_MEMORY if label in measured]
    columns = [Column(label) for label in labels]
    return Grid(
        title,
        "size",
        [Columns("held", columns), Columns("page faults", columns)],
        [line(result, cells(result)) for result in results],
    )


def line(result: Result, cells: Sequence[Cell]) -> Line:
    """Return the row of a size."""
    name = f"2^{result.group['size']}"
    return Line(name, cells) if result.skipped is None else Line(name, (), f"skipped: {result.skipped}")


def coloured(grid: Grid) -> Grid:
    """Return the grid with the colours of its whole chart."""
    return Grid(grid.title, grid.corner, grid.groups, grid.lines, over_chart(grid.values()))
