"""Every header of the library has a test of its own name: layer/bump.hpp has tests/layer/bump_test.cpp.

Of a heap that mallard.hpp does not include yet, tests/model/NAME_model_test.cpp is one as well.

header_tested.py [ROOT]     prints each header without one; exit code 1 if there is one
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import tree_check

# Headers with nothing to run, and what holds them to account instead.
WITHOUT_BEHAVIOUR = {
    "mallard.hpp": "includes all others; compiled by header_alone.py and by the consumers in tests/install",
    "core/attributes.hpp": "names for the compiler's attributes; every heap is compiled with them",
    "core/version.hpp": "three numbers, for CMake and the Python package's test; C++17: header_alone.py",
}


def violations(root: Path) -> Iterator[str]:
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


if __name__ == "__main__":
    sys.exit(tree_check.main(violations, sys.argv[1:]))
