"""A measured table as findings see it: cells by settings and strategy.

    {"group": {"structure": "DS3", "size": 6},           ("DS3", 6, "AS1"): ok, 10.2 in [10.1, 10.3]
     "rows": [{"label": "AS1", "status": "ok",      -->  ("DS3", 6, "AS2"): ok, 11.0 in [10.9, 11.2]
               "ns_per_event": 10.2,                     ...
               "spread": [10.1, 10.3]}, ...]}

A document is what one run of mallard-bench prints, a group of settings with its rows. Only the strategies of
the paper count here, which have a label, and of those not the repeated row. LAYOUT says what makes a key;
settings are exponents.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mallard.bench.findings.interval import Interval

Document = Mapping[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Layout:
    """Where the documents of a benchmark say what a cell is of."""

    group: tuple[str, ...]
    row: tuple[str, ...]  # of which the last is the label
    time: str = "ns_per_event"
    spread: str = "spread"


LAYOUT = {
    "density": Layout(("structure", "size"), ("label",)),
    # Of table "splits" are rows with split and shuffled, of table "factors" those with factor.
    "locality": Layout(("table", "global", "subsystem"), ("split", "shuffled", "factor", "label")),
    "utilization": Layout(("total", "active", "block"), ("label",)),
    # By the clock, over the events of all threads.
    "contention": Layout(("iterations", "block", "threads"), ("label",), "wall_ns_per_event", "wall_spread"),
}


@dataclass(frozen=True)
class Cell:
    """How a strategy ended, and its time if it ended well."""

    status: str
    time: Interval | None


@dataclass(frozen=True)
class Measured:
    """Everything that was measured of one benchmark, or a part of it."""

    cells: Mapping[Key, Cell]
    cores: int  # of the machine, 0 if nothing was measured
    compilers: frozenset[str]

    def time(self, *key: Any) -> Interval | None:
        """Return the time of a cell, None if there is none."""
        cell = self.cells.get(key)
        return cell.time if cell else None


def measured(benchmark: str, documents: Sequence[Document]) -> Measured:
    """Return the cells of some documents of one benchmark; the later of two of the same cell counts."""
    layout = LAYOUT[benchmark]
    cells: dict[Key, Cell] = {}
    machines = [document["machine"] for document in documents]
    for document in documents:
        settings = [document["group"][name] for name in layout.group]
        for row in document["rows"]:
            if row["label"] is not None and not row.get("repeated"):
                cells[*settings, *(row.get(name) for name in layout.row)] = Cell(
                    row["status"], time_of(row, layout)
                )
    return Measured(
        cells,
        min((machine["cores"] for machine in machines), default=0),
        frozenset(machine["compiler"] for machine in machines),
    )


def time_of(row: Mapping[str, Any], layout: Layout) -> Interval | None:
    """Return the time of a row between the bounds of its spread."""
    if row["status"] != "ok":
        return None
    return Interval(row[layout.time], *row[layout.spread])
