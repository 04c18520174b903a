"""What the article found of pools, and what is promised of ours.

The article's allocators are Boost's today: its "AllocatorPlus" is boost, "AdPoolAlignOnly" boost.align_only,
"AdPool2Percent" boost.two_percent, "SimpleSegregatedStorage" boost.node. Of its charts the text keeps what it
says of them; those are whole times. Promises beside Boost's adaptive pools are about times less those of
`none`, which has no allocator; of segregated storage too little is left then to compare with, so promises
beside it are about whole times.
Memory is what was counted: no noise is known of it, and it has bounds instead.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from mallard_bench.findings.allocators import GOAL, Chosen, compare, compare_net, every, of, places
from mallard_bench.findings.finding import Finding, Judge
from mallard_bench.findings.interval import Interval
from mallard_bench.findings.judge import Ratios, each, reached, together
from mallard_bench.findings.measured import Measured
from mallard_bench.pool_allocators import ADAPTIVE, FLOOR, POOLS_OF_ARTICLE, boosts

# How far apart two times may be that are "very similar".
ALIKE = (0.75, 1.35)
TWO_BLOCKS = 2 * (8192 + 256)  # bytes: of 256 nodes of 24 bytes, aligned, with what the heap beneath adds
NONE = -1.0  # least bytes: nothing at all is within the bound, as counts have no noise


def versus(part: str, slower: list[str], faster: list[str], chosen: Chosen = every) -> Ratios:
    """Return how many times as long each of some allocators takes as each of others."""
    return together(*(compare(part, one, other, chosen) for one in slower for other in faster))


def article(pools: tuple[str, ...], version: int) -> list[str]:
    """Return the labels of some pools of the article's."""
    return [boosts(pool, version) for pool in pools]


def memory(part: str, label: str, name: str, other: str | None = None, of_other: str = "needed") -> Ratios:
    """Return how many times the bytes of another, or else of the nodes themselves, an allocator has."""

    def ratios(table: Measured) -> Mapping[Any, Interval]:
        found = {}
        for place in places(table, part, every):
            above = table.cells.get((*place, label))
            below = table.cells.get((*place, other or label))
            if above and below and name in above.counts and of_other in below.counts:
                ratio = above.counts[name] / max(below.counts[of_other], 1)
                found[place] = Interval(ratio, ratio, ratio, of=(str(place[1]), label))
        return found

    return ratios


def walked_again(label: str, part: str) -> Ratios:
    """Return how many times as long as over the fresh list a walk takes over one that has changed."""

    def ratios(table: Measured) -> Mapping[Any, Interval]:
        found = {}
        for place in places(table, "walk", every):
            fresh, again = table.time(*place, label), table.time(*place[:-1], part, label)
            if fresh and again:
                found[place] = again / fresh
        return found

    return ratios


insert = partial(Finding, "ranges", "chapter 3, insertion")
erase = partial(Finding, "ranges", "chapter 3, deallocation")
held = partial(Finding, "ranges", "chapter 3, memory")
linux = partial(Finding, "ranges", "chapter 3, on Linux")
LARGE = of(10_000, 1_000)

