"""What the paper found in benchmark III, section 9: T bytes allocated in all, A at a time, in blocks of S.

The ratios are percentages of AS1 / 100, unless they compare two rows of AS1.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from mallard_bench import families
from mallard_bench.findings.finding import Finding
from mallard_bench.findings.interval import Interval
from mallard_bench.findings.judge import ALWAYS, Ratios, each, ends, middle
from mallard_bench.findings.measured import Key, Measured

Place = tuple[int, int, int, str]  # total, active, block, strategy
Where = Callable[[int, int], bool]  # of total, block
TOTAL, ACTIVE, BLOCK = range(3)

LARGEST_POOLED = 12  # the paper's multipool passes on what is larger
EXHAUSTING = 32  # where the paper's machine had too little for what is never freed
MONOTONIC = families.destroyed(families.MONOTONIC)
MULTIPOOL = families.destroyed(families.MULTIPOOL)
COMPOSITE = families.destroyed(families.COMPOSITE)


def pooled(_: int, block: int) -> bool:
    """Choose blocks that a multipool keeps itself."""
    return block <= LARGEST_POOLED


def passed_on(_: int, block: int) -> bool:
    """Choose blocks that a multipool takes from its upstream one by one."""
    return block > LARGEST_POOLED


def cost(strategies: Iterable[str], where: Where) -> Ratios:
    """Return what strategies take, with that of AS1 as 1."""

    def ratios(table: Measured) -> Mapping[Place, Interval]:
        found = {}
        for total, active, block, label in table.cells:
            if label in strategies and where(total, block):
                one, other = (table.time(total, active, block, who) for who in (label, "AS1"))
                if one and other:
                    found[total, active, block, label] = one / other
        return found

    return ratios


def doubled(setting: int) -> Ratios:
    """Return what AS1 takes for a block with one setting twice as large, all else equal."""

    def ratios(table: Measured) -> Mapping[Place, Interval]:
        found = {}
        for place in table.cells:
            after = table.time(*place[:setting], place[setting] + 1, *place[setting + 1 :])
            before = table.time(*place)
            if place[-1] == "AS1" and before and after:
                found[place] = after / before
        return found

    return ratios


def across_the_limit(strategies: Iterable[str]) -> Ratios:
    """Return the cost of blocks just too large for a multipool over that of the largest it keeps."""

    def ratios(table: Measured) -> Mapping[Place, Interval]:
        costs = cost(strategies, lambda *_: True)(table)
        return {
            (total, active, block, label): costs[total, active, block + 1, label] / figure
            for (total, active, block, label), figure in costs.items()
            if block == LARGEST_POOLED and (total, active, block + 1, label) in costs
        }

    return ratios


def cells(strategies: Iterable[str], where: Where) -> Callable[[Measured], list[Key]]:
    """Return the keys of the cells of strategies, at some places."""
    return lambda table: [
        key for key in table.cells if key[-1] in strategies and where(key[TOTAL], key[BLOCK])
    ]


finding = partial(Finding, "III", "9")

FINDINGS = [
    finding(
        "How much is active at a time makes no difference to the global allocator.",
        each(doubled(ACTIVE), 0.85, 1.15),
    ),
    finding(
        "The global allocator takes about as long for a large block as for a small one.",
        each(doubled(BLOCK), 0.7, 1.5),
    ),
    finding(
        "The base class costs the global allocator nothing systematic.",
        middle(cost(["AS2"], lambda *_: True), 0.95, 1.05),
    ),
    finding(
        "Monotonic takes several times as long as the global allocator.",
        each(cost(MONOTONIC, pooled), 3.0, share=ALWAYS),
    ),
    finding(
        "With blocks of more than 2^12 bytes monotonic takes roughly twenty to sixty times as long.",
        each(cost(MONOTONIC, passed_on), 15.0, 75.0, ALWAYS),
    ),
    finding(
        "From a total of 2^32 bytes monotonic runs out of memory.",
        ends(cells(MONOTONIC, lambda total, _: total >= EXHAUSTING), "out_of_memory"),
    ),
    finding(
        "With blocks of more than 2^12 bytes multipool over monotonic runs out of it, too.",
        ends(
            cells(COMPOSITE, lambda total, block: total >= EXHAUSTING and passed_on(total, block)),
            "out_of_memory",
        ),
    ),
    finding(
        "Up to blocks of 2^12 bytes multipool takes less than half the global allocator's time.",
        each(cost(MULTIPOOL, pooled), 0.0, 0.5),
    ),
    finding(
        "Up to blocks of 2^12 bytes so does multipool over monotonic.",
        each(cost(COMPOSITE, pooled), 0.0, 0.5),
    ),
    finding(
        "Larger blocks cost multipool about what they cost the global allocator.",
        middle(cost(["AS7"], passed_on), 0.9, 1.15),
        claimed=(1.0, 1.05),
    ),
    finding(
        "Multipool takes abruptly longer beyond blocks of 2^12 bytes.",
        each(across_the_limit(MULTIPOOL), 1.5, share=ALWAYS),
    ),
]
