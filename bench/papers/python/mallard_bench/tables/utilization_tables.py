"""Benchmark III, a table for each total: AS1's time, the others in percent of it.

`fail` stands where memory ran out.
"""

from collections.abc import Iterator, Sequence

from mallard_bench.results import Result
from mallard_bench.tables.columns import (
    MEMORY_TITLE,
    cold,
    measured_beyond,
    memory_table,
    others_table,
    relative_table,
    warm,
)
from mallard_bench.tables.grid import Cell, Grid, Line, Section

CORNER = " A  S"


def sections(results: Sequence[Result]) -> Iterator[Section]:
    """Yield the tables of all totals."""
    totals = sorted({int(result.group["total"]) for result in results})
    tables = [
        table
        for total in totals
        for table in tables_of([result for result in results if result.group["total"] == total], total)
    ]
    yield Section("III", tables)


def tables_of(results: Sequence[Result], total: int) -> Iterator[Grid]:
    """Yield the tables of one total."""
    of = f"2^{total} bytes in all"
    yield relative_table(
        results, f"{of}: CPU time of AS1, the others in percent of it", CORNER, line, warm, events, str(total)
    )
    if measured_beyond(results):
        yield others_table(results, f"{of}, beyond the paper: percent of AS1's CPU time", CORNER, line, warm)
        filling = f"{of}, until they are alive: CPU time of AS1, the others in percent of it"
        yield relative_table(results, filling, CORNER, line, cold, blocks_alive)
        yield memory_table(results, f"{of}, {MEMORY_TITLE}", CORNER, line)


def events(result: Result) -> float:
    """Return how many blocks there are in all."""
    return float(2 ** (int(result.group["total"]) - int(result.group["block"])))


def blocks_alive(result: Result) -> float:
    """Return how many blocks are alive at once."""
    return float(2 ** (int(result.group["active"]) - int(result.group["block"])))


def line(result: Result, cells: Sequence[Cell]) -> Line:
    """Return the row of what is alive and of a block."""
    return Line(f"{result.group['active']:>2} {result.group['block']:>2}", cells, result.skipped)
