"""How two runs agree, as text: a line a kind of figures, then those that are farthest apart."""

from collections.abc import Iterator, Mapping

from mallard import figures
from mallard_bench.compare import Agreement, Pair
from mallard_bench.repeated import Bounds
from mallard_bench.results_file import Run

GAP = 3  # between columns


def lines(runs: tuple[Run, Run], found: Mapping[str, Agreement], most: int) -> Iterator[str]:
    """Yield the lines; of each kind at most so many that are apart."""
    for name, run in zip(("first", "second"), runs, strict=True):
        yield f"{name + ':':<8}{run.header.benchmark} ({run.header.level}, {run.header.date}): {run.path}"
    for agreement in found.values():
        yield ""
        yield summary(agreement)
        yield from farthest(agreement.apart, most)


def summary(agreement: Agreement) -> str:
    """Return how many figures of a kind agree."""
    count, apart = len(agreement.pairs), len(agreement.apart)
    overlap = f"{count - apart} of {count} ({figures.share(agreement.overlap)})"
    return f"{agreement.what}: spreads overlap in {overlap}; second over first: median {agreement.change:.3f}"


def farthest(apart: list[Pair], most: int) -> Iterator[str]:
    """Yield the figures that are apart, in columns."""
    shown = [
        (pair.name, *map(bounds, pair.spreads), f"{figures.share(pair.gap)} apart") for pair in apart[:most]
    ]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        yield (
            "  "
            + (" " * GAP).join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        )
    if len(apart) > most:
        yield f"  and {len(apart) - most} more"


def bounds(of: Bounds) -> str:
    """Return a spread."""
    return f"{of[0]:.3g} to {of[1]:.3g}"
