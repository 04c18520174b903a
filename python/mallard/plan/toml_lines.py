"""Where each key of a TOML file is: messages about values name the line, which tomllib does not give.

[[rule]]              ("rule", 0)                   1
contexts = [          ("rule", 0, "contexts")       2
    "prog+0x1",       ("rule", 0, "contexts", 0)    3
"""

import re
from collections import Counter
from typing import TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]

# What ends where, so that brackets inside of texts do not count. Multi-line texts come first.
TOKEN = re.compile(
    r'"""(?s:.*?)(?<!\\)"{3,5}|' r"'''(?s:.*?)'{3,5}|" r'"(?:\\.|[^"\\\n])*"|' r"'[^'\n]*'|#[^\n]*|[\[\]{}\n]"
)
HEADER = re.compile(r"[ \t]*(\[\[?)[ \t]*([^\[\]#\n]*?)[ \t]*\]\]?[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)")
KEY = re.compile(r"[ \t]*([A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*=")


def lines_of(text: str) -> dict[KeyPath, int]:
    """Return the line of each table, key, and text in an array, of a file that is valid TOML.

    Good enough for messages: dotted keys and inline tables are found by what they are in.
    """
    lines: dict[KeyPath, int] = {}
    rows: Counter[str] = Counter()
    table: KeyPath = ()
    at, line = 0, 1
    while at < len(text):
        if header := HEADER.match(text, at):
            names = [part.strip().strip("\"'") for part in header[2].split(".")]
            if header[1] == "[[" and len(names) == 1:
                table = (names[0], rows[names[0]])
                rows[names[0]] += 1
            else:
                inside = rows.get(names[0], 0)
                table = (names[0], inside - 1, *names[1:]) if inside else tuple(names)
            lines[table] = line
            at, line = header.end(), line + header[0].count("\n")
            continue
        path: KeyPath | None = None
        if key := KEY.match(text, at):
            path = (*table, key[1].strip("\"'"))
            lines[path] = line
            at = key.end()
        at, line = value_end(text, at, line, path, lines)
    return lines


def value_end(
    text: str, at: int, line: int, path: KeyPath | None, lines: dict[KeyPath, int]
) -> tuple[int, int]:
    """Skip to the line behind a value; note where the texts of an array are."""
    depth = item = 0
    while token := TOKEN.search(text, at):
        what = token[0]
        if depth and what[0] in "\"'" and path is not None:
            lines[(*path, item)] = line
            item += 1
        depth += (what in "[{") - (what in "]}")
        at, line = token.end(), line + what.count("\n")
        if what == "\n" and depth <= 0:
            return at, line
    return len(text), line
