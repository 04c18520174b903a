"""Which mapped file each return address lies in.

    contexts.return_address --> module, address inside the file

What is looked up is the byte before the return address: it belongs to the call itself, even where the call is
the last instruction of its function or of its line. Modules that were mapped at the same place one after the
other are told apart by when the address was first seen; elsewhere time plays no part.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.store import Columns, Reading

Addresses: TypeAlias = NDArray[np.uint64]

NO_MODULE = -1


def locate(reading: Reading) -> tuple[NDArray[np.int64], Addresses]:
    """Return module and address inside its file of each context; NO_MODULE comes with the address itself."""
    calls = reading.contexts["return_address"].astype(np.uint64)
    calls -= calls > 0
    module = np.full(len(calls), NO_MODULE, dtype=np.int64)
    begins, covering = overlay(reading.modules)
    if begins.size:
        span = np.searchsorted(begins, calls, side="right") - 1
        alone = np.array([rows[0] if len(rows) == 1 else NO_MODULE for rows in covering])
        module[span >= 0] = alone[span[span >= 0]]
        shared = np.array([len(rows) > 1 for rows in covering])
        disputed = np.flatnonzero((span >= 0) & shared[span])
        if disputed.size:
            seen = first_seen(reading)
            for context in disputed:
                module[context] = mapped_at(reading.modules, covering[span[context]], int(seen[context]))
    bias = np.array([row["bias"] for row in reading.modules] + [0], dtype=np.uint64)  # the last: NO_MODULE's
    return module, calls - bias[module]


def overlay(modules: Sequence[dict[str, Any]]) -> tuple[Addresses, list[list[int]]]:
    """Cut the address space where a module begins or ends; return the cuts and the modules behind each."""
    cuts = sorted({row[edge] for row in modules for edge in ("begin", "end")})
    covering: list[list[int]] = [[] for _ in cuts]
    place = {cut: index for index, cut in enumerate(cuts)}
    for number, row in enumerate(modules):
        for index in range(place[row["begin"]], place[row["end"]]):
            covering[index].append(number)
    return np.array(cuts, dtype=np.uint64), covering


def mapped_at(modules: Sequence[dict[str, Any]], candidates: Sequence[int], time_ns: int) -> int:
    """Return the candidate that was mapped then and loaded last; if none was, the one loaded last."""

    def key(number: int) -> tuple[bool, int, int]:
        row = modules[number]
        mapped = row["load_ns"] <= time_ns and (row["unload_ns"] == 0 or time_ns < row["unload_ns"])
        return mapped, row["load_ns"], number

    return max(candidates, key=key)


def first_seen(reading: Reading) -> Addresses:
    """Return when each context, or one that it called, first began or ended an object; 2**64 - 1: never."""
    seen: Addresses = reading.by_context("first_time").copy()
    pass_to_callers(reading.contexts, seen)
    return seen


def pass_to_callers(contexts: Columns, seen: Addresses) -> None:
    """Give each context the least of its own time and those of what it called; parents have lower numbers."""
    parents = contexts["parent"].tolist()
    times = seen.tolist()
    for context in range(len(parents) - 1, 0, -1):
        parent = parents[context]
        if times[context] < times[parent]:
            times[parent] = times[context]
    seen[:] = times
