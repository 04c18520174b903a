"""What stands beneath a table: how far its figures spread, and why some are missing.

spread: median 1.2 %, widest 14 % (AS7 at 2^10); ~ marks more than 10 %
fail (AS4): more than 1 GiB
"""

import statistics
from collections.abc import Iterator

from mallard import figures
from mallard_bench.papers import ALLOCATORS, P0089, POOLS, paper_of
from mallard_bench.tables.grid import WIDE_SPREAD, Grid

WORDS = {
    P0089: "virt: through a base class; wink: not destroyed, goes with its heap; v+w: both",
    ALLOCATORS: "V1: the plain protocol; V2: with commands and bursts; V2new never expands, V2bwd only "
    "backward, V2fwd only forward, and V2one has no bursts; locked: for several threads, as boost",
    POOLS: "V1: the plain protocol; V2: with bursts; align_only, two_percent: Boost's adaptive_pool, without "
    "sub-blocks and with; node: its node_allocator; private: a pool for each list; null: without a lock; "
    "free: pointers in random order; read, free: nodes, too; erase: from the list; turned over: nine of ten "
    "freed at random, then as many allocated at the end; renewed: in the places of those; left: when all is "
    "freed; in use: of the heap beneath; cached: what that keeps; trimmed: left when that is given back",
}


def legend(benchmark: str) -> str:
    """Return what the words of a benchmark's tables mean."""
    paper = paper_of(benchmark)
    return (
        f"{WORDS[paper]}; A/A: {paper.again}; -: not measured; fail: out of memory; skip: not tried; "
        "broke: crashed, or wrong"
    )


def notes(grid: Grid) -> Iterator[str]:
    """Yield the lines."""
    names = [
        column.whole or f"{column.name} {column.word}".strip() for of in grid.groups for column in of.columns
    ]
    cells = [
        (cell, name, line.name)
        for line in grid.lines
        if line.skipped is None
        for cell, name in zip(line.cells, names, strict=True)
    ]
    widths = [(cell.spread, f"{name} at {' '.join(at.split())}") for cell, name, at in cells if cell.spread]
    if widths:
        widest, where = max(widths)
        middle = statistics.median(width for width, _ in widths)
        mark = f"; ~ marks more than {100 * WIDE_SPREAD:.0f} %" if widest > WIDE_SPREAD else ""
        yield f"spread: median {figures.share(middle)}, widest {figures.share(widest)} ({where}){mark}"
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for cell, name, _ in cells:
        if cell.reason is not None:
            reasons.setdefault((cell.text, cell.reason), {})[name] = None
    for (text, reason), who in reasons.items():
        yield f"{text} ({', '.join(who)}): {reason}"
