"""What the article found of expansion, shrink to fit and bursts, and what is promised of ours beside Boost's.

The article's own allocators are Boost's today: its "AllocatorPlusV1" is boost.V1, "V2Mask" boost.V2new,
"V2" boost.V2, or boost.V2bwd where it tests backward expansion. Of its figures the text keeps what it says of
them; those are whole times. Promises are about times less those of `none`, which has no allocator, but for
those of commands, which are without anything else as they are measured.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from mallard_bench.allocators import FLOOR
from mallard_bench.findings.finding import Finding, Judge
from mallard_bench.findings.interval import Interval
from mallard_bench.findings.judge import Ratios, each, middle, reached
from mallard_bench.findings.measured import Measured

Chosen = Callable[[int], bool]  # of elements
GOAL = "promise"
SMALL, LARGE = 10, 10_000


def every(_: int) -> bool:
    """Choose any number of elements."""
    return True


def of(*numbers: int) -> Chosen:
    """Choose some numbers of elements."""
    return lambda elements: elements in numbers


def places(table: Measured, kind: str, chosen: Chosen) -> list[tuple[Any, ...]]:
    """Return what stands before the label in keys of a kind of work, which shrinks have one of."""
    found = dict.fromkeys(key[:-1] for key in table.cells)
    return [
        place
        for place in found
        if (kind in place or kind == "shrink")
        and all(chosen(part) for part in place if isinstance(part, int))
    ]


def compare(kind: str, slower: str, faster: str, chosen: Chosen = every) -> Ratios:
    """Return how many times as long one allocator takes as another."""

    def ratios(table: Measured) -> Mapping[Any, Interval]:
        found = {}
        for place in places(table, kind, chosen):
            a, b = table.time(*place, slower), table.time(*place, faster)
            if a and b:
                found[place] = a / b
        return found

    return ratios


def compare_net(kind: str, slower: str, faster: str, chosen: Chosen = every) -> Ratios:
    """Return the same of what is left without the floor."""

    def ratios(table: Measured) -> Mapping[Any, Interval]:
        found = {}
        for place in places(table, kind, chosen):
            a, b, floor = (table.time(*place, label) for label in (slower, faster, FLOOR))
            if a and b and floor:
                found[place] = (a - floor) / (b - floor)
        return found

    return ratios


def counted(kind: str, label: str, name: str, fits: Callable[[int], bool], chosen: Chosen = every) -> Judge:
    """Demand of what was counted that it fits everywhere."""

    def values(table: Measured) -> list[int]:
        cells = [table.cells.get((*place, label)) for place in places(table, kind, chosen)]
        return [cell.counts[name] for cell in cells if cell is not None and name in cell.counts]

    return reached(values, fits, name.replace("_", " "))


finding = partial(Finding, "push_back", "chapter 1, forward expansion")
goal = partial(Finding, "push_back", GOAL)

EXPANSION = [
    finding(
        "The standard allocator is about as fast as V1, a little faster or slower by the size.",
        each(compare("push_back", "Std", "boost.V1"), 0.75, 1.35),
    ),
    finding(
        "V1 asks its allocator 6 times for 10 elements.",
        counted("push_back", "boost.V1", "allocations", lambda n: n == 6, of(SMALL)),
    ),
    finding(
        "V2 without expansion asks 4 times, as it knows what it received.",
        counted("push_back", "boost.V2new", "allocations", lambda n: n == 4, of(SMALL)),
    ),
    finding(
        "With 10,000 elements V2 is twice as fast as without expansion.",
        each(compare("push_back", "boost.V2new", "boost.V2", of(LARGE)), 1.6, 2.6),
        claimed=(2.0, 2.0),
    ),
    finding(
        "With 10,000 elements V2 is 2.5 times as fast as V1.",
        each(compare("push_back", "boost.V1", "boost.V2", of(LARGE)), 2.0, 3.2),
        claimed=(2.5, 2.5),
    ),
    finding(
        "On Linux V2 is twice as fast as V1.",
        middle(compare("push_back", "boost.V1", "boost.V2"), 1.6, 2.6),
        claimed=(2.0, 2.0),
    ),
    Finding(
        "push_back",
        "chapter 1, backwards expansion",
        "Backward expansion is slightly faster than V1.",
        middle(compare("push_back", "boost.V1", "boost.V2bwd")),
    ),
    Finding(
        "push_back",
        "chapter 1, backwards expansion",
        "Backward expansion is slightly faster than V2 without expansion.",
        middle(compare("push_back", "boost.V2new", "boost.V2bwd")),
    ),
    goal(
        "Our V1 takes at most as long as Boost's V1.",
        each(compare_net("push_back", "boost.V1", "V1"), share=1.0),
    ),
    goal(
        "So does our V1 with a lock, as Boost's has one.",
        each(compare_net("push_back", "boost.V1", "locked.V1"), share=1.0),
    ),
    goal(
        "Our V2 is at least 1.9 times as fast as Boost's V1 with 10,000, 1,000 and 100 elements.",
        each(compare_net("push_back", "boost.V1", "V2", of(10_000, 1_000, 100)), 1.9, share=1.0),
    ),
    goal(
        "Our V2 is at least 2.9 times as fast as Boost's V1 with 10 elements.",
        each(compare_net("push_back", "boost.V1", "V2", of(SMALL)), 2.9, share=1.0),
    ),
    goal(
        "Our V2 takes at most 0.9 of what Boost's V2 does.",
        each(compare_net("push_back", "V2", "boost.V2"), 0.0, 0.9, share=1.0),
    ),
    goal(
        "With 10,000 elements our V2 allocates once, and expands from then on.",
        counted("push_back", "V2", "allocations", lambda n: n == 1, of(LARGE)),
    ),
    Finding(
        "command",
        GOAL,
        "Below 1,000 objects the backward command is at least as fast as a new allocation and a free.",
        each(compare("command", "V2new", "V2bwd", lambda elements: elements < 1_000), share=1.0),
    ),
    Finding(
        "command",
        GOAL,
        "It expands backward there, each time.",
        counted(
            "command", "V2bwd", "expansions_backward", lambda n: n == 1, lambda elements: elements < 1_000
        ),
    ),
]

SHRINK = [
    Finding(
        "shrink",
        "chapter 1, shrink to fit",
        "The larger the vector, the more V2 gains on V1: up to 90 times with 10,000 elements.",
        each(compare("shrink", "boost.V1", "boost.V2", of(LARGE)), 60.0, share=1.0),
        claimed=(90.0, 90.0),
    ),
    *(
        Finding(
            "shrink",
            GOAL,
            f"With {elements:,} elements our V2 is at least {least} times as fast as Boost's V1.",
            each(compare_net("shrink", "boost.V1", "V2", of(elements)), float(least), share=1.0),
        )
        for elements, least in ((10_000, 130), (2_000, 27), (500, 8))
    ),
    Finding(
        "shrink",
        GOAL,
        "Our V1 takes at most as long as Boost's V1.",
        each(compare_net("shrink", "boost.V1", "V1"), share=1.0),
    ),
]

BURST = [
    Finding(
        "insert",
        "chapter 2, burst allocation",
        "Inserting large ranges, V2 is up to three times as fast as V1.",
        each(compare("insert", "boost.V1", "boost.V2", of(LARGE)), 2.0, 4.0, share=1.0),
        claimed=(3.0, 3.0),
    ),
    Finding(
        "insert",
        "chapter 2, burst allocation",
        "On Linux up to twice as fast, from ranges of 100 elements on.",
        each(compare("insert", "boost.V1", "boost.V2", lambda n: n >= 100), 1.3, 3.0, share=1.0),
        claimed=(2.0, 2.0),
    ),
    Finding(
        "insert",
        "chapter 2, burst allocation",
        "On Linux V2 is as fast as the standard allocator with small ranges.",
        each(compare("insert", "Std", "boost.V2", of(SMALL)), 0.75, 1.35, share=1.0),
    ),
    Finding(
        "insert",
        GOAL,
        "From ranges of 100 elements on a burst is at least twice as fast as our loop of allocate_one.",
        each(compare_net("insert", "V2one", "V2", lambda elements: elements >= 100), 2.0, share=1.0),
    ),
    Finding(
        "insert",
        GOAL,
        "Our V1 takes at most as long as Boost's V1.",
        each(compare_net("insert", "boost.V1", "V1"), share=1.0),
    ),
    Finding(
        "erase",
        "chapter 2, burst allocation",
        "Erasing large ranges, V2 is 30 % faster than V1.",
        each(compare("erase", "boost.V1", "boost.V2", lambda n: n >= 1_000), 1.15, 1.6, share=1.0),
        claimed=(1.3, 1.3),
    ),
    Finding(
        "erase",
        "chapter 2, burst allocation",
        "On Linux V2 erases no faster than the standard allocator.",
        each(compare("erase", "boost.V2", "Std"), 0.9),
    ),
    Finding(
        "erase",
        GOAL,
        "Our V1 takes at most as long as Boost's V1.",
        each(compare_net("erase", "boost.V1", "V1"), share=1.0),
    ),
]
