"""What the checks of the tree share: their command line, CHECK.py [ROOT], a line a violation, exit code 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path


def main(violations: Callable[[Path], Iterable[str]], arguments: list[str]) -> int:
    """Run one check over the tree at ROOT, or over this one; return the exit code."""
    root = Path(arguments[0]) if arguments else Path(__file__).parents[2]
    found = list(violations(root))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0
