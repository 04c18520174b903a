"""What is promised about instructions, and whether it is held."""

from collections.abc import Iterator, Mapping, Sequence

from callgrind import JOURNALS, SCENARIO
from limits import Limit
from rows import Key

# Instructions of an allocation and a deallocation, at every number of live blocks.
PAIRS_AT_MOST = {
    ("monotonic", "typed"): 8,
    ("monotonic", "run-time alignment"): 13,
    ("monotonic", "run-time size and alignment"): 13,
    ("region", "typed"): 8,
    ("region", "run-time size and alignment"): 13,
    ("reap", "typed"): 60,
    ("reap", "run-time size and alignment"): 60,
    ("sized_reap", "typed"): 60,
    ("sized_reap", "run-time size and alignment"): 60,
    ("multipool", "typed"): 14,
    ("multipool", "run-time size"): 28,
    ("multipool", "run-time size and alignment"): 30,
    ("monotonic", "pmr"): 27,
    ("multipool", "pmr"): 44,
    ("best_fit", "typed"): 30,
    ("best_fit", "run-time size and alignment"): 40,
    ("best_fit", "pmr"): 60,
    ("best_fit", "C"): 60,
    ("synchronized_multipool", "pmr"): 70,
    ("threads/multipool", "typed"): 22,
    ("threads/multipool", "run-time size"): 32,
    ("threads/multipool", "pmr"): 55,
    ("synchronized_best_fit", "pmr"): 70,
}

# Of malloc and free in a program that our library is preloaded into.
MALLOC_PAIRS_AT_MOST = {f"{size} bytes": 60 for size in (16, 32, 64, 128)}

# Of malloc and free under a plan where the caller decides: 12 look it up, as tests/malloc/plan_test.cpp says.
ROUTED_PAIR_AT_MOST = 45 + 12

# Of an allocation while nothing is freed.
BUMPING_AT_MOST = {("reap", "typed"): 15, ("sized_reap", "typed"): 15, ("reap", "C"): 30}

# Of the whole life of a region that nothing is allocated in, as a root and as a child.
EMPTY_LIVES_AT_MOST = {
    (region, way): 500 for region in ("region", "reap", "sized_reap") for way in ("root", "child")
}

# Of the lives and clears of reaps with eight blocks, over those of a region.
EIGHT_BLOCKS_AT_MOST = {"life, eight blocks": 1.25, "clear, eight blocks": 1.0}
EIGHT_BLOCKS = (
    ("life, eight blocks", "root"),
    ("life, eight blocks", "child"),
    ("clear, eight blocks", "root"),
)
REAPS = ("reap", "sized_reap")

# Of a pool's whole life, over the same of another's. Where it stands on a monotonic, two heaps end, and since
# the chunk cache keeps by time, each chunk takes 40 instructions more.
LIVES_AT_MOST = {"std.pool": 0.333, "boost.pool": 1.0}
TWO_HEAPS_AT_MOST = {"std.pool": 0.333, "boost.pool": 1.05}
TWO_HEAPS = "multipool/monotonic"
LIVES = (
    ("multipool", "typed"),
    ("multipool", "pmr"),
    ("pool", "typed"),
    ("pool", "pmr"),
    ("multipool/monotonic", "typed"),
    ("multipool/monotonic", "pmr"),
)

# Of a pair in a journal, net of the harness; and over the same of another's.
REPLAYED_PAIRS_AT_MOST = {"sqlite3": 94}
REPLAYED_AT_MOST = {"boost.dlmalloc": 0.8}
REPLAYED = (("best_fit", "typed"), ("best_fit", "pmr"))

# At most this over the least, however many blocks live.
CONSTANT = 1.05
CONSTANT_AT = (1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16)
CONSTANTS = (
    ("large free", "multipool"),
    ("large free", "synchronized_multipool"),
    ("full chunks", "multipool"),
    ("full chunks", "synchronized_multipool"),
)

LIVE = (1, 64, 4096)


