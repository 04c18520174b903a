"""Replay programs with many blocks alive over our general heaps and the malloc that is hardest to beat.

Records eight real programs, and two of steady churn, and prints for each the time of our heaps over that of
the malloc. Exit code 0 when everything ran, 1 with --check when a promise is missed, 2 when something could
not be run, 130 when it was interrupted; the table then has what was measured.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from contest_journals import PROGRAMS, recorded
from limits import as_command, judged, number
from machine import machine_line
from standing import RIVAL, Standing, columns, limits, strategies
from usage import RunError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "contest"

METHOD = (
    f"warm, pmr, cold: multipool over {RIVAL}, typed unless it says pmr; lifo, sync, reap, sized_reap: warm,"
    f" typed, over {RIVAL}; warm/lifo, held/lifo: multipool over lifo_multipool. Times an event, net of the"
    " baseline; `mallard replay` says how they are measured."
)


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev contest",
        description="Replay ten programs with many blocks alive over our heaps and the fastest malloc.",
    )
    names = [each.name for each in PROGRAMS]
    parser.add_argument(
        "--program", choices=names, action="append", default=[], help="only this; may be repeated"
    )
    parser.add_argument(
        "--litter", type=int, choices=(0, 1, 3, 10), default=0, help="as mallard replay --litter"
    )
    parser.add_argument("--anew", action="store_true", help="record the programs anew")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    parser.add_argument("--json", action="store_true", help="print what replay found for each, as JSON")
    return parser.parse_args(given)


def replayed(mallard: str, journal: Path, litter: int) -> list[dict[str, object]]:
    """Return the rows that `mallard replay` prints."""
    chosen = [word for name in strategies(litter) for word in ("--strategy", name)]
    command = (mallard, "replay", "--json", "--litter", str(litter), *chosen, str(journal))
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RunError(ran.stderr.strip() or f"replay: exit code {ran.returncode}")
    rows: list[dict[str, object]] = json.loads(ran.stdout)["rows"]
    return rows


def show(console: Console, standings: Sequence[Standing]) -> None:
    """Print the table."""
    table = Table("journal", box=None, pad_edge=False)
    for title, _ in columns():
        table.add_column(title, justify="right")
    for standing in standings:
        table.add_row(standing.journal, *(number(figure(standing), ".2f") for _, figure in columns()))
    console.print(table)
    console.print()
    console.print(Text(METHOD))
    console.print(Text(machine_line()))
    console.print()


def main(given: Sequence[str]) -> int:
    """Record, replay, print."""
    wanted = arguments(given)
    mallard = shutil.which(ROOT / ".venv/bin/mallard")
    if mallard is None:
        raise RunError(".venv/bin/mallard is not there or cannot be executed")
    if wanted.anew:
        shutil.rmtree(FOLDER, ignore_errors=True)
    standings: list[Standing] = []
    interrupted = False
    try:
        for program, journal in recorded(mallard, FOLDER, wanted.program):
            print(f"replaying {program.name}: {program.does}", file=sys.stderr)
            rows = replayed(mallard, journal, wanted.litter)
            standings.append(Standing(program.name, program.steady, rows))
    except KeyboardInterrupt:
        interrupted = True
    if wanted.json:
        print(json.dumps({each.journal: each.rows for each in standings}))
    else:
        show(Console(width=120, highlight=False), standings)
    return judged(list(limits(standings, wanted.litter)), interrupted, wanted.check, aside=wanted.json)


if __name__ == "__main__":
    as_command("contest", main, RunError)
