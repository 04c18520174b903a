"""Which paper a benchmark is of, what its strategies are compared with, and the labels of all, here alone.

P0089, by the heap:
                 typed   typed, wink-out   pmr   pmr, wink-out
    global       AS1                       AS2
    monotonic    AS3     AS4               AS5   AS6
    ...

The article about allocators, by whose they are:
    boost      boost.V1  boost.V2new ...      Boost's own allocator, over its dlmalloc
    best_fit   V1        V2new ...            ours
    locked     locked.V1 locked.V2            ours, for several threads as Boost's is
    malloc     Std                            std::allocator, also over other mallocs

V1 is the plain protocol. V2 has commands and bursts; of V2new, V2bwd and V2fwd all expansions are disabled
but the one that they are named by. V2one has no bursts.

Its benchmark of pools:
    ours      pool adaptive best_fit ..., with a lock locked_pool locked_adaptive, with caches sync_pool ...
    Boost     boost.V1            its own allocator, over its dlmalloc         the article's AllocatorPlus
              boost.align_only    adaptive_pool, blocks aligned whole          AdPoolAlignOnly
              boost.two_percent   adaptive_pool, sub-blocks, 2 % overhead      AdPool2Percent
              boost.node          node_allocator                               SimpleSegregatedStorage
    others    std.pool, and std::allocator over mallocs

An allocator without a version has the plain protocol.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mallard import MallardError
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


BASE = "AS1"  # all others are compared with it
GLOBAL = (BASE, "AS2")
MONOTONIC = ("AS3", "AS4", "AS5", "AS6")
MULTIPOOL = ("AS7", "AS8", "AS9", "AS10")
COMPOSITE = ("AS11", "AS12", "AS13", "AS14")  # multipool over monotonic
# Benchmark II compares what shuffles cost without a local heap and with one for each subsystem.
WITHOUT, WITH, BESIDE = BASE, MULTIPOOL[0], "fifo_multipool"
LAST_SPLIT = 8
LARGEST_POOLED = 12  # of benchmark III: larger blocks the paper's multipool passes on

POOLED = (*MULTIPOOL, *COMPOSITE)
LOCAL = (*MONOTONIC, *POOLED)

FAMILIES = {"global": GLOBAL, "monotonic": MONOTONIC, "multipool": MULTIPOOL, "mono + multi": COMPOSITE}


def word(label: str) -> str:
    """Return in a word how a strategy differs from the first of its family."""
    family = next(labels for labels in FAMILIES.values() if label in labels)
    words = ("", "virt") if family == GLOBAL else ("", "wink", "virt", "v+w")
    return words[family.index(label)]


FLOOR = "none"
STD = "Std"
PROTOCOLS = ("V1", "V2new", "V2bwd", "V2fwd", "V2one", "V2")
BOOST = tuple(f"boost.{protocol}" for protocol in PROTOCOLS)
LOCKED = tuple(f"locked.{protocol}" for protocol in PROTOCOLS)

ALLOCATORS_BY_MAKER = {"boost": BOOST, "best_fit": PROTOCOLS, "locked best_fit": LOCKED}


def protocol(label: str) -> str:
    """Return an allocator's protocol, which is its name below that of its family."""
    return label.rpartition(".")[2]


ADAPTIVE = ("align_only", "two_percent")
POOLS_OF_ARTICLE = (*ADAPTIVE, "node")
ARTICLES = {
    "boost": "AllocatorPlus",
    "boost.align_only": "AdPoolAlignOnly",
    "boost.two_percent": "AdPool2Percent",
    "boost.node": "SimpleSegregatedStorage",
}


def boosts(pool: str, version: int) -> str:
    """Return the label of a pool of Boost's that the article has."""
    return f"boost.{pool}.V{version}"


AGAIN = 1  # what others are compared with is measured a second time


def meant(asked: Sequence[str], known: Sequence[Mapping[str, str | None]]) -> list[str]:
    """Return the names that --strategy was given, in any case, as they are known; each once."""
    names = list(dict.fromkeys(name for one in known for name in (one["label"], one["strategy"]) if name))
    by_lower = {name.lower(): name for name in names}
    found = []
    for name in asked:
        if name.lower() not in by_lower:
            raise MallardError(f"--strategy {name}: is unknown; there are {', '.join(names)}")
        found.append(by_lower[name.lower()])
    return list(dict.fromkeys(found))


def count_allocators(chosen: Sequence[str], known: Sequence[Mapping[str, str | None]], paper: Paper) -> int:
    """Return how many take part when some are chosen: those, the floor, and the first twice."""
    always = {paper.base, paper.floor} - {None}
    taking = [one for one in known if not chosen or {one["label"], one["strategy"]} & {*always, *chosen}]
    return len(taking) + AGAIN
