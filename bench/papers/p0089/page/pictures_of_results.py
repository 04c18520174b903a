"""The heat maps of docs/p0089.md: each benchmark's figures here beside the paper's.

benchmark I     a panel a structure: strategies by sizes, over AS1
benchmark II    a panel a heap: splits by sizes of lists, after the shuffle over before
III and IV      a panel: strategies by lines of the paper's tables, over AS1

A picture is one SVG of heat maps: panels in lines, a cell a figure, no text in cells.

DS1 here          the paper        DS2 here    ...
2^6  ▒▒░░▒▒...    2^6  ▓▓░░...     a column a strategy, a row a size
2^7  ▒▒░░▒▒...    2^7  ▓▓░░...     struck through: it ended otherwise

Cells of one colour are one path, so that a picture of thousands stays small.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from beside_paper import ratio
from mallard_bench.findings.measured import Measured
from mallard_bench.papers import BESIDE, GLOBAL, LOCAL, WITH, WITHOUT
from mallard_bench.tables.density_tables import title
from mallard_bench.tables.grid import Heat, around_one, colour

CELL_WIDTH, CELL_HEIGHT = 11, 9
HEAD, GAP, LINE_GAP, EDGE = 34, 16, 16, 8
LETTER = 5.6  # width of one, about
LEAST_WIDTH = 640.0
BAR, BAR_HEIGHT = 200, 9
STEPS = 24  # of colours
TEXT = 'fill="#808080" font-family="sans-serif"'

Place = tuple[str, str]  # row, column


@dataclass(frozen=True)
class Panel:
    """One heat map; a cell that is there without a figure is struck through."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Mapping[Place, float | None]

    @property
    def margin(self) -> float:
        """What the names of rows take."""
        return max(len(name) for name in self.rows) * LETTER + 4

    @property
    def width(self) -> float:
        """How wide it is."""
        return max(self.margin + len(self.columns) * CELL_WIDTH, len(self.title) * 6.2)

    @property
    def height(self) -> float:
        """How high it is."""
        return HEAD + len(self.rows) * CELL_HEIGHT


def picture(name: str, lines: Sequence[Sequence[Panel]], heat: Heat, ends: tuple[str, str, str]) -> str:
    """Return the picture of panels; `ends` says what is green, yellow and red. Empty ones are left out."""
    lines = [[panel for panel in line if panel.rows] for line in lines]
    width = max(LEAST_WIDTH, *(sum(panel.width + GAP for panel in line) + EDGE for line in lines))
    drawn = legend(ends, any(None in panel.cells.values() for line in lines for panel in line))
    down = 34.0
    for line in lines:
        across = float(EDGE)
        for panel in line:
            drawn += of_panel(panel, heat, across, down)
            across += panel.width + GAP
        down += max(panel.height for panel in line) + LINE_GAP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {down:.0f}" role="img">',
            f"<title>{name}</title>",
            *drawn,
            "</svg>",
            "",
        ]
    )


def of_panel(panel: Panel, heat: Heat, left: float, top: float) -> list[str]:
    """Return the parts of one panel."""
    start = left + panel.margin
    drawn = [text(left, top + 9, panel.title, 11)]
    for at, name in enumerate(panel.columns):
        x, y = start + (at + 0.5) * CELL_WIDTH, top + HEAD - 3
        drawn.append(text(x + 3, y, name, 6.5, f' transform="rotate(-60 {x + 3:.1f} {y:.1f})"'))
    for at, name in enumerate(panel.rows):
        drawn.append(text(start - 3, top + HEAD + (at + 0.8) * CELL_HEIGHT, name, 8, ' text-anchor="end"'))
    paths: dict[str, list[str]] = {}
    struck = []
    for row, row_name in enumerate(panel.rows):
        for column, column_name in enumerate(panel.columns):
            if (row_name, column_name) not in panel.cells:
                continue
            value = panel.cells[row_name, column_name]
            x, y = start + column * CELL_WIDTH, top + HEAD + row * CELL_HEIGHT
            if value is None:
                struck.append(f"M{x + 2:.4g} {y + CELL_HEIGHT - 2:.4g}l{CELL_WIDTH - 5} {4 - CELL_HEIGHT}")
            else:
                box = f"M{x:.4g} {y:.4g}h{CELL_WIDTH - 1}v{CELL_HEIGHT - 1}h{1 - CELL_WIDTH}z"
                paths.setdefault(shade(round(STEPS * heat.place(value))), []).append(box)
    drawn += [f'<path fill="{fill}" d="{"".join(boxes)}"/>' for fill, boxes in sorted(paths.items())]
    if struck:
        drawn.append(f'<path stroke="#808080" d="{"".join(struck)}"/>')
    return drawn


def legend(ends: tuple[str, str, str], struck: bool) -> list[str]:
    """Return the bar of colours with what they mean, and if there is one what a strike means."""
    step = BAR / (STEPS + 1)
    drawn = [
        f'<rect x="{EDGE + at * step:.1f}" y="4" width="{step + 0.2:.1f}" height="{BAR_HEIGHT}"'
        f' fill="{shade(at)}"/>'
        for at in range(STEPS + 1)
    ]
    anchors = ("start", "middle", "end")
    drawn += [
        text(EDGE + at * BAR / 2, 23, words, 9, f' text-anchor="{anchor}"')
        for at, (words, anchor) in enumerate(zip(ends, anchors, strict=True))
    ]
    if not struck:
        return drawn
    left = EDGE + BAR + 40
    drawn.append(f'<path stroke="#808080" d="M{left} 12l6 -5"/>')
    drawn.append(text(left + 12, 12, "memory ran out, or not tried for it", 9))
    return drawn


