"""Replays of journals as one table: a row for each journal and strategy.

                         replay          allocation               free            worst      on its threads
    cc1plus.txt.xz     ns     F    p50  p99 p99.9  max    p50 ...       time  call       CPU ns  wall ns
    multipool (typed) 1.27 1.12  < 10 ns ...

Times of calls are of the lowest of each call over the passes: what the strategy takes itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mallard import figures
from mallard_bench.results import Document
from mallard_bench.tables.columns import ENDS
from mallard_bench.tables.grid import Cell, Column, Columns, Grid, Line

Json = Mapping[str, Any]
PERCENTILES = {"p50": "p50", "p99": "p99", "p999": "p99.9", "max": "max"}
LEGEND = (
    "ns: CPU time of an event, less that of none; F: most held over most live; allocation and free: of each "
    "call the lowest time over the passes; worst: by that time, what it was and its event; on its threads: "
    "CPU and wall time of an event of the replay with --threads; -: not measured; fail: out of memory; "
    "broke: its check failed"
)
TITLE = "Replays: {}"


@dataclass(frozen=True)
class Journal:
    """A journal with its replays, each None if it was not made."""

    name: str
    blocks: Document | None
    threads: Document | None

    @property
    def quantum_ns(self) -> float:
        """Return the step of the clock of its single calls."""
        clock = self.blocks and self.blocks.get("latency")
        return float(clock["quantum_ns"]) if clock else 0.0

    def rows(self) -> Iterator[tuple[str, Json | None, Json | None]]:
        """Yield each strategy with its rows in both replays."""
        found: dict[str, list[Json | None]] = {}
        for place, document in enumerate((self.blocks, self.threads)):
            for row in document["rows"] if document else []:
                found.setdefault(f"{row['strategy']} ({row['binding']})", [None, None])[place] = row
        for name, (blocks, threads) in found.items():
            yield name, blocks, threads


def journals_of(documents: Iterable[Document]) -> list[Journal]:
    """Return the journals of a run, in its order."""
    found: dict[str, dict[str, Document]] = {}
    for document in documents:
        found.setdefault(document["settings"]["journal"], {})[document["group"]["replayed"]] = document
    return [
        Journal(next(iter(of.values()))["group"]["journal"], of.get("blocks"), of.get("threads"))
        for of in found.values()
    ]


def table(journals: Sequence[Journal]) -> Grid:
    """Return the table of some journals; each row says its journal where there are several."""
    calls = [Column(name) for name in PERCENTILES.values()]
    headings = [
        Columns("replay", [Column("ns"), Column("F")]),
        Columns("allocation", calls),
        Columns("free", calls),
        Columns("worst", [Column("time"), Column("call")]),
    ]
    if any(journal.threads for journal in journals):
        headings.append(Columns("on its threads", [Column("CPU ns"), Column("wall ns")]))
    lines = [
        Line(
            f"{journal.name} {name}" if len(journals) > 1 else name,
            cells[: sum(len(of.columns) for of in headings)],
        )
        for journal in journals
        for name, cells in lines_of(journal)
    ]
    return Grid(TITLE.format(", ".join(journal.name for journal in journals)), "", headings, lines)


def lines_of(journal: Journal) -> Iterator[tuple[str, list[Cell]]]:
    """Yield the cells of each strategy."""
    for name, blocks, threads in journal.rows():
        cells = [
            figure(blocks, "ns_per_event", figures.number),
            figure(blocks, "fragmentation", "{:.2f}".format),
        ]
        for call in ("alloc_ns", "free_ns"):
            times = blocks and blocks.get(call)
            lowest = times and times["minimum"]
            cells += [Cell(time(lowest[part], journal) if lowest else "-") for part in PERCENTILES]
        cells += worst(blocks, journal)
        wall = threads and threads.get("threads")
        cells += [
            figure(threads, "ns_per_event", figures.number),
            Cell(figures.number(wall["wall_ns_per_event"]) if wall else "-"),
        ]
        yield name, cells


def figure(row: Json | None, name: str, shown: Any) -> Cell:
    """Return a figure of a row, or how the strategy ended."""
    if row is None:
        return Cell("-")
    if row.get(name) is None:
        return Cell(ENDS.get(row["status"], "-"), reason=row.get("reason"))
    return Cell(shown(row[name]))


def time(ns: float, journal: Journal) -> str:
    """Return a time that is no finer than the clock."""
    return f"< {figures.time(journal.quantum_ns)}" if ns < journal.quantum_ns else figures.time(ns)


def worst(row: Json | None, journal: Journal) -> list[Cell]:
    """Return the slowest call: its time, and which it was."""
    found = row.get("worst") if row else None
    if not found:
        return [Cell("-"), Cell("")]
    one = found[0]
    what = f"{one['call']} of {figures.size(one['size'])}, event {one['event']:,}"
    return [Cell(time(one["ns"], journal)), Cell(what)]