ARTICLE = [
    insert(
        "Without bursts pools insert faster than DLmalloc.",
        each(versus("insert", ["boost.V1"], article(POOLS_OF_ARTICLE, 1))),
    ),
    insert(
        "Without bursts segregated storage is the fastest of the pools.",
        each(versus("insert", article(ADAPTIVE, 1), [boosts("node", 1)])),
    ),
    insert(
        "The two adaptive pools perform quite similarly without bursts.",
        each(compare("insert", boosts("two_percent", 1), boosts("align_only", 1)), *ALIKE),
    ),
    insert(
        "With bursts all pools are very similar.",
        each(versus("insert", article(ADAPTIVE, 2), [boosts("node", 2)]), *ALIKE),
    ),
    insert(
        "DLmalloc with bursts is on par with pools with bursts.",
        each(versus("insert", ["boost.V2"], article(POOLS_OF_ARTICLE, 2)), *ALIKE),
    ),
    erase(
        "Without bursts segregated storage erases fastest.",
        each(versus("erase", ["boost.V1", *article(ADAPTIVE, 1)], [boosts("node", 1)])),
    ),
    erase(
        "Adaptive pools lie between DLmalloc and segregated storage.",
        each(
            together(
                versus("erase", ["boost.V1"], article(ADAPTIVE, 1)),
                versus("erase", article(ADAPTIVE, 1), [boosts("node", 1)]),
            )
        ),
    ),
    erase(
        "Without sub-blocks adaptive pools erase marginally faster than with them.",
        each(compare("erase", boosts("two_percent", 2), boosts("align_only", 2)), 1.0, 1.35),
    ),
    erase(
        "With bursts adaptive pools erase as fast as segregated storage.",
        each(versus("erase", article(ADAPTIVE, 2), [boosts("node", 2)]), *ALIKE),
    ),
    erase(
        "With large ranges and bursts they are even a little faster.",
        each(versus("erase", [boosts("node", 2)], article(ADAPTIVE, 2), LARGE)),
    ),
    held(
        "DLmalloc takes a third more than the nodes need.",
        each(memory("insert", "boost.V2", "alive"), 1.25, 1.45, share=1.0),
        claimed=(1.33, 1.33),
    ),
    held(
        "Pools take less than 2 % more than the nodes need.",
        each(
            together(*(memory("insert", label, "alive") for label in article(POOLS_OF_ARTICLE, 2))),
            NONE,
            1.02,
            share=1.0,
        ),
        claimed=(1.0, 1.02),
    ),
    held(
        "Segregated storage takes least.",
        each(
            together(
                *(
                    memory("insert", label, "alive", boosts("node", 2), "alive")
                    for label in article(ADAPTIVE, 2)
                )
            )
        ),
    ),
    held(
        "DLmalloc has nothing in use when all is freed.",
        each(
            together(*(memory("insert", label, "in_use") for label in ("boost.V1", "boost.V2"))),
            NONE,
            0.001,
            share=1.0,
        ),
        claimed=(0.0, 0.0),
    ),
    held(
        "Segregated storage has all of it in use still.",
        each(
            together(*(memory("insert", boosts("node", version), "in_use") for version in (1, 2))),
            0.99,
            share=1.0,
        ),
    ),
    held(
        "Adaptive pools have two blocks in use when all is freed.",
        reached(
            lambda table: [
                cell.counts["in_use"]
                for place in places(table, "insert", every)
                for pool in ADAPTIVE
                for version in (1, 2)
                if (cell := table.cells.get((*place, boosts(pool, version)))) and "in_use" in cell.counts
            ],
            lambda bytes_in_use: bytes_in_use <= TWO_BLOCKS,
            "bytes",
        ),
    ),
    held(
        "Their memory goes back to the system: less than half of it is left.",
        each(
            together(*(memory("insert", label, "freed") for label in article(ADAPTIVE, 2))),
            NONE,
            0.5,
            share=1.0,
        ),
    ),
    linux(
        "Without bursts segregated storage leads, and DLmalloc comes last.",
        each(
            together(
                versus("insert", article(ADAPTIVE, 1), [boosts("node", 1)]),
                versus("insert", ["boost.V1"], article(POOLS_OF_ARTICLE, 1)),
            )
        ),
    ),
    linux(
        "Bursts insert faster.",
        each(
            together(
                *(compare("insert", boosts(pool, 1), boosts(pool, 2)) for pool in POOLS_OF_ARTICLE),
                compare("insert", "boost.V1", "boost.V2"),
            )
        ),
    ),
    linux(
        "The larger the range, the more alike are adaptive pools and segregated storage with bursts.",
        each(versus("insert", article(ADAPTIVE, 2), [boosts("node", 2)], LARGE), *ALIKE),
    ),
]

VERSIONS = ("V1", "V2")
nodes = partial(Finding, "nodes", GOAL)
threads = partial(Finding, "threads", GOAL)


def both(part: str, ours: str, theirs: str) -> Ratios:
    """Return how many times as long as another, without the floor, one takes by each protocol."""
    return together(*(compare_net(part, f"{ours}.{version}", f"{theirs}.{version}") for version in VERSIONS))


# Ours and Boost's, for one thread and for several: by a lock, or by a cache for each.
FORMS = {
    "without a lock": ("adaptive", "boost.private"),
    "with a lock": ("locked_adaptive", "boost.align_only"),
    "with caches": ("sync_adaptive", "boost.align_only"),
}


