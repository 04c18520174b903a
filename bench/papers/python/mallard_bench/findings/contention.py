"""What the paper found in benchmark IV, section 10: N allocations and frees of S bytes in each of W threads.

AS1 and AS2 are one allocator for all threads; of the others each thread has its own, without a lock. Times
are the clock's, so more threads than processors take turns: rows of these do not tell what threads cost.
"""

from collections.abc import Iterable, Mapping
from functools import partial

from mallard_bench import families
from mallard_bench.findings.finding import Finding
from mallard_bench.findings.interval import Interval
from mallard_bench.findings.judge import ALWAYS, MOSTLY, Ratios, each, middle
from mallard_bench.findings.measured import Measured

Place = tuple[int, int, int, str]  # iterations, block, threads, strategy
MONOTONIC = families.destroyed(families.MONOTONIC)
POOLED = families.destroyed(families.POOLED)
ALL = (*families.GLOBAL, *MONOTONIC, *POOLED)


def compare(slower: Iterable[str], faster: Iterable[str]) -> Ratios:
    """Return how many times each of some strategies takes what each of others does, in the same row."""

    def ratios(table: Measured) -> Mapping[tuple[int, int, int, str, str], Interval]:
        found = {}
        for iterations, block, threads in sorted({key[:-1] for key in table.cells}):
            for one in slower:
                for other in faster:
                    a, b = (table.time(iterations, block, threads, who) for who in (one, other))
                    if a and b:
                        found[iterations, block, threads, one, other] = a / b
        return found

    return ratios


def more_threads(strategies: Iterable[str]) -> Ratios:
    """Return how long several threads take over how long one does, as far as each has a processor.

    Figures are by the events of all threads, of which there are as many times more.
    """

    def ratios(table: Measured) -> Mapping[Place, Interval]:
        found = {}
        for iterations, block, threads, label in table.cells:
            if label in strategies and 1 < threads <= table.cores:
                several, one = (table.time(iterations, block, count, label) for count in (threads, 1))
                if several and one:
                    found[iterations, block, threads, label] = several / one * threads
        return found

    return ratios


def more_memory(strategies: Iterable[str]) -> Ratios:
    """Return the cost, with AS1 as 1, in the largest row over that in the smallest of as many threads."""

    def ratios(table: Measured) -> Mapping[tuple[int, str, str], Interval]:
        costs = compare(strategies, ["AS1"])(table)
        ends: dict[tuple[int, str, str], list[tuple[int, Interval]]] = {}
        for (iterations, block, *kind), figure in costs.items():
            ends.setdefault((kind[0], kind[1], kind[2]), []).append((iterations + block, figure))
        found = {}
        for kind, figures in ends.items():
            (least, small), (most, large) = (end(figures, key=lambda sized: sized[0]) for end in (min, max))
            if least < most:
                found[kind] = large / small
        return found

    return ratios


finding = partial(Finding, "IV", "10")

FINDINGS = [
    finding(
        "The base class costs the global allocator nothing systematic.",
        middle(compare(["AS2"], ["AS1"]), 0.95, 1.05),
    ),
    finding(
        "Any strategy with a multipool takes less than half of the global allocator's time.",
        each(compare(["AS1"], POOLED), 2.0, share=ALWAYS),
    ),
    finding(
        "That is a factor of about four.",
        middle(compare(["AS1"], POOLED), 3.0, 5.5),
        claimed=(4.0, 4.0),
    ),
    # By the paper's own tables the four with a multipool are level: each is ahead in some rows.
    finding(
        "Multipool accessed directly is the most consistent winner.",
        each(compare(POOLED[1:], POOLED[:1]), share=MOSTLY),
    ),
    finding(
        "More threads, each with a processor, make nothing slower.",
        each(more_threads(ALL), 0.0, 1.25, MOSTLY),
    ),
    finding(
        "Monotonic is a poor choice: multipool is faster in every row.",
        each(compare(MONOTONIC, POOLED), share=ALWAYS),
    ),
    finding(
        "Monotonic gets worse the more memory is allocated in all.",
        each(more_memory(MONOTONIC), 1.5),
    ),
]
