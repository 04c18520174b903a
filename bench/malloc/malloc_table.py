"""From what `mallard compare` and `mallard replay` found to tables, geometric means and limits."""

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


@dataclass(frozen=True)
class Replay:
    """A program's journal under every malloc, in one way: the `rows` of `mallard replay --json`."""

    program: str
    way: str
    rows: Sequence[dict[str, Any]]

    def figure(self, malloc: str) -> float | None:
        """Return CPU time an event, less the replay's own; None if that is not among them."""
        for row in self.rows:
            if (row["strategy"], row["status"]) == (malloc, "ok"):
                return None if row["ns_per_event"] is None else float(row["ns_per_event"])
        return None

    def ratio(self, malloc: str, base: str = BASE) -> float | None:
        """Return that over the base's."""
        own, other = self.figure(malloc), self.figure(base)
        return own / other if own is not None and other else None


def mean_of(ratios: Sequence[float | None]) -> float | None:
    """Return the geometric mean; None if any is missing."""
    known = [ratio for ratio in ratios if ratio is not None and ratio > 0]
    return math.exp(sum(map(math.log, known)) / len(known)) if known and len(known) == len(ratios) else None


def mallocs(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the names of all, in the order of the first that has them."""
    names = (row["name"] for each in comparisons for row in each.rows if not row["repeated"])
    return list(dict.fromkeys(names))


def mean(comparisons: Sequence[Comparison], malloc: str, name: str, base: str = BASE) -> float | None:
    """Return the geometric mean of the ratios; None if any is missing."""
    return mean_of([each.ratio(malloc, name, base) for each in comparisons])


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
