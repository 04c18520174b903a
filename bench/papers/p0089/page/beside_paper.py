"""What was measured beside what the paper has: medians of many places, the paper's in brackets.

                     AS7          AS8
DS3, unordered_...   2.4 (5.2)    2.9 (6.1)      of the same sizes, where the paper has more of them
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median
from typing import Any
from xml.sax.saxutils import escape

from mallard_bench.findings.measured import Cell, Measured
from mallard_bench.papers import BESIDE, LARGEST_POOLED, LOCAL, WITH, WITHOUT
from mallard_bench.tables.columns import MAKERS, three_digits
from mallard_bench.tables.density_tables import title

Place = tuple[Any, ...]
# By row and column of a table, the figures of all places it represents; None is one that ran out of memory.
Figures = dict[tuple[str, str], dict[Place, float | None]]

HEAPS = (WITHOUT, WITH, BESIDE)
ENDS_OF_SPLITS = {0: "few", 8: "most"}
DIRECT = LOCAL[::4]  # of each family the one that is accessed directly and destroyed
# Neither heaps of the library nor others': its malloc.
OUR_MALLOCS = frozenset({"mallard", "mallard-checked"})
# What never reuses a freed block before its end.
NEVER_FREE = frozenset({"monotonic", "std.monotonic", "boost.monotonic"})
DIRECT_AND_WINK = [label for first in range(0, len(LOCAL), 4) for label in LOCAL[first : first + 2]]


@dataclass(frozen=True)
class Beside:
    """A table: how figures of cells are made, and what they are."""

    corner: str
    figures: Callable[[Measured], Figures]
    write: Callable[[float], str]


def ratio(above: Cell | None, below: Cell | None) -> float | None:
    """Return how many times the other a cell is; None where one has no time."""
    if above is None or below is None or above.time is None or below.time is None or below.time.value <= 0:
        return None
    return above.time.value / below.time.value


def density(table: Measured) -> Figures:
    """Return how many times as fast as AS1 strategies are, by structure."""
    found: Figures = {}
    for (structure, size, label), cell in table.cells.items():
        if label in DIRECT_AND_WINK:
            of = ratio(table.cells.get((structure, size, "AS1")), cell)
            found.setdefault((title(structure), label), {})[structure, size] = of
    return dict(sorted(found.items(), key=lambda one: int(next(iter(one[1]))[0][2:])))


def locality(table: Measured) -> Figures:
    """Return what a shuffle costs, by the size of lists."""
    found: Figures = {}
    for (kind, links, lists, split, shuffled, _, label), cell in table.cells.items():
        if kind == "splits" and shuffled and split in ENDS_OF_SPLITS and label in HEAPS:
            before = table.cells.get((kind, links, lists, split, False, None, label))
            row, column = f"2^{links} links in lists of 2^{lists}", f"{label}, {ENDS_OF_SPLITS[split]}"
            found.setdefault((row, column), {})[links, lists] = ratio(cell, before)
    columns = [f"{label}, {end}" for label in HEAPS for end in ENDS_OF_SPLITS.values()]
    return dict(sorted(found.items(), key=lambda one: (*place_of(one[1]), columns.index(one[0][1]))))


def place_of(places: Mapping[Place, Any]) -> Place:
    """Return where a row of benchmark II stands: small systems first, in each the large lists."""
    links, lists = next(iter(places))
    return links, -lists


def utilization(table: Measured) -> Figures:
    """Return percentages of AS1, by total and by whether a multipool keeps blocks itself."""
    found: Figures = {}
    for (total, active, block, label), cell in table.cells.items():
        if label in (*DIRECT, "AS2"):
            size = "up to" if block <= LARGEST_POOLED else "of more than"
            row = f"2^{total} bytes in all, blocks {size} 2^{LARGEST_POOLED}"
            of = ratio(cell, table.cells.get((total, active, block, "AS1")))
            found.setdefault((row, label), {})[total, active, block] = of
    return found


def contention(table: Measured) -> Figures:
    """Return percentages of AS1 by the clock, by the number of threads."""
    found: Figures = {}
    for (iterations, block, threads, label), cell in table.cells.items():
        if label in (*DIRECT, "AS2", "AS9"):
            of = ratio(cell, table.cells.get((iterations, block, threads, "AS1")))
            found.setdefault((str(threads), label), {})[iterations, block, threads] = of
    return dict(sorted(found.items(), key=lambda one: int(one[0][0])))


def percent(value: float) -> str:
    """Return a ratio as the paper prints it."""
    return f"{100 * value:.0f}"


BESIDES: dict[str, Beside] = {
    "density": Beside("times as fast as AS1", density, three_digits),
    "locality": Beside("after the shuffle over before", locality, three_digits),
    "utilization": Beside("percent of AS1", utilization, percent),
    "contention": Beside("threads; percent of AS1", contention, percent),
}


def lines(benchmark: str, here: Measured, paper: Measured) -> Iterator[str]:
    """Yield the lines of a benchmark's table."""
    of = BESIDES[benchmark]
    ours, theirs = of.figures(here), of.figures(paper)
    rows = list(dict.fromkeys(row for row, _ in ours))
    columns = list(dict.fromkeys(column for _, column in ours))
    yield line([of.corner, *columns])
    yield line(["---", *["---:"] * len(columns)])
    for row in rows:
        cells = (
            both(ours.get((row, column), {}), theirs.get((row, column), {}), of.write) for column in columns
        )
        yield line([row, *cells])


