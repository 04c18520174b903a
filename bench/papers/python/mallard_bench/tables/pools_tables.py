"""Pools: a line each allocator, as there are many of them; what the article shows of each are columns.

ranges    ns a node for each combination: inserted, erased, first in a process; memory
nodes     ns a node cold and warm, in order and at random; times those of our pool; memory
threads   ns a node of any thread, by the clock and of CPU time
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mallard import figures
from mallard_bench import expected
from mallard_bench.papers import ARTICLES, FLOOR, POOLS
from mallard_bench.results import Key, Result, Row
from mallard_bench.tables.columns import by_the_clock, cold, end, held, page_faults, plain, three_digits, warm
from mallard_bench.tables.grid import Cell, Column, Columns, Grid, Line, Section, around_one

CORNER = "allocator"
AGAIN = "A/A"
MEMORY = "memory"
PERCENT = 100

Found = Callable[[Row], Cell]


@dataclass(frozen=True)
class Part:
    """A figure of a group: its name in rows, and above its column."""

    name: str
    column: str
    whole: bool = False  # the time is the program's own, as that of a walk: nothing is taken off


NODES = {
    "one after the other": [
        Part("first", "cold"),
        Part("allocate", "allocate"),
        Part("free", "free"),
        Part("hot", "hot list"),
    ],
    "at random": [
        Part("free_at_random", "free"),
        Part("end_at_random", "read, free"),
        Part("erase_at_random", "erase"),
        Part("turn_over", "turned over"),
        Part("renew", "renewed"),
    ],
    "walk over the list": [
        Part("walk", "fresh", True),
        Part("walk_turned_over", "turned over", True),
        Part("walk_added", "what came", True),
        Part("walk_renewed", "renewed", True),
    ],
}
RANGES = {"insert": "insertion", "erase": "erasure"}


def sections(results: Sequence[Result]) -> Iterator[Section]:
    """Yield the tables of what was measured."""
    of = {
        work: [one for one in results if one.group["work"] == work] for work in ("ranges", "nodes", "threads")
    }
    if of["ranges"]:
        yield Section("ranges", list(ranges(of["ranges"])))
    if of["nodes"]:
        yield Section("nodes", [table for result in of["nodes"] for table in nodes(result)])
    if of["threads"]:
        yield Section("threads", [threads(result) for result in of["threads"]])


def ranges(results: Sequence[Result]) -> Iterator[Grid]:
    """Yield times of all combinations, and the memory of the first."""
    of = sorted(results, key=lambda result: (-result.group["elements"], result.group["iterations"]))
    for part, title in RANGES.items():
        columns = [(Column(size(result)), net(result, part)) for result in of]
        yield lines(of[0], f"{title}: ns of CPU time a node, less that of none", [("", columns)]).coloured()
    columns_of_first = [
        (
            title,
            [
                (Column(size(one)), of_part(one, part, lambda row: plain(row, cold, three_digits)))
                for one in of
            ],
        )
        for part, title in RANGES.items()
    ]
    yield lines(of[0], "first in a process: ns a node", columns_of_first).coloured()
    yield memory(of[0], f"{MEMORY} of {size(of[0])} nodes")


def nodes(result: Result) -> Iterator[Grid]:
    """Yield the tables of single nodes."""
    many = figures.count(result.group["elements"])
    times = [
        (
            heading,
            [(Column(part.column), net(result, part.name, whole=part.whole)) for part in parts],
        )
        for heading, parts in NODES.items()
    ]
    yield lines(
        result, f"{many} nodes: ns of CPU time a node, less that of none; of walks, whole", times
    ).coloured()
    ratios = [
        (
            heading,
            [(Column(part.column), beside_base(result, part)) for part in parts],
        )
        for heading, parts in NODES.items()
    ]
    table = lines(result, f"{many} nodes: times what {POOLS.base} takes", ratios)
    yield Grid(table.title, table.corner, table.groups, table.lines, around_one())
    yield memory(result, f"{MEMORY} of {many} nodes")


def threads(result: Result) -> Grid:
    """Return the table of threads."""
    columns = [
        (
            Column("by the clock"),
            of_part(result, "threads", lambda row: plain(row, by_the_clock, three_digits)),
        ),
        (Column("CPU time"), of_part(result, "threads", lambda row: plain(row, warm, three_digits))),
        (Column("cold, CPU time"), of_part(result, "threads", lambda row: plain(row, cold, three_digits))),
    ]
    title = f"four threads, {size(result)} nodes each: ns a node of any thread, allocated and freed"
    return lines(result, title, [("", columns)]).coloured()


def memory(result: Result, title: str) -> Grid:
    """Return what the system has given, and what is left of it."""
    columns = [
        (Column("taken"), counted("alive")),
        (Column("overhead"), overhead),
        (Column("left"), counted("freed")),
        (Column("left again"), counted("freed_again")),
        (Column("in use"), counted("in_use")),
        (Column("cached"), counted("cached")),
        (Column("trimmed"), counted("trimmed")),
        (Column("held at most"), lambda row: plain(row, held, figures.size)),
        (Column("page faults"), lambda row: plain(row, page_faults, figures.count)),
    ]
    part = next(row.part for row in result.rows)
    found = [(column, of_part(result, part or "", cell)) for column, cell in columns]
    table = lines(result, title, [("", found)])
    return Grid(table.title, table.corner, table.groups, uncoloured(table.lines), papers=MEMORY)


def uncoloured(of: Sequence[Line]) -> list[Line]:
    """Return lines without what colours are made of, as figures of several kinds have none."""
    return [Line(line.name, [Cell(cell.text, reason=cell.reason) for cell in line.cells]) for line in of]


CellOf = Callable[[Key, bool], Cell]


def lines(result: Result, title: str, groups: Sequence[tuple[str, Sequence[tuple[Column, CellOf]]]]) -> Grid:
    """Return a table with a line an allocator, and the first once more."""
    keys = list(dict.fromkeys(row.key for row in result.rows))
    names = [(name(key), key, False) for key in keys]
    names += [(AGAIN, row.key, True) for row in result.rows[-1:] if row.repeated]
    made = [
        Line(name, [cell(key, again) for _, columns in groups for _, cell in columns])
        for name, key, again in names
    ]
    headings = [Columns(heading, [column for column, _ in columns]) for heading, columns in groups]
    return Grid(title, CORNER, headings, made)


def name(key: Key) -> str:
    """Return what an allocator is called."""
    label, strategy, *_ = key
    return label or strategy


def size(result: Result) -> str:
    """Return how many nodes there are."""
    return f"{result.group['elements']} x {result.group['iterations']}"


def at(result: Result, key: Key, part: str, again: bool) -> Row | None:
    """Return a figure of an allocator."""
    return next((row for row in result.rows if (row.key, row.part, row.repeated) == (key, part, again)), None)


def of_part(result: Result, part: str, cell: Found) -> CellOf:
    """Return what makes cells of one figure of a group."""

    def found(key: Key, again: bool) -> Cell:
        row = at(result, key, part, again)
        return end(row) if row is None or row.status != "ok" else cell(row)

    return found


def warm_of(result: Result, part: str, label: str) -> float | None:
    """Return the time of an allocator."""
    rows = (row for row in result.rows if (row.label, row.part, row.repeated) == (label, part, False))
    return next((row.warm.value for row in rows if row.warm is not None), None)


def net(result: Result, part: str, whole: bool = False) -> CellOf:
    """Return what makes cells of times beyond the floor; of the floor its own."""
    floor = 0.0 if whole else warm_of(result, part, FLOOR) or 0.0

    def cell(row: Row) -> Cell:
        if row.warm is None:
            return end(row)
        ns = row.warm.value if row.label == FLOOR else row.warm.value - floor
        return Cell(three_digits(ns), ns if ns > 0 and row.label != FLOOR else None, row.warm.width)

    return of_part(result, part, cell)


def beside_base(result: Result, part: Part) -> CellOf:
    """Return what makes cells of how many times the first's time an allocator takes."""
    floor = 0.0 if part.whole else warm_of(result, part.name, FLOOR) or 0.0
    first = warm_of(result, part.name, POOLS.base)

    def cell(row: Row) -> Cell:
        if row.warm is None or first is None:
            return end(row)
        own, base = row.warm.value - floor, first - floor
        if own <= 0 or base <= 0:
            return Cell("-")
        return Cell(three_digits(own / base), own / base, row.warm.width)

    return of_part(result, part.name, cell)


def counted(count: str) -> Found:
    """Return what makes a cell of bytes."""

    def cell(row: Row) -> Cell:
        value = (row.counts or {}).get(count)
        return Cell("-" if value is None else figures.size(value))

    return cell


def overhead(row: Row) -> Cell:
    """Return how much more was taken than the nodes are, in percent of those."""
    counts = row.counts or {}
    alive, needed = counts.get("alive"), counts.get("needed")
    if row.label == FLOOR or alive is None or not needed:
        return Cell("-")
    return Cell(f"{PERCENT * (alive / needed - 1):.1f} %")


def papers_memory() -> Grid:
    """Return what the article says of memory; the figures of its charts are lost."""
    columns = [Column(name) for name in ("taken", "overhead", "in use")]
    found = [
        Line(
            f"{one['allocator']} ({label_of(one['allocator'])})", [Cell(one[name]) for name in expected.POOLS]
        )
        for one in expected.pools()
    ]
    title = "memory of 2,000,000 nodes of 12 bytes, as the text has it"
    return Grid(title, CORNER, [Columns("", columns)], found, papers=MEMORY)


def label_of(allocator: str) -> str:
    """Return our label of an allocator of the article."""
    return next(label for label, theirs in ARTICLES.items() if theirs == allocator)
