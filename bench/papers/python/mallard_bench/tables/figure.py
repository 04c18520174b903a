"""Figures and ends of strategies as cells."""

import math
from collections.abc import Callable

from mallard import figures
from mallard_bench.repeated import Repeated
from mallard_bench.results import Row
from mallard_bench.tables.grid import Cell

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
    """Return what stands for a strategy without a figure."""
    return Cell("-") if row is None else Cell(ENDS.get(row.status, "-"), reason=row.reason)
