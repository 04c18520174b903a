"""Whether what `mallard doctor` says comes true, on Debian's programs, our examples and the truth programs.

    program --doctor--> trial  beside  its predictions

Exit code 0 when every promise is held, 1 when one is not or nothing is known of it, 2 when something could
not be run, 130 when it was interrupted; what has been measured is printed then, too.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import malloc_programs
from doctor_judged import Doctored, Predicted, doctor_limits, doctored
from limits import as_command, exit_code
from marked_page import NoMarksError, Rows, around, change, page_options, publish, spread
from truth_runs import ROOT, Bench, CannotRunError, compiled, document_of, kept_document
from truths import INPUTS, TRUTHS
from workloads import SetUpError

COMMAND = "./dev doctor-check --table"
FOLDER = ROOT / "build" / "doctor"
EXAMPLES = ROOT / "build" / "release" / "examples"
JSON_ORDERS = "json_orders"  # the demo's
DEBIANS = ("jq", "xmllint", "xsltproc", "perl", "python3", "sqlite3", "g++", "lua", "z3", "git")
NOTHING_TO_GAIN, NO_VERDICT = 3, 1
METHOD = (
    "predicted: what `mallard advise` expects of a plan or malloc; tried: what running the program under it"
    " changes, with the interval of the trial. A change within what glibc differs from itself by in as many"
    " rounds is none."
)


@dataclass(frozen=True)
class Patient:
    """A program that the doctor sees: its command line, run in the folder of the inputs."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def kept(self) -> Path:
        """Return where what the doctor says is kept."""
        return FOLDER / f"{self.name.replace(' ', '_')}.json"


def patients(data: str) -> Iterator[Patient]:
    """Yield all programs; those of `truths.py` with the inputs asked for."""
    for job in malloc_programs.programs():
        if job.name in DEBIANS:
            yield Patient(job.name, job.command, job.environment)
        if job.name == "xmllint":
            yield Patient("xsltproc", ("xsltproc", malloc_programs.SHEET_XSL, malloc_programs.ARTICLES_XML))
    yield Patient(JSON_ORDERS, (f"./{JSON_ORDERS}", "20000"))
    for source in sorted((ROOT / "examples").glob("[0-9]*.c*")):
        yield Patient(f"example {source.stem[:2]}", (str(EXAMPLES / f"example_{source.stem}"),))
    program = Bench.folder / "bin"
    for truth in TRUTHS:
        yield Patient(truth.name, (str(program / Path(truth.source).stem), truth.name, data))


def prepare(chosen: Sequence[Patient], data: str) -> None:
    """Make inputs and compile what the chosen programs need."""
    names = {one.name for one in chosen}
    if names & set(DEBIANS):
        malloc_programs.prepare(FOLDER)
        malloc_programs.write_sheet(FOLDER)
        for one in chosen:
            if one.name in DEBIANS and shutil.which(one.command[0]) is None:
                raise SetUpError(f"{one.command[0]} is not installed")
    if JSON_ORDERS in names:
        compiled(ROOT / "examples" / "demo" / f"{JSON_ORDERS}.cpp", FOLDER / JSON_ORDERS)
    bench = Bench(input=data)
    for truth in TRUTHS:
        if truth.name in names:
            bench.command(truth)


def seen(patient: Patient, mallard: Path, options: Sequence[str]) -> dict[str, Any]:
    """Have a program looked at; keep what is said, with the seconds it took."""
    folder = str(patient.kept.with_suffix(".doctor"))
    command = [str(mallard), "doctor", "--json", "-o", folder, *options, "--", *patient.command]
    codes = (0, NO_VERDICT, NOTHING_TO_GAIN)
    return document_of(command, patient.kept, codes, os.environ | patient.environment)


def doctor_table(all_: Sequence[Doctored]) -> tuple[list[str], Rows]:
    """Return a line for each plan and malloc that was tried, with the verdict at the first of a program."""
    head = [
        "program",
        "verdict",
        "candidate",
        "predicted CPU",
        "tried CPU",
        "predicted peak",
        "tried peak",
        "",
    ]
    rows: Rows = []
    for one in all_:
        told = [one.program, one.headline]
        for each in one.predictions:
            rows.append([*told, each.name, change(each.predicted), tried(each), *peaks(each), each.remark])
            told = ["", ""]
        if not one.predictions:
            rows.append([*told, "-", "-", "-", "-", "-", "no prediction was tried"])
    return head, rows


def tried(one: Predicted) -> str:
    """Return the change that was found."""
    return f"{change(one.tried)}{spread(one.interval)}"


def peaks(one: Predicted) -> tuple[str, str]:
    """Return both peaks in MiB."""

    def mebibytes(size: float | None) -> str:
        return "-" if size is None else f"{size / 2**20:.1f} MiB"

    return mebibytes(one.predicted_peak), mebibytes(one.tried_peak)


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev doctor-check",
        description="Run mallard doctor on programs, and judge whether what it says comes true.",
    )
    names = [one.name for one in patients(INPUTS[0])]
    truths = {truth.name for truth in TRUTHS}
    usual = [name for name in names if name not in truths]
    parser.add_argument(
        "program",
        nargs="*",
        metavar="PROGRAM",
        help=f"of {', '.join(names)} (default: to {usual[-1]})",
    )
    parser.add_argument(
        "--input", choices=INPUTS, default=INPUTS[0], help="which data truth programs have (%(default)s)"
    )
    parser.add_argument("--kept", action="store_true", help="judge what the last run left, run nothing anew")
    parser.add_argument("--budget", metavar="MINUTES", help="of each mallard doctor")
    page_options(parser)
    parser.add_argument("--mallard", type=Path, default=Bench.mallard, metavar="PATH", help="another mallard")
    wanted = parser.parse_args(given)
    if unknown := [name for name in wanted.program if name not in names]:
        parser.error(f"{unknown[0]}: no such program; there are {', '.join(names)}")
    wanted.program = wanted.program or usual
    return wanted


def main(given: Sequence[str]) -> int:
    """Run, judge, print."""
    wanted = arguments(given)
    chosen = [one for one in patients(wanted.input) if one.name in wanted.program]
    options = ["--budget", wanted.budget] if wanted.budget else []
    if wanted.table is not None:
        around(wanted.table, COMMAND)  # so that a page that cannot be written is refused at once
    if not wanted.kept:
        prepare(chosen, wanted.input)
    found: list[Doctored] = []
    failed = interrupted = False
    for number, patient in enumerate(chosen, 1):
        print(f"{number} of {len(chosen)}: {patient.name}", file=sys.stderr, flush=True)
        try:
            run = kept_document(patient.kept) if wanted.kept else seen(patient, wanted.mallard, options)
            found.append(doctored(patient.name, run, run["seconds"]))
        except CannotRunError as reason:
            print(f"doctor-check: {patient.name}: {reason}", file=sys.stderr)
            failed = True
        except KeyboardInterrupt:
            interrupted = True
            break
        else:
            print(f"    {found[-1].headline}", file=sys.stderr, flush=True)
    judgements, is_whole = list(doctor_limits(found)), not (failed or interrupted)
    publish(wanted, COMMAND, doctor_table(found), judgements, METHOD, found, is_whole=is_whole)
    return exit_code(interrupted, failed, True, [one.held for one in judgements])


if __name__ == "__main__":
    as_command("doctor-check", main, CannotRunError, NoMarksError, SetUpError)
