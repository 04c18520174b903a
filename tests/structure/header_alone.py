"""Every header of the library compiles alone, twice, and in two translation units of one program.

    header_alone.py --compiler COMPILER [ROOT]     prints each violation; exit code 1 if there is one

Alone shows a missing include, twice a missing guard, two units a definition that is not inline.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FLAGS = [
    "-std=c++20",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wpedantic",
    "-Werror",
]


def run(command: list[str], text: str = "") -> str | None:
    """The command's complaint, None if it succeeds."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else (done.stderr or f"exit code {done.returncode}")


def headers(root: Path) -> list[str]:
    """Names as an include directive has them."""
    below = root / "include"
    return sorted(p.relative_to(below).as_posix() for p in below.rglob("*.h*") if p.suffix in {".h", ".hpp"})


def includes(names: list[str]) -> str:
    """A translation unit of these includes."""
    return "".join(f'#include "{name}"\n' for name in names)


def compiles_alone(compiler: str, root: Path, name: str) -> str | None:
    """What is wrong with one header."""
    command = [
        compiler,
        *FLAGS,
        "-fsyntax-only",
        "-I",
        str(root / "include"),
        "-x",
        "c++",
        "-",
    ]
    return run(command, includes([name, name]))


def links_twice(compiler: str, root: Path) -> str | None:
    """What is wrong with two units that both include all headers."""
    with tempfile.TemporaryDirectory() as folder:
        units = []
        for unit, rest in (("one", "int main() {}\n"), ("two", "")):
            source = Path(folder, f"{unit}.cpp")
            source.write_text(includes(headers(root)) + rest, encoding="utf-8")
            units.append(str(source))
        return run(
            [
                compiler,
                *FLAGS,
                "-I",
                str(root / "include"),
                *units,
                "-o",
                f"{folder}/program",
            ]
        )


def violations(root: Path, compiler: str) -> Iterator[str]:
    """Everything wrong, as the compiler says it."""
    names = headers(root)
    if not names:
        yield f"{root}/include holds no header"
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        alone = list(pool.map(lambda name: compiles_alone(compiler, root, name), names))
    broken = False
    for name, wrong in zip(names, alone, strict=True):
        if wrong is not None:
            broken = True
            yield f"{name} does not compile alone:\n{wrong}"
    if not broken and (wrong := links_twice(compiler, root)) is not None:
        yield f"two translation units with all headers do not link:\n{wrong}"


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
