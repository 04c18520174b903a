"""Listings of functions: the compiler's assembly, brought into a form that changes only with the code.

What the compiler moves out of a function, because it hardly ever runs, is `cold` and not shown. Names lose
their template arguments and parameters, places are numbered from 1 in each function, addresses are left out.
"""

import re

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
