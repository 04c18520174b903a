"""Expansion, shrink to fit, bursts and pools: as many elements, as many times, as the article has.

Pools have its ranges, and single nodes and threads beside.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mallard import MallardError
from mallard_bench.options import Group, Level, Options

START_SECONDS = 0.01  # of a process
STEP = 5  # elements that are erased before each shrink


@dataclass(frozen=True)
class Combination:
    """How many elements, and how often."""

    elements: int
    iterations: int


# The article's own; --full measures these.
PUSH_BACK = [
    Combination(10_000, 10_000),
    Combination(1_000, 100_000),
    Combination(100, 1_000_000),
    Combination(10, 10_000_000),
]
SHRINK = [Combination(10_000, 100), Combination(2_000, 1_000), Combination(500, 10_000)]
BURST = [
    Combination(10_000, 200),
    Combination(1_000, 2_000),
    Combination(100, 20_000),
    Combination(10, 200_000),
]
# Ours: the command that grows a block, alone.
COMMAND = [Combination(elements, 1_000_000) for elements in (10_000, 1_000, 500, 100, 50, 10)]

# Which part of the article's iterations is measured.
PARTS = {Level.SMOKE: 0.0001, Level.QUICK: 0.02, Level.DEFAULT: 0.2, Level.FULL: 1.0}


def expansion(options: Options) -> list[Group]:
    """Return vectors that are filled, and blocks that are grown."""
    return [
        *groups(options, "push_back", PUSH_BACK, lambda elements: elements * 1.2),
        *groups(options, "command", COMMAND, lambda _: 120),
    ]


def shrink(options: Options) -> list[Group]:
    """Return vectors that are emptied."""
    if wrong := [elements for elements in options.narrowed.get("elements", []) if elements % STEP]:
        raise MallardError(f"--elements {wrong[0]}: must be a multiple of {STEP}, which are erased at a time")
    return list(groups(options, None, SHRINK, lambda elements: elements**2 / STEP / 2 * 0.4))


def burst(options: Options) -> list[Group]:
    """Return lists of ranges; each is made and erased five times."""
    return list(groups(options, None, BURST, lambda elements: 5 * 20 * elements))


def groups(
    options: Options,
    work: str | None,
    usual: Sequence[Combination],
    ns: Callable[[int], float],
) -> Iterator[Group]:
    """Yield the combinations of a level; what is asked for narrows them, or makes others of as much work."""
    if options.litter:
        raise MallardError("--litter does not reach heaps that an allocator brings with it")
    of = {one.elements: one.iterations for one in usual}
    whole = usual[0].elements * usual[0].iterations
    for elements in options.narrowed.get("elements") or of:
        many = max(int(of.get(elements, whole / elements) * PARTS[options.level]), 1)
        for iterations in options.narrowed.get("iterations") or [many]:
            named: Mapping[str, int | str] = {} if work is None else {"work": work}
            yield Group(
                " ".join(filter(None, [work, f"{elements} x {iterations}"])),
                {**named, "elements": elements, "iterations": iterations},
                options.turns * (START_SECONDS + iterations * ns(elements) * 1e-9),
            )


def probes_of(schedule: Callable[[Options], list[Group]]) -> Callable[[Options], list[Group]]:
    """Return what tells how fast a machine is: a small part of the last combination."""
    return lambda options: schedule(
        Options(
            options.benchmark,
            Level.QUICK,
            {"elements": [500]},
            *(options.strategies, options.rounds, options.litter, options.memory_limit, options.allocators),
        )
    )[:1]


# Of pools.
SMALLEST = [min(one.elements for one in BURST)]
LISTS = 4  # of ranges that a process makes
NODES = {
    Level.SMOKE: [100],
    Level.QUICK: [100_000],
    Level.DEFAULT: [1_000_000],
    Level.FULL: [1_000_000, 100_000, 10_000],
}
LISTS_OF_THREADS = {
    Level.SMOKE: (50, 1),
    Level.QUICK: (10_000, 5),
    Level.DEFAULT: (50_000, 5),
    Level.FULL: (50_000, 50),
}

# About what an event takes, in ns.
RANGE_NS = 50
NODE_NS = 2000
THREAD_NS = 60
THREADS = 4


def pools(options: Options) -> list[Group]:
    """Return pools in all works, or in those that are asked for."""
    if options.litter:
        raise MallardError("--litter does not reach heaps that an allocator brings with it")
    of = {"ranges": ranges, "nodes": nodes, "threads": threads}
    asked = options.narrowed.get("work") or range(len(of))
    return [group for number in asked for group in list(of.values())[number](options)]


def ranges(options: Options) -> Iterator[Group]:
    """Yield lists of ranges."""
    usual = {one.elements: one.iterations for one in BURST}
    whole = BURST[0].elements * BURST[0].iterations
    level = SMALLEST if options.level == Level.SMOKE else usual
    for elements in options.narrowed.get("elements") or level:
        many = max(int(usual.get(elements, whole / elements) * PARTS[options.level]), 1)
        for iterations in options.narrowed.get("iterations") or [many]:
            yield pool_group(
                options, "ranges", elements, iterations, LISTS * elements * iterations * RANGE_NS
            )


def nodes(options: Options) -> Iterator[Group]:
    """Yield single nodes, of which there is one list at a time."""
    for elements in options.narrowed.get("elements") or NODES[options.level]:
        yield pool_group(options, "nodes", elements, 1, elements * NODE_NS)


def threads(options: Options) -> Iterator[Group]:
    """Yield lists that threads fill and empty."""
    usual, often = LISTS_OF_THREADS[options.level]
    for elements in options.narrowed.get("elements") or [usual]:
        for iterations in options.narrowed.get("iterations") or [often]:
            ns = THREADS * elements * (iterations + 1) * THREAD_NS
            yield pool_group(options, "threads", elements, iterations, ns)


def pool_group(options: Options, work: str, elements: int, iterations: int, ns: float) -> Group:
    """Return a group that takes so long in each process."""
    title = f"{work} {elements}" if work == "nodes" else f"{work} {elements} x {iterations}"
    settings: dict[str, int | str] = {"work": work, "elements": elements, "iterations": iterations}
    return Group(title, settings, options.turns * (START_SECONDS + ns * 1e-9))


def pool_probes(options: Options) -> list[Group]:
    """Return a few nodes, which tell how fast a machine is."""
    return [pool_group(options, "nodes", 20_000, 1, 20_000 * NODE_NS)]
