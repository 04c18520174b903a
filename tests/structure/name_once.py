"""No file name is used twice: an editor's tab and a stack trace show the name alone.

name_once.py [ROOT]     prints each name that several sources have; exit code 1 if there is one

Names that the tool they are for prescribes, and the entry of a program, are everywhere the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import tree_check

SOURCES = {".c", ".cpp", ".css", ".h", ".hpp", ".js", ".py"}
PRESCRIBED = {"__init__.py", "__main__.py", "conftest.py", "main.c", "main.cpp", "main.js"}
# Names that two sources have all the same; there may only become fewer.
STILL_TWICE = {"profile.py", "strategies.py", "subsystems.py", "tables.py"}


def violations(root: Path) -> Iterator[str]:
    """Names that several sources have."""
    places: dict[str, list[str]] = {}
    for path in sorted(tree_check.files(root, SOURCES)):
        places.setdefault(path.name, []).append(path.relative_to(root).as_posix())
    for name, paths in sorted(places.items()):
        if len(paths) > 1 and name not in PRESCRIBED | STILL_TWICE:
            yield f"{name} stands in several folders: {', '.join(paths)}"


if __name__ == "__main__":
    sys.exit(tree_check.main(violations, sys.argv[1:]))
