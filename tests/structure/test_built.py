"""Every test and fuzz target is built: its name stands in the nearest CMakeLists.txt above it.

    test_built.py [ROOT]     prints each source that no build knows of; exit code 1 if there is one

A line lost there takes the test away without a word: what is not built cannot fail.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import tree_check

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


def violations(root: Path) -> Iterator[str]:
    """Sources of tests and of fuzz targets that the CMake file above them does not name."""
    for suffix, folder in product(("_test", "_fuzz"), FOLDERS):
        for source in sorted((root / folder).rglob(f"*{suffix}.cpp")):
            cmake = nearest(source.parent, root / folder)
            if not words(cmake) & {source.stem, source.stem.removesuffix(suffix)}:
                yield f"{source.relative_to(root)} is not named in {cmake.relative_to(root)}"


if __name__ == "__main__":
    sys.exit(tree_check.main(violations, sys.argv[1:]))
