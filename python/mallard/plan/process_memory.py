"""What a process has in memory: its heap, and what lies beside it.

files | mappings of its own | heap, as recorded or as a plan's pools would hold it
'---------- beside --------'  in huge pages also what no block of a slab has touched
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.store import Store

Held = dict[str, Any]  # what PoolsPass.held returns: a plan's heaps, in bytes

PROCESS = 256 << 10  # bytes of a process beside its heap and its files: stack, tables of pages
OF_A_FILE = 0.6  # is in memory, since pages around those in use are mapped as well, and at most
OF_THE_PROGRAM, OF_A_LIBRARY = 16 << 20, 5 << 18  # bytes: much of large ones is data that few need
RECORDER = "libmallard-record.so"
WORTH_HUGE_PAGES = 32 << 20  # bytes of mallard's heaps, in small pages
HALF_A_HUGE_PAGE = 1 << 20  # bytes, of the last one


@dataclass(frozen=True, slots=True)
class Memory:
    """The most that a process has in memory, in bytes."""

    beside: int  # the heap; where the peak is known, with what the malloc keeps free
    heap: int

    @property
    def peak(self) -> int:
        """Return all of it."""
        return self.beside + self.heap


def memory_of(store: Store, peak_rss: float | None = None) -> Memory:
    """Return what the process of a journal had, about: as the recorder noted, or by its files alone.

    Processes of a journal of several count as if they ran at once, each with its files.

    `peak_rss`: bytes that it, or a child that was not recorded, has at most when it is not recorded, where a
    caller knows that. A process of one thread has no more than it had when it was recorded. What waits
    between several threads differs from run to run, so that the lesser of two runs would be too low.
    """
    heap = int(store.totals["over_time"]["held_bytes"].max(initial=0))
    recorded = store.totals["figures"].get("program_peak_rss", 0)
    known = recorded if peak_rss is None else int(peak_rss)
    if recorded and len(store.threads) == 1:
        known = min(known, recorded)
    if known != 0:
        return Memory(max(known - heap, PROCESS), heap)
    program = store.totals["program"]
    sizes = {one["path"]: one["end"] - one["begin"] for one in store.modules}
    beside = PROCESS + sum(
        min(int(OF_A_FILE * size), OF_THE_PROGRAM if path == program else OF_A_LIBRARY)
        for path, size in sizes.items()
        if not path.endswith(RECORDER)
    )
    return Memory(beside * store.processes, heap)


def heaps_of(threads: Sequence[dict[str, Any]]) -> NDArray[np.uint32]:
    """Return the number of each thread's heap: one that begins has the heap that another has left last."""
    changes = [(one["start_ns"], False, number) for number, one in enumerate(threads)]
    changes += [(one["end_ns"], True, number) for number, one in enumerate(threads) if one["end_ns"]]
    heap = np.zeros(len(threads), np.uint32)
    idle: list[int] = []
    used = 0
    for _, ends, number in sorted(changes):
        if ends:
            idle.append(int(heap[number]))
        elif idle:
            heap[number] = idle.pop()
        else:
            heap[number], used = used, used + 1
    return heap


def add_process(held: Held, beside: int, default_heap: str, limit: float) -> None:
    """Make `peak` that of the process, and decide on `huge_pages`.

    They are worth it from WORTH_HUGE_PAGES on. `more` is what they take in addition then, if the
    system gives them everywhere; 0 where they are not worth it. `peak` has it where `limit` allows that.
    """
    own = held["peak"] if default_heap == "mallard" else min(held["peak"], held["peaks"][1:].sum())
    more = held["peak_in_segments"] + HALF_A_HUGE_PAGE - held["peak"]
    held["more"] = int(more) if own >= WORTH_HUGE_PAGES else 0
    held["peak"] += beside
    held["huge_pages"] = 0 < held["more"] <= limit - held["peak"]
    if held["huge_pages"]:
        held["peak"] += held["more"]
