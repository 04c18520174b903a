"""What multipool holds for recorded programs, beside pools that lose nothing, and others.

Weighs the fixtures, a compiler and an interpreter with at least 100,000 objects alive, and programs that
nobody looked at while the heaps' constants were chosen. Exit code 0 when everything ran, 1 with --check
when a promise is missed, 2 when something could not be run.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from holding import WIDTH, Weighed, limits, show, show_sweep
from limits import exit_code, verdict
from recordings import Recording, fixtures, recorded
from usage import RunError

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
