"""What a program over multipool pays for assertions, and what it gives back to the system.

Compiles one program twice, with NDEBUG and without, and runs them in turn. Exit code 0 when everything ran,
1 with --check when a promise is missed, 2 when something could not be run, 130 when it was interrupted.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from limits import Limit, as_command, judged, number
from machine import machine_line
from usage import RunError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "process"

COMPILER = (
    "g++-12",
    "-std=c++20",
    "-O2",
    *(f"-I{ROOT / each}" for each in ("include", "src", "bench/papers")),
)
SOURCES = (ROOT / "bench/process/process.cpp", ROOT / "src/harness/mapping.cpp")
# By name, the additional flags of a build.
BUILDS = {"checked": (), "unchecked": ("-DNDEBUG",)}

# Of a program without NDEBUG, over the same with it.
MOST_FOR_ASSERTIONS = 1.1
# Mebibytes that may be resident a second after a heap of GIBIBYTES has ended, and after a trim.
GIBIBYTES = 4
MOST_LEFT = 16

METHOD = (
    "ns: a leaf of a structure that is built, written and destroyed in a new multipool, processor time,"
    " the median of the rounds; the two programs run in turn."
)


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev process",
        description="Tell what a program over multipool pays for assertions, and what it gives back.",
    )
    parser.add_argument(
        "--rounds", type=int, default=9, metavar="N", help="runs of each program (%(default)s)"
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    wanted = parser.parse_args(given)
    if wanted.rounds < 1:
        parser.error("--rounds: at least 1")
    return wanted


def figures(printed: str) -> dict[str, float]:
    """Return what a program printed: a name and a figure in each line."""
    found = {}
    for line in printed.splitlines():
        name, figure = line.split()
        found[name] = float(figure)
    return found


def run(command: Sequence[str]) -> str:
    """Run a command that must succeed; return what it printed."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RunError(ran.stderr.strip() or f"{command[0]}: exit code {ran.returncode}")
    return ran.stdout


def limits(rounds: Mapping[str, Sequence[Mapping[str, float]]], resident: Mapping[str, float]) -> list[Limit]:
    """Judge the rounds of each build, and what was resident; what was not measured is unjudged."""
    ratios = {name: ratio for name, (_, _, ratio) in compared(rounds).items()}
    worst = max(ratios, key=ratios.__getitem__, default=None)
    before = resident.get("before")
    judged = [
        Limit(
            "without NDEBUG, over the same with it",
            MOST_FOR_ASSERTIONS,
            None if worst is None else ratios[worst],
            f"most on {worst or 'none'}",
        )
    ]
    for when, words in (("later", "a second later"), ("trimmed", "at once by trim")):
        left = None if before is None or when not in resident else resident[when] - before
        judged.append(Limit(f"MiB more resident than before {GIBIBYTES} GiB, {words}", MOST_LEFT, left, when))
    return judged


def compared(rounds: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, tuple[float, float, float]]:
    """Return for each structure the medians without NDEBUG and with it, and their ratio."""
    checked, unchecked = (rounds.get(name, ()) for name in BUILDS)
    if not checked or not unchecked:
        return {}
    found = {}
    for name in checked[0]:
        pair = [median(each[name] for each in build) for build in (checked, unchecked)]
        found[name] = (pair[0], pair[1], pair[0] / pair[1])
    return found


def show(
    console: Console, rounds: Mapping[str, Sequence[Mapping[str, float]]], resident: Mapping[str, float]
) -> None:
    """Print the tables."""
    table = Table("structure", box=None, pad_edge=False)
    for title in ("ns without NDEBUG", "ns with it", "ratio"):
        table.add_column(title, justify="right")
    for name, (checked, unchecked, ratio) in compared(rounds).items():
        table.add_row(name, *(number(each, ".2f") for each in (checked, unchecked, ratio)))
    console.print(table)
    console.print()
    console.print(Text("MiB resident: " + ", ".join(f"{when} {mib:.1f}" for when, mib in resident.items())))
    console.print()
    console.print(Text(METHOD))
    console.print(Text(machine_line()))
    console.print()


def main(given: Sequence[str]) -> int:
    """Compile, run, print."""
    wanted = arguments(given)
    FOLDER.mkdir(parents=True, exist_ok=True)
    programs = {name: str(FOLDER / name) for name in BUILDS}
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in BUILDS}
    resident: dict[str, float] = {}
    interrupted = False
    try:
        for name, flags in BUILDS.items():
            run((*COMPILER, *flags, *map(str, SOURCES), "-o", programs[name]))
        for turn in range(wanted.rounds):
            print(f"round {turn + 1} of {wanted.rounds}", file=sys.stderr)
            for name, program in programs.items():
                rounds[name].append(figures(run((program, "structures"))))
        print(f"a heap of {GIBIBYTES} GiB", file=sys.stderr)
        resident = figures(run((programs["unchecked"], "returned", str(GIBIBYTES))))
    except KeyboardInterrupt:
        interrupted = True
    if wanted.json:
        print(json.dumps({"rounds": rounds, "resident_mib": resident}))
    else:
        show(Console(width=120, highlight=False), rounds, resident)
    return judged(limits(rounds, resident), interrupted, wanted.check, aside=wanted.json)


if __name__ == "__main__":
    as_command("process", main, RunError)
