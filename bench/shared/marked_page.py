"""A table with what is promised of it: on the terminal, as JSON, and between two marks of a page."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from limits import Limit, verdict
from machine import machine_line

Rows = list[list[str]]


class NoMarksError(Exception):
    """A page that does not say where the table goes."""


def marks(command: str) -> tuple[str, str]:
    """Return the lines between which a command writes."""
    return f"<!-- {command}: begin -->", f"<!-- {command}: end -->"


def markdown(head: Sequence[str], rows: Rows, judgements: Sequence[Limit], method: str) -> str:
    """Return a table as a page has it, with what is held below it."""
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    held = [f"- {verdict(one)}" for one in judgements]
    return "\n".join([*lines, "", *held, "", method, "", f"Measured on {machine_line()}."]) + "\n"


def page_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where a table goes."""
    parser.add_argument(
        "--table",
        type=Path,
        metavar="FILE",
        help="write the table as Markdown: a new file, or between the two marks of one that has them",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def around(path: Path, command: str) -> tuple[str, str]:
    """Return what stands in a page before and behind a command's table, with the marks."""
    if not path.exists():
        return "", ""
    begin, end = marks(command)
    before, begun, rest = path.read_text(encoding="utf-8").partition(begin)
    _, ended, behind = rest.partition(end)
    if not begun or not ended:
        raise NoMarksError(f"--table {path}: it has no lines {begin} and {end} around what is to be written")
    return f"{before}{begin}\n", f"{end}{behind}"


def write_table(path: Path, command: str, text: str) -> None:
    """Write a page that is nothing else, or what stands between the command's marks in one that has more."""
    before, behind = around(path, command)
    path.write_text(before + text + behind, encoding="utf-8")


def publish(
    wanted: argparse.Namespace,
    command: str,
    table: tuple[Sequence[str], Rows],
    judgements: Sequence[Limit],
    method: str,
    found: Sequence[Any],
    *,
    is_whole: bool,
) -> None:
    """Print a table or JSON and what is held; write the page if nothing is missing in the table."""
    if wanted.json:
        print(json.dumps([asdict(one) for one in found], default=sorted))
    else:
        show(Console(width=160, highlight=False), *table, method)
    for one in judgements:
        print(verdict(one), file=sys.stderr if wanted.json else sys.stdout)
    if wanted.table is not None and is_whole:
        write_table(wanted.table, command, markdown(*table, judgements, method))


def show(console: Console, head: Sequence[str], rows: Rows, method: str) -> None:
    """Print a table, and how it was made."""
    table = Table(box=None, pad_edge=False)
    for title in head:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)
    console.print()
    console.print(Text(method))
    console.print(Text(machine_line()))
    console.print()


def change(share: float | None) -> str:
    """Return a change as one reads it."""
    return "-" if share is None else f"{100 * share:+.1f} %"


def spread(interval: Sequence[float] | None) -> str:
    """Return the bounds of a change, behind it."""
    return f" ({100 * interval[0]:+.1f} .. {100 * interval[1]:+.1f})" if interval else ""
