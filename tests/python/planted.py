"""What tests/profile/targets/planted.cpp says that it did, what follows from it, and how a profile matches.

Everything is worked out anew from the program's own log, by the definitions in docs/profile.md and
src/profile/group_statistics.hpp: nothing of the package takes part.
"""

import json
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isclose, log2
from pathlib import Path
from typing import Any, Self

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


Found = dict[str, Any]  # a profile, or a part of one

# The program reads its clock before and after each call: what lies within both readings is as good as equal,
# and beside them a hundredth is granted.
TIME_TOLERANCE = 0.01
# What may be in subsystems that nobody planted: the start of the program and of its threads.
LARGEST_REST = 0.01


def matches(profile: Found, truth: Truth) -> dict[str, set[int]]:
    """Return for each planted subsystem those found that have a site with its function."""
    found: dict[str, set[int]] = {name: set() for name in truth.functions}
    for site in profile["sites"]:
        for name, function in truth.functions.items():
            itself = re.compile(rf"(.*::)?{function}(\(.*)?")  # with or without its parameters
            if any(itself.fullmatch(frame["function"]) for frame in site["stack"]):
                found[name].add(site["subsystem"])
    return found


def mismatches(profile: Found, truth: Truth) -> Iterator[str]:
    """Tell which planted subsystems were not found, or not as one, or not alone; and what is too much."""
    if len(profile["sites"]) != profile["sites_total"]:
        yield "not every site is listed"
    matched = matches(profile, truth)
    owners = defaultdict(set)
    for name, subsystems in matched.items():
        if len(subsystems) != 1:
            yield f"{name} is {len(subsystems)} subsystems"
        for subsystem in subsystems:
            owners[subsystem].add(name)
    for subsystem, names in owners.items():
        if len(names) > 1:
            yield f"{', '.join(sorted(names))} are one subsystem, {profile['subsystems'][subsystem]['name']}"
    for figure in ("allocations", "bytes"):
        whole = profile["totals"][figure]
        rest = sum(
            subsystem["behaviour"][figure]
            for number, subsystem in enumerate(profile["subsystems"])
            if number not in owners
        )
        if rest > LARGEST_REST * whole:
            yield f"{figure}: {rest} of {whole} are in subsystems that nobody planted"


def differences(profile: Found, truth: Truth, names: Collection[str] = OBJECTS) -> Iterator[str]:
    """Tell what is not as planted: each figure of `names`, which must have been found, and all orders."""
    threads = [thread["system_id"] for thread in profile["threads"]]
    lived_through, peak = between(truth), truth.peak_event()
    subsystems = {name: profile["subsystems"][min(found)] for name, found in matches(profile, truth).items()}
    for name in names:
        found, objects = subsystems[name], truth.of(name)
        for figure, planted in expected(truth, objects, lived_through, peak, profile["few_limit"]):
            value = at(found, figure)
            if figure == "behaviour.allocating_threads" or figure == "behaviour.freeing_threads":
                value = {truth.threads.index(threads[c["thread"]]): c["objects"] for c in value}
            if not equal(value, planted):
                yield f"{name}: {figure} is {value}, planted {planted}"
        for figure, value, low, high in times(found["behaviour"], objects, profile["short_ns"]):
            if not low <= value <= high:
                yield f"{name}: {figure} is {value:.0f}, by the program's own clock {low:.0f} to {high:.0f}"
    yield from orders({name: found["dvluc"] for name, found in subsystems.items()})


