"""A measured table as findings see it: cells by settings and strategy.

    {"group": {"structure": "DS3", "size": 6},           ("DS3", 6, "AS1"): ok, 10.2 in [10.1, 10.3]
     "rows": [{"label": "AS1", "status": "ok",      -->  ("DS3", 6, "AS2"): ok, 11.0 in [10.9, 11.2]
               "ns_per_event": 10.2,                     ...
               "spread": [10.1, 10.3]}, ...]}

A document is what one run of mallard-bench prints, a group of settings with its rows. The strategies of the
paper count here, which have a label, and those that are named beside them; the repeated one tells the noise
of its group. Of fewer rounds than three a spread tells nothing: such a time may be any. LAYOUT says what
makes a key; settings are exponents.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from mallard_bench.findings.interval import Interval, Name
from mallard_bench.papers import BESIDE
from mallard_bench.repeated import ENOUGH_ROUNDS, Repeated

Document = Mapping[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Names:
    """What the parts of a time are called in a row."""

    time: str
    spread: str
    rounds: str


CPU = Names("ns_per_event", "spread", "rounds_ns")
CLOCK = Names("wall_ns_per_event", "wall_spread", "wall_rounds_ns")


@dataclass(frozen=True)
class Layout:
    """Where the documents of a benchmark say what a cell is of, and how each of that is said."""

    group: Mapping[str, str]
    row: Mapping[str, str]  # of which the last is the label
    beside: str | None = None  # a strategy without a label that counts, too; its name takes the place of one

    def label(self, row: Mapping[str, Any]) -> str | None:
        """Return what a strategy is called in a key; None if it does not count."""
        label: str | None = row["label"]
        return self.beside if label is None and row.get("strategy") == self.beside else label


LAYOUT = {
    "density": Layout({"structure": "{}", "size": "2^{}"}, {"label": "{}"}),
    # Of table "splits" are rows with split and shuffled, of table "factors" those with factor.
    "locality": Layout(
        {"table": "", "global": "|G|=2^{}", "subsystem": "|S|=2^{}"},
        {"split": "2^-{}", "shuffled": "", "factor": "shuffled {} times", "label": "{}"},
        beside=BESIDE,
    ),
    "utilization": Layout({"total": "T=2^{}", "active": "A=2^{}", "block": "S=2^{}"}, {"label": "{}"}),
    "expansion": Layout({"work": "", "elements": "{}"}, {"label": "{}"}),
    "shrink": Layout({"elements": "{}"}, {"label": "{}"}),
    "burst": Layout({"elements": "{}"}, {"part": "", "label": "{}"}),
    "pools": Layout({"work": "", "elements": "{}"}, {"part": "{}", "label": "{}"}),
    "contention": Layout({"iterations": "N=2^{}", "block": "S=2^{}", "threads": "W={}"}, {"label": "{}"}),
}


@dataclass(frozen=True)
class Cell:
    """How a strategy ended, its time if it ended well, and what was counted of it."""

    status: str
    time: Interval | None
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """Everything that was measured of one benchmark, or a part of it."""

    cells: Mapping[Key, Cell] = field(default_factory=dict)
    cores: int = 0  # of the machine, 0 if nothing was measured
    compilers: frozenset[str] = frozenset()
    memory_limits: frozenset[int] = frozenset()  # bytes a strategy could take
    rounds: int = ENOUGH_ROUNDS  # the fewest of any cell
    settings: tuple[str, ...] = ()  # what the parts of a key are, the label left out

    def time(self, *key: Any) -> Interval | None:
        """Return the time of a cell, None if there is none."""
        cell = self.cells.get(key)
        return cell.time if cell else None


def measured(benchmark: str, documents: Sequence[Document]) -> Measured:
    """Return the cells of some documents of one benchmark; the later of two of the same cell counts."""
    layout = LAYOUT[benchmark]
    cells: dict[Key, Cell] = {}
    noises = noise_of(documents, layout)
    rounds = []
    for number, (document, noise) in enumerate(zip(documents, noises, strict=True)):
        settings = [document["group"][name] for name in layout.group]
        for row in document["rows"]:
            if (label := layout.label(row)) is not None and not row.get("repeated"):
                *figure, _ = layout.row
                key = (*settings, *(row.get(name) for name in figure), label)
                time = time_of(row, noise, named(key, layout))
                counts = {name: n for name, n in (row.get("counts") or {}).items() if n is not None}
                cells[key] = Cell(row["status"], time and replace(time, group=number), counts)
                if row["status"] == "ok":
                    rounds.append(rounds_of(row))
    machines = [document["machine"] for document in documents]
    methods = [document["method"] for document in documents if "method" in document]
    return Measured(
        cells,
        min((machine["cores"] for machine in machines), default=0),
        frozenset(machine["compiler"] for machine in machines),
        frozenset(method["memory_limit"] for method in methods),
        min(rounds, default=ENOUGH_ROUNDS),
        (*layout.group, *layout.row)[:-1],
    )


def noise_of(documents: Sequence[Document], layout: Layout) -> list[float]:
    """Return by which factor a strategy and its repetition differ in each document.

    The two may happen to be alike: no document has less noise than half of them have.
    """
    found = [deviations(document["rows"], layout) for document in documents]
    usual = median([max(some) for some in found if some] or [1.0])
    return [max([usual, *some]) for some in found]


def deviations(rows: Sequence[Mapping[str, Any]], layout: Layout) -> list[float]:
    """Return by which factor each repeated row differs from what it repeats."""
    times: dict[tuple[Key, bool], Repeated] = {
        (tuple(row.get(name) for name in layout.row), bool(row.get("repeated"))): Repeated(
            row[names_in(row).time], tuple(row.get(names_in(row).rounds) or ())
        )
        for row in rows
        if row["label"] is not None and row["status"] == "ok" and row[names_in(row).time] > 0
    }
    ratios = [
        time.over(times[which, False])
        for (which, repeated), time in times.items()
        if repeated and (which, False) in times
    ]
    return [max(ratio.value, 1 / ratio.value) for ratio in ratios if ratio is not None]


def names_in(row: Mapping[str, Any]) -> Names:
    """Return where the time of a row stands: that by the clock of threads, over the events of all."""
    return CPU if row.get("wall_ns_per_event") is None else CLOCK


def time_of(row: Mapping[str, Any], noise: float, name: Name) -> Interval | None:
    """Return the time of a row between the bounds of its spread."""
    if row["status"] != "ok":
        return None
    names = names_in(row)
    low, high = row[names.spread] if rounds_of(row) >= ENOUGH_ROUNDS else (0.0, math.inf)
    return Interval(row[names.time], low, high, noise, name, tuple(row.get(names.rounds) or ()))


def rounds_of(row: Mapping[str, Any]) -> int:
    """Return how often a row was measured; of what a paper prints that is not known."""
    found = row.get("rounds_ns")
    return ENOUGH_ROUNDS if found is None else len(found)


def named(key: Key, layout: Layout) -> Name:
    """Return what a cell is called."""
    forms = (*layout.group.values(), *layout.row.values())
    return tuple("" if part is None else form.format(part) for part, form in zip(key, forms, strict=True))
