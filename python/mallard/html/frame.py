"""The frame of a page: what stands around its content, and the file that holds all.

    bar: name, theme | notices, content | foot | plotly, data, scripts (bundle.py)

All that matters is there without scripts; they add charts, tables and sorting.
"""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from string import Template
from typing import Any
from xml.etree.ElementTree import Element

from mallard.figures import shown
from mallard.html import bundle
from mallard.html.element import tag, text_of

TOO_OLD = (
    "This browser is too old for the charts and for the tables that can be searched: they need "
    "DecompressionStream (Chromium 80, Firefox 113, Safari 16.4). The verdict and the main figures are below."
)
NO_SCRIPT = (
    "JavaScript is off: charts and the tables that can be searched are not shown. "
    "The verdict and the main figures are below."
)


@dataclass(frozen=True, slots=True)
class Page:
    """What a page is of: `own` is the folder of its scripts, `given` what they find in `mallard`."""

    name: str  # in the bar
    title: str
    content: Iterable[Element]
    data: Iterable[bytes]  # unpacked by the names data-0, data-1 ...
    own: Traversable
    given: dict[str, Any] = field(default_factory=dict)


def whole(page: Page, version: str, command: list[str]) -> str:
    """Return the file; `command` makes it again."""
    main = tag("main", *notices(), *page.content, id="content", tabindex="-1")
    body = tag("body", skip_link(), bar(page.name), main, foot(version, command))
    data = [
        f'<script type="text/plain" id="data-{number}">{bundle.packed(content)}</script>'
        for number, content in enumerate(page.data)
    ]
    return Template(bundle.text(bundle.shared() / "index.html")).substitute(
        version=version,
        title=text_of(tag("title", page.title)),
        style=bundle.styles(page.own),
        body=text_of(body).removesuffix("</body>"),
        plotly=bundle.plotly(),
        data="\n".join(data),
        scripts=bundle.scripts(page.own, page.given),
    )


def skip_link() -> Element:
    """Return what takes a keyboard past the bar."""
    return tag("a", "Skip to the report", href="#content", class_="skip")


def bar(name: str) -> Element:
    """Return the top of the page; the button works where scripts do."""
    theme = tag("button", "Dark", type="button", id="theme", aria_pressed="false", hidden="")
    return tag("header", tag("span", name, class_="brand"), theme, class_="top")


def notices() -> tuple[Element, Element]:
    """Return what is said where scripts do not run."""
    return (
        tag("p", NO_SCRIPT, class_="notice no-script"),
        tag("p", TOO_OLD, class_="notice", id="too-old", hidden=""),
    )


def foot(version: str, command: list[str]) -> Element:
    """Return who made the page, and how to make it again."""
    return tag(
        "footer",
        tag("p", f"Made by mallard {version}. To make it again: ", tag("code", shown(shlex.join(command)))),
    )
