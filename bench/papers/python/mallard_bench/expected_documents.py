"""The paper's own values in the shape of measured ones, so that the same code judges and shows both.

    10.2 s for 2^27 leaves  -->  {"label": "AS1", "status": "ok", "ns_per_event": 76, "spread": [75.6, 76.4]}

The spread is what rounding hides. Where other strategies are given in percent of AS1, they share its
rounding, so that it is none between them: AS1 then has no spread. Benchmark II has relative times only: 1
before the shuffle.
"""

from collections.abc import Callable, Iterator
from typing import Any

from mallard_bench import expected
from mallard_bench.expected import Cell, Failure, Printed

PAPERS_LEAVES = 27  # the exponent
LEAVES = 1 << PAPERS_LEAVES
NS = 1e9
MACHINE = {"cores": 12, "compiler": "gcc 5.1"}
STRUCTURES = 12
TABLE_15_LINKS = 7
SPLIT_TABLES = ((16, 21, "AS1"), (17, 25, "AS1"), (18, 21, "AS7"), (19, 25, "AS7"))

Document = dict[str, Any]
Row = dict[str, Any]


def documents(benchmark: str) -> list[Document]:
    """Return the tables of a benchmark, one document a row; none where a paper's charts are lost."""
    if benchmark not in GROUPS:
        return []
    return [
        {"benchmark": benchmark, "group": group, "machine": MACHINE, "rows": rows}
        for group, rows in GROUPS[benchmark]()
    ]


def density() -> Iterator[tuple[Document, list[Row]]]:
    """Yield benchmark I; an event is one leaf."""
    for structure in range(1, STRUCTURES + 1):
        for (size,), cells in expected.density(structure).rows.items():
            rows = [row(label, cell, NS / LEAVES) for label, cell in cells.items() if cell is not None]
            yield {"structure": f"DS{structure}", "size": size}, rows


def locality() -> Iterator[tuple[Document, list[Row]]]:
    """Yield benchmark II: Table 15 by factors of shuffling, the others by splits of accesses."""
    for (subsystem,), cells in expected.locality(15).rows.items():
        group = {"table": "factors", "global": TABLE_15_LINKS, "subsystem": subsystem}
        figures = [Printed(1, 0), *list(cells.values())[1:]]
        yield group, [{**row("AS1", cell, 1), "factor": factor} for factor, cell in enumerate(figures)]
    for table, links, label in SPLIT_TABLES:
        for (subsystem,), cells in expected.locality(table).rows.items():
            yield (
                {"table": "splits", "global": links, "subsystem": subsystem},
                [
                    {**row(label, time, 1), "split": number(column), "shuffled": shuffled}
                    for column, cell in cells.items()
                    for shuffled, time in ((False, Printed(1, 0)), (True, cell))
                ],
            )


def utilization() -> Iterator[tuple[Document, list[Row]]]:
    """Yield benchmark III; an event is one block of the total."""
    for (total, active, block), cells in expected.utilization().rows.items():
        group = {"total": total, "active": active, "block": block}
        yield group, in_percent(cells, NS / 2 ** (total - block))


def contention() -> Iterator[tuple[Document, list[Row]]]:
    """Yield benchmark IV; an event is one iteration of any thread, its time that of the clock."""
    for (iterations, block, threads), cells in expected.contention().rows.items():
        rows = in_percent(cells, NS / (2**iterations * threads))
        for a_row in rows:
            a_row["wall_ns_per_event"] = a_row.pop("ns_per_event")
            a_row["wall_spread"] = a_row.pop("spread")
        yield {"iterations": iterations, "block": block, "threads": threads}, rows


def in_percent(cells: dict[str, Cell], unit: float) -> list[Row]:
    """Return the rows of a table whose first column is a time, the others its percentages."""
    (_, base), *others = cells.items()
    assert isinstance(base, Printed)
    rows = [row("AS1", Printed(base.value, 0), unit)]
    return rows + [row(column.partition("_")[0], cell, unit * base.value / 100) for column, cell in others]


def row(label: str, cell: Cell, unit: float) -> Row:
    """Return one row; `unit` makes nanoseconds an event of what is printed."""
    if isinstance(cell, Failure):
        return {"label": label, "status": "out_of_memory", "ns_per_event": None, "spread": None}
    assert cell is not None
    low, high = cell.value - cell.half_digit, cell.value + cell.half_digit
    return {
        "label": label,
        "status": "ok",
        "ns_per_event": cell.value * unit,
        "spread": [low * unit, high * unit],
    }


def number(column: str) -> int:
    """Return the number at the end of a column's name."""
    return int(column.rpartition("_")[2])


GROUPS: dict[str, Callable[[], Iterator[tuple[Document, list[Row]]]]] = {
    "density": density,
    "locality": locality,
    "utilization": utilization,
    "contention": contention,
}
