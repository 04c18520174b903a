"""What a malloc takes to start, which no replay contains: loading its library, its first memory, its end.

    round 1     glibc   jemalloc   tcmalloc   mallard  ...      a program that does nothing, in turn
    round 2     glibc   jemalloc   tcmalloc   mallard  ...
                  `-------- each beside glibc -------'          medians of the differences

Some mallocs need the C++ library. A program in C loads it for them, one that has libstdc++ does not.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from mallard.compare.intervals import Interval, middle
from mallard.compare.launch import Program, RunError, ending, found, run
from mallard.compare.mallocs import Malloc, chosen
from mallard.native import tool

ROUNDS, LEAST_ROUNDS = 9, 3
TIMEOUT = 5.0  # seconds: who takes longer to start hangs
LONG_NS = 2e9  # of CPU time: a start is less than 0.5 % of what takes longer
CXX_LIBRARY = "libstdc++.so"


def start_ns(names: Iterable[str], modules: Sequence[dict[str, Any]], seconds: float) -> dict[str, Interval]:
    """Return by malloc how many nanoseconds of CPU time more than under glibc a start takes.

    `modules`: what the program in question has loaded. After `seconds` there are no more rounds, once there
    are three. Raises MallardError where the program that does nothing does not run.
    """
    nothing, end = does_nothing(modules), monotonic() + seconds
    base, *others = chosen(list(names), again=False)
    rounds: list[list[float]] = []
    while len(rounds) < LEAST_ROUNDS or (len(rounds) < ROUNDS and monotonic() < end):
        rounds.append([cpu_ns(nothing, one) for one in (base, *others)])
    return {one.name: middle([own[at] - own[0] for own in rounds]) for at, one in enumerate(others, start=1)}


def does_nothing(modules: Sequence[dict[str, Any]]) -> Program:
    """Return a program that does nothing, with the C++ library if one with these modules has that."""
    is_cxx = any(Path(one["path"]).name.startswith(CXX_LIBRARY) for one in modules)
    words = (tool("mallard-replay"), "--version") if is_cxx else ("true",)
    return Program(words, found(words, Path()), Path(), timeout=TIMEOUT)


def cpu_ns(program: Program, malloc: Malloc) -> float:
    """Return the CPU time of one start."""
    taken = run(program, malloc.environment())
    if taken.exit_code != 0:
        raise RunError(f"under {malloc.name}, {program.arguments[0]} {ending(taken.exit_code, taken.errors)}")
    return 1e9 * taken.cpu_s