def expected(
    truth: Truth, objects: Sequence[Planted], lived_through: dict[int, int], peak: int, few: int
) -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each figure that is exactly known."""
    ended = [o for o in objects if o.end != "never"]
    at_peak = [o for o in objects if o.allocation.event <= peak and (o.end == "never" or o.free.event > peak)]
    allocated, live = sum(o.size for o in objects), most_live(objects, lambda o: o.size)
    lived = [lived_through[o.allocation.event] for o in objects if o.end == "freed"]
    yield "behaviour.allocations", len(objects)
    yield "behaviour.bytes", allocated
    yield "behaviour.max_live_bytes", live
    yield "behaviour.max_live_objects", most_live(objects, lambda _: 1)
    yield "behaviour.live_at_peak_bytes", sum(o.size for o in at_peak)
    yield "behaviour.live_at_peak_objects", len(at_peak)
    yield "behaviour.sizes", spread([o.size for o in objects])
    yield "behaviour.size_histogram", {str(size): n for size, n in histogram(objects).items()}
    yield "behaviour.lifetime_events", spread([o.lifetime_events for o in ended]) if ended else None
    yield "behaviour.temporaries.last", sum(n == 0 for n in lived)
    yield "behaviour.temporaries.few", sum(n <= few for n in lived)
    yield "behaviour.free_order", free_order(objects)
    yield "behaviour.reallocations.in_place", sum(o.in_place for o in objects)
    yield "behaviour.reallocations.moved", sum(o.previous is not None and not o.in_place for o in objects)
    yield "behaviour.reallocations.longest_chain", longest_chain(truth, objects)
    yield "behaviour.allocating_threads", dict(Counter(o.allocation.thread for o in objects))
    yield "behaviour.freeing_threads", dict(Counter(o.free.thread for o in ended))
    yield "behaviour.foreign_frees", sum(o.free.thread != o.allocation.thread for o in ended)
    yield "dvluc.density.operations", len(objects) + sum(o.end == "freed" for o in objects)
    yield "dvluc.variation.value", entropy(objects) / 6
    yield "dvluc.variation.entropy", entropy(objects)
    yield "dvluc.variation.classes", len(histogram(objects))
    yield "dvluc.utilization.value", live / allocated
    yield "dvluc.utilization.max_live_bytes", live
    yield "dvluc.utilization.bytes", allocated
    yield (
        "dvluc.contention.active_threads",
        len({o.allocation.thread for o in objects} | {o.free.thread for o in ended}),
    )


def times(
    behaviour: Found, objects: Sequence[Planted], short_ns: int
) -> Iterator[tuple[str, float, float, float]]:
    """Yield each figure of time with the least and the most that the program's clock allows."""
    lived = [o.lifetime_ns for o in objects if o.end != "never"]
    if not lived:
        return
    least, most = spread([low for low, _ in lived]), spread([high for _, high in lived])
    for figure, value in behaviour["lifetime_ns"].items():
        low, high = least[figure] * (1 - TIME_TOLERANCE), most[figure] * (1 + TIME_TOLERANCE)
        yield f"lifetime_ns.{figure}", value, low, high
    freed = [o.lifetime_ns for o in objects if o.end == "freed"]
    short = [sum(high < short_ns for _, high in freed), sum(low < short_ns for low, _ in freed)]
    yield "temporaries.short", behaviour["temporaries"]["short"], *short


def orders(dvluc: dict[str, Found]) -> Iterator[str]:
    """Tell where D or C are in another order than the planted one, as far as no clock can turn it around."""
    for figure, dimension, planted in (("D", "density", BY_DENSITY), ("C", "contention", BY_CONTENTION)):
        values = {name: found[dimension]["value"] for name, found in dvluc.items()}
        told = [name for name in values if values[name] or name in planted]
        found = sorted(told, key=lambda name: -values[name])
        apart = [(more, fewer) for more, fewer in combinations(planted, 2) if is_far_above(more, fewer)]
        if set(found) != set(planted) or any(found.index(more) > found.index(fewer) for more, fewer in apart):
            yield f"{figure} comes in the order {', '.join(found)}, planted {', '.join(planted)}"


def is_far_above(more: str, fewer: str) -> bool:
    """Whether one has enough more objects that what its operations take does not matter."""
    return OBJECTS[more] >= 4 * OBJECTS[fewer]


def at(found: Found, path: str) -> Any:
    """Return the member at a path with dots."""
    value: Any = found
    for name in path.split("."):
        value = value[name]
    return value


def equal(value: Any, planted: Any) -> bool:
    """Compare exactly; of fractions, all but the last bits."""
    if isinstance(planted, dict) and isinstance(value, dict):
        return value.keys() == planted.keys() and all(equal(value[key], planted[key]) for key in planted)
    if isinstance(planted, float) and isinstance(value, float | int):
        return isclose(value, planted, rel_tol=1e-12, abs_tol=1e-12)
    return bool(value == planted)
