"""A made-up journal's results, the same at each call: what the report is tested with.

Its figures are plausible and agree with each other, so that a test can look for them on the page.
"""

import math
import random
from itertools import accumulate, pairwise
from typing import Any

from mallard.analysis.model import (
    Behaviour,
    CallTree,
    Contention,
    Density,
    Dvluc,
    Finding,
    Frame,
    FreeOrder,
    HeatMap,
    Locality,
    Profile,
    Reallocations,
    Regions,
    Site,
    Spread,
    Subsystem,
    Temporaries,
    Thread,
    ThreadCount,
    ThreadMatrix,
    Timeline,
    Totals,
    Utilization,
    Variation,
    Verdict,
)

BUCKETS = 1000
DURATION = 120_000_000
CPU = 112_000_000
RECORDING = 9_000_000
NS_PER_OPERATION = 31.0
THREADS = ("main", "worker-1", "worker-2", "io")
SUBSYSTEMS = (
    "parse_document",
    "std::vector<std::pair<std::string, value>, std::allocator<value>>::_M_realloc_insert<value const&>",
    "symbol_table::intern",
    "evaluate <tree>",
    "render & write",
    "libxml2.so.2",
)
SIZES = [2**power for power in range(3, 17)]
LIFETIMES = [2**power for power in range(8, 33)]


def spread(middle: float) -> Spread:
    """Return quantiles around a median."""
    return Spread(middle / 8, middle, middle * 3, middle * 10, middle * 40, middle * 1.4)


def shares(whole: int, weights: list[float]) -> list[int]:
    """Divide a whole number by weights; the parts sum up to it."""
    unit = whole / sum(weights)
    edges = [0, *(round(unit * below) for below in accumulate(weights))]
    return [after - before for before, after in pairwise(edges)]


