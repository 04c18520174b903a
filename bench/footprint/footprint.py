"""What multipool holds for recorded programs, beside pools that lose nothing, and others.

Weighs the fixtures, a compiler and an interpreter with at least 100,000 objects alive, and programs that
nobody looked at while the heaps' constants were chosen. Exit code 0 when everything ran, 1 with --check
when a promise is missed, 2 when something could not be run.

    cc1plus (fixture), cc1plus, python3, sqlite3 ...   the heaps' constants were chosen with these in sight
    clang, json_orders, cmake                          not looked at before: held with a tenth of slack

What is recorded is kept in `build/footprint`, so that a second run takes seconds.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

import large_journals
import workloads
from holding import WIDTH, Weighed, limits, show, show_sweep
from limits import exit_code, verdict
from usage import RunError

# Live at once in each recorded program that the limits are about.
LEAST_OBJECTS = 100_000
# Parts of the compiled unit that make the compiler hold at least that many.
PARTS = 40
ORDINARY = ("jq", "xmllint", "sqlite3", "perl", "churn")


@dataclass(frozen=True)
class Recording:
    """A journal; `seen` while constants were chosen."""

    name: str
    path: Path
    seen: bool = True
    least_objects: int = 0


@dataclass(frozen=True)
class Program:
    """What is recorded, in the folder of its inputs."""

    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


def fixtures(root: Path) -> Iterator[Recording]:
    """Yield what is in the repository."""
    for name in ("cc1plus", "sqlite3"):
        yield Recording(f"{name} (fixture)", root / "tests" / "fixtures" / f"{name}.txt.xz")


def recorded(root: Path, mallard: str, folder: Path) -> Iterator[Recording]:
    """Yield the others, recorded unless they are in `folder` already."""
    programs = {**large(folder), **ordinary(), **unseen(folder)}
    missing = [name for name in programs if not journal_of(name, folder).exists()]
    if missing:
        prepare(root, folder)
    for name in missing:
        print(f"recording {name}", file=sys.stderr)
        record(programs[name], mallard, journal_of(name, folder), folder)
    for name in programs:
        least = LEAST_OBJECTS if name in large(folder) else 0
        yield Recording(name, journal_of(name, folder), name not in unseen(folder), least)


def large(folder: Path) -> dict[str, Program]:
    """Return the compiler and the interpreter."""
    return {each.name: Program(each.command, each.environment) for each in large_journals.workloads(folder)}


def priced() -> list[workloads.Workload]:
    """Return the ordinary ones as those have them that price recording."""
    return [each for each in workloads.workloads(1.0) if each.name in ORDINARY]


def ordinary() -> dict[str, Program]:
    """Return those whose recording is priced, too."""
    return {each.name: Program(each.command) for each in priced()}


def unseen(folder: Path) -> dict[str, Program]:
    """Return those that nobody looked at."""
    unit = str(folder / "unit.cpp")
    return {
        "clang": Program(("clang++-19", "-std=c++20", "-O2", "-c", unit, "-o", "/dev/null")),
        "json_orders": Program(("./json_orders", "5000")),
        "cmake": Program(("cmake", "--help-full")),
    }


def journal_of(name: str, folder: Path) -> Path:
    """Return where a program's journal is."""
    return folder / f"{name}.mlrd"


def prepare(root: Path, folder: Path) -> None:
    """Make in `folder` what the programs read, and those that are ours."""
    large_journals.prepare(folder, PARTS)
    try:
        workloads.prepare(priced(), folder, 1.0)
    except workloads.SetUpError as reason:
        raise RunError(str(reason)) from reason
    source = root / "examples" / "demo" / "json_orders.cpp"
    large_journals.said_by(
        large_journals.COMPILER, "-std=c++20", "-O2", str(source), "-o", str(folder / "json_orders")
    )


def record(program: Program, mallard: str, path: Path, folder: Path) -> None:
    """Record a program; what cannot be recorded whole is not kept."""
    ran = subprocess.run(
        (mallard, "record", "--no-children", "-o", str(path), "--", *program.command),
        cwd=folder,
        env={**os.environ, **program.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        path.unlink(missing_ok=True)
        raise RunError(f"{path.stem}: {ran.stderr.strip()}")


ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "footprint"
PROGRAM = ROOT / "build" / "release" / "bench" / "footprint" / "footprint"


def arguments(given: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev footprint", description="Weigh what multipool holds for recorded programs."
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    parser.add_argument("--sweep", action="store_true", help="vary the largest size class instead")
    parser.add_argument("--anew", action="store_true", help="record the programs anew")
    return parser.parse_args(given)


def figures_of(recording: Recording, *options: str) -> dict[str, Any]:
    """Run the native program on a journal, and see that it is large enough to judge by."""
    command = (str(PROGRAM), *options, str(recording.path))
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RunError(ran.stderr.strip() or f"{PROGRAM.name}: exit code {ran.returncode}")
    found: dict[str, Any] = json.loads(ran.stdout)
    if found["max_live_objects"] < recording.least_objects:
        raise RunError(
            f"{recording.name} has {found['max_live_objects']:,} objects alive:"
            f" {recording.least_objects:,} are wanted"
        )
    return found


def recordings(anew: bool) -> Iterator[Recording]:
    """Yield every journal, in the table's order."""
    mallard = shutil.which(ROOT / ".venv/bin/mallard")
    if mallard is None:
        raise RunError(".venv/bin/mallard is not there or cannot be executed")
    if anew:
        shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    found = [*fixtures(ROOT), *recorded(ROOT, mallard, FOLDER)]
    yield from sorted(found, key=lambda recording: not recording.seen)


def main(given: list[str]) -> int:
    """Record, weigh, print."""
    wanted = arguments(given)
    console = Console(width=WIDTH, highlight=False)
    weighed = []
    for recording in recordings(wanted.anew):
        print(f"weighing {recording.name}", file=sys.stderr)
        if wanted.sweep:
            show_sweep(console, recording.name, figures_of(recording, "--sweep"))
        else:
            weighed.append(Weighed(recording.name, recording.seen, figures_of(recording)))
    if wanted.sweep:
        return 0
    show(console, weighed)
    judged = list(limits(weighed))
    for limit in judged:
        print(verdict(limit))
    return exit_code(False, False, wanted.check, [limit.held for limit in judged])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RunError as reason:
        print(f"footprint: {reason}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
