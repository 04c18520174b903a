"""What pages share and what is a page's own, put into one file.

    html/page/*.css, own/*.css ------------------------------> <style>
    html/page/lib, own/lib, own/charts, own/main.js ---------> <script>, each file in a block of its own
    plotly, data --------------------------------------------> <script type="text/plain">, compressed, base64

The browser unpacks what is compressed (page/lib/unpack.js).
"""

import base64
import gzip
import json
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

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


def styles(own: Traversable) -> str:
    """Return all styles: those that pages share, then those of the page."""
    return text(shared() / "style.css") + "".join(inside(own, ".css"))


def scripts(own: Traversable, given: dict[str, Any]) -> str:
    """Return all JavaScript: lib, charts, then main.js, which starts the page; `given` is in `mallard`."""
    members = "".join(f", {name}: {json.dumps(value)}" for name, value in given.items())
    parts = ['"use strict";', f"const mallard = {{ charts: {{}}{members} }};"]
    for folder in (shared() / "lib", own / "lib", own / "charts"):
        parts += map(block, inside(folder, ".js"))
    return "\n".join([*parts, block(text(own / "main.js"))])


def block(script: str) -> str:
    """Return a file as a block, so that its names are its own."""
    if "</script" in script.lower():
        raise ValueError("a script must not hold the end of its own element")
    return f"{{\n{script}}}"


def plotly() -> str:
    """Return plotly as the page holds it."""
    return packed((files("plotly") / "package_data" / "plotly.min.js").read_bytes())


def packed(content: bytes) -> str:
    """Return bytes as text that the page can hold and the browser can unpack."""
    return base64.b64encode(gzip.compress(content, compresslevel=9, mtime=NO_TIME)).decode("ascii")
