"""The ratios that findings of benchmark I are about: strategies at one size, and one strategy at two sizes.

    compare: AS3 / AS4 at 2^6, 2^7 ...          grown: AS1 at 2^15 / AS1 at 2^14

A place is (number of the structure, size, number of the pair or of the strategy); sizes are exponents.
"""

from collections.abc import Mapping, Sequence

from mallard_bench.families import COMPOSITE, MONOTONIC, MULTIPOOL
from mallard_bench.findings.interval import Interval, smallest
from mallard_bench.findings.judge import Ratios, together
from mallard_bench.findings.measured import Measured

Place = tuple[int, int, int]
Who = str | tuple[str, ...]  # of several strategies the fastest
Pair = tuple[Who, Who]  # expected slower, expected faster
Sizes = tuple[int, int]  # from, to

ALL_SIZES = (6, 16)


def virtual(strategies: Sequence[str]) -> list[Pair]:
    """Pair access through a base class with direct access, in a family of four."""
    return [(strategies[2], strategies[0]), (strategies[3], strategies[1])]


def kept(strategies: Sequence[str]) -> list[Pair]:
    """Pair normal destruction with wink-out, in a family of four."""
    return [(strategies[0], strategies[1]), (strategies[2], strategies[3])]


def like(slower: Sequence[str], faster: Sequence[str]) -> list[Pair]:
    """Pair two families, same binding with same binding, same destruction with same destruction."""
    return list(zip(slower, faster, strict=True))


def all_of(slower: Sequence[str], faster: Sequence[str]) -> list[Pair]:
    """Pair each strategy with each."""
    return [(slow, fast) for slow in slower for fast in faster]


GLOBAL_VIRTUAL: list[Pair] = [("AS2", "AS1")]
LOCAL_VIRTUAL = [*virtual(MONOTONIC), *virtual(MULTIPOOL), *virtual(COMPOSITE)]
LOCAL_KEPT = [*kept(MONOTONIC), *kept(MULTIPOOL), *kept(COMPOSITE)]
OTHERS_TO_MULTIPOOL = [*like(MONOTONIC, MULTIPOOL), *like(COMPOSITE, MULTIPOOL)]


def compare(structures: str, pairs: Sequence[Pair], sizes: Sizes = ALL_SIZES) -> Ratios:
    """Return how many times slower the first of each pair is, at every size; structures as in "DS1 DS2"."""

    def ratios(table: Measured) -> Mapping[Place, Interval]:
        found = {}
        for ordinal, structure in enumerate(structures.split()):
            for size in measured_sizes(table, structure, sizes):
                for number, (slow, fast) in enumerate(pairs):
                    slower, faster = (fastest(table, structure, size, who) for who in (slow, fast))
                    if slower and faster:
                        found[ordinal, size, number] = slower / faster
        return found

    return ratios


def times(structures: str, strategies: Sequence[str]) -> Ratios:
    """Return the times of strategies as they are, to be compared between sizes."""

    def figures(table: Measured) -> Mapping[Place, Interval]:
        found = {}
        for ordinal, structure in enumerate(structures.split()):
            for size in measured_sizes(table, structure, ALL_SIZES):
                for number, label in enumerate(strategies):
                    if time := table.time(structure, size, label):
                        found[ordinal, size, number] = time
        return found

    return figures


def grown(figures: Ratios, first: int | None = None, last: int | None = None) -> Ratios:
    """Return how many times a figure at the last size is that at the first one.

    Without sizes they are the smallest and the largest that were measured.
    """

    def ratios(table: Measured) -> Mapping[Place, Interval]:
        found = figures(table)
        result = {}
        for ordinal, number in sorted({(ordinal, number) for ordinal, _, number in found}):
            sizes = [size for o, size, n in found if (o, n) == (ordinal, number)]
            start = min(sizes) if first is None else first
            end = max(sizes) if last is None else last
            if start != end and {start, end} <= set(sizes):
                result[ordinal, end, number] = found[ordinal, end, number] / found[ordinal, start, number]
        return result

    return ratios


def peak(structure: str, strategies: Sequence[str]) -> Ratios:
    """Return how many times the time at 2^13 is that at the smallest and that at the largest size."""
    figures = times(structure, strategies)
    return together(grown(figures, 6, 13), grown(figures, 16, 13))


def measured_sizes(table: Measured, structure: str, sizes: Sizes) -> list[int]:
    """Return the sizes of a structure within bounds of which there is anything."""
    return sorted({key[1] for key in table.cells if key[0] == structure and sizes[0] <= key[1] <= sizes[1]})


def fastest(table: Measured, structure: str, size: int, who: Who) -> Interval | None:
    """Return the time of a strategy, or of the fastest of several that all must have been measured."""
    found = [table.time(structure, size, label) for label in ([who] if isinstance(who, str) else who)]
    known = [time for time in found if time]
    return smallest(known) if len(known) == len(found) else None
