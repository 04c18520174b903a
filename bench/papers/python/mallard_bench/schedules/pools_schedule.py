"""Pools: the article's ranges, single nodes, and threads."""

from collections.abc import Iterator

from mallard import MallardError
from mallard_bench.options import Group, Level, Options
from mallard_bench.schedules.allocators_schedule import BURST, PARTS, START_SECONDS

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


def groups(options: Options) -> list[Group]:
    """Return the groups of all works, or of those that are asked for."""
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
            yield group(options, "ranges", elements, iterations, LISTS * elements * iterations * RANGE_NS)


def nodes(options: Options) -> Iterator[Group]:
    """Yield single nodes, of which there is one list at a time."""
    for elements in options.narrowed.get("elements") or NODES[options.level]:
        yield group(options, "nodes", elements, 1, elements * NODE_NS)


def threads(options: Options) -> Iterator[Group]:
    """Yield lists that threads fill and empty."""
    usual, often = LISTS_OF_THREADS[options.level]
    for elements in options.narrowed.get("elements") or [usual]:
        for iterations in options.narrowed.get("iterations") or [often]:
            ns = THREADS * elements * (iterations + 1) * THREAD_NS
            yield group(options, "threads", elements, iterations, ns)


def group(options: Options, work: str, elements: int, iterations: int, ns: float) -> Group:
    """Return a group that takes so long in each process."""
    title = f"{work} {elements}" if work == "nodes" else f"{work} {elements} x {iterations}"
    settings: dict[str, int | str] = {"work": work, "elements": elements, "iterations": iterations}
    return Group(title, settings, options.turns * (START_SECONDS + ns * 1e-9))


def probes(options: Options) -> list[Group]:
    """Return a few nodes, which tell how fast a machine is."""
    return [group(options, "nodes", 20_000, 1, 20_000 * NODE_NS)]
