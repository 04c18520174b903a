"""Several mutations in one program; an environment variable chooses which of them is in force.

A mutation that changes nothing but the body of a function can be chosen at run time: the body becomes

    if (::mallard_mutation == 3) {
      what the third mutation makes of it
    } else {
      what it was
    }

Others, and those of what a compiler evaluates, are compiled each by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

VARIABLE = "MALLARD_MUTATION"  # of the environment: the number that is in force; 0, and none, mean unbroken

# Stands in front of everything, for the number to be known before any other object is made.
DECLARATION = f"""\
#include <cstdlib>
inline const int mallard_mutation = std::getenv("{VARIABLE}") ? std::atoi(std::getenv("{VARIABLE}")) : 0;
"""

TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*
        | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+' | [(){};]""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
BRACKETED = re.compile(r"<[^<>()]*>")
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|concept)\b")
EVALUATED = re.compile(r"\b(constexpr|consteval)\b")


@dataclass(frozen=True)
class Body:
    """What stands between the braces of a function: from `begin` to `end` of a text."""

    begin: int
    end: int


def bodies(text: str) -> Iterator[Body]:
    """Yield the bodies of functions that are there at run time, as far as this tells them from the rest."""
    scopes = 0  # how many of the open braces are a namespace's or a class's
    depth = 0  # of braces and parentheses inside a declaration
    head = 0  # where the declaration begins
    body: int | None = None
    for token in TOKEN.finditer(text):
        kind = token[0]
        if kind == "{" and depth == 0:
            if is_scope(text[head : token.start()]):
                scopes, head = scopes + 1, token.end()
                continue
            body = token.end() if is_function(text[head : token.start()]) else None
        if kind in "({":
            depth += 1
        elif kind in ")}" and depth > 0:
            depth -= 1
            if kind == "}" and depth == 0:
                if body is not None:
                    yield Body(body, token.start())
                body, head = None, token.end()
        elif kind == "}":
            scopes, head = scopes - 1, token.end()
        elif depth == 0:
            head = token.end()


def without_brackets(head: str) -> str:
    """The beginning of a declaration without the arguments of templates."""
    while (shorter := BRACKETED.sub(" ", head)) != head:
        head = shorter
    return head


def is_scope(head: str) -> bool:
    """Whether these words begin a namespace or a class."""
    return SCOPE.search(without_brackets(head)) is not None


def is_function(head: str) -> bool:
    """Whether these words begin a function, and one that no compiler evaluates."""
    return "(" in head and EVALUATED.search(head) is None


def changed_body(text: str, broken: str) -> Body | None:
    """Return the body that all of the change is in, if there is one."""
    same = next((i for i, (a, b) in enumerate(zip(text, broken, strict=False)) if a != b), 0)
    most = min(len(text), len(broken)) - same
    alike = next((i for i in range(most) if text[-1 - i] != broken[-1 - i]), most)
    longer = len(broken) - len(text)
    for body in bodies(text):
        if body.begin <= same and len(text) - alike <= body.end:
            return body if Body(body.begin, body.end + longer) in bodies(broken) else None
    return None


@dataclass
class Switched:
    """A text with a choice of mutations, and the lines that each of them has there."""

    text: str
    lines: dict[int, range]

    def blamed(self, file: str, complaint: str) -> set[int]:
        """Return the numbers of mutations whose lines of a file a compiler complains of."""
        named = {int(line) for line in re.findall(rf"/{re.escape(file)}:(\d+):", complaint)}
        return {number for number, lines in self.lines.items() if named & {*lines}}


def switched(text: str, broken: dict[int, str]) -> Switched:
    """Put mutations, by their numbers, each of which changes one body, into one text."""
    alternatives: dict[Body, dict[int, str]] = {}
    for number, whole in broken.items():
        body = changed_body(text, whole)
        assert body is not None
        changed = whole[body.begin : body.end + len(whole) - len(text)]
        alternatives.setdefault(body, {})[number] = changed
    made, at, lines = "", 0, {}
    for body in sorted(alternatives, key=lambda b: b.begin):
        made += text[at : body.begin]
        for number, changed in alternatives[body].items():
            first = made.count("\n") + 1
            made += f"\nif (::mallard_mutation == {number}) {{\n{changed}\n}} else"
            lines[number] = range(first, made.count("\n") + 2)
        made += f" {{\n{text[body.begin : body.end]}\n}}\n"
        at = body.end
    return Switched(made + text[at:], lines)
