"""A figure with the bounds that its noise has, and what may be computed from several.

    10.2 in [10.0, 10.5]  over  5.0 in [4.9, 5.2]  =  2.04 in [10.0 / 5.2, 10.5 / 4.9]

Of figures of one group, which have rounds in common, a ratio is made round by round (repeated.py). Of others
the bounds of a result are the widest that those of its parts allow: a difference within them proves nothing.
A ratio is never surer than two measurements of the same thing are alike: `noise` is the factor between those,
and its bounds are at least that far away.
"""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

from mallard_bench.repeated import Repeated

Name = tuple[str, ...]


@dataclass(frozen=True)
class Interval:
    """A figure, and between which two it may really lie."""

    value: float
    low: float
    high: float
    noise: float = 1.0
    of: Name = field(default=(), compare=False)  # what it is a figure of, as in ("DS3", "2^6", "AS1")
    rounds: tuple[float, ...] = field(default=(), compare=False)
    group: int | None = field(default=None, compare=False)  # which of several rounds are of

    def __truediv__(self, other: "Interval") -> "Interval":
        """Return how many times the other this one is."""
        noise, name = max(self.noise, other.noise), named(self.of, other.of)
        ratio = self.in_rounds(other)
        if ratio is not None and ratio.spread is not None:
            (low, high), value = ratio.spread, ratio.value
            rounds, group = ratio.rounds, self.group
        else:
            low, high = over(self.low, other.high), over(self.high, other.low)
            value, rounds, group = over(self.value, other.value), (), None
        return Interval(value, min(low, value / noise), max(high, value * noise), noise, name, rounds, group)

    def in_rounds(self, other: "Interval") -> Repeated | None:
        """Return how many times another figure of the same group this one is; None of another group."""
        if self.group is None or self.group != other.group:
            return None
        return Repeated(self.value, self.rounds).over(Repeated(other.value, other.rounds))

    def __sub__(self, other: "Interval") -> "Interval":
        """Return what is left of it; the smaller that is beside the two, the noisier."""
        left = max(self.value - other.value, 0.0)
        noise = max(self.noise, other.noise)
        more = (noise - 1) * (self.value + other.value) / left if left > 0 else 0.0
        return Interval(
            left, max(self.low - other.high, 0.0), max(self.high - other.low, 0.0), 1 + more, self.of
        )

    def __mul__(self, factor: float) -> "Interval":
        """Return a multiple of it."""
        low, high = self.low * factor, self.high * factor
        rounds = tuple(one * factor for one in self.rounds)
        return Interval(self.value * factor, low, high, self.noise, self.of, rounds, self.group)


def over(above: float, below: float) -> float:
    """Return a quotient; of what is too short to be distinguished from nothing, any multiple."""
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
        tuple(map(min, zip(*(figure.rounds for figure in figures), strict=False))),
        least.group if len({figure.group for figure in figures}) == 1 else None,
    )


def median(figures: Iterable[Interval]) -> Interval:
    """Return the median figure between the medians of the bounds."""
    figures = list(figures)
    return Interval(
        statistics.median(figure.value for figure in figures),
        statistics.median(figure.low for figure in figures),
        statistics.median(figure.high for figure in figures),
    )
