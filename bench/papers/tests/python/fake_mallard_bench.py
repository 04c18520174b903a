"""A mallard-bench that measures nothing: the same figures for the same group, at once.

It writes down how it was called. Told to, it waits at a group until it is ended, breaks off, or finds that a
strategy broke its check.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Found = tuple[dict[str, Any], list[dict[str, Any]]]  # a group and its rows

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


KINDS = ("", "cold_", "wall_")
SLOWNESS = (1.0, 1.02, 0.98, 1.01, 0.99)  # of the machine, round by round


def in_rounds(ns: float | None, rounds: int) -> list[float] | None:
    """Return what was measured in each round."""
    return None if ns is None else [ns * SLOWNESS[number % len(SLOWNESS)] for number in range(rounds)]


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


def density(structure: int, size: int, leaves: int) -> Found:
    """Return a group of benchmark I: larger takes longer, and 2^16 does not fit."""
    ns = structure * (1 + size / 10)
    rows = [row(label, "ours", "typed", "normal", 2 * ns / (1 + i)) for i, label in enumerate(LABELS)]
    rows += [row(None, *other, ns * (i + 1) / 4) for i, other in enumerate(OTHERS)]
    rows.append({**rows[0], "repeated": True, "ns_per_event": 2.02 * ns})
    rows[3] = without_figure(rows[3], "out_of_memory", "more than 1 GiB")
    if size >= 16:
        rows = [without_figure(row, "skipped", "needs about 7 GiB, the limit is 4 GiB") for row in rows]
    return {"structure": f"DS{structure}", "size": size, "leaves": leaves, "cached_hashes": True}, rows


def locality(links: int, subsystem: int) -> Found:
    """Return a group of benchmark II: shuffling makes AS1's walks 8 times slower, AS7's 2 times."""
    rows = []
    for label, strategy, binding, after in (
        ("AS1", "glibc", "malloc", 8),
        ("AS7", "multipool", "typed", 2),
        (None, "fifo_multipool", "typed", 1),
        (None, "std.pool", "pmr", 4),
    ):
        of = row(label, strategy, binding, "normal", 2.0)
        rows += [
            {**of, "split": split, "shuffled": shuffled, "ns_per_event": 2.0 * (after if shuffled else 1)}
            for shuffled in (False, True)
            for split in range(3)
        ]
    rows += [{**one, "repeated": True} for one in rows if one["label"] == "AS1"]
    return {"table": "splits", "global": links, "subsystem": subsystem, "shuffles": 5, "product": 2}, rows


def factors(links: int, subsystem: int, shuffles: int) -> Found:
    """Return a line of Table 15: each shuffle adds half of what there was at first."""
    of = row("AS1", "glibc", "malloc", "normal", 2.0)
    rows = [{**of, "factor": factor, "ns_per_event": 2.0 + factor} for factor in range(shuffles + 1)]
    return {"table": "factors", "global": links, "subsystem": subsystem, "shuffles": shuffles}, rows


def single_run(notation: str) -> Found:
    """Return a run in the paper's notation, read as if sizes were no exponents."""
    links, lists, access, shuffles, repeat = (int(number) for number in notation.split())
    of = row("AS1", "glibc", "malloc", "normal", 2.0)
    rows = [{**of, "part": part, "events": 1000} for part in ("build", "shuffle", "access", "total")]
    group = {"table": "run", "global": -links, "subsystem": lists, "access": access, "repeat": repeat}
    return {**group, "shuffles": abs(shuffles), "access_first": shuffles < 0}, rows


def columns(first: float, share: float) -> list[dict[str, Any]]:
    """Return AS1 and what takes a share of its time each; monotonic runs out of memory."""
    rows = [row("AS1", "glibc", "malloc", "normal", first)]
    rows += [row(label, "ours", "typed", "normal", share * first) for label in ("AS2", "AS3", "AS7", "AS9")]
    rows[2] = without_figure(rows[2], "out_of_memory", "more than 1 GiB")
    rows.append(row(None, "jemalloc", "malloc", "normal", first / 2))
    rows.append({**rows[0], "repeated": True})
    return rows


def utilization(total: int, active: int, block: int) -> Found:
    """Return a group of benchmark III."""
    return {"total": total, "active": active, "block": block}, columns(100.0, 0.4)


def contention(iterations: int, block: int, threads: int) -> Found:
    """Return a group of benchmark IV: by the clock everything takes twice as long; one heap has a lock."""
    rows = columns(100.0, 0.25)
    rows.append(row(None, "synchronized_multipool", "typed", "normal", 60.0))
    for one in rows:
        if one["status"] == "ok":
            one["wall_ns_per_event"] = 2 * one["ns_per_event"]
            one["wall_spread"] = [2 * bound for bound in one["spread"]]
    rows[-1]["failed_locks"] = threads / 100
    return {"iterations": iterations, "block": block, "threads": threads}, rows


def known_of() -> list[dict[str, str | None]]:
    """Return what can be measured."""
    papers: list[dict[str, str | None]] = [
        {"label": label, "strategy": "ours", "binding": "typed", "destruction": "normal"} for label in LABELS
    ]
    return papers + [
        {"label": None, "strategy": strategy, "binding": binding, "destruction": destruction}
        for strategy, binding, destruction in OTHERS
    ]


def group_of(benchmark: str, given: dict[str, list[str]]) -> Found:
    """Return the group that was asked for."""
    if "run" in given:
        return single_run(given["run"][0])
    kind = given.get("table", [benchmark])[0]
    kinds: dict[str, tuple[Callable[..., Found], tuple[str, ...]]] = {
        "density": (density, ("structure", "size", "leaves")),
        "splits": (locality, ("global", "subsystem")),
        "factors": (factors, ("global", "subsystem", "shuffles")),
        "utilization": (utilization, ("total", "active", "block")),
        "contention": (contention, ("iterations", "block", "threads")),
    }
    measure, names = kinds[kind]
    return measure(*(int(given[name][0]) for name in names))


def main(benchmark: str, *arguments: str) -> int:
    """Be mallard-bench."""
    given = settings(list(arguments))
    if "list-strategies" in given:
        print(json.dumps(known_of()))
        return 0
    if "machine" in given:
        print(json.dumps(MACHINE))
        return 0
    folder = Path(os.environ["FAKE_BENCH"])
    with (folder / "calls").open("a") as calls:
        calls.write(json.dumps([benchmark, *arguments]) + "\n")
    at = " ".join(given[name][0] for name in ("structure", "size") if name in given)
    if os.environ.get("FAKE_BENCH_WAITS") == at:
        (folder / "waiting").write_text(str(os.getpid()))
        time.sleep(600)
    if os.environ.get("FAKE_BENCH_DIES") == at:
        os.abort()
    group, rows = group_of(benchmark, given)
    failed = os.environ.get("FAKE_BENCH_FAILS") == at
    if failed:
        rows[6] = without_figure(rows[6], "failed", "blocks overlap")
    rounds = int(given["rounds"][0])
    for one in rows:
        if one["status"] == "ok":
            one |= {f"{kind}rounds_ns": in_rounds(one[f"{kind}ns_per_event"], rounds) for kind in KINDS}
    method = {
        "turns": "allocators alternate",
        "figures": "medians",
        "rounds": rounds,
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
