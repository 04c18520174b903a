"""Nothing goes untested without a word: headers have tests, and tests are built and watched for races.

    tests_complete.py [ROOT]     prints what has no test, is not built or not watched; exit code 1 if any

header_tested    every header of the library has a test of its own name: layer/bump.hpp has
                 tests/layer/bump_test.cpp; of a heap that mallard.hpp does not include yet,
                 tests/model/NAME_model_test.cpp is one as well
test_built       every test and fuzz target stands in the nearest CMakeLists.txt above it: what is not built
                 cannot fail
room_built       every folder that tests/CMakeLists.txt has among its rooms is built by tests/steps.sh where
                 nothing is named, or is excepted
threads_watched  every test of the library in which threads are at work is run under ThreadSanitizer: it
                 includes <thread>, itself or by a header of the tests that it names, and is marked THREADS
                 in the nearest CMake file above it; the model suite has threads for every heap, and what of
                 it is concurrent is marked by hand
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import include_order
import tree_check

# Headers with nothing to run, and what holds them to account instead.
WITHOUT_BEHAVIOUR = {
    "mallard.hpp": "includes all others; compiled by header_alone.py and by the consumers in tests/install",
    "core/attributes.hpp": "names for the compiler's attributes; every heap is compiled with them",
    "core/version.hpp": "three numbers, for CMake and the Python package's test; C++17: header_alone.py",
}


def header_tested(root: Path) -> Iterator[str]:
    """Headers without a test, and exceptions without a header."""
    library = root / "include/mallard"
    whole = library / "mallard.hpp"
    shipped = whole.read_text(encoding="utf-8") if whole.is_file() else ""
    names = sorted(p.relative_to(library) for p in library.rglob("*.hpp"))
    for name in names:
        tests = [f"tests/{name.parent.as_posix()}/{name.stem}_test.cpp"]
        if name.parent == Path("heap") and f"mallard/{name.as_posix()}" not in shipped:
            tests.append(f"tests/model/{name.stem}_model_test.cpp")
        if name.as_posix() not in WITHOUT_BEHAVIOUR and not any((root / test).is_file() for test in tests):
            yield f"include/mallard/{name.as_posix()} has no {' or '.join(tests)}"
    for exception in WITHOUT_BEHAVIOUR:
        if not (library / exception).is_file():
            yield f"include/mallard/{exception} is excepted here and does not exist"


COMMENT = re.compile(r"#.*")
FOLDERS = ("tests", "bench/papers/tests")


def words(cmake: Path) -> set[str]:
    """Whole words of a CMake file, without its comments; none if there is no such file."""
    text = cmake.read_text(encoding="utf-8") if cmake.is_file() else ""
    return set(re.findall(r"\w+", COMMENT.sub("", text)))


def nearest(folder: Path, top: Path) -> Path:
    """The CMake file of a folder, or of the nearest above it that has one."""
    cmake = folder / "CMakeLists.txt"
    return cmake if cmake.is_file() or folder == top else nearest(folder.parent, top)


def test_built(root: Path) -> Iterator[str]:
    """Sources of tests and of fuzz targets that the CMake file above them does not name."""
    for suffix, folder in product(("_test", "_fuzz"), FOLDERS):
        for source in sorted((root / folder).rglob(f"*{suffix}.cpp")):
            cmake = nearest(source.parent, root / folder)
            if not words(cmake) & {source.stem, source.stem.removesuffix(suffix)}:
                yield f"{source.relative_to(root)} is not named in {cmake.relative_to(root)}"


# Rooms that ./dev test leaves to --all.
ONLY_BY_ALL = {"bench", "fuzz"}
ROOMS_OF_CMAKE = re.compile(r"(?:set\(rooms|list\(APPEND rooms)\s+([^)]*)\)")
ROOMS_OF_STEPS = re.compile(r'^(?:both|clang|plain|sanitized)="([^"]*)"', re.MULTILINE)


def room_built(root: Path) -> Iterator[str]:
    """Rooms that no step of the default names."""
    cmake, steps = root / "tests/CMakeLists.txt", root / "tests/steps.sh"
    rooms = {room for found in ROOMS_OF_CMAKE.findall(cmake.read_text("utf-8")) for room in found.split()}
    built = {room for found in ROOMS_OF_STEPS.findall(steps.read_text("utf-8")) for room in found.split(";")}
    for room in sorted(rooms - built - ONLY_BY_ALL):
        yield f"tests/{room} is no room that tests/steps.sh builds"


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


def threads_watched(root: Path) -> Iterator[str]:
    """Tests with threads that are not marked."""
    tests = root / "tests"
    for room in ROOMS:
        for source in sorted((tests / room).rglob("*_test.cpp")):
            cmake = nearest(source.parent, tests / room)
            marked = MARKED.findall(cmake.read_text(encoding="utf-8")) if cmake.is_file() else []
            if has_threads(tests, source) and source.stem.removesuffix("_test") not in marked:
                yield f"{source.relative_to(root)} has threads and is not marked THREADS"


def violations(root: Path) -> Iterator[str]:
    """What any of the rules says."""
    yield from header_tested(root)
    yield from test_built(root)
    yield from room_built(root)
    yield from threads_watched(root)


if __name__ == "__main__":
    sys.exit(tree_check.main(violations, sys.argv[1:]))
