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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from contest_journals import PROGRAMS, recorded
from limits import Limit, as_command, judged, number
from machine import machine_line
from usage import RunError

RIVAL = "mimalloc"
# multipool with one free list a class, as it was before it had slabs.
BEFORE = "lifo_multipool"

# Figures of a row that are compared.
WARM = "ns_per_event"
COLD = "cold_ns_per_event"
HELD = "max_held"


@dataclass(frozen=True)
class Standing:
    """What `mallard replay --json` found for one journal."""

    journal: str
    steady: bool
    rows: Sequence[dict[str, Any]]

    def ratio(self, figure: str, strategy: str, binding: str, over: str) -> float | None:
        """Return a strategy's figure over another's, bound as malloc or typed; None if one is missing."""
        ours = self.row(strategy, binding)
        theirs = self.row(over, "malloc") or self.row(over, "typed")
        if ours is None or theirs is None or not ours[figure] or not theirs[figure]:
            return None
        return float(ours[figure] / theirs[figure])

    def row(self, strategy: str, binding: str) -> dict[str, Any] | None:
        """Return a strategy's row if its figures can be used."""
        for each in self.rows:
            if (each["strategy"], each["binding"], each["status"]) == (strategy, binding, "ok"):
                return each
        return None


@dataclass(frozen=True)
class Promise:
    """A ratio that is promised on each journal of a kind, and in the geometric mean of them."""

    figure: str
    strategy: str
    binding: str
    over: str
    each: float
    mean: float | None = None
    steady: bool = False

    @property
    def words(self) -> str:
        """Return it as it is reported."""
        what = {WARM: "warm", COLD: "cold", HELD: "held at most"}[self.figure]
        return f"{self.strategy}, {self.binding}, {what}, over {self.over}" + (
            ", steady churn" if self.steady else ""
        )


FRESH = (
    Promise(WARM, "multipool", "typed", RIVAL, 0.9, 0.75),
    Promise(COLD, "multipool", "typed", RIVAL, 0.95),
    Promise(WARM, "multipool", "pmr", RIVAL, 1.05),
    Promise(HELD, "multipool", "typed", BEFORE, 1.15, 1.05),
    Promise(WARM, "multipool", "typed", RIVAL, 0.8, steady=True),
    Promise(WARM, "multipool", "typed", BEFORE, 1.3, steady=True),
    Promise(WARM, "synchronized_multipool", "typed", RIVAL, 1.2),
    Promise(WARM, "locked_multipool", "typed", RIVAL, 2.0),
    Promise(WARM, "reap", "typed", RIVAL, 1.5),
    Promise(WARM, "sized_reap", "typed", RIVAL, 1.2),
)
LITTERED = (
    Promise(WARM, "multipool", "typed", BEFORE, 1.1),
    Promise(HELD, "multipool", "typed", BEFORE, 1.1),
)


def mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean."""
    return exp(sum(log(each) for each in ratios) / len(ratios))


def limits(standings: Sequence[Standing], litter: int) -> Iterator[Limit]:
    """Yield every promise, judged by the journal that it is tightest on; without journals it is unjudged."""
    for promise in LITTERED if litter else FRESH:
        ratios = dict(ratios_of(standings, promise))
        if not ratios:
            yield Limit(promise.words, promise.each, None, "on each")
            continue
        worst = max(ratios, key=ratios.__getitem__)
        yield Limit(promise.words, promise.each, ratios[worst], f"on each, most on {worst}")
        if promise.mean is not None:
            yield Limit(promise.words, promise.mean, mean(list(ratios.values())), "geometric mean")


def ratios_of(standings: Sequence[Standing], promise: Promise) -> Iterator[tuple[str, float]]:
    """Yield the journals that a promise is about, and the ratio on each."""
    for each in standings:
        ratio = each.ratio(promise.figure, promise.strategy, promise.binding, promise.over)
        if each.steady == promise.steady and ratio is not None:
            yield each.journal, ratio


def strategies(litter: int) -> list[str]:
    """Return the names of all strategies that promises are about."""
    named = {name for each in (LITTERED if litter else FRESH) for name in (each.strategy, each.over)}
    return sorted(named | {RIVAL})


def columns() -> list[tuple[str, Callable[[Standing], float | None]]]:
    """Return the columns of the table: their titles and figures."""

    def of(figure: str, strategy: str, binding: str, over: str) -> Callable[[Standing], float | None]:
        return lambda standing: standing.ratio(figure, strategy, binding, over)

    return [
        ("warm", of(WARM, "multipool", "typed", RIVAL)),
        ("pmr", of(WARM, "multipool", "pmr", RIVAL)),
        ("cold", of(COLD, "multipool", "typed", RIVAL)),
        ("warm/lifo", of(WARM, "multipool", "typed", BEFORE)),
        ("held/lifo", of(HELD, "multipool", "typed", BEFORE)),
        ("lifo", of(WARM, BEFORE, "typed", RIVAL)),
        ("sync", of(WARM, "synchronized_multipool", "typed", RIVAL)),
        ("locked", of(WARM, "locked_multipool", "typed", RIVAL)),
        ("reap", of(WARM, "reap", "typed", RIVAL)),
        ("sized_reap", of(WARM, "sized_reap", "typed", RIVAL)),
    ]


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
