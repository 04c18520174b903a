"""Two runs of a benchmark, figure by figure, and whether their spreads overlap.

first     0.504±0.004   0.500 |=====|        0.508
second    0.507±0.004       0.503 |======| 0.511      they do: the same, as far as the rounds tell

Compared are the ratios that tables print, which another hour of the same machine should give again, and the
times themselves, which it may not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from mallard import MallardError, figures
from mallard_bench.papers import paper_of
from mallard_bench.ratios import ratios
from mallard_bench.repeated import Bounds, Repeated
from mallard_bench.results import Row, result
from mallard_bench.results_file import Run, another, plain

TIMES = "times"
KINDS = {
    "wall_ratio": "ratios to {base}, by the clock",
    "ratio": "ratios to {base}",
    "degradation": "walks after the shuffle over those before",
    TIMES: "times",
}

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Pair:
    """A figure of both runs."""

    name: str
    first: Repeated
    second: Repeated

    @property
    def gap(self) -> float:
        """How far apart the spreads are, as a share of the lower one's end; 0 if they overlap."""
        (low, high), (other_low, other_high) = self.spreads
        lower, upper = (high, other_low) if high < other_low else (other_high, low)
        return max(upper / lower - 1, 0.0)

    @property
    def spreads(self) -> tuple[Bounds, Bounds]:
        """The two spreads, as tables print them: as far to both sides."""
        first, second = ((of.value - of.around, of.value + of.around) for of in (self.first, self.second))
        return first, second


@dataclass(frozen=True)
class Agreement:
    """How far two runs agree in one kind of figures."""

    what: str
    pairs: list[Pair]

    @property
    def apart(self) -> list[Pair]:
        """Those whose spreads do not overlap, the farthest apart first."""
        return sorted((pair for pair in self.pairs if pair.gap > 0), key=lambda pair: -pair.gap)

    @property
    def overlap(self) -> float:
        """The share of those whose spreads overlap."""
        return 1 - len(self.apart) / len(self.pairs)

    @property
    def change(self) -> float:
        """How many times the first run's figures the second's are, in the median."""
        return median(pair.second.value / pair.first.value for pair in self.pairs)

    def as_json(self) -> dict[str, Any]:
        """Return all that is reported of it."""
        return {
            "figures": len(self.pairs),
            "overlap": self.overlap,
            "change": self.change,
            "apart": [
                {"figure": pair.name, "first": pair.spreads[0], "second": pair.spreads[1], "gap": pair.gap}
                for pair in self.apart
            ],
        }


def agreements(first: Run, second: Run) -> dict[str, Agreement]:
    """Return how two runs of a benchmark agree, by the kind of figures."""
    if first.header.benchmark != second.header.benchmark:
        raise MallardError(
            f"{first.path} is of {first.header.benchmark}, {second.path} of {second.header.benchmark}"
        )
    base = paper_of(first.header.benchmark).base
    ours, theirs = dict(figures_of(first)), dict(figures_of(second))
    found: dict[str, list[Pair]] = {kind: [] for kind in KINDS}
    for (kind, *which), figure in ours.items():
        other = theirs.get((kind, *which))
        if other is not None:
            found[kind].append(Pair(" ".join(which), figure, other))
    if not any(found.values()):
        raise MallardError(f"{first.path} and {second.path} have no figure with a spread in common")
    return {kind: Agreement(KINDS[kind].format(base=base), pairs) for kind, pairs in found.items() if pairs}


def figures_of(run: Run) -> Iterator[tuple[Key, Repeated]]:
    """Yield every figure that has a spread: its kind and what it is of, and the figure."""
    base = paper_of(run.header.benchmark).base
    for document in run.documents:
        for row, found in zip(result(document).rows, ratios(document), strict=True):
            first = row.label == base and not row.repeated
            times = row.wall or row.warm
            told: Mapping[str, Repeated | None] = {
                "wall_ratio": None if first else found.get("wall_ratio"),
                "ratio": None if first or row.wall else found.get("ratio"),
                "degradation": found.get("degradation"),
                TIMES: times,
            }
            for kind, figure in told.items():
                if figure is not None and figure.spread is not None and figure.spread[0] > 0:
                    yield (kind, document["title"], *named(row)), figure


def named(row: Row) -> Iterator[str]:
    """Yield what tells a row of a group from the others, in words."""
    yield row.label or f"{row.strategy} {row.binding}"
    if row.label is None and row.destruction != "normal":
        yield row.destruction
    if row.repeated:
        yield "A/A"
    if row.split is not None:
        yield f"2^-{row.split} {'after' if row.shuffled else 'before'}"
    if row.factor is not None:
        yield f"shuffled {row.factor} times"
    if row.part is not None:
        yield row.part


def differences(first: Run, second: Run) -> Iterator[str]:
    """Yield in what the runs differ beside their figures."""
    if first.header.program != second.header.program:
        yield "they were measured by two different mallard-bench"
    ours, theirs = (
        {"version": of.header.mallard, "level": of.header.level, **of.header.options}
        for of in (first, second)
    )
    for what in {**ours, **theirs}:
        if ours.get(what) != theirs.get(what):
            yield f"their {what.replace('_', ' ')} is {plain(ours.get(what))} and {plain(theirs.get(what))}"
    machines = [run.documents[0]["machine"] for run in (first, second) if run.documents]
    if len(machines) == 2 and (told := another(*machines)):
        yield f"they were measured on two machines: {told}"


GAP = 3  # between columns


def lines(runs: tuple[Run, Run], found: Mapping[str, Agreement], most: int) -> Iterator[str]:
    """Yield the lines; of each kind at most `most` that are apart."""
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
