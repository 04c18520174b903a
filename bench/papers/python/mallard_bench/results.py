"""What mallard-bench found, typed: a result is a group, a row of it one strategy's figures.

A document is the JSON of one call, {"benchmark", "group", "machine", "method", "rows"}. Times are of one
event (a leaf, an access, a chunk, an iteration) in ns. None is what was not measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mallard_bench.repeated import Repeated, of_rounds

Document = Mapping[str, Any]
Key = tuple[str | None, str, str, str]
Figure = tuple[int | None, bool | None, int | None, str | None]


@dataclass(frozen=True)
class Row:
    """One strategy in a group; `label` is the paper's, None for an allocator beyond it."""

    label: str | None
    strategy: str
    binding: str
    destruction: str
    repeated: bool  # AS1 once more: what differs between the two is noise
    status: str
    reason: str | None
    warm: Repeated | None
    cold: Repeated | None
    wall: Repeated | None
    max_held: float | None
    page_faults: float | None
    counts: Mapping[str, int | None] | None  # what was counted of a strategy, by its name; None: untold
    failed_locks: float | None  # the share of lock attempts that found the lock taken
    # Which of its figures this is, in benchmark II.
    split: int | None  # rf = 2^split
    shuffled: bool | None
    factor: int | None  # of shuffling
    part: str | None  # of a single run
    events: float | None  # of that part

    @property
    def key(self) -> Key:
        """What tells strategies apart."""
        return (self.label, self.strategy, self.binding, self.destruction)

    @property
    def figure(self) -> Figure:
        """What tells the figures of one strategy apart."""
        return (self.split, self.shuffled, self.factor, self.part)


@dataclass(frozen=True)
class Result:
    """One measured group."""

    group: Mapping[str, Any]
    machine: Mapping[str, Any]
    method: Mapping[str, Any]
    rows: tuple[Row, ...]

    def row(self, label: str, repeated: bool = False) -> Row | None:
        """Return the row of a strategy of a paper."""
        return next((row for row in self.rows if row.label == label and row.repeated == repeated), None)

    def at(self, key: Key) -> Row | None:
        """Return the row of any strategy."""
        return next((row for row in self.rows if row.key == key and not row.repeated), None)

    @property
    def skipped(self) -> str | None:
        """Why nothing of the group was tried; None if something was."""
        if any(row.status != "skipped" for row in self.rows):
            return None
        return next((row.reason for row in self.rows if row.reason), "")


def result(document: Document) -> Result:
    """Return a document as a result."""
    return Result(
        document["group"],
        document["machine"],
        document.get("method", {}),
        tuple(row(found) for found in document["rows"]),
    )


def row(found: Mapping[str, Any]) -> Row:
    """Return a row of a document."""
    return Row(
        label=found.get("label"),
        strategy=found.get("strategy", ""),
        binding=found.get("binding", ""),
        destruction=found.get("destruction", "normal"),
        repeated=bool(found.get("repeated")),
        status=found["status"],
        reason=found.get("reason"),
        warm=repeated(found, "ns_per_event", "rounds_ns", "spread"),
        cold=repeated(found, "cold_ns_per_event", "cold_rounds_ns", "cold_spread"),
        wall=repeated(found, "wall_ns_per_event", "wall_rounds_ns", "wall_spread"),
        max_held=found.get("max_held"),
        page_faults=found.get("page_faults"),
        counts=found.get("counts"),
        failed_locks=found.get("failed_locks"),
        split=found.get("split"),
        shuffled=found.get("shuffled"),
        factor=found.get("factor"),
        part=found.get("part"),
        events=found.get("events"),
    )


def repeated(found: Mapping[str, Any], time: str, rounds: str, spread: str) -> Repeated | None:
    """Return a time with its rounds, or with its spread alone; None if it was not measured."""
    if found.get(time) is None:
        return None
    if every := found.get(rounds):
        return replace(of_rounds(every), value=found[time])
    bounds = found.get(spread)
    return Repeated(found[time], (), None if bounds is None else (bounds[0], bounds[1]))
