"""What each malloc holds while blocks are replaced for a long time and their sizes drift.

programs/drift.cpp does the same under each; a line is a tenth of its operations.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from limits import Limit, number
from mallard.compare.mallocs import Malloc
from malloc_table import BASE, OURS
from workloads import SetUpError

MIB = 1 << 20
MOST_OVER_GLIBC = 1.3
MOST_GROWTH = 1.05
NAMES = (OURS, "mimalloc", "tcmalloc")  # beside glibc, unless others are asked for


@dataclass(frozen=True)
class Point:
    """What a process held after a number of operations; `most`: since the point before."""

    operations: int
    live: int
    resident: int
    most: int


Curves = Mapping[str, Sequence[Point]]


def curve(program: Path, malloc: Malloc, operations: int) -> list[Point]:
    """Run the program under a malloc."""
    ran = subprocess.run(
        [program, str(operations)],
        env=os.environ | malloc.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0 or ran.stderr:
        raise SetUpError(f"drift under {malloc.name}: {ran.stderr.strip() or f'exit code {ran.returncode}'}")
    return [Point(*map(int, line.split())) for line in ran.stdout.splitlines()]


def most(points: Sequence[Point]) -> int:
    """Return the most that was resident."""
    return max(point.most for point in points)


def show(console: Console, curves: Curves) -> None:
    """Print a line for each tenth: what is live, and beside it what each malloc holds."""
    table = Table("million operations", box=None, pad_edge=False)
    table.add_column("MiB live", justify="right")
    for name in curves:
        table.add_column(f"{name}, most", justify="right")
    for tenth in zip(*curves.values(), strict=True):
        held = (f"{point.resident / MIB:.1f}, {point.most / MIB:.1f}" for point in tenth)
        table.add_row(f"{tenth[0].operations / 1e6:g}", f"{tenth[0].live / MIB:.1f}", *held)
    ratios = (number(over_glibc(curves, name), ".3f") for name in curves)
    table.add_row("most, over glibc's", "", *ratios)
    console.print(table)
    console.print()


def over_glibc(curves: Curves, name: str) -> float | None:
    """Return the most that a malloc held over the most that glibc did."""
    return most(curves[name]) / most(curves[BASE]) if name in curves and BASE in curves else None


def limits(curves: Curves) -> Iterator[Limit]:
    """Yield what is promised of our malloc: a limit, and no growth over time."""
    yield Limit("most resident, over glibc's", MOST_OVER_GLIBC, over_glibc(curves, OURS), "sizes that drift")
    points = curves.get(OURS, ())
    half = len(points) // 2
    growth = most(points[half:]) / most(points[:half]) if half != 0 else None
    yield Limit("most resident in the second half, over the first", MOST_GROWTH, growth, "sizes that drift")
