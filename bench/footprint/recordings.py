"""The journals that footprints are taken of: where each comes from, and which limits it is held to.

    cc1plus (fixture), cc1plus, python3, sqlite3 ...   the heaps' constants were chosen with these in sight
    clang, json_orders, cmake                          not looked at before: held with a tenth of slack

What is recorded is kept in `build/footprint`, so that a second run takes seconds.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import large_journals
import workloads
from usage import RunError

# Live at once in each recorded program that the limits are about.
LEAST_OBJECTS = 100_000
# Parts of the compiled unit that make the compiler hold so many.
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
