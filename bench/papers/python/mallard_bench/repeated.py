"""A figure that was measured in several rounds, and how many times another figure of the same run it is.

round        1     2     3     4     5
AS7        5.0   6.2   5.1   5.0   5.2      what slows the machine for a while is in both figures of a round
AS1       10.0  12.3  10.1  10.0  10.3
AS7/AS1   .500  .504  .505  .500  .505      and in no ratio: median .504, spread .500 to .505

Allocators take turns and the first takes part in every round, so the n-th figures of two are of one round.
A ratio is made in each: it has the noise of both sides, but not what both share. Of AS1 measured twice, the
spread of that ratio holds 1 in about 19 of 20 groups; that of one side alone does in fewer, the widest that
both allow in all. Where rounds are not known a ratio is that of the medians, between these widest bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

ENOUGH_ROUNDS = 3  # of fewer a spread tells nothing
PARTS = 10

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Repeated:
    """A figure, what it was in each round, and between which bounds most rounds lie."""

    value: float
    rounds: tuple[float, ...] = ()  # in their order; empty if they are not known
    spread: Bounds | None = None  # None if it is not known, or is of too few rounds

    @property
    def width(self) -> float | None:
        """How far the bounds are apart, as a share of the figure."""
        return (self.spread[1] - self.spread[0]) / self.value if self.spread and self.value else None

    @property
    def around(self) -> float:
        """How far the farther of the bounds is, which is printed behind ±; 0 if there are none."""
        return max(self.value - self.spread[0], self.spread[1] - self.value) if self.spread else 0.0

    def over(self, base: "Repeated") -> "Repeated | None":
        """Return how many times another figure this one is; None if that is too short to compare with."""
        if base.value <= 0:
            return None
        pairs = list(zip(self.rounds, base.rounds, strict=False))
        if pairs and all(below > 0 for _, below in pairs):
            return of_rounds([above / below for above, below in pairs])
        return Repeated(self.value / base.value, (), widest(self.spread, base.spread))

    def times(self, factor: float) -> "Repeated":
        """Return a multiple of it."""
        spread = None if self.spread is None else (self.spread[0] * factor, self.spread[1] * factor)
        return Repeated(self.value * factor, tuple(one * factor for one in self.rounds), spread)


def of_rounds(rounds: Sequence[float]) -> Repeated:
    """Return the figure that some rounds make: their median, from the 10th to the 90th of 100 parts."""
    if len(rounds) < ENOUGH_ROUNDS:
        return Repeated(median(rounds), tuple(rounds))
    low, *_, high = quantiles(rounds, n=PARTS, method="inclusive")
    return Repeated(median(rounds), tuple(rounds), (low, high))


def middle_of(figures: Sequence[Repeated]) -> Repeated:
    """Return the median of several figures of one allocator: of each round, if all rounds are known."""
    rounds = min(len(figure.rounds) for figure in figures)
    if rounds:
        return of_rounds([median(figure.rounds[at] for figure in figures) for at in range(rounds)])
    return Repeated(median(figure.value for figure in figures))


def widest(above: Bounds | None, below: Bounds | None) -> Bounds | None:
    """Return between which bounds a quotient lies, whatever the two have to do with each other."""
    if above is None or below is None or below[0] <= 0:
        return None
    return above[0] / below[1], above[1] / below[0]
