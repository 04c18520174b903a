"""Truth programs at work: compiled, recorded, advised, tried, changed; what each command says is kept.

build/advise/bin/apart                            the programs, several of them a file
build/advise/small/kinds/run.mlrd                 a folder for each, with its journal
                         advice.json              what `mallard advise` says, and how long it took
                         applied.json             the change of the source that was advised, measured
                         changed/                 the source with that change
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from advise_judged import Applied, Document, change_of, middle
from truths import SOURCES, Truth

ROOT = Path(__file__).resolve().parents[2]
COMPILERS = {".c": ("gcc", "-std=c11"), ".cpp": ("g++", "-std=c++20")}
FLAGS = ("-O2", "-g", "-DNDEBUG", "-pthread")
CHANGED = "CHANGED"  # the variable that names the program with the change


class CannotRunError(Exception):
    """Something that is needed did not run."""


@dataclass(frozen=True)
class Bench:
    """Which mallard, which input, and where all of it is kept."""

    mallard: Path = Path(sys.executable).parent / "mallard"
    input: str = "small"
    folder: Path = ROOT / "build" / "advise"

    def of(self, truth: Truth) -> Path:
        """Return the folder of a program."""
        folder = self.folder / self.input / truth.name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def command(self, truth: Truth) -> list[str]:
        """Return the program with its arguments, compiled if its source is newer."""
        source = SOURCES / truth.source
        program = self.folder / "bin" / source.stem
        inputs = (source, SOURCES / "truth.h")
        if not program.exists() or program.stat().st_mtime < max(one.stat().st_mtime for one in inputs):
            compiled(source, program)
        return [str(program), truth.name, self.input]

    def kept(self, truth: Truth, name: str) -> dict[str, Any]:
        """Return a document of before, with its seconds."""
        return kept_document(self.of(truth) / name)


def kept_document(path: Path) -> dict[str, Any]:
    """Return what document_of() has kept."""
    if not path.exists():
        raise CannotRunError(f"{path} is not there: run without --kept first")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def run(
    command: Sequence[str | Path],
    codes: Sequence[int] = (0,),
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a command that must succeed; return what it printed."""
    ran = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)
    if ran.returncode not in codes:
        said = ran.stderr.strip().splitlines()
        raise CannotRunError(said[-1] if said else f"{command[0]}: exit code {ran.returncode}")
    return ran.stdout


def compiled(source: Path, program: Path) -> None:
    """Compile a program; a changed one has the library's headers and those beside the original."""
    program.parent.mkdir(parents=True, exist_ok=True)
    run((*COMPILERS[source.suffix], *FLAGS, "-I", SOURCES, "-I", ROOT / "include", "-o", program, source))


def document_of(
    command: Sequence[str | Path],
    kept: Path,
    codes: Sequence[int] = (0,),
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run a command that prints JSON, in the folder of `kept`; keep that with the seconds it took."""
    began = time.monotonic()
    document: dict[str, Any] = json.loads(run(command, codes, kept.parent, environment))
    document["seconds"] = time.monotonic() - began
    kept.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return document


def advised(bench: Bench, truth: Truth, options: Sequence[str]) -> dict[str, Any]:
    """Record a program with its owners, and ask for advice."""
    folder = bench.of(truth)
    journal = folder / "run.mlrd"
    run((bench.mallard, "record", "--witness", "-o", journal, "--", *bench.command(truth)))
    return document_of((bench.mallard, "advise", "--json", *options, journal), folder / "advice.json")


def applied(bench: Bench, truth: Truth, advice: Document) -> Applied | None:
    """Change a copy of the source as it was advised, and measure both in turn; None if no diff was given."""
    candidate = change_of(truth, advice)
    if candidate is None:
        return None
    found = Applied(
        truth.name,
        candidate["strategy"],
        *(middle(candidate["cpu"]), None, None),
        keeps_together=bool(candidate.get("apart")),
    )
    try:
        ratio = measured(bench, truth, candidate["change"]["diff"])
    except CannotRunError as reason:
        return replace(found, failure=str(reason))
    interval = (ratio["low"] - 1, ratio["high"] - 1)
    found = replace(found, measured=ratio["median"] - 1, interval=interval)
    kept = bench.of(truth) / "applied.json"
    kept.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
    return found


def measured(bench: Bench, truth: Truth, diff: str) -> Document:
    """Return the CPU time of the changed program over that of the original."""
    folder = bench.of(truth) / "changed"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    changed = patched(SOURCES / truth.source, diff, folder)
    compiled(changed, changed.with_suffix(""))
    program, *arguments = bench.command(truth)
    # The second row is glibc like the first, but for the variable that has the shell start the other program.
    candidate = f"{CHANGED}={changed.with_suffix('')} glibc"
    script = f'exec "${{{CHANGED}:-{program}}}" {" ".join(arguments)}'
    compare = (bench.mallard, "compare", "--json", "--malloc", candidate, "--", "/bin/sh", "-c", script)
    document = json.loads(run(compare, (0, 1)))
    row = next((one for one in document["rows"] if one["name"] == candidate), None)
    if row is None or row["same_output"] is False:
        left_out = [one["reason"] for one in document["left_out"] if one["name"] == candidate]
        raise CannotRunError(left_out[0] if left_out else "it prints something else")
    ratio: Document = row["ratios"]["cpu_s"]
    return ratio


def patched(source: Path, diff: str, folder: Path) -> Path:
    """Return a copy of a source with a diff applied, whatever names of files the diff has."""
    copy = folder / source.name
    shutil.copyfile(source, copy)
    (folder / "change.diff").write_text(diff, encoding="utf-8")
    run(("patch", "--silent", "--fuzz=0", copy, folder / "change.diff"))
    return copy
