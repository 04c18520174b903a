"""The page of a comparison: verdict, a chart a figure (Figures 8.1-8.8 of seed 003), table, method.

Verdict and table are there without scripts; page/main.js adds the charts.
"""

import json
import shlex
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.compare.intervals import Interval
from mallard.compare.listing import facts, seconds
from mallard.compare.outcome import FIGURES, Line, Outcome, program_name
from mallard.figures import shown
from mallard.html.element import Column, head, line, scrolled, tag
from mallard.html.frame import Page, whole

WRITTEN: dict[str, Callable[[float], str]] = {
    "cpu_s": seconds,
    "elapsed_s": seconds,
    "max_rss_bytes": figures.size,
    "figure": figures.number,
}
COMPARED = ("figure", "cpu_s", "elapsed_s", "max_rss_bytes")  # with what they are of glibc's


def page(of: Outcome, document: dict[str, Any], version: str, command: list[str]) -> str:
    """Return the page of one comparison; `document` is its JSON, and `command` makes it again."""
    name = shown(program_name(of))
    made = Page(
        name=" ".join(command[:2]),
        title=f"{name}: mallocs compared",
        content=[heading(of, name), contents(), verdict(of), charts(), listed(of), method(of)],
        data=[json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")],
        own=files("mallard.compare") / "page",
        given={"figures": FIGURES},
    )
    return whole(made, version, command)


def heading(of: Outcome, name: str) -> Element:
    """Return what the page is of."""
    command = tag("code", shown(shlex.join(of.program)), class_="command")
    measured_on = tag("p", tag("span", facts(of)["machine"]), class_="facts")
    made = tag("div", tag("h1", name), command, measured_on, class_="head")
    if of.interrupted:
        made.append(tag("p", "Interrupted: these rounds were measured.", class_="notice"))
    return made


def contents() -> Element:
    """Return the links to all sections."""
    links = {"verdict": "Verdict", "charts": "Charts", "mallocs": "Mallocs", "method": "Method"}
    items = (tag("li", tag("a", text, href=f"#{name}")) for name, text in links.items())
    return tag("nav", tag("ul", *items), class_="contents", aria_label="Sections")


def verdict(of: Outcome) -> Element:
    """Return what the figures say, and what has none."""
    lines = [tag("p", text, class_="headline" if at == 0 else None) for at, text in enumerate(of.verdict)]
    left_out = (
        tag("p", tag("strong", f"Not measured: {name}: "), reason) for name, reason in of.left_out.items()
    )
    notes = (tag("p", f"Note: {note}.", class_="note") for note in of.notes)
    return tag(
        "section", tag("h2", "Verdict"), *lines, *left_out, *notes, class_="card verdict", id="verdict"
    )


def charts() -> Element:
    """Return the place that scripts fill."""
    return tag("section", tag("h2", "Charts"), tag("div", data_part="bars"), class_="card drawn", id="charts")


def listed(of: Outcome) -> Element:
    """Return a row for each malloc."""
    columns: list[Column[Line]] = [
        Column("Malloc", lambda row: row.name),
        *([Column("Verdict", lambda row: row.says or "-")] if any(row.says for row in of.lines) else []),
        *columns_of(of),
        Column("Loaded", lambda row: row.loaded),
    ]
    table = tag("table", head(columns), class_="sortable")
    table.append(tag("tbody", *(line(columns, row) for row in of.lines)))
    return tag("section", tag("h2", "Mallocs"), scrolled(table, "Mallocs"), class_="card", id="mallocs")


def columns_of(of: Outcome) -> Iterator[Column[Line]]:
    """Yield the figures, each with its interval, and with its ratio where that is of interest."""
    for name, words in FIGURES.items():
        if not any(row.figures[name] for row in of.lines):
            continue
        heading = words[0].upper() + words[1:]
        yield Column(heading, middle(name, figures_of), number(name), show=bounded(name))
        if name in COMPARED:
            yield Column(f"x {of.base.name}", middle(name, ratios_of), number(""), show=ratio(name))


def figures_of(row: Line, name: str) -> Interval | None:
    """Return a figure."""
    return row.figures[name]


def ratios_of(row: Line, name: str) -> Interval | None:
    """Return a ratio."""
    return row.ratios[name]


def middle(name: str, of: Callable[[Line, str], Interval | None]) -> Callable[[Line], float | None]:
    """Return what a column is sorted by."""

    def value(row: Line) -> float | None:
        found = of(row, name)
        return None if found is None else found.median

    return value


def number(name: str) -> Callable[[float | None], str]:
    """Return how a figure is written."""
    write = WRITTEN.get(name, figures.number)
    return lambda value: figures.UNKNOWN if value is None else write(value)


def bounded(name: str) -> Callable[[Line], str]:
    """Return how a figure is shown with its interval."""
    write = WRITTEN.get(name, figures.count)

    def text(row: Line) -> str:
        found = row.figures[name]
        return figures.UNKNOWN if found is None else " ".join(
            (write(found.median), f"({write(found.low)} to {write(found.high)})")
        )  # fmt: skip

    return text


def ratio(name: str) -> Callable[[Line], str]:
    """Return how a ratio is shown with its interval."""

    def text(row: Line) -> str:
        found = row.ratios[name]
        return (
            figures.UNKNOWN if found is None else f"{found.median:.3f} ({found.low:.3f} to {found.high:.3f})"
        )

    return text


def method(of: Outcome) -> Element:
    """Return how the figures were made."""
    rows = (
        tag("tr", tag("th", name, scope="row"), tag("td", shown(text)))
        for name, text in (of.method | facts(of)).items()
    )
    table = tag("table", tag("tbody", *rows), class_="pairs")
    return tag("section", tag("h2", "Method"), table, class_="card", id="method")
