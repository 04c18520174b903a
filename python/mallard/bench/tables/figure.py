"""Figures and ends of strategies as cells."""

from collections.abc import Callable

from mallard import figures
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


def by_the_clock(row: Row) -> float | None:
    """Return the time of an event by the clock, from the first thread's start to the last one's end."""
    return row.wall_ns


def width(row: Row, of: Figure) -> float | None:
    """Return how wide a figure's spread is, as a share of it; a cold one has none."""
    spreads: dict[Figure, tuple[float, float] | None] = {warm: row.spread, by_the_clock: row.wall_spread}
    around, middle = spreads.get(of), of(row)
    return None if around is None or not middle else (around[1] - around[0]) / middle


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
    return end(row) if row is None or value is None else Cell(shown(value), value, width(row, of))


def over(
    row: Row | None, base: Row | None, of: Figure = warm, shown: Callable[[float], str] = three_digits
) -> Cell:
    """Return how many times another's time a row's is; its own time where the other has none."""
    above, below = (None if one is None else of(one) for one in (row, base))
    if row is None or base is None or above is None:
        return end(row)
    if not below:
        return Cell(figures.time(above), spread=width(row, of))
    widths = [known for known in (width(row, of), width(base, of)) if known is not None]
    return Cell(shown(above / below), above / below, max(widths, default=None))


def end(row: Row | None) -> Cell:
    """Return what stands for a strategy without a figure."""
    return Cell("-") if row is None else Cell(ENDS.get(row.status, "-"), reason=row.reason)
