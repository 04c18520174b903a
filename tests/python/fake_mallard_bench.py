"""A mallard-bench that measures nothing: the same figures for the same group, at once.

It writes down how it was called. Told to, it waits at a group until it is ended, breaks off, or finds that a
strategy broke its check.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

LABELS = [f"AS{number}" for number in range(1, 15)]
OTHERS = [
    ("jemalloc", "malloc", "normal"),
    ("std.pool", "pmr", "normal"),
    ("std.pool", "pmr", "winkout"),
    ("boost.pool", "pmr", "normal"),
    ("synchronized_multipool", "pmr", "normal"),
]
MACHINE = {
    "cpu": "A CPU",
    "cores": 2,
    "memory": 1 << 34,
    "kernel": "Linux 6.1",
    "transparent_huge_pages": "madvise",
    "c_library": "glibc 2.36",
    "compiler": "gcc 12.2.0",
    "flags": "-O2",
}


def settings(arguments: list[str]) -> dict[str, list[str]]:
    """Return what stands behind each option."""
    found: dict[str, list[str]] = {}
    for argument in arguments:
        name, _, value = argument.partition("=")
        found.setdefault(name.removeprefix("--"), []).append(value)
    return found


def row(label: str | None, strategy: str, binding: str, destruction: str, ns: float) -> dict[str, Any]:
    """Return a row with a figure."""
    return {
        "label": label,
        "strategy": strategy,
        "binding": binding,
        "destruction": destruction,
        "repeated": False,
        "status": "ok",
        "reason": None,
        "ns_per_event": ns,
        "spread": [0.98 * ns, 1.02 * ns],
        "cold_ns_per_event": 3 * ns,
        "rounds_ns": [ns],
        "cold_rounds_ns": [3 * ns],
        "wall_ns_per_event": None,
        "failed_locks": None,
        "max_held": 4096 * int(ns),
        "page_faults": int(ns),
    }


def without_figure(row: dict[str, Any], status: str, reason: str) -> dict[str, Any]:
    """Return a row of what was not measured."""
    return {
        **dict.fromkeys(row),
        **{name: row[name] for name in ("label", "strategy", "binding", "destruction", "repeated")},
        "status": status,
        "reason": reason,
    }


def density(structure: int, size: int, leaves: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a group of benchmark I: larger takes longer, and 2^16 does not fit."""
    ns = structure * (1 + size / 10)
    rows = [row(label, "ours", "typed", "normal", 2 * ns / (1 + i)) for i, label in enumerate(LABELS)]
    rows += [row(None, *other, ns * (i + 1) / 4) for i, other in enumerate(OTHERS)]
    rows.append({**rows[0], "repeated": True, "ns_per_event": 2.02 * ns})
    rows[3] = without_figure(rows[3], "out_of_memory", "more than 1 GiB")
    if size >= 16:
        rows = [without_figure(row, "skipped", "needs about 7 GiB, the limit is 4 GiB") for row in rows]
    return {"structure": f"DS{structure}", "size": size, "leaves": leaves, "cached_hashes": True}, rows


def main(benchmark: str, *arguments: str) -> int:
    """Be mallard-bench."""
    given = settings(list(arguments))
    folder = Path(os.environ["FAKE_BENCH"])
    with (folder / "calls").open("a") as calls:
        calls.write(json.dumps([benchmark, *arguments]) + "\n")
    if "nobody" in given.get("strategy", []):
        print("mallard-bench: unknown strategy nobody (see --list-strategies)", file=sys.stderr)
        return 2
    [structure, size, leaves] = [int(given[name][0]) for name in ("structure", "size", "leaves")]
    if os.environ.get("FAKE_BENCH_WAITS") == f"{structure} {size}":
        (folder / "waiting").write_text(str(os.getpid()))
        time.sleep(600)
    if os.environ.get("FAKE_BENCH_DIES") == f"{structure} {size}":
        os.abort()
    group, rows = density(structure, size, leaves)
    failed = os.environ.get("FAKE_BENCH_FAILS") == f"{structure} {size}"
    if failed:
        rows[6] = without_figure(rows[6], "failed", "blocks overlap")
    method = {
        "turns": "contestants alternate",
        "figures": "medians",
        "rounds": int(given["rounds"][0]),
        "memory_limit": int(given["memory-limit"][0]),
        "litter": int(given["litter"][0]),
    }
    print(
        json.dumps(
            {"benchmark": benchmark, "group": group, "machine": MACHINE, "method": method, "rows": rows}
        )
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
