"""Benchmark IV, a table for each number of pairs and size of a block.

AS1 stands in time by the clock, the others in percent of it; beside them how often a lock was found taken.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mallard import figures
from mallard_bench.results import Result, Row
from mallard_bench.tables.columns import (
    MEMORY_TITLE,
    by_the_clock,
    cold,
    end,
    measured_beyond,
    memory_table,
    other_columns,
    others_table,
    relative_table,
)
from mallard_bench.tables.grid import Cell, Column, Columns, Grid, Line, Section

CORNER = "W"


def sections(results: Sequence[Result]) -> Iterator[Section]:
    """Yield the tables of all numbers of pairs and sizes."""
    kinds = sorted({kind(result) for result in results})
    tables = [
        table
        for of in kinds
        for table in tables_of(sorted((result for result in results if kind(result) == of), key=threads), *of)
    ]
    yield Section("IV", tables)


def kind(result: Result) -> tuple[int, int]:
    """Return what a table is of."""
    return int(result.group["iterations"]), int(result.group["block"])


def threads(result: Result) -> int:
    """Return how many threads there are."""
    return int(result.group["threads"])


def tables_of(results: Sequence[Result], iterations: int, block: int) -> Iterator[Grid]:
    """Yield the tables of one number of pairs and one size."""
    of = f"2^{iterations} pairs of 2^{block} bytes a thread"
    yield relative_table(
        results,
        f"{of}: time of AS1 by the clock, the others in percent of it",
        CORNER,
        line,
        by_the_clock,
        events,
        f"{iterations} {block}",
    )
    if measured_beyond(results):
        beyond = others_table(
            results, f"{of}, beyond the paper: percent of AS1's time by the clock", CORNER, line, by_the_clock
        )
        yield with_locks(beyond, results)
        first = f"{of}, first pass: CPU time of AS1, the others in percent of it"
        yield relative_table(results, first, CORNER, line, cold, events)
        yield memory_table(results, f"{of}, {MEMORY_TITLE}", CORNER, line)


def with_locks(grid: Grid, results: Sequence[Result]) -> Grid:
    """Return a table with how often locks were found taken, of those who count it."""
    headings, keys = other_columns(results)
    names = [column for group in headings for column in group.columns]
    counted = [
        (name, key)
        for name, key in zip(names, keys, strict=True)
        if any((row := result.at(key)) and row.failed_locks is not None for result in results)
    ]
    if not counted:
        return grid
    locks = Columns("lock found taken", [Column(name.name, name.word) for name, _ in counted])
    lines = [
        replace(line, cells=[*line.cells, *(share(result.at(key)) for _, key in counted)])
        for line, result in zip(grid.lines, results, strict=True)
    ]
    return replace(grid, groups=[*grid.groups, locks], lines=lines)


def share(row: Row | None) -> Cell:
    """Return the share of attempts that found the lock taken."""
    return end(row) if row is None or row.failed_locks is None else Cell(figures.share(row.failed_locks))


def events(result: Result) -> float:
    """Return how many pairs there are of all threads."""
    return float(threads(result) * 2 ** int(result.group["iterations"]))


def line(result: Result, cells: Sequence[Cell]) -> Line:
    """Return the row of a number of threads."""
    return Line(str(threads(result)), cells, result.skipped)
