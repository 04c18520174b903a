"""Expansion, shrink to fit and bursts: what the article shows of each allocator, a table for each of it.

1. time of an event, less that of `none`, which has no allocator: what the allocator takes. A command's is
   that already, as it is what two loops differ by
2. how many times faster than Boost's V1 that is
3. the first pass of a process, as measured
4. what was counted: allocations, expansions, capacity
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from mallard import figures
from mallard_bench.papers import ALLOCATORS, ALLOCATORS_BY_MAKER, FLOOR, STD, protocol
from mallard_bench.results import Key, Result, Row
from mallard_bench.tables.columns import AGAIN, cold, end, plain, three_digits
from mallard_bench.tables.grid import Cell, Column, Columns, Grid, Line, Section, around_one

CORNER = "elements x"
WORDS = {
    "allocations": "allocations",
    "expansions_forward": "expansions forward",
    "expansions_backward": "expansions backward",
    "capacity": "capacity at the end",
    "shrinks": "shrinks in place",
    "bursts": "bursts",
}
EVENTS = {
    "push_back": ("push_back", "an element", "a vector"),
    "command": ("growth by a command from n to 2n objects", "a growth", "a growth"),
    "shrink": ("shrink_to_fit", "a shrink_to_fit", "a vector"),
    "insert": ("ranges inserted", "an element", "a list"),
    "erase": ("ranges erased", "an element", "a list"),
}
NETTED = frozenset({"command"})  # measured without what is not the allocator's

MakeCell = Callable[[Result, Row | None], Cell]


def expansion(results: Sequence[Result]) -> Iterator[Section]:
    """Yield the tables of vectors, then those of the command."""
    for work in ("push_back", "command"):
        if of := [result for result in results if result.group["work"] == work]:
            yield Section(work, list(tables(of, work)))


def shrink(results: Sequence[Result]) -> Iterator[Section]:
    """Yield the tables of shrinks."""
    if results:
        yield Section("shrink", list(tables(results, "shrink")))


def burst(results: Sequence[Result]) -> Iterator[Section]:
    """Yield the tables of insertions, then those of erasures."""
    for part in ("insert", "erase"):
        of = [replace(one, rows=tuple(row for row in one.rows if row.part == part)) for one in results]
        if of:
            yield Section(part, list(tables(of, part)))


def tables(results: Sequence[Result], what: str) -> Iterator[Grid]:
    """Yield the tables of one kind of work."""
    title, event, whole = EVENTS[what]
    floored = what not in NETTED
    of = sorted(results, key=lambda result: (-result.group["elements"], result.group["iterations"]))
    less, both = (", less that of none", ", both less none") if floored else ("", "")
    yield grid(of, f"{title}: ns of CPU time {event}{less}", net_cell, floor=floored).coloured()
    faster = grid(of, f"{title}: times as fast as boost.V1{both}", speed_cell)
    yield replace(faster, heat=around_one(more_is_better=True))
    if any(row.cold is not None for result in of for row in result.rows):
        first = f"{title}, first in a process: ns {event}"
        yield grid(of, first, lambda _, row: plain(row, cold, three_digits), floor=floored).coloured()
    if what == "erase":
        return
    for name in counted(of):
        yield grid(of, f"{title}: {WORDS.get(name, name)}, of {whole}", count_cell(name), again=False)


def grid(
    results: Sequence[Result], title: str, cell: MakeCell, floor: bool = False, again: bool = True
) -> Grid:
    """Return a table with a column an allocator."""
    headings, keys = columns(results, floor)

    def cells(result: Result) -> list[Cell]:
        found = [cell(result, result.at(key)) for key in keys]
        return [*found, cell(result, result.row(ALLOCATORS.base, repeated=True))] if again else found

    lines = [Line(name(result), cells(result), result.skipped) for result in results]
    return Grid(title, CORNER, [*headings, AGAIN] if again else headings, lines)


def name(result: Result) -> str:
    """Return what tells a line from others."""
    return f"{result.group['elements']} x {result.group['iterations']}"


def columns(results: Sequence[Result], floor: bool) -> tuple[list[Columns], list[Key]]:
    """Return the columns of what was measured, and what tells them apart in the same order."""
    measured = {row.key: row for result in results for row in result.rows}
    by_label = {row.label: key for key, row in measured.items() if row.label is not None}
    found: list[tuple[str, list[tuple[Column, Key]]]] = []
    if floor and FLOOR in by_label:
        found.append(("", [(Column(FLOOR), by_label[FLOOR])]))
    for family, labels in ALLOCATORS_BY_MAKER.items():
        found.append(
            (family, [(Column(protocol(one), whole=one), by_label[one]) for one in labels if one in by_label])
        )
    mallocs = [(Column(row.strategy), key) for key, row in measured.items() if row.label in (STD, None)]
    found.append(("std::allocator over", mallocs))
    kept = [(family, some) for family, some in found if some]
    return (
        [Columns(family, [column for column, _ in some]) for family, some in kept],
        [key for _, some in kept for _, key in some],
    )


def net(result: Result, row: Row | None) -> float | None:
    """Return what an event takes beyond the floor, or at all where there is no floor to take off."""
    if row is None or row.warm is None:
        return None
    floor = None if result.group.get("work") in NETTED else result.row(FLOOR)
    return row.warm.value - (floor.warm.value if floor is not None and floor.warm is not None else 0.0)


def net_cell(result: Result, row: Row | None) -> Cell:
    """Return the time beyond the floor; of the floor itself its own."""
    ns = net(result, row)
    if row is None or row.warm is None or ns is None:
        return end(row)
    if row.label == FLOOR:
        return Cell(three_digits(row.warm.value), spread=row.warm.width)
    return Cell(three_digits(ns), ns if ns > 0 else None, row.warm.width)


def speed_cell(result: Result, row: Row | None) -> Cell:
    """Return how many times as fast as Boost's V1 an allocator is."""
    own, base = net(result, row), net(result, result.row(ALLOCATORS.base))
    if row is None or row.warm is None or own is None or base is None:
        return end(row)
    if own <= 0 or base <= 0:
        return Cell("-")
    return Cell(three_digits(base / own), base / own, row.warm.width)


def counted(results: Sequence[Result]) -> list[str]:
    """Return what was counted."""
    return list(dict.fromkeys(name for one in results for row in one.rows for name in row.counts or ()))


def count_cell(name: str) -> MakeCell:
    """Return what makes a cell of something that was counted."""

    def cell(_: Result, row: Row | None) -> Cell:
        if row is None or row.counts is None:
            return end(row)
        return Cell(figures.count(row.counts.get(name)))

    return cell
