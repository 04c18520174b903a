"""What the native module gives the package: finished results as columns, without a copy."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Columns: TypeAlias = dict[str, NDArray[Any]]

class JournalError(ValueError):
    """Nothing of a journal can be read; the message is one line for the user."""

class WriteError(JournalError):
    """A journal cannot be written; the message is the system's reason."""

def built_with() -> str:
    """Return the compiler, its flags and the libraries that the native parts were built with."""

def summary_json(path: str) -> str:
    """Read the whole journal and return what is known of it as one JSON object."""

def mallocs() -> list[dict[str, str]]:
    """Return every malloc that whole programs run under (src/harness/foreign_malloc.hpp), glibc first."""

def machine_json() -> str:
    """Return what is measured on (src/harness/machine.hpp), as JSON."""

def out_of_reach(program: str) -> str:
    """Return why nothing can be preloaded into a program, or a script's interpreter; empty if it can."""

def totals_of_regions(path: str) -> dict[str, int]:
    """Read the whole journal and return what was allocated in regions (src/profile/region_instances.hpp)."""

def event_kinds() -> list[str]:
    """Return the name of each kind of event (include/mallard/journal/event.hpp) by number."""

def largest_of_size_classes() -> list[int]:
    """Return the largest size in bytes of each of the 64 size classes (src/profile/object.hpp)."""

class ObjectStream:
    """The objects of a journal, in one pass (src/profile/object_stream.hpp)."""

    def __init__(self, path: str, objects: bool = True) -> None:
        """Open the journal at `path`; raises JournalError. Without `objects` it gives totals only."""

    def next(self) -> Columns | None:
        """Return the next objects as columns of equal length, None when there are none left.

        The columns are empty where nothing is there to be handed over after a moment of reading.
        The columns are those of object_batch. Where there is no event, allocation numbers are 2**64 - 1.
        """

    @property
    def progress(self) -> float:
        """Return the share of the journal that has been read, 0..1."""

    def contexts(self) -> Columns:
        """Return the contexts: parent, name, return_address, stack_offset; row 0 is the unknown one."""

    def threads(self) -> list[dict[str, Any]]:
        """Return system_id, start_ns, end_ns (0: until the end) and name of each thread."""

    def modules(self) -> list[dict[str, Any]]:
        """Return begin, end, bias, load_ns, unload_ns, path and build_id of each mapped file.

        The path is for the system, as os.fsdecode has it; it is shown through mallard.figures.shown.
        """

    def names(self) -> list[str]:
        """Return the names of annotated scopes; the first is empty."""

    def totals(self) -> dict[str, Any]:
        """Return stream_totals after the end: its numbers; `over_time`, `contexts`, `regions` as columns.

        Beside them: events_by_kind, warnings, complete, cpu_ns, recording_ns, program, arguments,
        process, start_unix_ns, facts, figures, children (process, time_ns and journal of each).
        """

class StatisticsPass:
    """How groups of objects behave, in one further pass (src/profile/group_statistics.hpp)."""

    def __init__(
        self,
        path: str,
        events: int,
        end_time: int,
        groupings: list[dict[str, Any]],
    ) -> None:
        """Take one dict a grouping, each counted on its own during the same pass, which reads `events`.

        Members: of_context or of_thread (array of uint32), groups; and where they are wanted
        ns_per_operation (array of float64), moments, buckets. The last bucket ends at end_time: with the
        bucket_ns of over_time times its rows, and as many buckets, they are those of over_time. Raises
        JournalError, and ValueError where a grouping contradicts itself.
        """

    def advance(self) -> bool:
        """Read on for a moment; False when all events have been read.

        Raises JournalError, also where the journal has fewer events than it had.
        """

    @property
    def progress(self) -> float:
        """Return the share of the work that has been done, 0..1."""

    def figures(self, grouping: int) -> Columns:
        """Return the columns of group_figures, one row a group, when the journal has ended."""

    def compactness(self, grouping: int) -> Columns:
        """Return group, event, live_bytes, line_bytes and page_bytes, one row a group and moment.

        Moments are in the middle of equal parts of the events; a group that has no live bytes has no row.
        """

    def live_bytes(self, grouping: int) -> NDArray[np.uint64]:
        """Return the most live bytes in each bucket of time, as [groups, buckets]."""

