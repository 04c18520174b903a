"""Mistakes that a compiler must find: each file here compiles, and with any one of its mistakes it must not.

    check.py --compiler COMPILER [FILE...]     prints each mistake that is not as it must be; exit code 1 then

A mistake stands between `#if defined(MISTAKE_NAME)` and `#else`, what is right instead behind that. Before
it a line says what the compiler must complain of, as part of its message or, between slashes, as a regular
expression:

    // error: the destructor of T would never run
    // error: /deleted (constructor|function)/

A file that does not compile without its mistakes proves nothing; a mistake that compiles, or is refused for
another reason, shows that the library lets it pass. The library itself is compiled once for all of them.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
FLAGS = [
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wpedantic",
    "-Werror",
    "-I",
    str(INCLUDE),
]
LINE = re.compile(
    r"^// error: (?:/(?P<pattern>.+)/|(?P<text>.+))$|^#if !?defined\((?P<mistake>MISTAKE_\w+)\)$",
    re.MULTILINE,
)


def precompile(compiler: str, folder: Path) -> list[str]:
    """The options that give a file the library, compiled in a folder."""
    header = folder / "library.hpp"
    header.write_text("#include <mallard/mallard.hpp>\n", encoding="utf-8")
    subprocess.run([compiler, *FLAGS, "-x", "c++-header", str(header), "-o", f"{header}.gch"], check=True)
    return ["-include", str(header)]


def complaint(compiler: str, source: Path, *options: str) -> str | None:
    """What the compiler says of a file that it refuses, on one line; None if it takes it."""
    done = subprocess.run(
        [compiler, *FLAGS, "-fsyntax-only", *options, "-x", "c++", str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    return None if done.returncode == 0 else " ".join(done.stderr.split())


def mistakes(source: Path) -> dict[str, list[str]]:
    """What a compiler must say of each mistake of a file, as regular expressions."""
    found: dict[str, list[str]] = {}
    expected: list[str] = []
    for line in LINE.finditer(source.read_text(encoding="utf-8")):
        if line["mistake"]:
            found[line["mistake"]] = found.get(line["mistake"], []) + expected
            expected = []
        else:
            expected.append(line["pattern"] or re.escape(line["text"]))
    return found


def violations(compiler: str, source: Path, *options: str) -> Iterator[str]:
    """What is wrong with one file, compiled with these additional options."""
    right = complaint(compiler, source, *options)
    if right is not None:
        yield f"{source.name} does not compile without its mistakes: {right}"
    found = mistakes(source)
    if not found:
        yield f"{source.name} has no mistake"
    for mistake, expected in found.items():
        if not expected:
            yield f"{source.name}: nothing says '// error: ...' before {mistake}"
        wrong = complaint(compiler, source, *options, f"-D{mistake}")
        if wrong is None:
            yield f"{source.name} compiles in spite of {mistake}"
        else:
            for pattern in expected:
                if not re.search(pattern, wrong):
                    yield f"{source.name} is refused for {mistake} without a word of '{pattern}': {wrong}"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compiler", required=True)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    files = arguments.files or sorted(HERE.glob("*.cpp"))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        options = precompile(arguments.compiler, Path(folder))
        all_found = pool.map(lambda file: list(violations(arguments.compiler, file, *options)), files)
        found = [line for lines in all_found for line in lines]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
