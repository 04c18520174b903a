"""Benchmark II: a group is a line of a table of the paper.

Of Tables 16 to 21 that is all splits of af and rf of one |G| and |S|, of Table 15 all shuffles of one |S|.
Instead of all of them one run in the paper's notation can be measured.
"""

from collections.abc import Sequence

from mallard import MallardError
from mallard_bench.options import Group, Level, Options

# Binary exponents of |G|, and of |S| with it.
SPLITS: dict[Level, dict[int, list[int]]] = {
    Level.SMOKE: {10: [4, 10]},
    # A line of 2^21 links takes longer than all of these.
    Level.QUICK: {18: [0, 4, 8, 12, 16, 18]},
    # A line of 2^25 links takes more than half an hour: one here, the others by --global and --subsystem.
    Level.DEFAULT: {21: list(range(22)), 25: [12]},
    Level.FULL: {21: list(range(22)), 25: list(range(26))},
}
# Decimal exponents of |G| of Table 15, of which |S| is every power.
FACTORS = {Level.SMOKE: 2, Level.QUICK: 5, Level.DEFAULT: 6, Level.FULL: 7}
SHUFFLES = 9
PRODUCT = 8
ACCESSES = {Level.SMOKE: 1 << 12, Level.QUICK: 1 << 20, Level.DEFAULT: 1 << 21}
PAPERS_PRODUCT = 2560  # accesses of each link

START_SECONDS = 0.008  # of a process
BUILD_NS = 15
PAIR_NS = 50  # of a shuffle
ACCESS_NS = 4
NEAR = 1 << 19  # links, that caches may hold
FAR = 4  # times as long beyond


def groups(options: Options) -> list[Group]:
    """Return the groups of a level: Table 15, then the others; or the run that was asked for."""
    wanted = options.narrowed
    if run := options.run:
        return [single(run, options.turns)]
    found = []
    if "global" not in wanted and "subsystem" not in wanted:
        links = FACTORS[options.level]
        for subsystem in range(links + 1):
            found.append(factors(links, subsystem, accesses(options, 10**links), options.turns))
    lines = SPLITS[options.level]
    all_links = wanted.get("global", list(lines))
    for links, subsystem in too_long(wanted.get("subsystem", []), all_links, "global" in wanted):
        raise MallardError(
            f"--subsystem {subsystem}: a list of 2^{subsystem} links is longer than all, which are 2^{links}"
        )
    for links in all_links:
        for subsystem in wanted.get("subsystem", lines.get(links, list(range(links + 1)))):
            if subsystem <= links:
                found.append(splits(links, subsystem, accesses(options, 2**links), options.turns))
    return found


def too_long(subsystems: Sequence[int], all_links: Sequence[int], each: bool) -> list[tuple[int, int]]:
    """Return the lists that cannot be: those longer than any whole, or than each one that was asked for."""
    wholes = all_links if each else [max(all_links)]
    return [(links, subsystem) for links in wholes for subsystem in subsystems if subsystem > links]


def probes(options: Options) -> list[Group]:
    """Return a short line."""
    return [splits(18, 8, ACCESSES[Level.QUICK], options.turns)]


def accesses(options: Options, links: int) -> int:
    """Return how many accesses a figure is measured by."""
    if asked := options.narrowed.get("accesses"):
        return asked[0]
    if options.level == Level.FULL:
        return PAPERS_PRODUCT * links
    return ACCESSES[options.level]


def splits(links: int, subsystem: int, accesses: int, turns: int) -> Group:
    """Return a line of Tables 16 to 21."""
    return Group(
        f"2^{links} links in lists of 2^{subsystem}",
        {"table": "splits", "global": links, "subsystem": subsystem, "accesses": accesses},
        turns * seconds(2**links, 5, 2 * (PRODUCT + 1) * accesses),
    )


def factors(links: int, subsystem: int, accesses: int, turns: int) -> Group:
    """Return a line of Table 15."""
    return Group(
        f"10^{links} links in lists of 10^{subsystem}",
        {
            "table": "factors",
            "global": links,
            "subsystem": subsystem,
            "shuffles": SHUFFLES,
            "accesses": accesses,
        },
        turns * seconds(10**links, SHUFFLES, (SHUFFLES + 1) * accesses),
    )


def single(run: str, turns: int) -> Group:
    """Return a run in the paper's notation, |G| |S| af sf rf; mallard-bench reads it."""
    return Group(run, {"run": run}, float(turns))


def seconds(links: int, shuffles: int, accesses: int) -> float:
    """Return what a strategy takes once."""
    ns = links * (BUILD_NS + shuffles * PAIR_NS) + accesses * ACCESS_NS
    return START_SECONDS + ns * 1e-9 * (1 if links <= NEAR else FAR)
