"""How sure a figure is that was measured in rounds: intervals by ranks, which no disturbed round moves far.

    round            1     2     3     4     5
    mimalloc       .91   .94   .90   .95   .91
    glibc         1.00  1.04   .99  1.21  1.00
    ratio          .91   .90   .91   .79   .91      what slows a whole round is in both, and not in the ratio

The figure is the median of the rounds. The true median lies between two of them, in order of size: those
between which the number of heads in as many coin throws would stay, with the required probability (the sign
test). Nothing is assumed about the noise: of two mallocs that are alike, each is the larger one in half of
the rounds.

Simulated with noise of 2 % and every twentieth run a tenth too long, a table of three mallocs finds 5 % in 98
of 100 sessions of 25 rounds, in 95 of 20 and in 73 of 15, and something where there is nothing in less than 1
of 100. Intervals by signed ranks are narrower where noise is even, and find less where runs are disturbed.

Seed 003, chapter 8.1, which compares mallocs under a whole program by single figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from math import ceil, comb, log2
from statistics import median

import numpy as np

# How sure the interval of one figure is; and those of all ratios of a table together, which share the doubt.
OF_ONE = 0.95
OF_ALL = 0.99


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure, and between which bounds the true one lies."""

    median: float
    low: float
    high: float

    @property
    def holds_one(self) -> bool:
        """Return whether a ratio may be 1."""
        return self.low <= 1 <= self.high


def middle(figures: Sequence[float], doubt: float = 1 - OF_ONE) -> Interval:
    """Return the median; where rounds are too few for so little doubt, the interval is all of them."""
    ordered = sorted(figures)
    rounds = len(ordered)
    heads = accumulate(comb(rounds, count) for count in range(rounds))
    most = Fraction(doubt) / 2 * 2**rounds
    outside = sum(cases <= most for cases in heads)
    inner = max(outside - 1, 0)
    return Interval(median(ordered), ordered[inner], ordered[-1 - inner])


@dataclass(frozen=True, slots=True)
class Lead:
    """How sure it is that a row is below others in the same rounds."""

    doubt: float  # how likely a row that is like the others would be below as many of them
    median: float  # difference, from the one that it is least below


def lead(row: Sequence[float], others: Sequence[Sequence[float]]) -> Lead:
    """Return how sure it is that a row is below all others: a rank test in strata, which are the rounds.

    If it were like the others, every rank in a round would be equally likely. A disturbed run counts once,
    however far off it is. Against two others, a doubt below 0.001 takes 7 rounds that are all won, or 11 with
    2 of 22 comparisons lost, or 21 with 9 of 42. Equal figures count as lost.
    """
    rounds = list(zip(row, *others, strict=False))
    won = sum(one < other for one, *rest in rounds for other in rest)
    ways = reduce(np.convolve, [np.ones(len(others) + 1)] * len(rounds), np.ones(1))
    nearest = max(median(one - rest[number] for one, *rest in rounds) for number in range(len(others)))
    return Lead(float(ways[won:].sum() / ways.sum()), nearest)


def enough_rounds(ratios: int) -> int:
    """Return how many rounds it takes until the interval of a ratio is not merely its whole range."""
    return ceil(log2(2 * ratios / (1 - OF_ALL)))


def ratio(above: Sequence[float], below: Sequence[float], ratios: int = 1) -> Interval | None:
    """Return how many times `below` the figures of the same rounds are; `ratios` of a table share the doubt.

    None where there is nothing to divide by: a count may be zero.
    """
    if not below or min(below) <= 0:
        return None
    each = [one / other for one, other in zip(above, below, strict=True)]
    return middle(each, (1 - OF_ALL) / ratios)
