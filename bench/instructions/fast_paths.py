"""Makes the listings of docs/fast-paths.md from what the compiler makes of fast_paths/fast_paths.cpp.

A listing stands between `<!-- NAME -->` and `<!-- end -->`. Without options it tells what differs, with exit
code 1; with --write it writes the listings anew.

A listing is the compiler's assembly, brought into a form that changes only with the code: what the compiler
moves out of a function, because it hardly ever runs, is `cold` and not shown; names lose their template
arguments and parameters, places are numbered from 1 in each function, addresses are left out.
"""

import argparse
import difflib
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from callgrind import COMPILER, INCLUDE, CountError, run

NAME = re.compile(r"^(\w+):$")
LABEL = re.compile(r"^(\.L\d+):$")
JUMP = re.compile(r"^(j\w+) (\.L\d+)$")
SIZE = re.compile(r"[A-Z]+ PTR ")
RELOCATION = re.compile(r"@\w+")
OPERAND = re.compile(r"(-?\d+|[\w:]+)\[([^\]]+)\]")
COLD = "cold"
ARGUMENTS = re.compile(r"<[^<>]*>|\((?:[^()]*)\)")


def functions(assembly: str) -> dict[str, list[str]]:
    """Return the lines of each function that has a plain name."""
    found: dict[str, list[str]] = {}
    body: list[str] = []
    for line in assembly.splitlines():
        if named := NAME.match(line):
            body = found.setdefault(named[1], [])
        elif line.startswith(("\t.section", "\t.text")):
            body = []
        elif LABEL.match(line) or (line.startswith("\t") and not line.startswith("\t.")):
            body.append(" ".join(line.split()))
    return found


def listing(name: str, body: list[str]) -> str:
    """Return a function as the page shows it."""
    places = [label[1] for line in body if (label := LABEL.match(line))]
    targets = {jump[2] for line in body if (jump := JUMP.match(line))}
    numbers = {place: f".{i}" for i, place in enumerate((p for p in places if p in targets), 1)}
    lines = [f"{name}:"]
    for line in body:
        if label := LABEL.match(line):
            if label[1] in numbers:
                lines.append(f"{numbers[label[1]]}:")
        elif jump := JUMP.match(line):
            lines.append(f"    {jump[1]} {numbers.get(jump[2], COLD)}")
        else:
            lines.append(f"    {operands(line)}")
    return "\n".join(lines)


def operands(line: str) -> str:
    """Write memory operands as sums in brackets."""
    line = RELOCATION.sub("", line)
    while (bare := ARGUMENTS.sub("", line)) != line:
        line = bare
    line = OPERAND.sub(lambda found: f"[{found[2]}+{found[1]}]", SIZE.sub("", line))
    return line.replace("+-", "-")


SOURCE = Path(__file__).with_name("fast_paths") / "fast_paths.cpp"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "fast-paths.md"

PLACE = re.compile(r"^<!-- (?!end )(\w+) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
NOTATION = ("-S", "-masm=intel")


class PageError(Exception):
    """The page and the functions do not fit together."""


def compiled() -> dict[str, list[str]]:
    """Return the functions as the compiler makes them, with readable names inside."""
    assembly = run(*COMPILER, *NOTATION, "-I", str(INCLUDE), str(SOURCE), "-o", "-")
    named = subprocess.run(("c++filt",), input=assembly, check=True, capture_output=True, text=True).stdout
    return functions(named)


def with_listings(page: str, bodies: Mapping[str, list[str]]) -> str:
    """Return the page with every listing as the compiler makes it."""

    def made(place: re.Match[str]) -> str:
        if place[1] not in bodies:
            raise PageError(f"the page names {place[1]}, which is no function of {SOURCE.name}")
        return f"<!-- {place[1]} -->\n```asm\n{listing(place[1], bodies[place[1]])}\n```\n<!-- end -->"

    return PLACE.sub(made, page)


def main(given: Sequence[str]) -> int:
    """Compare the page, or write it."""
    parser = argparse.ArgumentParser(description="Hold docs/fast-paths.md to what the compiler makes.")
    parser.add_argument("--write", action="store_true", help="write the page's listings anew")
    wanted = parser.parse_args(given)
    page = PAGE.read_text(encoding="utf-8")
    made = with_listings(page, compiled())
    if wanted.write:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(page.splitlines(True), made.splitlines(True), "page", "compiler")
    )
    return 1 if page != made else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (CountError, PageError, OSError) as reason:
        print(f"fast_paths: {reason}", file=sys.stderr)
        sys.exit(2)
