"""Every example in C++ and in C on the pages for the library's users compiles, with all its headers.

    page_snippets.py --compiler COMPILER [ROOT]     prints each that does not; exit code 1 if there is one

An example is what stands between ```cpp or ```c and ```, in README.md and on the pages of docs/: statements
of a function, or, in C++ with a template or a specialisation, declarations as they stand. Those in C++ that
include nothing beyond the library and what most examples use are compiled together, and one by one only if
that fails; those in C have an array, a list and a heap.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import header_alone

SNIPPET = re.compile(r"^```(cpp|c)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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
FLAGS = [*header_alone.FLAGS, "-Wno-unused"]
UNUSED = ["-Wno-unused", "-Wno-unused-parameter", "-Wno-unused-but-set-parameter"]
FLAGS_OF_C = ["-std=c11", *header_alone.FLAGS[1:], *UNUSED, "-Wno-shadow"]
BEFORE_C = """#include <stdio.h>
#include <string.h>
struct point { double x, y; };
struct node { struct node* next; };
int example(mallard_heap* heap, struct point* points, size_t count, size_t capacity) {
{"""
AFTER_C = """}
return 0;
}"""


@dataclass(frozen=True)
class Snippet:
    """One example: where it begins, its language, and its text."""

    place: str
    language: str
    text: str


def snippets(root: Path) -> list[Snippet]:
    """All of them, in the order of pages."""
    found = []
    for page in [*root.glob("README.md"), *sorted(root.glob("docs/**/*.md"))]:
        text = page.read_text(encoding="utf-8")
        for match in SNIPPET.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Snippet(f"{page.relative_to(root).as_posix()}:{line}", match[1], match[2]))
    return found


def precompile(command: list[str], folder: Path) -> tuple[Path, str | None]:
    """What every example includes, as a header with its compiled form beside it; what is wrong with it."""
    header = folder / "head.hpp"
    header.write_text("".join(f"#include <{name}>\n" for name in ("mallard/mallard.hpp", *STANDARD)))
    return header, header_alone.run([*command, "-x", "c++-header", str(header), "-o", f"{header}.gch"])


def unit(snippet: Snippet, before: str, after: str) -> str:
    """A translation unit that has the example between two lines."""
    own = "\n".join(INCLUDE.findall(snippet.text))
    return f"{own}\n{before}\n{INCLUDE.sub('', snippet.text)}\n{after}\n"


def together(command: list[str], some: list[Snippet]) -> bool:
    """Whether examples compile as functions of one translation unit."""
    functions = [unit(s, f"void example_{number}() {{", "}") for number, s in enumerate(some)]
    return header_alone.run(command, "".join(functions)) is None


def is_plain(snippet: Snippet) -> bool:
    """Whether an example is in C++ and includes nothing beyond the library and what all examples have."""
    given = {f"#include <{name}>" for name in STANDARD}
    own = [line for line in INCLUDE.findall(snippet.text) if line not in given]
    return snippet.language == "cpp" and all("mallard/" in line for line in own)


def violation(command: list[str], command_of_c: list[str], snippet: Snippet) -> str | None:
    """What is wrong with one example."""
    if snippet.language == "c":
        wrong = header_alone.run(command_of_c, "#include <mallard.h>\n" + unit(snippet, BEFORE_C, AFTER_C))
        return None if wrong is None else f"{snippet.place} does not compile:\n{wrong}"
    wrong = header_alone.run(command, unit(snippet, "void example() {", "}"))
    if wrong is not None and header_alone.run(command, unit(snippet, "", "")) is not None:
        return f"{snippet.place} does not compile:\n{wrong}"
    return None


def violations(root: Path, compiler: str) -> Iterator[str]:
    """Everything wrong, as the compiler says it."""
    all_of_them = snippets(root)
    if not all_of_them:
        yield f"{root} has no example"
    include = ["-I", str(root / "include")]
    command = [compiler, *FLAGS, *include]
    command_of_c = [compiler, *FLAGS_OF_C, *include, "-fsyntax-only", "-x", "c", "-"]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        header, wrong = precompile(command, Path(folder))
        if wrong is not None:
            yield f"mallard/mallard.hpp does not compile:\n{wrong}"
            return
        command += ["-fsyntax-only", "-include", str(header), "-x", "c++", "-"]
        plain = [s for s in all_of_them if is_plain(s)]
        left = [s for s in all_of_them if s not in plain] if together(command, plain) else all_of_them
        found = pool.map(lambda snippet: violation(command, command_of_c, snippet), left)
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
