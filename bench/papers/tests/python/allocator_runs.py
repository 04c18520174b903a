"""Made-up runs of expansion, shrink to fit and bursts, in which all that is said of allocators holds."""

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
