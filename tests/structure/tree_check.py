"""What the checks of the tree share: their command line, CHECK.py [ROOT], a line a violation, exit code 1."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

NOT_OURS = {".git", ".venv", "build"}


def files(root: Path, suffixes: set[str]) -> Iterator[Path]:
    """Files of the tree, not of a build, that end in one of these."""
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name not in NOT_OURS]
        yield from (path for name in names if (path := Path(folder, name)).suffix in suffixes)


def main(violations: Callable[[Path], Iterable[str]], arguments: list[str]) -> int:
    """Run one check over the tree at ROOT, or over this one; return the exit code."""
    root = Path(arguments[0]) if arguments else Path(__file__).parents[2]
    found = list(violations(root))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0
