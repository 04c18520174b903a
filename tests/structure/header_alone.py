"""Every header of the library compiles alone, twice, and in two translation units of one program.

    header_alone.py --compiler COMPILER [--passed FILE] [ROOT]
                                                prints each violation; exit code 1 if there is one

Alone shows a missing include, twice a missing guard, two units a definition that is not inline. As C++17 a
header must say in one line what it needs, and nothing else. FILE keeps what has passed: a header is compiled
again when it, or one of ours that it includes, has changed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror"]
TOO_OLD = ["-std=c++17", "-E", "-x", "c++", "-"]
NEEDS = "mallard needs C++20: compile with -std=c++20"
CHECK = Path(__file__).read_text("utf-8")
INCLUDE = re.compile(r"""^\s*#\s*include\s*["<]([^">]+)""", re.MULTILINE)
# What costs most of what headers include. A header that includes all of one of these anyway gets it compiled,
# once for all of them, and is none the better for it.
SHARED = [
    ("algorithm",),
    ("atomic",),
    ("algorithm", "atomic"),
    ("algorithm", "atomic", "mutex", "thread"),
    ("algorithm", "atomic", "map", "memory_resource"),
]


def run(command: list[str], text: str = "") -> str | None:
    """The command's complaint, None if it succeeds."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else (done.stderr or f"exit code {done.returncode}")


def headers(root: Path) -> list[str]:
    """Names as an include directive has them."""
    below = root / "include"
    return sorted(p.relative_to(below).as_posix() for p in below.rglob("*.h*") if p.suffix in {".h", ".hpp"})


def includes(names: Iterable[str]) -> str:
    """A translation unit of these includes."""
    return "".join(f'#include "{name}"\n' for name in names)


def all_included(texts: dict[str, str]) -> dict[str, set[str]]:
    """What each header includes, itself or through others of ours; itself among them."""
    direct = {name: set(INCLUDE.findall(text)) for name, text in texts.items()}
    found: dict[str, set[str]] = {}
    for name in texts:
        reached, left = {name}, [name]
        while left:
            new = direct.get(left.pop(), set()) - reached
            reached |= new
            left += new
        found[name] = reached
    return found


def fingerprints(compiler: str, texts: dict[str, str], included: dict[str, set[str]]) -> set[str]:
    """A line a header: its name, and a hash of what decides whether it passes, this check included."""
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    found = set()
    for name in texts:
        ours = sorted(included[name] & texts.keys())
        read = "\0".join([version, CHECK, *(f"{other}\0{texts[other]}" for other in ours)])
        found.add(f"{name} {hashlib.sha256(read.encode()).hexdigest()}")
    return found


def precompile(command: list[str], header: Path, names: Iterable[str]) -> tuple[list[str], str | None]:
    """The options that have these headers compiled already, and what is wrong if they cannot be."""
    header.write_text(includes(names), encoding="utf-8")
    wrong = run([*command, "-x", "c++-header", str(header), "-o", f"{header}.gch"])
    return ([] if wrong else ["-include", str(header)]), wrong


def compiles_alone(command: list[str], name: str) -> str | None:
    """What is wrong with one header."""
    return run([*command, "-fsyntax-only", "-x", "c++", "-"], includes([name, name]))


def says_what_it_needs(compiler: str, include: Path, name: str) -> str | None:
    """What is wrong with what one header says as C++17: its line, and the end of the compilation."""
    said = run([compiler, "-I", str(include), *TOO_OLD], includes([name])) or "it compiles"
    errors = [line for line in said.splitlines() if "error: " in line]
    as_it_should = len(errors) == 2 and NEEDS in errors[0] and "fatal error: " in errors[1]
    return None if as_it_should else said


def links_twice(command: list[str], folder: Path, names: list[str]) -> str | None:
    """What is wrong with two units that both include all headers."""
    options, wrong = precompile(command, folder / "all.hpp", names)
    units = []
    for unit, text in (("one", "int main() {}\n"), ("two", "")):
        units.append(str(folder / f"{unit}.cpp"))
        Path(units[-1]).write_text(text, encoding="utf-8")
    return wrong or run([*command, *options, *units, "-o", str(folder / "program")])


def violations(root: Path, compiler: str, passed: Path | None = None) -> Iterator[str]:
    """Everything wrong, as the compiler says it; `passed` is read and written."""
    texts = {name: (root / "include" / name).read_text("utf-8") for name in headers(root)}
    if not texts:
        yield f"{root}/include holds no header"
        return
    included = all_included(texts)
    now = fingerprints(compiler, texts, included)
    before = set(passed.read_text("utf-8").splitlines()) if passed and passed.exists() else set()
    names = sorted(line.split()[0] for line in now - before)
    found = list(complaints(root, compiler, [*texts], names, included))
    yield from found
    if passed and not found:
        passed.parent.mkdir(parents=True, exist_ok=True)
        passed.write_text("\n".join(sorted(now)), encoding="utf-8")


def complaints(
    root: Path, compiler: str, every: list[str], names: list[str], included: dict[str, set[str]]
) -> Iterator[str]:
    """What is wrong with some of all headers, and, if there are some, with all in two units."""
    command = [compiler, *FLAGS, "-I", str(root / "include")]
    system = {name: included[name] - {*every} for name in names}
    used = {name: max(([s for s in SHARED if {*s} <= system[name]]), key=len, default=()) for name in names}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        options: dict[tuple[str, ...], list[str]] = {(): []}
        for shared in {*used.values()} - {()}:
            header = Path(folder, f"{'_'.join(shared)}.hpp")
            options[shared] = precompile(command, header, shared)[0]
        alone = pool.map(lambda name: compiles_alone([*command, *options[used[name]]], name), names)
        broken = [
            f"{n} does not compile alone:\n{wrong}" for n, wrong in zip(names, alone, strict=True) if wrong
        ]
        yield from broken
        modern = [name for name in names if name.endswith(".hpp")]
        old = pool.map(lambda name: says_what_it_needs(compiler, root / "include", name), modern)
        for name, wrong in zip(modern, old, strict=True):
            if wrong:
                yield f"{name} does not say as C++17 that it needs C++20:\n{wrong}"
        if names and not broken and (wrong := links_twice(command, Path(folder), every)) is not None:
            yield f"two translation units with all headers do not link:\n{wrong}"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--passed", type=Path, metavar="FILE")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parents[2])
    arguments = parser.parse_args()
    found = list(violations(arguments.root, arguments.compiler, arguments.passed))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
