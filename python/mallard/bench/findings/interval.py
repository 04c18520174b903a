"""A figure with the bounds that its noise has, and what may be computed from several.

    10.2 in [10.0, 10.5]  over  5.0 in [4.9, 5.2]  =  2.04 in [10.0 / 5.2, 10.5 / 4.9]

Bounds of a result are the widest that those of its parts allow: a difference within them proves nothing.
"""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """A figure, and between which two it may really lie."""

    value: float
    low: float
    high: float

    def __truediv__(self, other: "Interval") -> "Interval":
        """Return how many times the other this one is."""
        return Interval(over(self.value, other.value), over(self.low, other.high), over(self.high, other.low))

    def __mul__(self, factor: float) -> "Interval":
        """Return a multiple of it."""
        return Interval(self.value * factor, self.low * factor, self.high * factor)


def over(above: float, below: float) -> float:
    """Return a quotient; of what is too short to be told from nothing, any multiple."""
    return above / below if below > 0 else math.inf


def smallest(figures: Iterable[Interval]) -> Interval:
    """Return the least of some figures, each of which may be it."""
    figures = list(figures)
    return Interval(
        min(figure.value for figure in figures),
        min(figure.low for figure in figures),
        min(figure.high for figure in figures),
    )


def median(figures: Iterable[Interval]) -> Interval:
    """Return the median figure between the medians of the bounds."""
    figures = list(figures)
    return Interval(
        statistics.median(figure.value for figure in figures),
        statistics.median(figure.low for figure in figures),
        statistics.median(figure.high for figure in figures),
    )
