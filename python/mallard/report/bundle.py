"""The files of page/ and plotly, put into one page.

    page/*.css ------------------> <style>
    page/lib, charts, main.js ---> <script>, each file in a block of its own
    plotly, the journals' data --> <script type="text/plain">, compressed, base64

The browser unpacks what is compressed (page/lib/unpack.js).
"""

import base64
import gzip
import json
from dataclasses import asdict
from importlib.resources import files
from importlib.resources.abc import Traversable

from mallard.report.formulas import DIMENSIONS

# Equal input gives an equal page.
NO_TIME = 0


def page_folder() -> Traversable:
    """Return the folder of what the page is made of."""
    return files("mallard.report") / "page"


def page_file(name: str) -> str:
    """Return the text of a file of page/."""
    return (page_folder() / name).read_text(encoding="utf-8")


def styles() -> str:
    """Return all styles: those of the page, then those of the charts."""
    return page_file("style.css") + page_file("chart.css")


def scripts() -> str:
    """Return all JavaScript: lib, then charts, then main.js, which starts the page."""
    dimensions = json.dumps([asdict(dimension) for dimension in DIMENSIONS])
    parts = ['"use strict";', f"const mallard = {{ charts: {{}}, dimensions: {dimensions} }};"]
    for folder in ("lib", "charts"):
        found = sorted((page_folder() / folder).iterdir(), key=lambda file: file.name)
        parts += [block(file.read_text(encoding="utf-8")) for file in found if file.name.endswith(".js")]
    return "\n".join([*parts, block(page_file("main.js"))])


def block(text: str) -> str:
    """Return a file as a block, so that its names are its own."""
    if "</script" in text.lower():
        raise ValueError("a script must not hold the end of its own element")
    return f"{{\n{text}}}"


def plotly() -> str:
    """Return plotly as the page holds it."""
    return packed((files("plotly") / "package_data" / "plotly.min.js").read_bytes())


def packed(content: bytes) -> str:
    """Return bytes as text that the page can hold and the browser can unpack."""
    return base64.b64encode(gzip.compress(content, compresslevel=9, mtime=NO_TIME)).decode("ascii")
