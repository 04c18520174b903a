"""Real programs, recorded as a new user would, and what became of it: the table of docs/tried.md.

Exit code 0 when every program ran, 1 with --check when a promise is missed, 2 when one could not be run.
"""

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

import inputs
from limits import exit_code, verdict
from machine import machine
from programs import PROGRAMS
from trial import Tools, Trial, TrialError, attempt
from tried_page import limits, page

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "tried"


def arguments(given: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev tried", description="Record real programs, and tell what became of it."
    )
    names = [program.name for program in PROGRAMS]
    parser.add_argument("--program", action="append", choices=names, help="only this one; may be repeated")
    parser.add_argument(
        "-o",
        dest="output",
        type=Path,
        metavar="FILE",
        help="write the page to a file, if every program was tried",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON, too")
    parser.add_argument(
        "--mallard", type=Path, metavar="PATH", help="another mallard, with its recorder beside it"
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    return parser.parse_args(given)


def main(given: list[str]) -> int:
    """Try each, print the page."""
    wanted = arguments(given)
    for fresh in ("journals", "work", "inputs"):
        shutil.rmtree(FOLDER / fresh, ignore_errors=True)
        (FOLDER / fresh).mkdir(parents=True)
    (FOLDER / "inputs" / inputs.HISTORY).write_bytes(b"".join(inputs.history(4000)))
    mallard = wanted.mallard or ROOT / ".venv/bin/mallard"
    tools = Tools(str(mallard), str(mallard.with_name("mallard-record")), FOLDER, FOLDER / "inputs")
    chosen = [program for program in PROGRAMS if wanted.program is None or program.name in wanted.program]
    trials: list[Trial] = []
    failed = interrupted = False
    for place, program in enumerate(chosen):
        print(f"{place + 1} of {len(chosen)}: {program.name} {program.does}", file=sys.stderr)
        try:
            trials.append(attempt(program, tools))
        except TrialError as reason:
            print(f"tried: {reason}", file=sys.stderr)
            failed = True
        except KeyboardInterrupt:
            interrupted = True
            break
    text = page(trials, machine())
    if wanted.output is None or len(trials) < len(PROGRAMS):
        print(text, end="")
    else:
        wanted.output.write_text(text, encoding="utf-8")
    if wanted.json is not None:
        wanted.json.write_text(
            json.dumps([asdict(trial) for trial in trials], indent=2) + "\n", encoding="utf-8"
        )
    judged = list(limits(trials))
    for limit in judged:
        print(verdict(limit), file=sys.stderr)
    return exit_code(interrupted, failed, wanted.check, [limit.held for limit in judged])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
