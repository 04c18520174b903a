"""Tables of which the first column is AS1's time and all others are percent of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from mallard import figures
from mallard_bench.results import Result
from mallard_bench.tables import columns
from mallard_bench.tables.figure import PERCENT, Figure, over, plain
from mallard_bench.tables.grid import Cell, Grid, Line
from mallard_bench.tables.heat import around_one

MakeLine = Callable[[Result, Sequence[Cell]], Line]


def papers(
    results: Sequence[Result],
    title: str,
    corner: str,
    line: MakeLine,
    time: Figure,
    events: Callable[[Result], float],
    papers: str | None = None,
) -> Grid:
    """Return the paper's table, or one like it; `events` is how many of them AS1's time is for."""
    headings, labels = columns.papers(results)
    _, *compared = labels

    def cells(result: Result) -> list[Cell]:
        first = result.row("AS1")
        whole = replace(plain(first, time, lambda ns: figures.time(ns * events(result))), value=None)
        return [whole, *(over(result.row(label), first, time, PERCENT) for label in compared)]

    lines = [line(result, cells(result)) for result in results]
    return Grid(title, corner, headings, lines, around_one(), papers)


def others(results: Sequence[Result], title: str, corner: str, line: MakeLine, time: Figure) -> Grid:
    """Return the same of who is not in the paper, and AS1 once more."""
    headings, keys = columns.others(results)

    def cells(result: Result) -> list[Cell]:
        first = result.row("AS1")
        rows = [*map(result.at, keys), result.row("AS1", repeated=True)]
        return [over(row, first, time, PERCENT) for row in rows]

    lines = [line(result, cells(result)) for result in results]
    return Grid(title, corner, [*headings, columns.AGAIN], lines, around_one())


def measured_beyond(results: Sequence[Result]) -> bool:
    """Return whether anything is measured that is not in the paper."""
    return any(row.label is None or row.repeated for result in results for row in result.rows)
