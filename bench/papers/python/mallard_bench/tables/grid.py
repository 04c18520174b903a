"""A table of figures with headings over groups of columns, split where the terminal is too narrow.

      --- global --  ------- monotonic ------        group
         AS1   AS2    AS3    AS4    AS5   AS6        column
              virt          wink   virt   v+w        what it is
2^6     10.2  11.0   7.16   7.12   7.50  7.20
2^16    skipped: needs about 7 GiB, the limit is 4 GiB

Below it is how far its figures spread, and why some are missing:

spread: median 1.2 %, widest 14 % (AS7 at 2^10); ~ marks more than 10 %
fail (AS4): more than 1 GiB
"""

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from mallard import figures
from mallard_bench.papers import ALLOCATORS, P0089, POOLS, paper_of
from mallard_bench.printing import print_text
from mallard_bench.repeated import Repeated

# Colours of a heat map: green for little, yellow, red for much.
#
#     least                middle                most       over a whole chart, on a logarithmic scale
#     green --- yellowish --- yellow --- orange --- red
Rgb = tuple[int, int, int]
STOPS: tuple[Rgb, Rgb, Rgb] = ((104, 190, 128), (252, 231, 140), (240, 112, 104))
INK = Color.from_rgb(24, 24, 24)

MOST_RATIO = 4.0  # from which on a ratio is as red as can be, and its inverse as green


class Heat:
    """Which colour a value has among others."""

    def __init__(self, best: float, worst: float) -> None:
        """Colour from `best`, green, to `worst`, red."""
        self.best = math.log(best)
        self.span = math.log(worst) - self.best

    def style(self, value: float) -> Style:
        """Return the style of a cell."""
        return Style(color=INK, bgcolor=Color.from_rgb(*colour(self.place(value))))

    def place(self, value: float) -> float:
        """Return where a value lies, in 0..1."""
        place = (math.log(value) - self.best) / self.span if self.span and value > 0 else 0.0
        return min(max(place, 0.0), 1.0)


def over_chart(values: Iterable[float]) -> Heat:
    """Return the colours of a chart: its least is green, its most red."""
    known = [value for value in values if value > 0] or [1.0]
    return Heat(min(known), max(known))


def around_one(more_is_better: bool = False) -> Heat:
    """Return the colours of ratios: yellow is 1, green is less, red is more, or the other way round."""
    best = MOST_RATIO if more_is_better else 1 / MOST_RATIO
    return Heat(best, 1 / best)


def colour(place: float) -> Rgb:
    """Return the colour at a place in 0..1."""
    first, second = (STOPS[0], STOPS[1]) if place < 0.5 else (STOPS[1], STOPS[2])
    part = place * 2 - (0 if place < 0.5 else 1)
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(first, second, strict=True))
    return red, green, blue


GAP = 1  # between groups
WIDE_SPREAD = 0.1  # of a median; what is wider is marked


@dataclass(frozen=True)
class Cell:
    """A figure; only with a value it has a colour."""

    text: str = ""
    value: float | None = None
    spread: float | None = None  # how wide it is, as a share of the median
    reason: str | None = None  # why it has no value
    around: str = ""  # how far from it most rounds lie, as ±0.02; stands behind it
    figure: Repeated | None = None  # what it was made of, where more may be made of it

    @property
    def whole(self) -> str:
        """It with what stands behind it."""
        return f"{self.text}{self.around}"

    @property
    def mark(self) -> str:
        """What stands behind it: ~ if the rounds do not agree."""
        return "~" if self.spread is not None and self.spread > WIDE_SPREAD else " "


@dataclass(frozen=True)
class Column:
    """The heading of a column, and a word below it."""

    name: str
    word: str = ""
    whole: str = ""  # name, which tells it from all others; else the two above do


@dataclass(frozen=True)
class Columns:
    """Columns under one heading."""

    heading: str
    columns: Sequence[Column]


@dataclass(frozen=True)
class Line:
    """A row: its cells in the order of all columns, or why there are none."""

    name: str
    cells: Sequence[Cell]
    skipped: str | None = None  # why, if all of it was


