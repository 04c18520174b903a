"""Figures and ends of strategies as cells."""

from collections.abc import Callable

from mallard.bench.results import Row
from mallard.bench.tables.grid import Cell

# What stands where a strategy has no figure; the paper prints fail where memory ran out.
ENDS = {"out_of_memory": "fail", "skipped": "skip", "failed": "broke"}

Figure = Callable[[Row], float | None]


def warm(row: Row) -> float | None:
    """Return the CPU time of an event."""
    return row.ns


def cold(row: Row) -> float | None:
    """Return the CPU time of an event of the first pass."""
    return row.cold_ns


def three_digits(value: float) -> str:
    """Return a figure as the paper's tables have it: 0.97, 9.75, 12.9, 103."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def percent(value: float) -> str:
    """Return a ratio in percent, as the paper has it."""
    return f"{100 * value:.0f}"


def plain(row: Row | None, of: Figure, shown: Callable[[float], str]) -> Cell:
    """Return a figure of a row; without it how the strategy ended."""
    value = None if row is None else of(row)
    return end(row) if value is None else Cell(shown(value), value)


def over(
    row: Row | None, base: Row | None, of: Figure = warm, shown: Callable[[float], str] = three_digits
) -> Cell:
    """Return how many times another's time a row's is; without both how it ended."""
    above, below = (None if one is None else of(one) for one in (row, base))
    return end(row) if above is None or not below else Cell(shown(above / below), above / below)


def end(row: Row | None) -> Cell:
    """Return what stands for a strategy without a figure."""
    return Cell("-" if row is None else ENDS.get(row.status, "-"))
