"""The compiler's standard input: a program in its language, the same for the same arguments.

generate.py [--functions N] [--seed N]     to standard output
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

OPERATORS = ("+", "-", "*", "&", "|", "^", "+", "-", "<<", ">>", "/", "%", "+")
COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
HEAD = """\
struct item { int key; char tag; struct item* next; int counts[4]; };
struct table { struct item items[64]; int used; struct table* outer; };
struct table tables[16];
int totals[256];
int depth;
char letters[128];
"""


class Dice:
    """Numbers that look random and never depend on the version of Python."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def roll(self, sides: int) -> int:
        """Return a number from 0 to sides - 1."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        return (self.state >> 33) % sides


class Writer:
    """Writes one function after the other."""

    def __init__(self, seed: int) -> None:
        self.dice = Dice(seed)
        self.names: list[str] = []
        self.count = 0
        self.callable: list[tuple[str, int]] = []

    def operand(self) -> str:
        """Return something small that has a value."""
        kind = self.dice.roll(10)
        name = self.names[self.dice.roll(len(self.names))]
        if kind < 5:
            return name
        if kind < 7:
            return str(self.dice.roll(1000))
        return (f"totals[{name} & 255]", f"p->counts[{self.dice.roll(4)}]", "p->next->key")[kind - 7]

    def expression(self, depth: int) -> str:
        """Return an expression that is at most so deep."""
        if depth == 0:
            return self.operand()
        left, right = self.expression(depth - 1), self.expression(self.dice.roll(depth))
        operator = OPERATORS[self.dice.roll(len(OPERATORS))]
        if operator in ("/", "%", "<<", ">>"):
            right = str(1 + self.dice.roll(7))
        return f"({left} {operator} {right})"

    def condition(self) -> str:
        """Return a comparison, or two of them."""
        sign = COMPARISONS[self.dice.roll(len(COMPARISONS))]
        one = f"{self.expression(1)} {sign} {self.operand()}"
        return one if self.dice.roll(3) else f"{one} && {self.operand()} != {self.dice.roll(50)}"

    def call(self) -> str:
        """Return a call of a function that is there already."""
        if not self.callable:
            return self.operand()
        name, count = self.callable[-1 - self.dice.roll(min(len(self.callable), 40))]
        return f"{name}({', '.join(['p', *(self.operand() for _ in range(count))])})"

    def block(self, indent: str, depth: int) -> Iterator[str]:
        """Yield the statements of a block, which may declare variables of its own."""
        known = len(self.names)
        for _ in range(2 + self.dice.roll(3)):
            yield from self.statement(indent, depth)
        del self.names[known:]

    def statement(self, indent: str, depth: int) -> Iterator[str]:
        """Yield one statement, of some lines."""
        kind = self.dice.roll(10 if depth else 6)
        name = self.names[self.dice.roll(len(self.names))]
        if kind == 0:
            self.count += 1
            yield f"{indent}int v{self.count} = {self.expression(2)};"
            self.names.append(f"v{self.count}")
        elif kind == 1:
            yield f"{indent}totals[{name} & 255] = {self.expression(2)};"
        elif kind == 2:
            yield f"{indent}p->counts[{self.dice.roll(4)}] = {name} * {self.dice.roll(64)} + {self.call()};"
        elif kind < 6:
            yield f"{indent}{name} = {self.expression(3)};"
        elif kind < 8:
            yield f"{indent}if ({self.condition()}) {{"
            yield from self.block(indent + "  ", depth - 1)
            yield f"{indent}}} else {{"
            yield from self.block(indent + "  ", depth - 1)
            yield f"{indent}}}"
        elif kind == 8:
            yield f"{indent}while ({name} > {self.dice.roll(9)}) {{"
            yield from self.block(indent + "  ", depth - 1)
            yield f"{indent}  {name} = {name} - 1;"
            yield f"{indent}}}"
        else:
            yield f"{indent}for ({name} = 0; {name} < {2 + self.dice.roll(30)}; {name} = {name} + 1) {{"
            yield from self.block(indent + "  ", depth - 1)
            yield f"{indent}}}"

    def function(self, number: int) -> Iterator[str]:
        """Yield a function."""
        parameters = [f"a{i}" for i in range(1 + self.dice.roll(5))]
        self.names = [*parameters]
        self.count = 0
        yield f"int f{number}(struct item* p, {', '.join('int ' + p for p in parameters)}) {{"
        yield f"  int local = {self.expression(2)};"
        self.names.append("local")
        if not self.dice.roll(4):
            yield "  int* q = &local;"
            yield f"  *q = *q + letters[{self.names[0]} & 127];"
        for _ in range(5 + self.dice.roll(5)):
            yield from self.statement("  ", 2)
        yield f"  return {self.expression(2)};"
        yield "}"
        self.callable.append((f"f{number}", len(parameters)))


def main(given: list[str]) -> int:
    """Write the program."""
    parser = argparse.ArgumentParser(description="Write a program for the compiler.")
    parser.add_argument("--functions", type=int, default=4500)
    parser.add_argument("--seed", type=int, default=2002)
    wanted = parser.parse_args(given)
    writer = Writer(wanted.seed)
    sys.stdout.write(HEAD)
    for number in range(wanted.functions):
        sys.stdout.writelines(f"{line}\n" for line in writer.function(number))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
