"""What a malloc takes to start, which no replay contains: loading its library, its first memory, its end.

    round 1     glibc   jemalloc   tcmalloc   mallard  ...      a program that does nothing, in turn
    round 2     glibc   jemalloc   tcmalloc   mallard  ...
                  `-------- each beside glibc -------'          medians of the differences

Some mallocs are written in C++. A program in C loads the C++ library for them, one in C++ has it anyway.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mallard.compare.intervals import Interval, middle
from mallard.compare.launch import Program, found, run
from mallard.compare.mallocs import chosen
from mallard.native import tool

ROUNDS = 9
LONG_NS = 2e9  # of CPU time: a start is less than half a hundredth of what takes longer
CXX_LIBRARIES = ("libstdc++.so", "libc++.so")


def taken_ns(names: Iterable[str], modules: Sequence[dict[str, Any]]) -> dict[str, Interval]:
    """Return by malloc how many nanoseconds of CPU time more than under glibc a start takes.

    `modules`: what the program in question has loaded.
    """
    nothing = does_nothing(modules)
    base, *others = chosen(list(names), again=False)
    rounds = [[run(nothing, one.environment()).cpu_s for one in (base, *others)] for _ in range(ROUNDS)]
    return {
        one.name: middle([1e9 * (own[at] - own[0]) for own in rounds])
        for at, one in enumerate(others, start=1)
    }


def does_nothing(modules: Sequence[dict[str, Any]]) -> Program:
    """Return a program that does nothing, in C++ if one with these modules is."""
    is_cxx = any(Path(one["path"]).name.startswith(CXX_LIBRARIES) for one in modules)
    words = (tool("mallard-replay"), "--version") if is_cxx else ("true",)
    return Program(words, found(words, Path()), Path())
