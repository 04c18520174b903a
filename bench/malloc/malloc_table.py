"""From what `mallard compare` found under each program to one table, geometric means and limits."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from limits import Limit

OURS = "mallard"
BASE = "glibc"
RIVALS = ("tcmalloc", "mimalloc")


@dataclass(frozen=True)
class Comparison:
    """A program under every malloc: the `rows` of `mallard compare --json`."""

    program: str
    rows: Sequence[dict[str, Any]]

    def figure(self, malloc: str, name: str) -> float | None:
        """Return the median of a figure under a malloc, as `cpu_s`; None if that is not among them."""
        for row in self.rows:
            if row["name"] == malloc and not row["repeated"] and row[name] is not None:
                return float(row[name]["median"])
        return None

    def ratio(self, malloc: str, name: str, base: str = BASE) -> float | None:
        """Return a figure over that of the base."""
        own, other = self.figure(malloc, name), self.figure(base, name)
        return own / other if own is not None and other else None


def mallocs(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the names of all, in the order of the first that has them."""
    names = (row["name"] for each in comparisons for row in each.rows if not row["repeated"])
    return list(dict.fromkeys(names))


def mean(comparisons: Sequence[Comparison], malloc: str, name: str, base: str = BASE) -> float | None:
    """Return the geometric mean of the ratios; None if any is missing."""
    ratios = [each.ratio(malloc, name, base) for each in comparisons]
    known = [ratio for ratio in ratios if ratio is not None]
    return math.exp(sum(map(math.log, known)) / len(known)) if known and len(known) == len(ratios) else None


def served(comparisons: Sequence[Comparison], malloc: str) -> list[Comparison]:
    """Return those that have a figure under a malloc: under some, programs crash."""
    return [each for each in comparisons if each.figure(malloc, "cpu_s") is not None]


def limits(comparisons: Sequence[Comparison]) -> Iterator[Limit]:
    """Yield what is promised of our malloc."""
    names = mallocs(comparisons)
    over = f"{len(comparisons)} programs"

    def of_means(promise: str, at_most: float, name: str, base: str) -> Limit:
        under = served(comparisons, base)
        where = over if len(under) == len(comparisons) else f"the {len(under)} that run under it, of {over}"
        return Limit(f"{promise}, geometric mean", at_most, mean(under, OURS, name, base), where)

    yield of_means("CPU time over glibc's", 0.86, "cpu_s", BASE)
    for rival in RIVALS:
        yield of_means(f"CPU time over {rival}'s", 0.95, "cpu_s", rival)
    others = [name for name in names if not name.startswith(OURS)]
    best = min(
        others,
        key=lambda name: mean(served(comparisons, name), name, "cpu_s") or math.inf,
        default=BASE,
    )
    yield of_means(f"CPU time over that of the best of the others ({best})", 1, "cpu_s", best)
    yield of_means("max RSS over glibc's", 1.05, "max_rss_bytes", BASE)
    largest = [(each.ratio(OURS, "max_rss_bytes"), each.program) for each in comparisons]
    known = [(ratio, program) for ratio, program in largest if ratio is not None]
    figure, where = max(known) if len(known) == len(largest) and known else (None, over)
    yield Limit("max RSS over glibc's, each program", 1.3, figure, where)
