"""Heat maps as one SVG: panels in lines, a cell a figure, no text in cells.

DS1 here          the paper        DS2 here    ...
2^6  ▒▒░░▒▒...    2^6  ▓▓░░...     a column a strategy, a row a size
2^7  ▒▒░░▒▒...    2^7  ▓▓░░...     struck through: it ended otherwise

Cells of one colour are one path, so that a picture of thousands stays small.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from mallard_bench.tables.grid import Heat, colour

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
