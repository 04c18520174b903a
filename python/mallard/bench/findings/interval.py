"""A figure with the bounds that its noise has, and what may be computed from several.

    10.2 in [10.0, 10.5]  over  5.0 in [4.9, 5.2]  =  2.04 in [10.0 / 5.2, 10.5 / 4.9]

Bounds of a result are the widest that those of its parts allow: a difference within them proves nothing. A
ratio is never surer than two measurements of the same thing are alike: `noise` is the factor between those,
and its bounds are at least that far away.
"""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

Name = tuple[str, ...]


@dataclass(frozen=True)
class Interval:
    """A figure, and between which two it may really lie."""

    value: float
    low: float
    high: float
    noise: float = 1.0
    of: Name = field(default=(), compare=False)  # what it is a figure of, as in ("DS3", "2^6", "AS1")

    def __truediv__(self, other: "Interval") -> "Interval":
        """Return how many times the other this one is."""
        value, noise = over(self.value, other.value), max(self.noise, other.noise)
        return Interval(
            value,
            min(over(self.low, other.high), value / noise),
            max(over(self.high, other.low), value * noise),
            noise,
            named(self.of, other.of),
        )

    def __mul__(self, factor: float) -> "Interval":
        """Return a multiple of it."""
        return Interval(self.value * factor, self.low * factor, self.high * factor, self.noise, self.of)


def over(above: float, below: float) -> float:
    """Return a quotient; of what is too short to be told from nothing, any multiple."""
    return above / below if below > 0 else math.inf


def named(above: Name, below: Name) -> Name:
    """Return what a quotient is of: ("DS3", "AS1") over ("DS3", "AS7") is ("DS3", "AS1/AS7")."""
    return tuple(
        one if one == other else f"{bracketed(one)}/{bracketed(other)}"
        for one, other in zip(above, below, strict=True)
    )


def bracketed(part: str) -> str:
    """Return a part of a name such that a quotient can be made of it."""
    return f"({part})" if "/" in part else part


def smallest(figures: Iterable[Interval]) -> Interval:
    """Return the least of some figures, each of which may be it."""
    figures = list(figures)
    least = min(figures, key=lambda figure: figure.value)
    return Interval(
        least.value,
        min(figure.low for figure in figures),
        min(figure.high for figure in figures),
        max(figure.noise for figure in figures),
        least.of,
    )


def median(figures: Iterable[Interval]) -> Interval:
    """Return the median figure between the medians of the bounds."""
    figures = list(figures)
    return Interval(
        statistics.median(figure.value for figure in figures),
        statistics.median(figure.low for figure in figures),
        statistics.median(figure.high for figure in figures),
    )