@dataclass(frozen=True)
class Grid:
    """A table."""

    title: str
    corner: str
    groups: Sequence[Columns]
    lines: Sequence[Line]
    heat: Heat | None = None
    papers: str | None = None  # which table of the paper it is, if it is one

    def coloured(self) -> "Grid":
        """Return it with the colours of its whole chart."""
        cells = (cell for line in self.lines for cell in line.cells)
        return replace(self, heat=over_chart(cell.value for cell in cells if cell.value is not None))


def show(grid: Grid, console: Console) -> None:
    """Print a table."""
    print_text(Text(grid.title, style="bold"), console)
    for part in Layout(grid).parts(console.width):
        for text in part:
            if console.color_system is None:
                text.rstrip()
            console.print(text, soft_wrap=True)


class Layout:
    """Where everything of a table stands."""

    def __init__(self, grid: Grid) -> None:
        """Measure how wide columns are."""
        self.grid = grid
        self.label = max(len(name) for name in [grid.corner, *(line.name for line in grid.lines)])
        self.placed: list[Placed] = []
        start = 0
        for group in grid.groups:
            widths = [self.width(start + i, column) for i, column in enumerate(group.columns)]
            widths[-1] += max(0, len(group.heading) - sum(widths))
            self.placed.append(Placed(group, start, widths))
            start += len(group.columns)

    def width(self, place: int, column: Column) -> int:
        """Return how wide a column is, with a space on each side."""
        cells = [line.cells[place].whole for line in self.grid.lines if line.skipped is None]
        return 2 + max(len(text) for text in [column.name, column.word, *cells])

    def parts(self, width: int) -> Iterator[list[Text]]:
        """Yield the lines of as many tables as are needed."""
        shown: list[Placed] = []
        used = self.label
        for group in self.placed:
            needed = GAP + sum(group.widths)
            if shown and used + needed > width:
                yield list(self.lines(shown))
                shown, used = [], self.label
            shown.append(group)
            used += needed
        yield list(self.lines(shown))

    def lines(self, shown: Sequence["Placed"]) -> Iterator[Text]:
        """Yield headings and rows of some groups of columns."""
        if any(group.of.heading for group in shown):
            yield self.row("", [Text(over(group.of.heading, sum(group.widths)), "dim") for group in shown])
        yield self.row(self.grid.corner, [group.headings("name", "bold") for group in shown])
        if any(column.word for group in shown for column in group.of.columns):
            yield self.row("", [group.headings("word", "dim") for group in shown])
        for line in self.grid.lines:
            if line.skipped is None:
                yield self.row(line.name, [group.cells(line, self.grid.heat) for group in shown])
            else:
                yield self.row(line.name, [Text(f" skipped: {line.skipped}", "dim")])

    def row(self, name: str, parts: Sequence[Text]) -> Text:
        """Return a line."""
        return Text(" " * GAP).join([Text(f"{name:<{self.label}}"), *parts])


@dataclass(frozen=True)
class Placed:
    """A group of columns: the place of its first among all, and how wide they are."""

    of: Columns
    start: int
    widths: Sequence[int]

    def headings(self, which: str, style: str) -> Text:
        """Return the names of the columns, or the words below."""
        texts = [getattr(column, which) for column in self.of.columns]
        return Text("".join(map(aligned, texts, self.widths)), style)

    def cells(self, line: Line, heat: Heat | None) -> Text:
        """Return the cells of a row, coloured if they have values."""
        text = Text()
        for cell, width in zip(line.cells[self.start :], self.widths, strict=False):
            style = None if heat is None or cell.value is None else heat.style(cell.value)
            text.append(aligned(cell.whole, width, cell.mark), style)
        return text


def aligned(text: str, width: int, mark: str = " ") -> str:
    """Return a cell with a space on its left at least, and one or a mark on its right."""
    return f"{text:>{width - 1}}{mark}"


def over(heading: str, width: int) -> str:
    """Return the heading of a group of columns, in the middle of a line."""
    return (
        f" {heading} ".center(width, "-") if heading and width > len(heading) + 4 else heading.center(width)
    )


@dataclass(frozen=True)
class Section:
    """Some tables; `name` is what the paper's findings call them."""

    name: str
    tables: Sequence[Grid]


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
