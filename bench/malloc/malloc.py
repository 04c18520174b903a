"""Run thirteen programs under every malloc, and print what mallard's own takes beside the others.

Exit code 0 when everything ran, 1 with --check when a limit is missed, 2 when something could not be run, 130
when it was interrupted; the table then has what was measured.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from limits import as_command, judged, number
from machine import machine_line
from malloc_programs import compared, prepare, programs
from malloc_table import BASE, Comparison, limits, mallocs, mean
from workloads import SetUpError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "malloc"
FIGURES = {"cpu_s": "CPU time", "max_rss_bytes": "max RSS"}
METHOD = (
    "Parts of glibc's figure, medians over the rounds of `mallard compare`, whose page says how they are"
    " measured; mean: geometric, over all programs."
)


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev malloc",
        description="Run thirteen programs under every malloc and compare what they take.",
    )
    names = [each.name for each in programs()]
    parser.add_argument("--program", choices=names, action="append", default=[], help="only this; repeatable")
    parser.add_argument("--malloc", action="append", default=[], help="only this beside glibc; repeatable")
    parser.add_argument("--rounds", type=int, default=15, help="of each comparison, at least 5 (15)")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    parser.add_argument("--json", action="store_true", help="print what compare found for each, as JSON")
    return parser.parse_args(given)


def show(console: Console, comparisons: Sequence[Comparison]) -> None:
    """Print a table for each figure."""
    names = [name for name in mallocs(comparisons) if name != BASE]
    for figure, title in FIGURES.items():
        table = Table(title, box=None, pad_edge=False)
        for name in names:
            table.add_column(name, justify="right")
        for each in comparisons:
            table.add_row(each.program, *(number(each.ratio(name, figure), ".2f") for name in names))
        table.add_row("mean", *(number(mean(comparisons, name, figure), ".3f") for name in names))
        console.print(table)
        console.print()
    console.print(Text(METHOD))
    console.print(Text(machine_line()))
    console.print()


def main(given: Sequence[str]) -> int:
    """Make the inputs, compare, print."""
    wanted = arguments(given)
    mallard = shutil.which(ROOT / ".venv/bin/mallard")
    if mallard is None:
        raise SetUpError(".venv/bin/mallard is not there or cannot be executed")
    options = ["--rounds", str(wanted.rounds)] + [
        word for name in wanted.malloc for word in ("--malloc", name)
    ]
    comparisons: list[Comparison] = []
    found: dict[str, Any] = {}
    interrupted = False
    try:
        prepare(FOLDER)
        for program in programs():
            if wanted.program and program.name not in wanted.program:
                continue
            print(f"{program.name}: {program.does}", file=sys.stderr)
            result = compared(mallard, program, FOLDER, options)
            found[program.name] = result
            comparisons.append(Comparison(program.name, result["rows"]))
    except KeyboardInterrupt:
        interrupted = True
    if wanted.json:
        print(json.dumps(found))
    elif comparisons:
        show(Console(width=120, highlight=False), comparisons)
    return judged(
        list(limits(comparisons)) if comparisons else [], interrupted, wanted.check, aside=wanted.json
    )


if __name__ == "__main__":
    as_command("malloc", main, SetUpError)
