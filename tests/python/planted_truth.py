"""What tests/profile/targets/planted.cpp says that it did, and what follows from it.

Everything is worked out anew from the program's own log, by the definitions in docs/profile.md and
src/profile/group_statistics.hpp: nothing of the package takes part.
"""

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Self

# In the order in which the program has planted them: D by the number of operations; of C, only those with
# two threads have any.
BY_DENSITY = (
    "contest",
    "collector",
    "parser",
    "cache",
    "answers",
    "exchange",
    "configuration",
    "buffers",
)
BY_CONTENTION = ("contest", "exchange")

OBJECTS = {
    "configuration": 6 * 16,
    "parser": 120 * 121,
    "collector": 80 * 272,
    "answers": 320,
    "cache": 4 * 1280,
    "buffers": 4 * 13,
    "exchange": 192,
    "contest": 2 * 60 * 500,
}

# Largest size of each class: 8, then four to a doubling.
CLASS_ENDS = [8, *[(5 + quarter) << doubling for doubling in range(1, 17) for quarter in range(4)][:63]]


@dataclass(frozen=True, slots=True)
class Moment:
    """A call: its number among all, when it was made and had returned, and its thread."""

    event: int
    before: int
    after: int
    thread: int


@dataclass(frozen=True, slots=True)
class Planted:
    """An object of the log."""

    subsystem: str
    size: int
    end: str  # never, freed or reallocated
    previous: int | None
    in_place: bool
    allocation: Moment
    free: Moment

    @property
    def lifetime_events(self) -> int:
        """Return the events from its allocation to its free."""
        return self.free.event - self.allocation.event

    @property
    def lifetime_ns(self) -> tuple[int, int]:
        """Return how long it lived, at least and at most: the program knows when calls began and ended."""
        return self.free.before - self.allocation.after, self.free.after - self.allocation.before


@dataclass(frozen=True, slots=True)
class Truth:
    """The whole log."""

    functions: dict[str, str]  # by subsystem: a function that only its stacks have
    threads: list[int]  # system ids
    objects: list[Planted]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what the program wrote."""
        told = json.loads(path.read_bytes())
        names = [name for name, _ in told["subsystems"]]
        return cls(
            functions=dict(told["subsystems"]),
            threads=told["threads"],
            objects=[
                Planted(
                    subsystem=names[owner],
                    size=size,
                    end=("never", "freed", "reallocated")[end],
                    previous=previous if previous >= 0 else None,
                    in_place=bool(in_place),
                    allocation=Moment(*moments[:4]),
                    free=Moment(*moments[4:]),
                )
                for owner, size, end, previous, in_place, *moments in told["objects"]
            ],
        )

    def of(self, subsystem: str) -> list[Planted]:
        """Return the objects of one subsystem, oldest first."""
        return [o for o in self.objects if o.subsystem == subsystem]

    def peak_event(self) -> int:
        """Return the first event with the most live bytes."""
        live = most = peak = 0
        for event, freed, allocated in changes(self.objects):
            live += (allocated.size if allocated else 0) - (freed.size if freed else 0)
            if live > most:
                most, peak = live, event
        return peak


def changes(objects: Sequence[Planted]) -> Iterator[tuple[int, Planted | None, Planted | None]]:
    """Yield each event with what it freed and what it allocated."""
    allocations = {o.allocation.event: o for o in objects}
    frees = {o.free.event: o for o in objects if o.end != "never"}
    for event in sorted(allocations.keys() | frees.keys()):
        yield event, frees.get(event), allocations.get(event)


def most_live(objects: Sequence[Planted], weight: Callable[[Planted], int]) -> int:
    """Return the most of `weight` that was alive at once."""
    live = most = 0
    for _, freed, allocated in changes(objects):
        live += (weight(allocated) if allocated else 0) - (weight(freed) if freed else 0)
        most = max(most, live)
    return most


def free_order(objects: Sequence[Planted]) -> dict[str, int]:
    """Count objects by how they were freed."""
    way = {o.allocation.event: "never" if o.end == "never" else "one_by_one" for o in objects}
    alive: dict[int, Planted] = {}  # by allocation, oldest first
    run: list[Planted] = []
    for _, freed, allocated in changes(objects):
        if freed:
            if len(alive) >= 2 and next(reversed(alive)) == freed.allocation.event:
                way[freed.allocation.event] = "lifo"
            del alive[freed.allocation.event]
            run.append(freed)
            if not alive and len(run) >= 8:
                way |= {o.allocation.event: "together" for o in run}
        if allocated:
            alive[allocated.allocation.event] = allocated
            run = []
    way |= {o.allocation.event: "reallocated" for o in objects if o.end == "reallocated"}
    counted = Counter(way.values())
    return {name: counted[name] for name in ("one_by_one", "lifo", "together", "reallocated", "never")}


def entropy(objects: Sequence[Planted]) -> float:
    """Return the bits that it takes to tell an object's size class."""
    counts = Counter(bisect_left(CLASS_ENDS, o.size) for o in objects)
    return sum(n / len(objects) * log2(len(objects) / n) for n in counts.values())


def histogram(objects: Sequence[Planted]) -> dict[int, int]:
    """Count objects by the largest size of their class."""
    return dict(sorted(Counter(CLASS_ENDS[bisect_left(CLASS_ENDS, o.size)] for o in objects).items()))


def between(truth: Truth) -> dict[int, int]:
    """Return, by allocation, how many others of its thread came while the object lived."""
    allocations: Counter[int] = Counter()
    at_allocation: dict[int, int] = {}
    found: dict[int, int] = {}
    for _, freed, allocated in changes(truth.objects):
        if freed:
            found[freed.allocation.event] = (
                allocations[freed.allocation.thread] - at_allocation[freed.allocation.event]
            )
        if allocated:
            own = allocated.allocation
            allocations[own.thread] += 1
            at_allocation[own.event] = allocations[own.thread]
    return found


def longest_chain(truth: Truth, objects: Sequence[Planted]) -> int:
    """Return the most reallocations of one block."""

    def length(o: Planted) -> int:
        return 0 if o.previous is None else 1 + length(truth.objects[o.previous])

    return max(length(o) for o in objects)


def spread(values: Sequence[int]) -> dict[str, float]:
    """Return min, nearest-rank quantiles, max and mean."""
    ranked = sorted(values)

    def quantile(percent: int) -> int:
        return next(value for rank, value in enumerate(ranked, 1) if rank * 100 >= percent * len(ranked))

    return {
        "min": ranked[0],
        "p50": quantile(50),
        "p90": quantile(90),
        "p99": quantile(99),
        "max": ranked[-1],
        "mean": sum(ranked) / len(ranked),
    }
