"""Figures and ends of strategies as cells."""

from mallard.bench.results import Row
from mallard.bench.tables.grid import Cell

# What stands where a strategy has no figure; the paper prints fail where memory ran out.
ENDS = {"out_of_memory": "fail", "skipped": "skip", "failed": "broke"}


def three_digits(value: float) -> str:
    """Return a figure as the paper's tables have it: 0.97, 9.75, 12.9, 103."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def end(row: Row | None) -> Cell:
    """Return what stands for a strategy without a figure."""
    return Cell("-" if row is None else ENDS.get(row.status, "-"))


def over(row: Row | None, base: Row | None) -> Cell:
    """Return how many times the time of another a row's is; without both times how it ended."""
    if row is None or base is None or row.ns is None or not base.ns:
        return end(row)
    return Cell(three_digits(row.ns / base.ns), row.ns / base.ns)
