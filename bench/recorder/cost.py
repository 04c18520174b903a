"""What recording costs: ten programs as they are, recorded by mallard-record and by heaptrack.

Prints per program what each adds to the CPU time, and whether the limits are held. Exit code 0 when all ran
that limits are about, 1 with --check when a limit is missed or cannot be judged, 2 when some of it could not
be run, 130 after Ctrl-C; what is done by then is printed.
"""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

from cost_figures import Measured, limits, method, row, show, whole
from limits import exit_code
from machine import first_line, machine
from session import Interrupt, RunError, Session, stack_depth
from workloads import COMPILER, FLAGS, FULL, SetUpError, Variant, Workload, prepare, variants, workloads

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "cost"
QUICK = 0.1


def arguments(given: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev cost", description="Measure what recording adds to ten programs, beside heaptrack."
    )
    parser.add_argument("--rounds", type=positive, metavar="N", help="rounds to run (default 15; quick: 3)")
    parser.add_argument(
        "--quick", action="store_true", help="inputs of a tenth: does it run, roughly how much"
    )
    names = [workload.name for workload in workloads(1)]
    parser.add_argument("--program", action="append", choices=names, help="only this one; may be repeated")
    parser.add_argument(
        "--recorder",
        metavar="PATH",
        help="another mallard-record, with its library beside it, and `mallard` if there is one",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON, too")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    return parser.parse_args(given)


def facts(recorder: str) -> dict[str, str | int]:
    """Return the machine, and the versions of what is compared."""
    return machine() | {
        "compiler": first_line(COMPILER, "--version"),
        "flags": " ".join(FLAGS),
        "recorder": first_line(recorder, "--version"),
        "heaptrack": first_line("heaptrack", "--version"),
    }


def positive(text: str) -> int:
    """Read a number from 1 on."""
    if (number := int(text)) < 1:
        raise ValueError
    return number


def tool(path: Path | str) -> str:
    """Return the whole path of a tool that must be there."""
    if (found := shutil.which(path)) is None:
        raise SetUpError(f"{path} is not there or cannot be executed")
    return str(Path(found).resolve())


def info_tool(recorder: str) -> str:
    """Return the `mallard` that reads what this recorder writes: beside it, else beside this Python."""
    beside = Path(recorder).with_name("mallard")
    return str(beside) if os.access(beside, os.X_OK) else tool(Path(sys.executable).with_name("mallard"))


def writable(path: Path) -> None:
    """Make sure, before all the runs, that their figures can be written."""
    try:
        path.touch()
    except OSError as error:
        raise SetUpError(f"cannot write {path}: {error.strerror}") from error


def tell(line: str) -> None:
    """Show the progress: on a terminal a line that changes and that an empty one ends, else lines."""
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
    elif line:
        print(line, file=sys.stderr, flush=True)


def main(given: list[str]) -> int:
    """Prepare, measure, print."""
    wanted = arguments(given)
    scale = QUICK if wanted.quick else 1.0
    chosen = [w for w in workloads(scale) if wanted.program is None or w.name in wanted.program]
    recorder = tool(wanted.recorder or ROOT / ".venv/bin/mallard-record")
    mallard = info_tool(recorder)
    tool("heaptrack")
    if wanted.json is not None:
        writable(wanted.json)
    tell("making the inputs")
    prepare(chosen, FOLDER, scale)

    def note_depth(workload: Workload, variant: Variant, journal: Path) -> None:
        if variant.name != FULL:
            return
        measured = session.measured[workload.name]
        try:
            measured.stack_depth = stack_depth(mallard, journal)
        except RunError as reason:
            measured.no_depth = str(reason)

    session = Session(chosen, variants(recorder), FOLDER, note_depth, tell)
    with Interrupt() as interrupt:
        session.measure(wanted.rounds or (3 if wanted.quick else 15), interrupt)
    tell("")
    return conclude(session, wanted, scale, recorder, interrupt.asked)


def conclude(
    session: Session, wanted: argparse.Namespace, scale: float, recorder: str, interrupted: bool
) -> int:
    """Print what there is; return the exit code."""
    measured: list[Measured] = list(session.measured.values())
    rows = [row(m, variant.name) for m in measured for variant in variants(recorder)]
    judged = list(limits(rows))
    measured_on, made = facts(recorder), method(session.rounds_done, scale)
    show(measured, rows, judged, measured_on, made, sys.stdout)
    if wanted.json is not None:
        document = whole(measured, rows, judged, measured_on, made)
        wanted.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    lacking = any(m.lacks_a_figure() for m in measured)
    return exit_code(interrupted, lacking, wanted.check, [limit.held for limit in judged])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SetUpError as reason:
        print(f"cost: {reason}", file=sys.stderr)
        sys.exit(2)
