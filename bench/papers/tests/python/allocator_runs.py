"""Made-up runs of expansion, shrinking, bursts and pools, in which all that is said of allocators holds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench_sample import MACHINE, METHOD
from mallard_bench.results_file import Header, Run

Row = dict[str, Any]

FLOOR_NS = 1.0
EXPANSION_NS = {"boost.V1": 5.0, "Std": 5.2, "boost.V2new": 4.0, "boost.V2bwd": 3.8, "boost.V2": 2.0}
EXPANSION_NS |= {"V1": 4.5, "locked.V1": 4.8, "V2": 1.8, "V2new": 3.0, "V2bwd": 2.5, "V2fwd": 1.9}
SHRINK_NS = {"boost.V1": 301.0, "Std": 310.0, "boost.V2": 3.3, "V1": 290.0, "V2": 3.0}
INSERT_NS = {"boost.V1": 10.0, "Std": 4.0, "boost.V2": 4.0, "V1": 8.0, "V2one": 7.0, "V2": 3.0}
ERASE_NS = {"boost.V1": 6.5, "Std": 5.0, "boost.V2": 5.0, "V1": 6.0, "V2one": 6.0, "V2": 5.0}
COUNTS = ("allocations", "expansions_forward", "expansions_backward", "capacity")


def row(label: str | None, strategy: str, binding: str, ns: float, **more: Any) -> Row:
    """Return a row with a figure."""
    return {
        "label": label,
        "strategy": strategy,
        "binding": binding,
        "destruction": "normal",
        "repeated": False,
        "status": "ok",
        "reason": None,
        "ns_per_event": ns,
        "spread": [0.99 * ns, 1.01 * ns],
        "cold_ns_per_event": 3 * ns,
        "rounds_ns": [ns] * 5,
        "cold_rounds_ns": [3 * ns] * 5,
        "wall_ns_per_event": None,
        "wall_spread": None,
        "failed_locks": None,
        "max_held": 1 << 20,
        "page_faults": 40,
        "counts": None,
        **more,
    }


def rows(times: Mapping[str, float], **more: Any) -> list[Row]:
    """Return the floor, every allocator, other mallocs and the first once more."""
    first = row("boost.V1", "boost", "typed", times["boost.V1"], **more)
    found = [first, row("none", "none", "typed", FLOOR_NS, **more)]
    for label, ns in times.items():
        if label == "Std":
            found.append(row(label, "glibc", "malloc", ns, **more))
        elif label != "boost.V1":
            family = {"boost": "boost", "locked": "locked best_fit"}.get(label.partition(".")[0], "best_fit")
            found.append(row(label, family, "typed", ns, **more))
    found.append(row(None, "jemalloc", "malloc", times["Std"], **more))
    return [*found, {**first, "repeated": True}]


def document(benchmark: str, group: Row, of: list[Row]) -> Row:
    """Return the document of a group."""
    return {
        "benchmark": benchmark,
        "group": group,
        "machine": MACHINE,
        "method": METHOD,
        "rows": of,
        "settings": {},
        "title": " ".join(map(str, group.values())),
        "seconds": 1.0,
    }


def counted(label: str | None, work: str, elements: int) -> dict[str, int]:
    """Return what an allocator is asked for."""
    if work == "command":
        return dict(
            zip(COUNTS, (0, 0, 1, 2 * elements) if label == "V2bwd" else (1, 0, 0, elements), strict=True)
        )
    few = {"boost.V1": 6, "boost.V2new": 4, "V2": 1}
    return dict(zip(COUNTS, (few.get(label or "", 9), 3 if label == "V2" else 0, 0, elements), strict=True))


def expansion() -> list[Row]:
    """Return vectors of all sizes, and the command."""
    made = []
    for work, sizes in (("push_back", (10_000, 1_000, 100, 10)), ("command", (1_000, 500, 100))):
        for elements in sizes:
            of = rows(EXPANSION_NS)
            for one in of:
                one["counts"] = counted(one["label"], work, elements)
            group = {"work": work, "elements": elements, "iterations": 100}
            made.append(document("expansion", group, of))
    return made


def shrink() -> list[Row]:
    """Return shrinks of all sizes."""
    return [
        document("shrink", {"elements": elements, "iterations": 10}, rows(SHRINK_NS))
        for elements in (10_000, 2_000, 500)
    ]


def burst() -> list[Row]:
    """Return lists of all ranges."""
    return [
        document(
            "burst",
            {"elements": elements, "iterations": 10},
            [*rows(INSERT_NS, part="insert"), *rows(ERASE_NS, part="erase")],
        )
        for elements in (10_000, 1_000, 100, 10)
    ]


DOCUMENTS = {"expansion": expansion, "shrink": shrink, "burst": burst}


def run_of(benchmark: str, documents: list[Row] | None = None) -> Run:
    """Return a run as its file is read."""
    made = documents or DOCUMENTS[benchmark]()
    options = {"narrowed": {}, "strategies": [], "rounds": 5, "litter": 0, "memory_limit": None}
    header = Header(
        *("1.2.3", benchmark, "default", options, 16 << 30, len(made)), "2026-11-21T10:00:00+00:00"
    )
    return Run(Path(f"mallard-bench-{benchmark}.jsonl"), header, made)


# Pools: beyond the floor, in ns.
INSERT = {
    "pool.V1": 3.0,
    "boost.V1": 10.0,
    "boost.align_only.V1": 6.0,
    "boost.two_percent.V1": 6.1,
    "boost.node.V1": 4.0,
    "boost.V2": 2.1,
    "boost.align_only.V2": 2.0,
    "boost.two_percent.V2": 2.0,
    "boost.node.V2": 2.05,
}
ERASE = {
    **INSERT,
    "boost.align_only.V2": 2.0,
    "boost.two_percent.V2": 2.2,
    "boost.node.V2": 2.5,
}
NODES = {"pool.V1": 4.0, "boost.V1": 12.0, "boost.fast_pool.null": 4.2, "pool.V2": 4.1}
for version in ("V1", "V2"):
    NODES |= {f"adaptive.{version}": 5.0, f"locked_adaptive.{version}": 8.0, f"sync_adaptive.{version}": 6.0}
    NODES |= {f"boost.private.{version}": 14.0, f"boost.align_only.{version}": 20.0}
    NODES |= {f"boost.two_percent.{version}": 21.0}
TURNED_OVER = {**NODES, "adaptive.V1": 0.5, "adaptive.V2": 0.5}
WALKS = {label: 80.0 + ns for label, ns in NODES.items()} | {"adaptive.V1": 0.05}
WALKED = ("walk_turned_over", "walk_added", "walk_renewed")
TIMES = {"turn_over": TURNED_OVER, "renew": TURNED_OVER} | dict.fromkeys(WALKED, WALKS)
PARTS = (
    *("first", "allocate", "walk", "free", "hot", "turn_over", "renew", *WALKED),
    *("free_at_random", "end_at_random", "erase_at_random"),
)
NEEDED = 240_000
BLOCK = 0.0003


def memory(label: str, part: str) -> Mapping[str, int | None]:
    """Return what an allocator has of the system; of single nodes Boost's pools have more."""
    alive, left, in_use = 1.01, 1.0, 1.0
    if label in ("boost.V1", "boost.V2"):
        alive, left, in_use = 1.33, 0.1, 0.0
    elif label.startswith("adaptive"):
        alive, left, in_use = 1.01, 0.2, 0.2
    elif "align_only" in label or "two_percent" in label:
        alive, left, in_use = 1.2 if part in PARTS else 1.015, 0.2, BLOCK
    found = {
        "needed": 1.0,
        "alive": alive,
        "freed": left,
        "freed_again": 1.0,
        "trimmed": 0.0,
        "in_use": in_use,
        "cached": 0.05,
    }
    return {name: int(share * NEEDED) for name, share in found.items()}