def behaviour(chance: random.Random, allocations: int, middle_size: int) -> Behaviour:
    """Return how `allocations` objects of about `middle_size` bytes behave."""
    one, lifo, together, reallocated, never = shares(allocations, [chance.random() for _ in range(5)])
    of_sizes = shares(allocations, [1 / (1 + abs(math.log2(size / middle_size))) ** 3 for size in SIZES])
    by_thread = shares(allocations, [1, 0.3, 0.2, 0.1])
    total = allocations * middle_size
    return Behaviour(
        allocations=allocations,
        bytes=total,
        max_live_bytes=total // 9,
        max_live_objects=allocations // 9,
        live_at_peak_bytes=total // 10,
        live_at_peak_objects=allocations // 10,
        leaked_bytes=never * middle_size,
        sizes=spread(middle_size),
        size_histogram={size: count for size, count in zip(SIZES, of_sizes, strict=True) if count},
        lifetime_events=spread(chance.randint(3, 4000)) if allocations > never else None,
        lifetime_ns=spread(chance.randint(500, 5_000_000)) if allocations > never else None,
        temporaries=Temporaries(allocations // 5, allocations // 3, allocations // 4),
        free_order=FreeOrder(one, lifo, together, reallocated, never),
        reallocations=Reallocations(reallocated // 3, reallocated - reallocated // 3, min(reallocated, 12)),
        allocating_threads=[ThreadCount(thread, count) for thread, count in enumerate(by_thread) if count],
        freeing_threads=[ThreadCount(0, allocations - never)],
        foreign_frees=(allocations - never) // 7,
    )


def dvluc(chance: random.Random, of: Behaviour) -> Dvluc:
    """Return plausible dimensions of such a behaviour."""
    entropy = chance.uniform(0, 6)
    operations = 2 * of.allocations - of.free_order.never
    cost = operations * NS_PER_OPERATION
    first = chance.uniform(0.5, 1)
    return Dvluc(
        Density(cost / (CPU - RECORDING), cost, operations // 64, operations),
        Variation(entropy / 6, entropy, round(2**entropy)),
        Locality(None, first * 0.9, first * 0.8, first, first * chance.uniform(0.4, 1)),
        Utilization(of.max_live_bytes / max(1, of.bytes), of.max_live_bytes, of.bytes),
        Contention(chance.uniform(0, 0.02), operations / 900, 4),
    )


def frames(chance: random.Random, name: str, depth: int) -> list[Frame]:
    """Return a stack that ends in `name`, innermost first."""
    stack = [Frame("operator new(unsigned long)", "libstdc++.so.6")]
    stack.append(Frame(name, "example", "src/example.cpp", chance.randint(10, 900)))
    for level in range(depth):
        inlined = level % 3 == 1
        file = f"src/part_{level % 5}.cpp"
        stack.append(Frame(f"step_{level}(context&, int)", "example", file, 7 * level + 20, inlined))
    return [*stack, Frame("main", "example", "src/main.cpp", 42), Frame("_start+0x21", "example")]


def curve(scale: float, phase: float) -> list[int]:
    """Return a figure that rises and falls over the buckets."""
    shape = (
        max(0.0, math.sin(math.pi * at / BUCKETS) + 0.3 * math.sin(at / 25 + phase)) for at in range(BUCKETS)
    )
    return [round(scale * value) for value in shape]


def sample_profile(sites: int = 120) -> Profile:
    """Return the profile of a program that never ran."""
    chance = random.Random(sites)
    parts = [behaviour(chance, 90_000 // (rank + 1), 24 << rank) for rank in range(len(SUBSYSTEMS))]
    subsystems = [
        Subsystem(
            name=name,
            path=frames(chance, name, 3)[::-1],
            sites=sites // len(SUBSYSTEMS),
            behaviour=part,
            dvluc=dvluc(chance, part),
            live_bytes=curve(part.max_live_bytes, rank),
        )
        for rank, (name, part) in enumerate(zip(SUBSYSTEMS, parts, strict=True))
    ]
    allocations = sum(part.allocations for part in parts)
    size = sum(part.bytes for part in parts)
    whole = behaviour(chance, allocations, size // allocations)
    live = [sum(values) for values in zip(*(part.live_bytes for part in subsystems), strict=True)]
    peak = max(live)
    weights = [chance.random() for _ in range(BUCKETS)]
    return Profile(
        journal="example.mlrd",
        program="/usr/bin/example",
        arguments=["example", "--fast", "in put.xml", "<out>"],
        process=4242,
        by="subtree",
        complete=True,
        warnings=["3 frees of unknown blocks: the program had them before recording began"],
        machine={"architecture": "x86_64", "kernel": "Linux 6.1.0", "recorder": "mallard-record 1.2.3"},
        few_limit=16,
        short_ns=1_000_000,
        totals=Totals(
            events=2 * allocations,
            events_by_kind={"malloc": allocations - 900, "realloc": 900, "free": allocations},
            duration_ns=DURATION,
            cpu_ns=CPU,
            recording_ns=RECORDING,
            allocations=allocations,
            bytes=size,
            peak_live_bytes=peak,
            peak_live_objects=peak // 60,
            peak_event=allocations,
            peak_ns=live.index(peak) * DURATION // BUCKETS,
            end_live_bytes=live[-1],
            end_live_objects=live[-1] // 60,
            unmatched_frees=3,
            inversions=1,
            failed=0,
            contexts=sites,
        ),
        verdict=Verdict(
            headline="A monotonic resource for parse_document could save up to 5 % of the CPU time.",
            worthwhile=True,
            findings=[
                Finding(
                    "parse_document spends most on allocation",
                    "Its 90,000 allocations of 24 B cost 5 % of the CPU time and die together.",
                    "Suggested: a monotonic resource that lives as long as the document.",
                    subsystems[0].dvluc.density.value,
                    0,
                ),
                Finding(
                    "Objects of evaluate <tree> hardly live",
                    "One in three is freed before 16 others are allocated.",
                    "Suggested: nothing; temporaries are cheap in every malloc.",
                    None,
                    3,
                ),
            ],
        ),
        whole=whole,
        dvluc=dvluc(chance, whole),
        subsystems=subsystems,
        sites=[sample_site(chance, rank) for rank in range(sites)],
        sites_total=sites + 17,
        threads=[Thread(name, 4242 + at, at * 1000, None) for at, name in enumerate(THREADS)],
        timeline=Timeline(
            bucket_ns=DURATION // BUCKETS,
            live_bytes=live,
            live_objects=[value // 60 for value in live],
            held_bytes=[round(value * 1.2) + 40_000 for value in live],
            allocations=shares(allocations, weights),
        ),
        heat_map=sample_heat_map(chance, allocations),
        thread_matrix=ThreadMatrix(
            threads=[0, 1, 2, 3],
            objects=[shares(2000 // (row + 1), [5.0, 2.0, 1.0, 0.0, 0.5]) for row in range(4)],
            allocating=4,
        ),
        regions=Regions(12, 34_000, 5_600_000, 400, 33_000, 780_000),
    )


def sample_site(chance: random.Random, rank: int) -> Site:
    """Return the site of a rank by size."""
    name = f"make_part_{rank}(std::size_t)"
    part = behaviour(chance, 40_000 // (rank + 1) + 1, 16 + 8 * (rank % 30))
    return Site(rank + 1, name, frames(chance, name, rank % 20), rank % len(SUBSYSTEMS), part, frame=1)


def sample_heat_map(chance: random.Random, allocations: int) -> HeatMap:
    """Return objects by size and lifetime."""
    columns = len(LIFETIMES) + 1
    cells = shares(allocations, [chance.random() ** 6 for _ in range(len(SIZES) * columns)])
    rows = [cells[row * columns : (row + 1) * columns] for row in range(len(SIZES))]
    sizes = [[size * count for count in row] for size, row in zip(SIZES, rows, strict=True)]
    return HeatMap(SIZES, [*LIFETIMES, 0], rows, sizes)


def sample_call_tree(nodes: int = 3000) -> CallTree:
    """Return a call tree with a few wide and many narrow branches."""
    chance = random.Random(nodes)
    parent = [0, *(chance.randint(max(0, node // 3 - 5), node - 1) for node in range(1, nodes))]
    names = ["example", *(f"ns::function_{number}(int)" for number in range(1, 400))]
    whole = sample_profile().totals
    calls = shares(whole.allocations, [chance.paretovariate(0.9) for _ in range(nodes)])
    return CallTree(
        parent=parent,
        name=[0, *(chance.randrange(1, len(names)) for _ in range(1, nodes))],
        names=names,
        module=[0, *(chance.randrange(3) for _ in range(1, nodes))],
        modules=["example", "libc.so.6", "libxml2.so.2"],
        metrics={
            "calls": calls,
            "bytes": shares(whole.bytes, [count * chance.choice(SIZES) for count in calls]),
            "live_at_peak": shares(whole.peak_live_bytes, [count * chance.randrange(9) for count in calls]),
            "leaked": shares(whole.end_live_bytes, [count * (count % 3) for count in calls]),
            "temporaries": [count // 3 for count in calls],
        },
    )


def sample_replay() -> dict[str, Any]:
    """Return what mallard-replay would print as JSON."""
    chance = random.Random(7)
    speeds = {
        ("none", "typed"): 1.4,
        ("glibc", "malloc"): 5.5,
        ("jemalloc", "malloc"): 3.6,
        ("mimalloc", "malloc"): 2.3,
        ("std.pool", "pmr"): 8.9,
        ("multipool", "typed"): 0.9,
        ("multipool", "pmr"): 1.6,
        ("glibc a/a", "malloc"): 5.5,
    }
    rows = [replay_row(chance, *who, speed) for who, speed in speeds.items()]
    skipped = replay_row(chance, "tbbmalloc", "malloc", 1.0) | {
        "status": "skipped",
        "reason": "libtbbmalloc.so.2 is not installed",
        "ns_per_event": None,
        "spread": None,
        "cold_ns_per_event": None,
        "rounds_ns": None,
        "cold_rounds_ns": None,
    }
    return {
        "journal": {
            "file": "example.mlrd",
            "program": "/usr/bin/example",
            "events": 400_000,
            "max_live": 5_000_000,
        },
        "machine": {
            "cpu": "Example CPU @ 3.00 GHz",
            "cores": 4,
            "kernel": "6.1.0",
            "c_library": "glibc 2.36",
        },
        "method": {"time": "thread CPU time, net of the floor", "rounds": "5, strategies alternating"},
        "rows": [*rows, skipped],
    }


def replay_row(chance: random.Random, strategy: str, binding: str, speed: float) -> dict[str, Any]:
    """Return one row; `rounds_ns` holds the figure of each."""
    warm = sorted(speed * chance.uniform(0.96, 1.06) for _ in range(7))
    held = round(5_000_000 * chance.uniform(1.05, 2))
    nothing = dict.fromkeys(("p50", "p90", "p99", "p999", "p9999", "max", "minimum", "cold"))
    return {
        "strategy": strategy,
        "binding": binding,
        "status": "ok",
        "reason": None,
        "ns_per_event": warm[3],
        "spread": [warm[0], warm[-1]],
        "cold_ns_per_event": speed * 1.5,
        "rounds_ns": warm,
        "cold_rounds_ns": [1.5 * value for value in warm],
        "alloc_ns": nothing,
        "free_ns": nothing,
        "realloc_ns": nothing,
        "calloc_ns": nothing,
        "worst": None,
        "max_held": held,
        "max_live": 5_000_000,
        "fragmentation": held / 5_000_000,
        "internal": None,
        "header": None,
        "external": None,
        "held_after": held // 2,
        "page_faults": 950,
        "instructions_per_event": None,
    }
