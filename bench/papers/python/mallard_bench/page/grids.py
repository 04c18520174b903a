"""Tables as the terminal has them, on a page: for benchmarks whose figures need no charts."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element

from mallard.html.element import tag
from mallard.html.table import scrolled
from mallard_bench.tables.grid import Cell, Grid, Line
from mallard_bench.tables.heat import Heat
from mallard_bench.tables.notes import notes


def as_tables(grids: Iterable[Grid]) -> list[Element]:
    """Return each table, with what stands beneath it."""
    return [tag("div", scrolled(table(grid), grid.title), *small_print(grid)) for grid in grids]


def small_print(grid: Grid) -> list[Element]:
    """Return the notes of a table."""
    return [tag("p", note, class_="note") for note in notes(grid)]


def table(grid: Grid) -> Element:
    """Return one table."""
    groups = [
        tag("th", group.heading, scope="colgroup", colspan=str(len(group.columns))) for group in grid.groups
    ]
    names = [tag("th", column.name, scope="col") for group in grid.groups for column in group.columns]
    head = tag(
        "thead", tag("tr", tag("th", ""), *groups), tag("tr", tag("th", grid.corner, scope="col"), *names)
    )
    body = tag("tbody", *(row(line, grid.heat, len(names)) for line in grid.lines))
    return tag("table", tag("caption", grid.title), head, body, class_="printed")


def row(line: Line, heat: Heat | None, columns: int) -> Element:
    """Return one row, or why it has no figures."""
    heading = tag("th", line.name, scope="row")
    if line.skipped is not None:
        return tag("tr", heading, tag("td", f"skipped: {line.skipped}", colspan=str(columns)))
    return tag("tr", heading, *(of_cell(cell, heat) for cell in line.cells))


def of_cell(cell: Cell, heat: Heat | None) -> Element:
    """Return a figure in its colour."""
    colour = None if heat is None or cell.value is None else heat.style(cell.value).bgcolor
    style = None if colour is None or colour.triplet is None else f"--heat: {colour.triplet.hex}"
    kind = "number heated" if style else "number"
    return tag("td", f"{cell.whole}{cell.mark.strip()}", class_=kind, style=style, title=cell.reason)
