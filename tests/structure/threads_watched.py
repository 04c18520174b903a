"""Every test of the library in which threads are at work is run under ThreadSanitizer.

    threads_watched.py [ROOT]     prints each test that is not; exit code 1 if there is one

Such a test includes <thread>, itself or by a header of the tests that it names, and is marked THREADS in
the nearest CMake file above it. The model suite has threads for every heap: what of it is concurrent is
marked by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import include_order
import test_built
import tree_check

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<][^">]+)[">]', re.MULTILINE)
MARKED = re.compile(r"mallard_test\(\s*(?:\w+/)*(\w+)\s+THREADS\b")
ROOMS = [*include_order.LIBRARY, "containers"]


def includes(source: Path) -> list[str]:
    """What a source includes, each with its opening quote or bracket."""
    return INCLUDE.findall(source.read_text(encoding="utf-8")) if source.is_file() else []


def has_threads(tests: Path, source: Path) -> bool:
    """Whether a test, or a header of the tests that it names, includes <thread>."""
    named = includes(source)
    own = [includes(tests / name[1:]) for name in named if name.startswith('"')]
    return any("<thread" in names for names in [named, *own])


def violations(root: Path) -> Iterator[str]:
    """Tests with threads that are not marked."""
    tests = root / "tests"
    for room in ROOMS:
        for source in sorted((tests / room).rglob("*_test.cpp")):
            cmake = test_built.nearest(source.parent, tests / room)
            marked = MARKED.findall(cmake.read_text(encoding="utf-8")) if cmake.is_file() else []
            if has_threads(tests, source) and source.stem.removesuffix("_test") not in marked:
                yield f"{source.relative_to(root)} has threads and is not marked THREADS"


if __name__ == "__main__":
    sys.exit(tree_check.main(violations, sys.argv[1:]))
