"""What mallard-bench found, typed: a result is a group, a row of it one strategy's figures.

A document is the JSON of one call, {"benchmark", "group", "machine", "method", "rows"}. Times are of one
event (a leaf, an access, a chunk, an iteration) in ns. None is what was not measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]
Key = tuple[str | None, str, str, str]


@dataclass(frozen=True)
class Row:
    """One strategy in a group; `label` is the paper's, None for a contestant beyond it."""

    label: str | None
    strategy: str
    binding: str
    destruction: str
    repeated: bool  # AS1 once more: what differs between the two is noise
    status: str
    reason: str | None
    ns: float | None
    spread: tuple[float, float] | None
    wall_spread: tuple[float, float] | None
    cold_ns: float | None
    wall_ns: float | None
    max_held: float | None
    page_faults: float | None
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


@dataclass(frozen=True)
class Result:
    """One measured group."""

    group: Mapping[str, Any]
    machine: Mapping[str, Any]
    method: Mapping[str, Any]
    rows: tuple[Row, ...]

    def row(self, label: str, repeated: bool = False) -> Row | None:
        """Return the row of a strategy of the paper."""
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
        ns=found.get("ns_per_event"),
        spread=bounds(found.get("spread")),
        wall_spread=bounds(found.get("wall_spread")),
        cold_ns=found.get("cold_ns_per_event"),
        wall_ns=found.get("wall_ns_per_event"),
        max_held=found.get("max_held"),
        page_faults=found.get("page_faults"),
        failed_locks=found.get("failed_locks"),
        split=found.get("split"),
        shuffled=found.get("shuffled"),
        factor=found.get("factor"),
        part=found.get("part"),
        events=found.get("events"),
    )


def bounds(found: Sequence[float] | None) -> tuple[float, float] | None:
    """Return what a spread lies between."""
    return None if found is None else (found[0], found[1])
