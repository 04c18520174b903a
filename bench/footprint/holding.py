"""What multipool held for a journal, what is promised about it, and whether that is held."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from limits import Limit

# Most held over the sum of the size classes' own peaks and the peak of what passed through.
AT_MOST_HELD = 1.15
# Received over requested bytes.
AT_MOST_ROUNDED = 1.10
# What a journal that nobody looked at while choosing constants may have more.
SLACK = 1.10


@dataclass(frozen=True)
class Weighed:
    """A journal's figures, in bytes, as the program `footprint` prints them; `seen` while choosing."""

    journal: str
    seen: bool
    figures: dict[str, Any]

    @property
    def multipool(self) -> dict[str, Any]:
        """Return those of multipool."""
        found: dict[str, Any] = self.figures["multipool"]
        return found

    @property
    def sum(self) -> int:
        """Return the sum of the peaks: what pools of these classes hold that lose nothing."""
        return int(self.multipool["sum_of_peaks"]["granted"])

    @property
    def sum_over_live(self) -> float:
        """Return that sum over the most that was live."""
        return self.sum / int(self.figures["max_live"])

    @property
    def held_over_sum(self) -> float:
        """Return what the process had mapped for the heap at most, its chunk cache included, over it."""
        return int(self.multipool["max_mapped"]) / self.sum

    @property
    def rounding(self) -> float:
        """Return received over requested bytes when most was live."""
        return ratio(self.multipool["at_max_live"])

    @property
    def rounding_of_peaks(self) -> float:
        """Return the same for each class at its own peak, summed."""
        return ratio(self.multipool["sum_of_peaks"])


def ratio(tally: dict[str, int]) -> float:
    """Return received over requested bytes."""
    return tally["granted"] / tally["requested"]


PROMISES: list[tuple[str, float, Callable[[Weighed], float]]] = [
    ("held over the sum of peaks", AT_MOST_HELD, lambda weighed: weighed.held_over_sum),
    ("class rounding at most live", AT_MOST_ROUNDED, lambda weighed: weighed.rounding),
    ("class rounding at the peaks", AT_MOST_ROUNDED, lambda weighed: weighed.rounding_of_peaks),
]


def limits(weighed: Sequence[Weighed]) -> Iterator[Limit]:
    """Yield every promise, judged by the journal it is tightest on; without journals it is unjudged."""
    for promise, at_most, figure in PROMISES:
        yield worst(promise, at_most, [each for each in weighed if each.seen], figure)
    for promise, at_most, figure in PROMISES:
        unseen = [each for each in weighed if not each.seen]
        yield worst(f"{promise}, unseen", round(at_most * SLACK, 3), unseen, figure)


def worst(
    promise: str, at_most: float, weighed: Sequence[Weighed], figure: Callable[[Weighed], float]
) -> Limit:
    """Judge a promise that holds on each journal."""
    if not weighed:
        return Limit(promise, at_most, None, "on each")
    tightest = max(weighed, key=figure)
    return Limit(promise, at_most, figure(tightest), f"on each, most on {tightest.journal}")