def since(here: Measured, paper: Measured) -> Iterator[str]:
    """Yield the lines of how many times as fast structures are as in the paper, machine and all."""
    columns = ("AS1", *DIRECT)
    yield line(["times as fast as in the paper", *columns])
    yield line(["---", *["---:"] * len(columns)])
    structures = dict.fromkeys(key[0] for key in here.cells)
    for structure in sorted(structures, key=lambda name: int(name[2:])):
        of: dict[str, list[float | None]] = {label: [] for label in columns}
        for key, cell in here.cells.items():
            if key[0] == structure and key[-1] in of and key in paper.cells:
                of[key[-1]].append(ratio(paper.cells[key], cell))
        yield line([title(structure), *(middle(values, three_digits) for values in of.values())])


def best(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of our best time over the best of others, by structure and in all."""
    of: dict[str, dict[str, list[tuple[float, int]]]] = {}
    for document in documents:
        group = document["group"]
        for kind in ("freed", "winked out"):
            found = best_of(document["rows"], kind)
            if found is not None:
                of.setdefault(group["structure"], {}).setdefault(kind, []).append((found, group["size"]))
    yield line(["ours over others", "freed", "most, at", "winked out", "most, at"])
    yield line(["---", *["---:"] * 4])
    structures = sorted(of, key=lambda name: int(name[2:]))
    for structure in structures:
        yield line([title(structure), *told_best(of[structure])])
    whole = {
        kind: [one for name in structures for one in of[name].get(kind, [])]
        for kind in ("freed", "winked out")
    }
    yield line(["all", *told_best(whole)])


def best_of(rows: Sequence[Mapping[str, Any]], kind: str) -> float | None:
    """Return our best time over that of others in a group; None where either has none."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for row in rows:
        winked = row["destruction"] == "winkout"
        counts = winked if kind == "winked out" else not winked and row["strategy"] not in NEVER_FREE
        if row["repeated"] or row["strategy"] in OUR_MALLOCS:
            continue
        if counts and row["status"] == "ok" and row["ns_per_event"]:
            times[is_ours(row)].append(row["ns_per_event"])
    return min(times[True]) / min(times[False]) if times[True] and times[False] else None


def is_ours(row: Mapping[str, Any]) -> bool:
    """Return whether a row's strategy is a heap of the library."""
    is_standard = row["strategy"] == "new_delete" or row["strategy"].partition(".")[0] in MAKERS
    return row["binding"] != "malloc" and not is_standard


def told_best(of: Mapping[str, Sequence[tuple[float, int]]]) -> Iterator[str]:
    """Yield for each kind the geometric mean, and the most with its size."""
    for kind in ("freed", "winked out"):
        ratios = of.get(kind, [])
        if not ratios:
            yield from ("-", "-")
            continue
        most, size = max(ratios)
        yield three_digits(geometric_mean([ratio for ratio, _ in ratios]))
        yield f"{three_digits(most)}, 2^{size}"


def both(
    here: Mapping[Place, float | None], paper: Mapping[Place, float | None], write: Callable[[float], str]
) -> str:
    """Return ours and, of the same places, the paper's."""
    same = [paper[place] for place in here if place in paper]
    said = middle(list(here.values()), write)
    return f"{said} ({middle(same, write)})" if same else said


def middle(values: Sequence[float | None], write: Callable[[float], str]) -> str:
    """Return the median; where most ran out of memory that."""
    known = [value for value in values if value is not None]
    if not values:
        return "-"
    return write(median(known)) if 2 * len(known) > len(values) else "fail"


def line(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(escape, cells))} |"