def owner_place_names() -> list[str]:
    """Return the name of each word of a snapshot: six registers, then words above the stack pointer."""

def owner_places(
    path: str,
    of_context: NDArray[np.uint32] | None = None,
    progress: Callable[[float], object] = ...,
) -> tuple[int, Columns]:
    """Return how many snapshots there are, and which words tell owners apart (src/profile/owner_places.hpp).

    Columns: group, place (index into owner_place_names), blocks, distinct, owners (estimated), together,
    in_order, chance, gain, told, sketch (several numbers a row); rows by group, of one the place to take
    first, then by falling gain. Groups are those of of_context, where 0 is none; else each context is one.
    Reads the journal twice, and raises JournalError. What `progress` raises comes through, too.
    """

def snapshots(path: str, progress: Callable[[float], object] = ...) -> Columns:
    """Return all snapshots of the journal: event (its number, which is its object's allocation) and words.

    words has a row for each snapshot and a column for each of owner_place_names. Raises JournalError.
    """

class PoolsPass:
    """What pools would hold, in one further pass (src/profile/held_by_pools.hpp)."""

    def __init__(
        self,
        path: str,
        routes: list[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]],
        events: int = 0,
        moments: int = 0,
        snapshots: Columns | None = None,
        heaps: NDArray[np.uint32] | None = None,
        default_in_segments: bool = True,
    ) -> None:
        """Take assignments: of each context the first pool, how many, their kind, and what tells instances.

        Pool 0 is the default heap. Kinds are 0 slabs, 1 one block after the other, 2 that with reuse. The
        last is an index into owner_place_names, or beyond, for `snapshots` by rising event. With moments, the
        live bytes are noted as often in the journal's events. `heaps`: of each thread the number of its
        heap; None: all have the same. `default_in_segments`: whether the default heap is mallard's. Raises
        JournalError, and ValueError where an assignment makes no sense.
        """

    def advance(self) -> bool:
        """Read on for a moment; False when all has been read. Raises JournalError."""

    @property
    def progress(self) -> float:
        """Return the share of the work that has been done, 0..1."""

    def held(self, number: int) -> dict[str, Any]:
        """Return what an assignment resulted in, in bytes: peak, and peak_in_segments in huge pages.

        Also routed_events and routed_bytes; `peaks` by pool.
        """

    def alive_over_time(self, number: int) -> NDArray[np.uint64]:
        """Return the most bytes alive of each pool in each moment; the default heap is the first row."""

class Symbolizer:
    """Names code addresses of one file (src/symbols/symbolizer.hpp)."""

    def __init__(self, path: str, build_id: str | None) -> None:
        """Open the file and its debug information; raises ValueError if it is gone or another build.

        Without a build id, it may be of any.
        """

    def resolve(self, addresses: NDArray[np.uint64]) -> list[list[tuple[str, str, int]]]:
        """Return (function, file, line) of each address of the file itself, the innermost inlined first.

        Names are demangled; a function without one is `0x...`, where it begins. An empty function or file,
        and line 0, are unknown; an address of which nothing is known has no frames.
        """

def demangle(name: str) -> str:
    """Return a function's mangled name as its source has it; any other name stays."""

def import_journal(
    source: str, form: str, to: str, progress: Callable[[float], object] = ...
) -> dict[str, Any]:
    """Write the journal at `to` from a text journal or a CS:APP trace (`form`: text or csapp), also .xz.

    Returns events and warnings; raises JournalError, WriteError if it is `to` that fails. What `progress`,
    which hears the share that is done, raises comes through, too; either way no file is left behind.
    """

def merge_journals(sources: list[str], to: str, progress: Callable[[float], object] = ...) -> dict[str, Any]:
    """Write the journals of several processes as one (src/journal/merge.hpp), with the facts of the first.

    Returns events and warnings; raises JournalError. What `progress` raises comes through, too.
    """

def export_text(path: str, to: int, progress: Callable[[float], object] = ...) -> dict[str, Any]:
    """Write the journal as text to the open file of descriptor `to`; returns lines, left_out and warnings.

    Raises JournalError if the journal cannot be read, OSError if the file cannot be written.
    """
