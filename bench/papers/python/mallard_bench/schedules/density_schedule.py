"""Benchmark I: a group is a structure of one size; structures and sizes may be narrowed, leaves replaced."""

from mallard import MallardError
from mallard_bench.expected_documents import PAPERS_LEAVES
from mallard_bench.options import Group, Level, Options

STRUCTURES = range(1, 13)
ALL_SIZES = list(range(6, 17))
FLAT = range(1, 5)  # DS1 to DS4 hold leaves, the others containers of 2^7 leaves
INNER = 7
TEXTS = (4, 10, 12)  # sets of them, of which there are not enough for more than 2^MOST_TEXTS
MOST_TEXTS = 16

# ns that making and ending a leaf takes, over all strategies: of a structure that fits into the processor's
# caches, and of one that does not.
LEAF_NS = {
    1: (1.1, 1.1), 2: (21, 80), 3: (16, 23), 4: (140, 290), 5: (1.1, 1.7), 6: (100, 225),
    7: (22, 55), 8: (330, 460), 9: (1.2, 2.3), 10: (80, 220), 11: (22, 57), 12: (230, 420),
}  # fmt: skip
CACHED_LEAVES = 1 << 18
START_SECONDS = 0.008  # of a process
# Figures of large structures spread, so they get more turns than the least, unless one turn takes long.
MORE_TURNS, LONG_TURN_SECONDS = 1.6, 3

SMOKE_LEAVES = 10
# Binary logarithms of leaves that take some 15 ms; twice as many by default.
QUICK_LEAVES = {1: 24, 2: 19, 3: 20, 4: 17, 5: 23, 6: 17, 7: 19, 8: 16, 9: 23, 10: 17, 11: 19, 12: 16}


def groups(options: Options) -> list[Group]:
    """Return the groups of a level, narrowed."""
    wanted = options.narrowed
    turns = options.turns
    found = []
    for structure in wanted.get("structure", STRUCTURES):
        for size in wanted.get("size", sizes(options.level, structure)):
            if structure in TEXTS and size > MOST_TEXTS:
                raise MallardError(
                    f"--size {size}: DS{structure} has strings as keys, and 2^16 elements at most"
                )
            leaves = wanted.get("leaves", [usual_leaves(options.level, structure)])[0]
            found.append(group(structure, size, leaves, turns, wanted.get("cached-hashes", [1])[0]))
    return found


def probes(options: Options) -> list[Group]:
    """Return two small groups of lists of leaves and of sets."""
    return [group(structure, 10, QUICK_LEAVES[structure], options.turns) for structure in (3, 4)]


def sizes(level: Level, structure: int) -> list[int]:
    """Return the sizes of a structure."""
    if level == Level.SMOKE:
        return [6]
    if level == Level.QUICK:
        return [6, 10, 14] if structure in FLAT else [6, 10]
    return ALL_SIZES


def usual_leaves(level: Level, structure: int) -> int:
    """Return how many leaves a cell is measured with."""
    if level == Level.SMOKE:
        return SMOKE_LEAVES
    if level == Level.FULL:
        return PAPERS_LEAVES
    return QUICK_LEAVES[structure] + (1 if level == Level.DEFAULT else 0)


def group(structure: int, size: int, leaves: int, turns: int, cached_hashes: int = 1) -> Group:
    """Return one group: the first structure is built cold, at least one more warm."""
    built = 1 << (size if structure in FLAT else size + INNER)
    written = built + max(built, 1 << leaves)
    cached = built < CACHED_LEAVES
    seconds = START_SECONDS + written * LEAF_NS[structure][0 if cached else 1] * 1e-9
    return Group(
        f"DS{structure} 2^{size}",
        {"structure": structure, "size": size, "leaves": leaves, "cached-hashes": cached_hashes},
        turns * seconds * (1 if cached or seconds > LONG_TURN_SECONDS else MORE_TURNS),
    )
