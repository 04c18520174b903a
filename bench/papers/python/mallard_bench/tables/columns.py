"""What tables share: figures of rows and ends of strategies as cells.

Those of P0089 share a column each strategy that was measured, under the heading of its family:

paper_columns, other_columns    the paper's strategies, and all others by whose they are
relative_table, others_table    AS1's time, and of all others percent of it
memory_table                    what processes held at most, and their page faults
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from mallard import figures
from mallard_bench.papers import FAMILIES, word
from mallard_bench.repeated import Repeated
from mallard_bench.results import Key, Result, Row
from mallard_bench.tables.grid import Cell, Column, Columns, Grid, Line, around_one

# What stands where a strategy has no figure; the paper prints fail where memory ran out.
ENDS = {"out_of_memory": "fail", "skipped": "skip", "failed": "broke"}

Figure = Callable[[Row], Repeated | None]

PERCENT = 100.0  # of a ratio
EXACT = 1e-9  # of a last digit: what is no more than that above it is not above it


def warm(row: Row) -> Repeated | None:
    """Return the CPU time of an event."""
    return row.warm


def cold(row: Row) -> Repeated | None:
    """Return the CPU time of an event of the first pass."""
    return row.cold


def by_the_clock(row: Row) -> Repeated | None:
    """Return the time of an event by the clock, from the first thread's start to the last one's end."""
    return row.wall


def three_digits(value: float) -> str:
    """Return a figure as the paper's tables have it: 0.97, 9.75, 12.9, 103."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def plain(row: Row | None, of: Figure, shown: Callable[[float], str]) -> Cell:
    """Return a figure of a row; without it how the strategy ended."""
    found = None if row is None else of(row)
    return end(row) if found is None else Cell(shown(found.value), found.value, found.width)


def over(row: Row | None, base: Row | None, of: Figure = warm, unit: float = 1.0) -> Cell:
    """Return how many times another's time a row's is; its own time where the other has none."""
    above, below = (None if one is None else of(one) for one in (row, base))
    if base is None or above is None:
        return end(row)
    ratio = None if below is None else above.over(below)
    return Cell(figures.time(above.value), spread=above.width) if ratio is None else compared(ratio, unit)


def compared(ratio: Repeated, unit: float = 1.0) -> Cell:
    """Return a ratio, or with the unit PERCENT a percentage, and how far from it most rounds lie.

    One whose rounds are not known, as the paper's, has the digits of the paper.
    """
    value = unit * ratio.value
    text = three_digits(value) if ratio.rounds or unit != PERCENT else f"{value:.0f}"
    decimals = len(text.partition(".")[2])
    steps = math.ceil(unit * ratio.around * 10**decimals - EXACT)  # of the last digit, rounded up
    around = f"±{steps / 10**decimals:.{decimals}f}" if steps > 0 and ratio.rounds else ""
    return Cell(text, ratio.value, ratio.width, around=around, figure=ratio)


def end(row: Row | None) -> Cell:
    """Return what is shown for a strategy without a figure."""
    return Cell("-") if row is None else Cell(ENDS.get(row.status, "-"), reason=row.reason)


MAKERS = ("std", "boost")
OURS = "mallard"
AGAIN = Columns("", [Column("A/A")])


def paper_columns(results: Sequence[Result]) -> tuple[list[Columns], list[str]]:
    """Return the columns of the paper's strategies, and their labels in the same order."""
    measured = {row.label for result in results for row in result.rows}
    known = {family: [label for label in labels if label in measured] for family, labels in FAMILIES.items()}
    columns = [
        Columns(family, [Column(label, word(label)) for label in labels])
        for family, labels in known.items()
        if labels
    ]
    return columns, [label for labels in known.values() for label in labels]


def other_columns(results: Sequence[Result]) -> tuple[list[Columns], list[Key]]:
    """Return the columns of all other strategies, and what tells them apart in the same order."""
    makers: dict[str, dict[Key, Row]] = {}
    for result in results:
        for row in result.rows:
            if row.label is None:
                makers.setdefault(maker(row), {}).setdefault(row.key, row)
    columns = [Columns(of, [column(row) for row in rows.values()]) for of, rows in makers.items()]
    return columns, [key for rows in makers.values() for key in rows]


def maker(row: Row) -> str:
    """Return whose strategy it is, or that it is another malloc under AS1."""
    if row.binding == "malloc":
        return "AS1 over other mallocs"
    start = row.strategy.partition(".")[0]
    return start if start in MAKERS else OURS


def column(row: Row) -> Column:
    """Return the heading of a strategy under its maker's; winked out it stands beside itself."""
    of = maker(row)
    how = "virt" if of == OURS and row.binding == "pmr" else ""
    called = f"{row.strategy} {how}".strip()
    if row.destruction == "winkout":
        return Column("wink", whole=f"{called} wink")
    return Column(row.strategy.removeprefix(f"{of}."), how, called)


MakeLine = Callable[[Result, Sequence[Cell]], Line]


def relative_table(
    results: Sequence[Result],
    title: str,
    corner: str,
    line: MakeLine,
    time: Figure,
    events: Callable[[Result], float],
    papers: str | None = None,
) -> Grid:
    """Return the paper's table, or one like it; `events` is how many of them AS1's time is for."""
    headings, labels = paper_columns(results)
    _, *compared = labels

    def cells(result: Result) -> list[Cell]:
        first = result.row("AS1")
        whole = replace(plain(first, time, lambda ns: figures.time(ns * events(result))), value=None)
        return [whole, *(over(result.row(label), first, time, PERCENT) for label in compared)]

    lines = [line(result, cells(result)) for result in results]
    return Grid(title, corner, headings, lines, around_one(), papers)


def others_table(results: Sequence[Result], title: str, corner: str, line: MakeLine, time: Figure) -> Grid:
    """Return the same of strategies that are not in the paper, and AS1 once more."""
    headings, keys = other_columns(results)

    def cells(result: Result) -> list[Cell]:
        first = result.row("AS1")
        rows = [*map(result.at, keys), result.row("AS1", repeated=True)]
        return [over(row, first, time, PERCENT) for row in rows]

    lines = [line(result, cells(result)) for result in results]
    return Grid(title, corner, [*headings, AGAIN], lines, around_one())


def measured_beyond(results: Sequence[Result]) -> bool:
    """Return whether anything is measured that is not in the paper."""
    return any(row.label is None or row.repeated for result in results for row in result.rows)


MEMORY_TITLE = "memory: held at most, and page faults"
FIRST_OF_FAMILIES = [labels[0] for labels in FAMILIES.values()]  # the others hold what these do


def memory_table(
    results: Sequence[Result], title: str, corner: str, line: Callable[[Result, Sequence[Cell]], Line]
) -> Grid:
    """Return the table of one strategy a family."""
    _, measured = paper_columns(results)
    labels = [label for label in FIRST_OF_FAMILIES if label in measured]
    headings = [Column(label) for label in labels]

    def cells(result: Result) -> list[Cell]:
        return [
            Cell(plain(result.row(label), of, shown).text)
            for of, shown in ((held, figures.size), (page_faults, figures.count))
            for label in labels
        ]

    lines = [line(result, cells(result)) for result in results]
    return Grid(title, corner, [Columns("held", headings), Columns("page faults", headings)], lines)


def held(row: Row) -> Repeated | None:
    """Return the bytes that were held at most."""
    return None if row.max_held is None else Repeated(row.max_held)


def page_faults(row: Row) -> Repeated | None:
    """Return the page faults."""
    return None if row.page_faults is None else Repeated(row.page_faults)
