"""Every test and fuzz target is built: its name stands in the CMakeLists.txt of its folder.

    test_built.py [ROOT]     prints each source that no build knows of; exit code 1 if there is one

A line lost there takes the test away without a word: what is not built cannot fail.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import tree_check

COMMENT = re.compile(r"#.*")


def words(cmake: Path) -> set[str]:
    """Whole words of a CMake file, without its comments; none if there is no such file."""
    text = cmake.read_text(encoding="utf-8") if cmake.is_file() else ""
    return set(re.findall(r"\w+", COMMENT.sub("", text)))


def violations(root: Path) -> Iterator[str]:
    """Sources of tests and of fuzz targets that the CMake file beside them does not name."""
    for suffix in ("_test", "_fuzz"):
        for source in sorted((root / "tests").rglob(f"*{suffix}.cpp")):
            if not words(source.parent / "CMakeLists.txt") & {source.stem, source.stem.removesuffix(suffix)}:
                folder = source.parent.relative_to(root).as_posix()
                yield f"{folder}/{source.name} is not named in {folder}/CMakeLists.txt"


if __name__ == "__main__":
    sys.exit(tree_check.main(violations, sys.argv[1:]))
