"""The journals that footprints are taken of: where each comes from, and which limits it is held to.

    cc1plus (fixture), cc1plus, python3           the constants of the heaps were chosen with these in sight
    sqlite3 (fixture), jq, xmllint, sqlite3 ...   not looked at while choosing: held with a tenth of slack

What is recorded is kept in `build/footprint`, so that a second run takes seconds.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import journals
import workloads
from usage import RunError

# Live at once in each recorded program that the limits are about.
LEAST_OBJECTS = 100_000
# Parts of the compiled unit that make the compiler hold so many.
PARTS = 40


@dataclass(frozen=True)
class Recording:
    """A journal; `seen` while constants were chosen, `recorded` here and not a fixture."""

    name: str
    path: Path
    seen: bool
    recorded: bool


def fixtures(root: Path) -> list[Recording]:
    """Return what is in the repository."""
    folder = root / "tests" / "fixtures"
    return [
        Recording(f"{name} (fixture)", folder / f"{name}.txt.xz", name == "cc1plus", False)
        for name in ("cc1plus", "sqlite3")
    ]


def recorded(mallard: str, folder: Path) -> Iterator[Recording]:
    """Yield the others, each recorded unless it is in `folder` already."""
    if not all((folder / f"{name}.mlrd").exists() for name in ("cc1plus", "python3")):
        journals.prepare(folder, PARTS)
    for workload in journals.workloads(folder):
        if not (path := folder / f"{workload.name}.mlrd").exists():
            journals.record(workload, mallard, folder)
        yield Recording(workload.name, path, True, True)
    inputs = folder / "inputs"
    programs = workloads.workloads(1.0)
    if not all((folder / f"{program.name}.mlrd").exists() for program in programs):
        workloads.prepare(programs, inputs, 1.0)
    for program in programs:
        if not (path := folder / f"{program.name}.mlrd").exists():
            record(program.command, mallard, path, inputs)
        yield Recording(program.name, path, False, True)


def record(command: tuple[str, ...], mallard: str, path: Path, folder: Path) -> None:
    """Record a program that runs in `folder`."""
    ran = subprocess.run(
        (mallard, "record", "-o", str(path), "--", *command),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        path.unlink(missing_ok=True)
        raise RunError(f"{command[0]}: {ran.stderr.strip()}")
