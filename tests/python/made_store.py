"""A store of objects written by hand: what analysis is tested on, with figures that one can count."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from mallard.analysis.model import Frame
from mallard.analysis.store import Store
from mallard.analysis.symbols import Symbols

MALLOC, REALLOC, FREE = 1, 16, 24


@dataclass(frozen=True, slots=True)
class Made:
    """One object; time is ten ns an event unless it is given."""

    allocation: int
    free: int | None
    size: int = 32
    context: int = 1
    thread: int = 0
    free_thread: int | None = None
    between: int = 0
    previous: int | None = None
    origin: int = 0
    free_kind: int = FREE
    allocation_ns: float = 0.0
    free_ns: float = 0.0
    region: int = 0
    free_context: int = 0


@dataclass(frozen=True, slots=True)
class Calls:
    """A tree of calls: `functions[n]` was called by context `parents[n]`; context 0 is unknown."""

    parents: Sequence[int] = (0, 0)
    functions: Sequence[str] = ("", "main")
    scopes: dict[int, str] = field(default_factory=dict)


def size_class(size: int) -> int:
    """Return the class of a size: four to a doubling from 8 bytes on."""
    if size <= 8:
        return 0
    doubling = (size - 1).bit_length() - 1
    return min(63, 1 + 4 * (doubling - 3) + ((size - 1) >> (doubling - 2)) % 4)


def make_store(objects: Sequence[Made], calls: Calls = Calls(), **totals: Any) -> Store:
    """Put the objects into a store; `totals` overrides what is said of the whole."""
    connection = duckdb.connect()
    last = max(max(o.allocation, o.free or 0) for o in objects)
    columns: dict[str, list[Any]] = {
        "allocation": [o.allocation for o in objects],
        "free": [o.free for o in objects],
        "previous": [o.previous for o in objects],
        "allocation_time": [10 * o.allocation for o in objects],
        "free_time": [None if o.free is None else 10 * o.free for o in objects],
        "size": [o.size for o in objects],
        "between": [o.between for o in objects],
        "allocation_ns": [o.allocation_ns for o in objects],
        "free_ns": [o.free_ns for o in objects],
        "context": [o.context for o in objects],
        "free_context": [o.free_context for o in objects],
        "thread": [o.thread for o in objects],
        "free_thread": [None if o.free is None else o.free_thread or 0 for o in objects],
        "region": [o.region for o in objects],
        "free_kind": [0 if o.free is None else o.free_kind for o in objects],
        "origin": [o.origin for o in objects],
        "size_class": [size_class(o.size) for o in objects],
    }
    kinds = {"allocation_ns": "FLOAT", "free_ns": "FLOAT", "context": "UINTEGER", "thread": "UINTEGER"}
    kinds |= dict.fromkeys(("free_context", "free_thread", "region"), "UINTEGER")
    kinds |= dict.fromkeys(("free_kind", "origin", "size_class"), "UTINYINT")
    declared = ", ".join(f"{name} {kinds.get(name, 'UBIGINT')}" for name in columns)
    connection.execute(f"CREATE TABLE objects ({declared})")
    connection.register("made", {name: masked(values) for name, values in columns.items()})
    connection.execute("INSERT INTO objects FROM made")
    connection.execute("CREATE VIEW heap AS FROM objects WHERE region = 0")
    names = ["", *calls.scopes.values()]
    return Store(
        path="made.mlrd",
        sql=connection,
        totals=whole(objects, last) | {"contexts": sums(objects, len(calls.parents), last)} | totals,
        contexts={
            "parent": np.array(calls.parents, np.uint32),
            "name": np.array(
                [names.index(calls.scopes.get(n, "")) for n in range(len(calls.parents))], np.uint32
            ),
            "return_address": np.arange(len(calls.parents), dtype=np.uint64),
        },
        threads=[{"system_id": 100 + n, "start_ns": 0, "end_ns": 0, "name": f"t{n}"} for n in range(4)],
        modules=[],
        names=names,
    )


def sums(objects: Sequence[Made], contexts: int, last: int) -> dict[str, NDArray[Any]]:
    """Return what the reader would say of each context."""
    peak = whole(objects, last)["peak_event"]
    heap = [o for o in objects if o.region == 0]
    at_peak = [o for o in heap if o.allocation <= peak and (o.free is None or o.free > peak)]
    leaked = [o for o in heap if o.free is None]
    brief = [o for o in heap if o.free is not None and o.free_kind == FREE and o.between == 0]
    first = np.full(contexts, 2**64 - 1, np.uint64)
    classes = np.zeros(contexts, np.uint64)
    for o in objects:
        first[o.context] = min(first[o.context], np.uint64(10 * o.allocation))
        if o.free is not None:
            first[o.free_context] = min(first[o.free_context], np.uint64(10 * o.free))
    for o in heap:
        classes[o.context] |= np.uint64(1 << size_class(o.size))

    def total(of: Sequence[Made], weights: list[int]) -> NDArray[Any]:
        return np.bincount([o.context for o in of], weights, contexts).astype(np.uint64)

    return {
        "allocations": total(heap, [1 for _ in heap]),
        "bytes": total(heap, [o.size for o in heap]),
        "peak_bytes": total(at_peak, [o.size for o in at_peak]),
        "peak_objects": total(at_peak, [1 for _ in at_peak]),
        "leaked_bytes": total(leaked, [o.size for o in leaked]),
        "leaked_objects": total(leaked, [1 for _ in leaked]),
        "temporaries": total(brief, [1 for _ in brief]),
        "size_classes": classes,
        "first_time": first,
        "kind": np.full(contexts, MALLOC, np.uint8),
    }


def masked(values: list[Any]) -> Any:
    """Return the values of a column; None is NULL."""
    return np.ma.masked_array([value or 0 for value in values], [value is None for value in values])


def whole(objects: Sequence[Made], last: int) -> dict[str, Any]:
    """Return what the reader would say of all of them."""
    heap = [o for o in objects if o.region == 0]
    changes = [0] * (last + 2)
    for o in heap:
        changes[o.allocation] += o.size
        changes[o.free or last + 1] -= o.size
    live = list(accumulate(changes[:-1]))
    peak = live.index(max(live))
    return {
        "events": last + 1,
        "event_numbers": last + 1,
        "end_time": 10 * last,
        "allocations": len(heap),
        "bytes": sum(o.size for o in heap),
        "peak_event": peak,
        "peak_time": 10 * peak,
        "peak_live_bytes": live[peak],
        "cpu_ns": 0,
        "recording_ns": 0,
        "program": "/opt/made",
        "arguments": [],
    }


class Names(Symbols):
    """Symbols of calls written by hand: functions of the module prog, or `module!function`."""

    def __init__(self, store: Store, functions: Sequence[str]) -> None:
        """Take the functions of the contexts."""
        self.warnings = []
        self._reading = store
        self._parents = store.contexts["parent"]
        self._scopes = store.contexts["name"]
        self._place_of = np.arange(len(functions))
        self._places = [[frame_of(function)] for function in functions]


def frame_of(text: str) -> Frame:
    """Return the frame of a function that may have a module before it."""
    module, _, function = text.rpartition("!")
    return Frame(function, module or "prog")
