"""The tables beside the objects: contexts, frames, threads, modules, regions, snapshots, timeline.

What is unknown is NULL. docs/export.md describes every column.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mallard import _native
from mallard.analysis.model import Frame
from mallard.analysis.store import Columns, Store
from mallard.analysis.symbols import Symbols
from mallard.figures import shown

NO_EVENT = 2**64 - 1
UNKNOWN = Frame(function="", module="")


def tables(store: Store, symbols: Symbols) -> dict[str, Columns]:
    """Return all of them by name; one without rows is left out."""
    found = {
        "contexts": contexts(store, symbols),
        "frames": frames(store, symbols),
        "threads": threads(store),
        "modules": modules(store),
        "regions": regions(store),
        "snapshots": snapshots(store),
        "timeline": timeline(store),
    }
    return {name: table for name, table in found.items() if len(next(iter(table.values())))}


def contexts(store: Store, symbols: Symbols) -> Columns:
    """A row a context; its place in the code is that of its innermost frame."""
    count = len(store.contexts["parent"])
    inner = [UNKNOWN, *(symbols.own_frames(context)[0] for context in range(1, count))]
    names = [store.names[name] if name else None for name in store.contexts["name"].tolist()]
    return {
        "context": np.arange(count, dtype=np.uint32),
        "parent": store.contexts["parent"],
        "return_address": store.contexts["return_address"],
        "annotation": texts(names),
        "function": texts([frame.function for frame in inner]),
        "module": texts([frame.module for frame in inner]),
        "file": texts([frame.file for frame in inner]),
        "line": numbers([frame.line for frame in inner]),
    }


def frames(store: Store, symbols: Symbols) -> Columns:
    """A row a frame of each context, the innermost first; all but the last of a context are inlined."""
    rows = [
        (context, depth, frame)
        for context in range(1, len(store.contexts["parent"]))
        for depth, frame in enumerate(symbols.own_frames(context))
    ]
    return {
        "context": np.array([context for context, _, _ in rows], dtype=np.uint32),
        "depth": np.array([depth for _, depth, _ in rows], dtype=np.uint32),
        "function": texts([frame.function for _, _, frame in rows]),
        "module": texts([frame.module for _, _, frame in rows]),
        "file": texts([frame.file for _, _, frame in rows]),
        "line": numbers([frame.line for _, _, frame in rows]),
        "inlined": np.array([frame.inlined for _, _, frame in rows], dtype=np.bool_),
    }


def threads(store: Store) -> Columns:
    """A row a thread."""
    return {
        "thread": np.arange(len(store.threads), dtype=np.uint32),
        "system_id": column(store.threads, "system_id"),
        "name": texts([row["name"] for row in store.threads]),
        "start_ns": column(store.threads, "start_ns"),
        "end_ns": numbers([row["end_ns"] or None for row in store.threads]),
    }


def modules(store: Store) -> Columns:
    """A row a mapped file."""
    return {
        "module": np.arange(len(store.modules), dtype=np.uint32),
        "path": texts([shown(row["path"]) for row in store.modules]),
        "build_id": texts([row["build_id"] for row in store.modules]),
        **{name: column(store.modules, name) for name in ("begin", "end", "bias", "load_ns")},
        "unload_ns": numbers([row["unload_ns"] or None for row in store.modules]),
    }


def regions(store: Store) -> Columns:
    """A row an instance of a region."""
    found: Columns = store.totals["regions"]
    events = {name: numbers(known(found[name])) for name in ("created", "ended")}
    rows = len(found["created"])
    return {"region": np.arange(1, rows + 1, dtype=np.uint32), **found, **events}


def snapshots(store: Store) -> Columns:
    """A row a snapshot, by its object's allocation."""
    found = _native.snapshots(store.path)
    names = [name.replace("+", "_") for name in _native.owner_place_names()]
    return {"allocation": found["event"], **dict(zip(names, found["words"].T.copy(), strict=True))}


def timeline(store: Store) -> Columns:
    """A row a span of time."""
    found: dict[str, Any] = dict(store.totals["over_time"])
    bucket = int(found.pop("bucket_ns"))
    return {"start_ns": np.arange(len(found["live_bytes"]), dtype=np.uint64) * np.uint64(bucket), **found}


def known(events: NDArray[np.uint64]) -> list[int | None]:
    """Return numbers of events; None where there is none."""
    return [None if event == NO_EVENT else event for event in events.tolist()]


def column(rows: Sequence[dict[str, Any]], name: str) -> NDArray[np.uint64]:
    """Return one member of each row."""
    return np.array([row[name] for row in rows], dtype=np.uint64)


def texts(values: Sequence[str | None]) -> NDArray[Any]:
    """Return texts, an empty one as NULL."""
    return np.array([value or None for value in values], dtype=object)


def numbers(values: Sequence[int | None]) -> NDArray[Any]:
    """Return numbers that may be NULL."""
    return np.ma.masked_array(
        np.array([value or 0 for value in values], dtype=np.uint64), [value is None for value in values]
    )