def at_most(ratios: Ratios, most: float) -> Judge:
    """Demand that ratios are nowhere above a bound."""
    return each(ratios, NONE, most, share=1.0)


PROMISES = [
    *(
        nodes(
            f"Our pool takes at most 1.1 times what Boost's without a lock does: {what}.",
            at_most(compare(part, "pool.V1", "boost.fast_pool.null"), 1.1),
        )
        for part, what in (
            ("allocate", "to allocate"),
            ("free", "to free"),
            ("free_at_random", "to free at random"),
        )
    ),
    *(
        nodes(
            f"Our adaptive pool takes at most {most} times what our pool does: {what}.",
            at_most(
                together(*(compare(part, f"adaptive.{version}", f"pool.{version}") for version in VERSIONS)),
                most,
            ),
        )
        for part, what, most in (
            ("allocate", "to allocate", 1.7),
            ("free_at_random", "to free at random", 3.0),
            ("end_at_random", "to free at random what was read before", 3.0),
            ("turn_over", "to turn nodes over", 0.4),
        )
    ),
    *(
        nodes(
            f"Our adaptive pool {form} takes at most half of what Boost's does: {what}.",
            at_most(both(part, *pair), 0.5),
        )
        for form, pair in FORMS.items()
        for part, what in (
            ("allocate", "to allocate"),
            ("free", "to free"),
            ("free_at_random", "to free at random"),
            ("end_at_random", "to free at random what was read before"),
            ("erase_at_random", "to erase from a list at random"),
            ("hot", "a hot list"),
        )
    ),
    *(
        nodes(
            f"Our adaptive pool {form} takes at most as long as Boost's: {what}.",
            at_most(both(part, *pair), 1.0),
        )
        for form, pair in FORMS.items()
        for part, what in (
            ("first", "to allocate cold"),
            ("turn_over", "to turn nodes over"),
            ("renew", "to renew nodes in their places"),
        )
    ),
    *(
        nodes(
            f"A list that was turned over in our adaptive pool {form} is walked as fast as in Boost's.",
            at_most(compare("walk_turned_over", f"{ours}.V1", f"{theirs}.V1"), 1.0),
        )
        for form, (ours, theirs) in FORMS.items()
    ),
    *(
        nodes(
            f"In our adaptive pool a walk over {what} takes at most 1.2 times what the fresh list does.",
            at_most(walked_again("adaptive.V1", part), 1.2),
        )
        for part, what in (
            ("walk_turned_over", "a list that was turned over"),
            ("walk_added", "what came when it was turned over"),
            ("walk_renewed", "a list whose nodes were renewed in their places"),
        )
    ),
    nodes(
        "A list that was turned over is walked in ours as fast as where nothing is used again.",
        at_most(compare("walk_turned_over", "adaptive.V1", FLOOR), 1.1),
    ),
    nodes(
        "Our adaptive pool takes at most 3 % more memory than the nodes need.",
        at_most(memory("first", "adaptive.V1", "alive"), 1.03),
    ),
    nodes(
        "Our adaptive pool takes at most 0.9 of the memory that Boost's does.",
        at_most(
            together(
                *(memory("first", "adaptive.V1", "alive", boosts(pool, 1), "alive") for pool in ADAPTIVE)
            ),
            0.9,
        ),
    ),
    nodes(
        "When all is freed our adaptive pool has at most a quarter of what the nodes took.",
        at_most(memory("first", "adaptive.V1", "in_use"), 0.25),
    ),
    nodes(
        "Of the system's memory at most a quarter is left then, by default.",
        at_most(memory("first", "adaptive.V1", "freed"), 0.25),
    ),
    nodes(
        "When it is trimmed, at most a fiftieth.",
        at_most(memory("first", "adaptive.V1", "trimmed"), 0.02),
    ),
    *(
        threads(
            f"In four threads our adaptive pool {form} takes at most as long as Boost's.",
            at_most(
                together(
                    *(compare("threads", f"{ours}.{version}", f"{theirs}.{version}") for version in VERSIONS)
                ),
                1.0,
            ),
        )
        for form, (ours, theirs) in FORMS.items()
    ),
]

FINDINGS = [*ARTICLE, *PROMISES]
