"""What processes held at most, and their page faults."""

from collections.abc import Callable, Sequence

from mallard import figures
from mallard_bench.families import FAMILIES
from mallard_bench.repeated import Repeated
from mallard_bench.results import Result, Row
from mallard_bench.tables import columns
from mallard_bench.tables.figure import plain
from mallard_bench.tables.grid import Cell, Column, Columns, Grid, Line

TITLE = "memory: held at most, and page faults"
STRATEGIES = [labels[0] for labels in FAMILIES.values()]  # the others hold what these do


def table(
    results: Sequence[Result], title: str, corner: str, line: Callable[[Result, Sequence[Cell]], Line]
) -> Grid:
    """Return the table of one strategy a family."""
    _, measured = columns.papers(results)
    labels = [label for label in STRATEGIES if label in measured]
    headings = [Column(label) for label in labels]

    def cells(result: Result) -> list[Cell]:
        return [
            Cell(plain(result.row(label), of, shown).text)
            for of, shown in ((held, figures.size), (faults, figures.count))
            for label in labels
        ]

    lines = [line(result, cells(result)) for result in results]
    return Grid(title, corner, [Columns("held", headings), Columns("page faults", headings)], lines)


def held(row: Row) -> Repeated | None:
    """Return the bytes that were held at most."""
    return None if row.max_held is None else Repeated(row.max_held)


def faults(row: Row) -> Repeated | None:
    """Return the page faults."""
    return None if row.page_faults is None else Repeated(row.page_faults)