def pool_rows(times: Mapping[str, float], part: str) -> list[Row]:
    """Return the first, the floor, every allocator, a malloc that tells nothing, and the first once more."""
    made = [
        row(label, label.rpartition(".")[0], "typed", FLOOR_NS + ns, part=part, counts=memory(label, part))
        for label, ns in times.items()
    ]
    made.insert(1, row("none", "none", "typed", FLOOR_NS, part=part, counts=memory("none", part)))
    untold = dict(memory("jemalloc", part), in_use=None, cached=None)
    made.append(row("jemalloc", "jemalloc", "malloc", FLOOR_NS + 7, part=part, counts=untold))
    return [*made, {**made[0], "repeated": True}]


def pools() -> list[Row]:
    """Return ranges, single nodes and threads."""
    made = [
        document(
            "pools",
            {"work": "ranges", "elements": elements, "iterations": 10},
            [*pool_rows(INSERT, "insert"), *pool_rows(ERASE, "erase")],
        )
        for elements in (10_000, 1_000, 100, 10)
    ]
    of_nodes = [one for part in PARTS for one in pool_rows(TIMES.get(part, NODES), part)]
    made.append(document("pools", {"work": "nodes", "elements": 10_000, "iterations": 1}, of_nodes))
    of_threads = pool_rows(NODES, "threads")
    for one in of_threads:
        one |= {"wall_ns_per_event": one["ns_per_event"] / 2, "counts": None}
        one |= {"wall_spread": [0.49 * one["ns_per_event"], 0.51 * one["ns_per_event"]]}
        one |= {"wall_rounds_ns": [one["wall_ns_per_event"]] * 5}
        if one["label"] == "boost.fast_pool.null":
            one |= dict.fromkeys(("ns_per_event", "spread", "wall_ns_per_event", "wall_spread"))
            one |= {"status": "skipped", "reason": "one for the process", "cold_ns_per_event": None}
    made.append(document("pools", {"work": "threads", "elements": 100, "iterations": 5}, of_threads))
    return made