def shade(step: int) -> str:
    """Return the colour of a step as SVG has it."""
    return "#" + "".join(f"{part:02x}" for part in colour(step / STEPS))


def text(x: float, y: float, words: str, size: float, more: str = "") -> str:
    """Return a piece of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" {TEXT}{more}>{escape(words)}</text>'


OF_AS1 = ("1/4", "as AS1", "4 times")
OF_BEFORE = ("as before the shuffle", "", "100 times that")
MOST_DEGRADED = 100.0
ALL = (*GLOBAL, *LOCAL)
IN_A_LINE = 3  # structures

Lines = list[list[Panel]]


def density(here: Measured, paper: Measured) -> Lines:
    """Return structures, three in a line, each here and in the paper."""
    structures = sorted({key[0] for key in here.cells}, key=lambda name: int(name[2:]))
    pairs = [
        [of_structure(here, one, title(one)), of_structure(paper, one, "in the paper")] for one in structures
    ]
    return [
        [panel for pair in pairs[first : first + IN_A_LINE] for panel in pair]
        for first in range(0, len(pairs), IN_A_LINE)
    ]


def of_structure(table: Measured, structure: str, name: str) -> Panel:
    """Return the panel of a structure."""
    of = {key: cell for key, cell in table.cells.items() if key[0] == structure}
    cells = {
        (f"2^{size}", label): ratio(cell, of.get((structure, size, "AS1")))
        for (_, size, label), cell in of.items()
    }
    sizes = [f"2^{size}" for size in sorted({key[1] for key in of})]
    return Panel(name, sizes, ALL, cells)


def locality(here: Measured, paper: Measured) -> Lines:
    """Return systems, one in a line: each heap here, then the paper's."""
    systems = sorted({key[1] for key in here.cells if key[0] == "splits"})
    names = {WITHOUT: "AS1, one heap", WITH: "AS7, a multipool each", BESIDE: f"{BESIDE} each"}
    return [
        [
            *(of_heap(here, system, label, f"2^{system} links: {names[label]}") for label in names),
            *(of_heap(paper, system, label, f"in the paper: {label}") for label in (WITHOUT, WITH)),
        ]
        for system in systems
    ]


def of_heap(table: Measured, system: int, label: str, name: str) -> Panel:
    """Return the panel of a heap."""
    of = {
        key[2:]: cell
        for key, cell in table.cells.items()
        if key[:2] == ("splits", system) and key[-1] == label
    }
    cells = {
        (f"2^{lists}", f"2^-{split}"): ratio(cell, of.get((lists, split, False, None, label)))
        for (lists, split, shuffled, _, _), cell in of.items()
        if shuffled
    }
    lists = [f"2^{size}" for size in sorted({key[0] for key in of}, reverse=True)]
    splits = [f"2^-{split}" for split in sorted({key[1] for key in of})]
    return Panel(name, lists, splits, cells)


def utilization(here: Measured, paper: Measured) -> Lines:
    """Return both panels in one line."""
    return beside(here, paper, lambda total, active, block: f"{total} {active} {block}", "T A S")


def contention(here: Measured, paper: Measured) -> Lines:
    """Return both panels in one line."""
    return beside(here, paper, lambda iterations, block, threads: f"{iterations} {block} {threads}", "N S W")


def beside(here: Measured, paper: Measured, name: Callable[[int, int, int], str], corner: str) -> Lines:
    """Return all lines of the paper's tables, by their settings."""
    settings = sorted({key[:-1] for key in here.cells})
    panels = [
        of_all(here, settings, name, f"{corner}, here"),
        of_all(paper, [one for one in settings if (*one, "AS1") in paper.cells], name, "in the paper"),
    ]
    return [panels]


def of_all(
    table: Measured,
    settings: Sequence[tuple[int, int, int]],
    name: Callable[[int, int, int], str],
    heading: str,
) -> Panel:
    """Return the panel of some settings."""
    cells = {
        (name(*one), label): ratio(table.cells[*one, label], table.cells.get((*one, "AS1")))
        for one in settings
        for label in ALL
        if (*one, label) in table.cells
    }
    labels = [label for label in ALL if any(column == label for _, column in cells)]
    return Panel(heading, [name(*one) for one in settings], labels, cells)


PICTURES: dict[str, tuple[Callable[[Measured, Measured], Lines], Heat, tuple[str, str, str]]] = {
    "density": (density, around_one(), OF_AS1),
    "locality": (locality, Heat(1.0, MOST_DEGRADED), OF_BEFORE),
    "utilization": (utilization, around_one(), OF_AS1),
    "contention": (contention, around_one(), OF_AS1),
}


def drawn(benchmark: str, here: Measured, paper: Measured) -> str:
    """Return the picture of a benchmark."""
    panels, heat, ends = PICTURES[benchmark]
    return picture(f"Benchmark {benchmark}, here and in the paper", panels(here, paper), heat, ends)
