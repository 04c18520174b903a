"""HTML as elements, written and escaped by the standard library, and the tables of a static page.

page/lib/table.js makes tables sort and filter: a cell holds what is read, and beside it the plain figure
that it is sorted by.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from mallard.figures import UNKNOWN

Child = Element | str | None


def tag(name: str, *children: Child, **attributes: str | None) -> Element:
    """Return an element. `class_` is the attribute class, `data_value` is data-value; None is left out."""
    made = Element(
        name,
        {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None},
    )
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif child is not None and len(made):
            made[-1].tail = (made[-1].tail or "") + child
        elif child is not None:
            made.text = (made.text or "") + child
    return made


def text_of(element: Element) -> str:
    """Return the element as HTML."""
    return ElementTree.tostring(element, encoding="unicode", method="html")


Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column: its heading, the figure of a row, and how that is written."""

    heading: str
    value: Callable[[Row], float | str | None]
    write: Callable[[float | None], str] | None = None  # None: text
    tip: str | None = None
    show: Callable[[Row], Child] | None = None  # what is read, where it is more than the value written
    no_script: bool = False  # scripts show it in a chart


def head(columns: Iterable[Column[Row]]) -> Element:
    """Return the headings; a `data-sort` can be sorted by."""
    row = tag("tr")
    for column in columns:
        kind = "text" if column.write is None else "number"
        heading = tag("th", column.heading, scope="col", data_sort=kind, data_tip=column.tip)
        if column.no_script:
            heading.set("class", "no-script")
        row.append(heading)
    return tag("thead", row)


def cell(column: Column[Row], row: Row) -> Element:
    """Return one cell."""
    value = column.value(row)
    shown: Child = str(value)
    if column.show is not None:
        shown = column.show(row)
    elif column.write is not None:
        shown = column.write(None if value is None else float(value))
    plain = None if value is None else str(value)
    kinds = {
        "number": column.write is not None,
        "unknown": value is None and shown == UNKNOWN,
        "no-script": column.no_script,
    }
    classes = " ".join(kind for kind, holds in kinds.items() if holds)
    return tag("td", shown, class_=classes or None, data_value=plain)


def line(columns: Iterable[Column[Row]], row: Row, **attributes: str | None) -> Element:
    """Return one row."""
    return tag("tr", *(cell(column, row) for column in columns), **attributes)


def scrolled(table: Element, label: str, tall: bool = False) -> Element:
    """Return a table that scrolls sideways where the page is narrow; a tall one within the window, too."""
    kind = "scroll tall" if tall else "scroll"
    return tag("div", table, class_=kind, tabindex="0", role="region", aria_label=label)
