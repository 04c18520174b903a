"""Which paper a benchmark is of, and what its strategies are compared with."""

from collections.abc import Iterable
from dataclasses import dataclass

from mallard_bench.options import Benchmark


@dataclass(frozen=True)
class Paper:
    """A paper; `base` is the label of the strategy that is measured twice, and always."""

    title: str
    base: str
    again: str  # how a table says that the base was measured a second time
    floor: str | None = None  # the label of what is taken off all others, if anything is


P0089 = Paper("P0089", "AS1", "AS1 once more")
ALLOCATORS = Paper("Gaztañaga's allocators", "boost.V1", "boost.V1 once more", "none")
POOLS = Paper(ALLOCATORS.title, "pool.V1", "pool.V1 once more", "none")

OF_ALLOCATORS = {
    Benchmark.EXPANSION: ALLOCATORS,
    Benchmark.SHRINK: ALLOCATORS,
    Benchmark.BURST: ALLOCATORS,
    Benchmark.POOLS: POOLS,
}


def paper_of(benchmark: str) -> Paper:
    """Return the paper of a benchmark."""
    return OF_ALLOCATORS[Benchmark(benchmark)] if benchmark in OF_ALLOCATORS else P0089


def titles(benchmarks: Iterable[str]) -> str:
    """Return the titles of all papers that some benchmarks are of."""
    return " and ".join(dict.fromkeys(paper_of(benchmark).title for benchmark in benchmarks))