def limits(figures: Mapping[Key, float]) -> Iterator[Limit]:
    """Yield every promise, judged by these figures: what is missing leaves it unjudged."""
    for (allocator, way), instructions in PAIRS_AT_MOST.items():
        found = at_each("pair", allocator, way, LIVE, figures)
        yield worst(f"pair, {allocator}, {way}", instructions, found)
    for size, instructions in MALLOC_PAIRS_AT_MOST.items():
        found = at_each("malloc pair", "mallard", size, LIVE, figures)
        yield worst(f"malloc pair, mallard, {size}", instructions, found)
    routed = figures.get(Key("routed pair", "mallard", "1 frame", 64))
    yield Limit("routed pair, mallard, 1 frame", ROUTED_PAIR_AT_MOST, routed, "64 live")
    yield from of_regions(figures)
    for other in LIVES_AT_MOST:
        theirs = figures.get(Key("life", other, "pmr", 1))
        for allocator, way in LIVES:
            at_most = (TWO_HEAPS_AT_MOST if allocator == TWO_HEAPS else LIVES_AT_MOST)[other]
            of_theirs = over(figures.get(Key("life", allocator, way, 1)), theirs)
            yield Limit(f"life, {allocator}, {way}, over that of {other}", at_most, of_theirs, "pmr")
    for allocator, way in LIVES:
        calls = figures.get(Key("life, system calls", allocator, way, 1))
        yield Limit(f"life, {allocator}, {way}, system calls", 0, calls, "1 if any")
    for scenario, allocator in CONSTANTS:
        found = at_each(scenario, allocator, "pmr", CONSTANT_AT, figures)
        least = min((figure for figure in found.values() if figure is not None), default=None)
        ratios = {at: over(figure, least) for at, figure in found.items()}
        yield worst(f"{scenario}, {allocator}, pmr, over its least", CONSTANT, ratios)
    yield from of_replays(figures)


def of_regions(figures: Mapping[Key, float]) -> Iterator[Limit]:
    """Yield the promises about heaps that bump, and of which programs make many."""
    for (allocator, way), instructions in BUMPING_AT_MOST.items():
        taken = figures.get(Key("bumping", allocator, way, 1))
        yield Limit(f"bumping, {allocator}, {way}", instructions, taken, way)
    for (allocator, way), instructions in EMPTY_LIVES_AT_MOST.items():
        taken = figures.get(Key("life, empty", allocator, way, 1))
        yield Limit(f"life, empty, {allocator}, {way}", instructions, taken, way)
    for scenario, way in EIGHT_BLOCKS:
        of_region = figures.get(Key(scenario, "region", way, 1))
        for allocator in REAPS:
            taken = over(figures.get(Key(scenario, allocator, way, 1)), of_region)
            promise = f"{scenario}, {allocator}, {way}, over that of region"
            yield Limit(promise, EIGHT_BLOCKS_AT_MOST[scenario], taken, way)


def of_replays(figures: Mapping[Key, float]) -> Iterator[Limit]:
    """Yield the promises about recorded programs."""
    for journal in JOURNALS:
        scenario = SCENARIO.format(journal)
        for allocator, way in REPLAYED:
            ours = figures.get(Key(scenario, allocator, way, 1))
            if journal in REPLAYED_PAIRS_AT_MOST:
                at_most = REPLAYED_PAIRS_AT_MOST[journal]
                yield Limit(f"{scenario}, {allocator}, {way}", at_most, ours, "a pair, net of the harness")
            for other, share in REPLAYED_AT_MOST.items():
                of_theirs = over(ours, figures.get(Key(scenario, other, "typed", 1)))
                promise = f"{scenario}, {allocator}, {way}, over {other}"
                yield Limit(promise, share, of_theirs, "a pair, net of the harness")


def at_each(
    scenario: str, allocator: str, way: str, counts: Sequence[int], figures: Mapping[Key, float]
) -> dict[str, float | None]:
    """Return the figures at these numbers of live blocks."""
    return {f"{live} live": figures.get(Key(scenario, allocator, way, live)) for live in counts}


def over(figure: float | None, base: float | None) -> float | None:
    """Return a ratio, None where it is none."""
    return figure / base if figure is not None and base else None


def worst(promise: str, at_most: float, figures: Mapping[str, float | None]) -> Limit:
    """Judge a promise that holds on each: one that is unknown leaves it unjudged."""
    known = {at: figure for at, figure in figures.items() if figure is not None}
    if not known or len(known) < len(figures):
        return Limit(promise, at_most, None, "on each")
    at = max(known, key=lambda at: known[at])
    return Limit(promise, at_most, known[at], f"most at {at}")
