"""Expansion, shrink to fit and bursts: so many elements, so many times, as the article has it."""

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
