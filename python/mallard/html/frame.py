"""The frame of a page: what is around its content, and the one file that holds everything.

    bar: name, theme | notices, content | foot | plotly, data, scripts

All that matters is there without scripts; they add charts, tables and sorting. What pages share and what is a
page's own:

    html/page/*.css, own/*.css ------------------------------> <style>
    html/page/lib, own/lib, own/charts, own/main.js ---------> <script>, each file in a block of its own
    plotly, data --------------------------------------------> <script type="text/plain">, compressed, base64

What a page borrows from another comes before what is its own.

The browser unpacks what is compressed (page/lib/drawing.js).
"""

import base64
import gzip
import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template
from typing import Any
from xml.etree.ElementTree import Element

from mallard.figures import shown
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
    borrowed: Sequence[Traversable] = ()  # .css and .js files of another page


def whole(page: Page, version: str, command: list[str]) -> str:
    """Return the file; `command` makes it again."""
    main = tag("main", *notices(), *page.content, id="content", tabindex="-1")
    body = tag("body", skip_link(), bar(page.name), main, foot(version, command))
    data = [
        f'<script type="text/plain" id="data-{number}">{packed(content)}</script>'
        for number, content in enumerate(page.data)
    ]
    return Template(text(shared() / "index.html")).substitute(
        version=version,
        title=text_of(tag("title", page.title)),
        style=styles(page),
        body=text_of(body).removesuffix("</body>"),
        plotly=plotly(),
        data="\n".join(data),
        scripts=scripts(page),
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


def tabs(names: Sequence[tuple[str, str]]) -> Element:
    """Return the selector of journals, of each its name and its title; scripts show it and make it work."""
    made = tag("div", class_="tabs", role="tablist", aria_label="Journals", hidden="")
    for number, (name, title) in enumerate(names):
        made.append(
            tag(
                "button",
                name,
                type="button",
                role="tab",
                id=f"tab-{number}",
                aria_controls=f"journal-{number}",
                aria_selected="true" if number == 0 else "false",
                tabindex="0" if number == 0 else "-1",
                title=title,
            )
        )
    return made


# Equal input gives an equal page.
NO_TIME = 0


def shared() -> Traversable:
    """Return the folder of what pages share."""
    return files("mallard.html") / "page"


def text(file: Traversable) -> str:
    """Return the text of a file."""
    return file.read_text(encoding="utf-8")


def inside(folder: Traversable, ending: str) -> Iterator[str]:
    """Yield the texts of the files of a folder that end so, in order of their names."""
    if folder.is_dir():
        found = sorted(folder.iterdir(), key=lambda file: file.name)
        yield from (text(file) for file in found if file.name.endswith(ending))


def styles(page: Page) -> str:
    """Return all styles: those that pages share, then those of the page."""
    return "".join([text(shared() / "style.css"), *borrowed(page, ".css"), *inside(page.own, ".css")])


def scripts(page: Page) -> str:
    """Return all JavaScript: lib, charts, then main.js, which starts the page."""
    members = "".join(f", {name}: {json.dumps(value)}" for name, value in page.given.items())
    parts = ['"use strict";', f"const mallard = {{ charts: {{}}{members} }};"]
    found = [*inside(shared() / "lib", ".js"), *borrowed(page, ".js")]
    for folder in (page.own / "lib", page.own / "charts"):
        found += inside(folder, ".js")
    return "\n".join([*parts, *map(block, [*found, text(page.own / "main.js")])])


def borrowed(page: Page, ending: str) -> Iterator[str]:
    """Yield the texts of the borrowed files that end so, in the order in which they are named."""
    yield from (text(file) for file in page.borrowed if file.name.endswith(ending))


def block(script: str) -> str:
    """Return a file as a block, so that its names are its own."""
    if "</script" in script.lower():
        raise ValueError("a script must not hold the end of its own element")
    return f"{{\n{script}}}"


@cache
def plotly() -> str:
    """Return plotly as the page holds it; packed once, as a page may be written often."""
    return packed((files("plotly") / "package_data" / "plotly.min.js").read_bytes())


def packed(content: bytes) -> str:
    """Return bytes as text that the page can hold and the browser can unpack."""
    return base64.b64encode(gzip.compress(content, compresslevel=9, mtime=NO_TIME)).decode("ascii")
