"""Every example in C++ on the pages for the library's users compiles, with all its headers.

    page_snippets.py --compiler COMPILER [ROOT]     prints each that does not; exit code 1 if there is one

An example is what stands between ```cpp and ```, on the pages of docs/strategies and in README.md under
"Use the library": statements of a function, or, with a template or a specialisation, declarations as they
stand.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import header_alone

SNIPPET = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIBRARY = re.compile(r"^## Use the library$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)
STANDARD = (
    "array",
    "cstddef",
    "cstdio",
    "functional",
    "list",
    "map",
    "memory_resource",
    "span",
    "string",
    "vector",
)
# An example shows how things are made, and may leave it at that.
FLAGS = [*header_alone.FLAGS, "-Wno-unused", "-fsyntax-only"]


@dataclass(frozen=True)
class Snippet:
    """One example: where it begins, and its text."""

    place: str
    text: str


def snippets(root: Path) -> list[Snippet]:
    """All of them, in the order of pages."""
    pages = [root / "README.md", *sorted(root.glob("docs/strategies/*.md"))]
    found = []
    for page in pages:
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        part = LIBRARY.search(text) if page.name == "README.md" and page.parent == root else None
        begin, end = part.span() if part else (0, len(text))
        for match in SNIPPET.finditer(text, begin, end):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Snippet(f"{page.relative_to(root).as_posix()}:{line}", match[1]))
    return found


def unit(snippet: Snippet, before: str, after: str) -> str:
    """A translation unit that has the example between two lines."""
    head = "".join(f"#include <{name}>\n" for name in ("mallard/mallard.hpp", *STANDARD))
    own = "\n".join(INCLUDE.findall(snippet.text))
    return f"{head}{own}\n{before}\n{INCLUDE.sub('', snippet.text)}\n{after}\n"


def violation(compiler: str, root: Path, snippet: Snippet) -> str | None:
    """What is wrong with one example."""
    command = [compiler, *FLAGS, "-I", str(root / "include"), "-x", "c++", "-"]
    wrong = header_alone.run(command, unit(snippet, "void example() {", "}"))
    if wrong is not None and header_alone.run(command, unit(snippet, "", "")) is not None:
        return f"{snippet.place} does not compile:\n{wrong}"
    return None


def violations(root: Path, compiler: str) -> Iterator[str]:
    """Everything wrong, as the compiler says it."""
    all_of_them = snippets(root)
    if not all_of_them:
        yield f"{root} has no example"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda snippet: violation(compiler, root, snippet), all_of_them)
    yield from (wrong for wrong in found if wrong is not None)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[2])
    arguments = parser.parse_args()
    found = list(violations(arguments.root, arguments.compiler))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
