"""The lines of a file of results, read with care: an error names its line.

line 1      a header          is a file of results at all, and of this version?
line 2 ...  a document each   has it what tables and findings read? (or the header of a further part)
the last    without its end   was cut off, and counts as none
"""

import json
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mallard import MallardError
from mallard_bench.options import LATENCY, Benchmark

Check = Callable[[Any], bool]


def is_text(value: Any) -> bool:
    """Return whether it is a string."""
    return isinstance(value, str)


def is_number(value: Any) -> bool:
    """Return whether it is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_object(value: Any) -> bool:
    """Return whether it is an object."""
    return isinstance(value, dict)


def are_numbers(value: Any) -> bool:
    """Return whether it is a list of numbers."""
    return isinstance(value, list) and all(map(is_number, value))


def is_bounds(value: Any) -> bool:
    """Return whether it is a smallest and a largest value."""
    return are_numbers(value) and len(value) == 2


DOCUMENT: Mapping[str, Check] = {
    **dict.fromkeys(("benchmark", "title"), is_text),
    **dict.fromkeys(("group", "machine", "method", "settings"), is_object),
    "rows": lambda value: isinstance(value, list) and all(map(is_object, value)),
    "seconds": is_number,
}
MACHINE: Mapping[str, Check] = {
    **dict.fromkeys(("cpu", "kernel", "transparent_huge_pages", "c_library", "compiler", "flags"), is_text),
    **dict.fromkeys(("cores", "memory"), is_number),
}
METHOD: Mapping[str, Check] = {
    **dict.fromkeys(("turns", "figures"), is_text),
    **dict.fromkeys(("rounds", "memory_limit", "litter"), is_number),
}
GROUPS: Mapping[str, Mapping[str, Check]] = {
    Benchmark.DENSITY: {"structure": is_text, "size": is_number},
    Benchmark.LOCALITY: {"table": is_text, "global": is_number, "subsystem": is_number},
    Benchmark.UTILIZATION: dict.fromkeys(("total", "active", "block"), is_number),
    Benchmark.CONTENTION: dict.fromkeys(("iterations", "block", "threads"), is_number),
    Benchmark.EXPANSION: {"work": is_text, "elements": is_number, "iterations": is_number},
    Benchmark.SHRINK: {"elements": is_number, "iterations": is_number},
    Benchmark.BURST: {"elements": is_number, "iterations": is_number},
    Benchmark.POOLS: {"work": is_text, "elements": is_number, "iterations": is_number},
    LATENCY: {"journal": is_text, "replayed": is_text},
}
REPLAY_ROW: Mapping[str, Check] = dict.fromkeys(("strategy", "binding", "status"), is_text)
ROW: Mapping[str, Check] = {**REPLAY_ROW, "destruction": is_text}
FIGURES: Mapping[str, Check] = {  # of a row, where it has them
    **dict.fromkeys(("label", "reason"), is_text),
    **dict.fromkeys(("ns_per_event", "cold_ns_per_event", "wall_ns_per_event"), is_number),
    **dict.fromkeys(("spread", "wall_spread"), is_bounds),
    **dict.fromkeys(("rounds_ns", "cold_rounds_ns", "wall_rounds_ns"), are_numbers),
    **dict.fromkeys(("max_held", "page_faults", "failed_locks"), is_number),
    "counts": lambda value: (
        isinstance(value, dict) and all(one is None or is_number(one) for one in value.values())
    ),
}


def objects(path: Path, raw: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line."""
    for number, line in enumerate(raw.splitlines(keepends=True), 1):
        if not line.endswith(b"\n"):
            return
        try:
            found = json.loads(line)
        except ValueError as error:
            if number == 1:
                raise not_ours(path) from error
            raise MallardError(f"{path}, line {number}: is no JSON") from error
        if not isinstance(found, dict):
            raise not_ours(path) if number == 1 else MallardError(f"{path}, line {number}: is no object")
        yield number, found


def not_ours(path: Path) -> MallardError:
    """Return the error for a file that is something else."""
    return MallardError(f"{path} holds no results of mallard bench")


def check(path: Path, number: int, document: Mapping[str, Any], benchmark: str) -> None:
    """Refuse a document that is not one of the benchmark's."""
    if fault := "; ".join(faults(document, benchmark)):
        raise MallardError(f"{path}, line {number}: is no result of {benchmark}: {fault}")


def faults(document: Mapping[str, Any], benchmark: str) -> Iterator[str]:
    """Yield the first thing that is missing or not as it should be."""
    if fault := fault_of(document, DOCUMENT):
        yield fault
        return
    if document["benchmark"] != benchmark:
        yield f"it is of {document['benchmark']}"
        return
    method, of_row = ({}, REPLAY_ROW) if benchmark == LATENCY else (METHOD, ROW)
    parts = [("group", GROUPS[benchmark]), ("machine", MACHINE), ("method", method)]
    found = [f"{fault} in {part}" for part, checks in parts if (fault := fault_of(document[part], checks))]
    for row in document["rows"]:
        known = {name: check for name, check in FIGURES.items() if row.get(name) is not None}
        if fault := fault_of(row, {**of_row, **known}):
            found.append(f"{fault} in a row")
    yield from found[:1]


def fault_of(of: Mapping[str, Any], checks: Mapping[str, Check]) -> str | None:
    """Say which member is missing or has a wrong kind of value."""
    return next(
        (
            f"{name} is {'wrong' if name in of else 'missing'}"
            for name, fits in checks.items()
            if name not in of or not fits(of[name])
        ),
        None,
    )


def regular(path: Path, mode: int) -> None:
    """Refuse what a run cannot be kept in: a folder, a device."""
    if stat.S_ISDIR(mode):
        raise MallardError(f"{path} is a folder, not a file of results")
    if not stat.S_ISREG(mode):
        raise MallardError(f"{path} is not a regular file")
