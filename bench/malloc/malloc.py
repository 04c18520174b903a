"""Run programs under every malloc, and print what mallard's own takes beside the others.

Five questions: what fourteen programs take, and their journals in fresh heaps, in littered ones and on
threads; what is held while sizes drift; whether output stays the same; whether plans of these programs keep
it, and hold what they predict; and what it costs alone that contexts are recognised. A row is printed as soon
as it is measured.
Exit code 0 when everything ran, 1 with --check when a limit is missed, and when an output differs, 2 when
something could not be run, 130 when it was interrupted; the table then has what was measured.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

import inputs
import malloc_drift
import malloc_outputs
import malloc_plans
from limits import as_command, exit_code, judged, number
from machine import machine_line
from mallard.compare.mallocs import chosen
from malloc_programs import (
    DRIFT,
    Program,
    compared,
    compared_programs,
    compile_own,
    pages_in,
    prepare,
    programs,
    replayed,
    replayed_programs,
    write_sheet,
)
from malloc_table import BASE, OURS, Comparison, Replay, limits, mean, mean_of
from usage import RunError
from workloads import SetUpError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "malloc"
FIGURES = ("cpu_s", "max_rss_bytes")
OF_COMPARE_ALONE = ("glibc-arenas",)  # is no strategy of a replay
METHOD = (
    "CPU time and max RSS as parts of glibc's, medians over the rounds of `mallard compare`, whose page says"
    " how they are measured; mean: geometric, over all but that of four threads."
)
PAGES = "All figures of each program, as a table and as bars, are in"
REPLAYS = (
    "CPU time an event as a part of glibc's, less the replay's own, of `mallard replay`: in a fresh heap,"
    " with --litter 10, and of programs with threads with --threads."
)


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev malloc",
        description="Run fourteen programs under every malloc and compare what they take.",
    )
    further = (job.name for job in malloc_plans.further_jobs(Path()))
    ours = (each.name for each in (*compared_programs(), *replayed_programs()))
    names = dict.fromkeys([*ours, *malloc_outputs.names(), *further])
    parser.add_argument("--program", choices=names, action="append", default=[], help="only this; repeatable")
    parser.add_argument("--malloc", action="append", default=[], help="only this beside glibc; repeatable")
    parser.add_argument("--rounds", type=int, help="of each comparison, at least 5 (15; of --plan-cost, 5)")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    parser.add_argument("--json", action="store_true", help="print what was found, as JSON")
    other = parser.add_mutually_exclusive_group()
    other.add_argument(
        "--drift",
        nargs="?",
        type=int,
        const=100_000_000,
        metavar="OPERATIONS",
        help="print what is held over this many operations (100000000) while sizes drift, instead",
    )
    other.add_argument(
        "--replays", action="store_true", help="only replay the journals of these programs, nothing is judged"
    )
    other.add_argument(
        "--outputs",
        action="store_true",
        help="see whether 25 programs, servers among them, print the same under our malloc, instead",
    )
    other.add_argument(
        "--plan-outputs",
        action="store_true",
        help="see whether programs print the same under plans made of their recordings, instead",
    )
    other.add_argument(
        "--plan-cost",
        action="store_true",
        help="time programs whose calls are recognised by plans that do nothing, instead; a row at a time",
    )
    wanted = parser.parse_args(given)
    if wanted.replays and wanted.check:
        parser.error("--check judges what --replays leaves out")
    return wanted


def drift(wanted: argparse.Namespace) -> int:
    """Print the curve of each malloc."""
    compile_own(FOLDER, DRIFT)
    curves: dict[str, list[malloc_drift.Point]] = {}
    interrupted = False
    try:
        for malloc in chosen(wanted.malloc or malloc_drift.NAMES, again=False):
            print(f"drift under {malloc.name}", file=sys.stderr)
            curves[malloc.name] = malloc_drift.curve(FOLDER / DRIFT, malloc, wanted.drift)
    except KeyboardInterrupt:
        interrupted = True
    if wanted.json:
        print(json.dumps({name: [asdict(point) for point in points] for name, points in curves.items()}))
    else:
        console = Console(width=120, highlight=False)
        malloc_drift.show(console, curves)
        console.print(Text(machine_line()))
    return judged(list(malloc_drift.limits(curves)), interrupted, wanted.check, aside=wanted.json)


def jobs_of(wanted: argparse.Namespace, of_plans: bool) -> list[malloc_outputs.Job]:
    """Make the inputs, and return the jobs that are asked for."""
    prepare(FOLDER)
    history = FOLDER / "outputs" / "inputs"
    history.mkdir(parents=True, exist_ok=True)
    (history / inputs.HISTORY).write_bytes(b"".join(inputs.history(4000)))
    jobs = malloc_outputs.jobs(FOLDER, history)
    if of_plans:
        write_sheet(FOLDER)
        jobs += malloc_plans.further_jobs(FOLDER)
    names = wanted.program or (malloc_plans.USUAL if of_plans else [job.name for job in jobs])
    return [job for job in jobs if job.name in names]


def costs(wanted: argparse.Namespace) -> int:
    """Print what recognising contexts costs, each program when it is known."""
    library = chosen(wanted.malloc or [OURS], again=False)[-1].library
    mallard = installed()
    console = Console(width=120, highlight=False)
    found: list[malloc_plans.Cost] = []
    interrupted = False
    try:
        for job in jobs_of(wanted, True):
            if Path(job.path).exists():
                cost = malloc_plans.cost(job, mallard, library, FOLDER / "outputs", wanted.rounds or 5)
                if not wanted.json:
                    console.print(malloc_plans.cost_table([cost], not found))
                found.append(cost)
    except KeyboardInterrupt:
        interrupted = True
    if wanted.json:
        print(json.dumps([asdict(cost) for cost in found]))
    else:
        console.print(Text(machine_line()))
    return judged(malloc_plans.cost_limits(found), interrupted, wanted.check, aside=wanted.json)


def outputs(wanted: argparse.Namespace) -> int:
    """Print whether outputs are the same, under the malloc or under plans."""
    jobs = jobs_of(wanted, wanted.plan_outputs)
    library = chosen(wanted.malloc or [OURS], again=False)[-1].library
    missing = [job for job in jobs if not Path(job.path).exists()]
    mallard = installed()
    folder = FOLDER / "outputs"
    outcomes: list[Any] = []

    def compare(job: malloc_outputs.Job) -> malloc_outputs.Outcome | malloc_plans.Outcome:
        if wanted.plan_outputs:
            return malloc_plans.compare(job, mallard, library, folder)
        return malloc_outputs.compare(job, library, folder)

    interrupted = False
    try:
        for job in jobs:
            if job not in missing:
                print(f"output of {job.name}", file=sys.stderr)
                outcomes.append(compare(job))
    except KeyboardInterrupt:
        interrupted = True
    if wanted.json:
        print(json.dumps([asdict(outcome) for outcome in outcomes]))
    else:
        show = malloc_plans.show if wanted.plan_outputs else malloc_outputs.show
        show(Console(width=120, highlight=False), outcomes, missing)
    same = [outcome.verdict not in malloc_outputs.FAILURES for outcome in outcomes]
    if wanted.plan_outputs:
        limits = list(malloc_plans.plan_limits(outcomes, missing))
        held = judged(limits, interrupted, wanted.check, aside=wanted.json)
        return held or exit_code(False, False, True, [*same])
    return exit_code(interrupted, False, True, [*same])


def installed() -> str:
    """Return the mallard that is measured."""
    mallard = shutil.which(str(ROOT / ".venv/bin/mallard"))
    if mallard is None:
        raise SetUpError(".venv/bin/mallard is not there or cannot be executed")
    return mallard


class Rows:
    """A table that grows: a line for each program, a column for each malloc."""

    def __init__(self, title: str, names: Sequence[str]) -> None:
        """Print the head."""
        self.names = names
        self.widths = [max(len(name), 10) for name in names]
        self.line(title, names)

    def line(self, first: str, cells: Sequence[str]) -> None:
        """Print a line."""
        aligned = (cell.rjust(width) for cell, width in zip(cells, self.widths, strict=True))
        print(first.ljust(18), *aligned, sep="  ", flush=True)


def figures(ratio: Callable[[str], float | None]) -> str:
    """Return both figures of a cell."""
    return " ".join(number(ratio(figure), ".2f") for figure in FIGURES)


def asked_of(programs: Iterable[Program], wanted: argparse.Namespace) -> Iterator[Program]:
    """Yield the programs that are asked for: all where none is named."""
    yield from (one for one in programs if not wanted.program or one.name in wanted.program)


def compare_all(
    mallard: str, wanted: argparse.Namespace, names: Sequence[str], found: dict[str, Any]
) -> None:
    """Run each program under every malloc and print its row; what `mallard compare` said goes to `found`."""
    options = ["--rounds", str(wanted.rounds or 15)] + [
        word for name in wanted.malloc for word in ("--malloc", name)
    ]
    rows = None if wanted.json else Rows("CPU, max RSS", names)
    try:
        for program in asked_of(compared_programs(), wanted):
            print(f"{program.name}: {program.does}", file=sys.stderr)
            result = compared(mallard, program, FOLDER, options)
            found[program.name] = result
            if rows is not None:
                each = Comparison(program.name, result["rows"])
                rows.line(each.program, [figures(partial(each.ratio, name)) for name in names])
    finally:
        if rows is not None and found:
            if comparisons := of_means(found):
                rows.line("mean", [figures(partial(mean, comparisons, name)) for name in names])
            print(
                METHOD,
                f"{PAGES} {pages_in(FOLDER).relative_to(ROOT)}.",
                machine_line(),
                "",
                sep="\n",
                flush=True,
            )


def of_means(found: dict[str, Any]) -> list[Comparison]:
    """Return what was found for those programs that means and limits are of."""
    return [Comparison(one.name, found[one.name]["rows"]) for one in programs() if one.name in found]


def replay_all(mallard: str, wanted: argparse.Namespace, names: Sequence[str], found: dict[str, Any]) -> None:
    """Replay each program's journal under every malloc, and print its rows."""
    known = [one.name for one in chosen([], again=False) if one.name not in OF_COMPARE_ALONE]
    names = [name for name in names if name in known]
    replays: list[Replay] = []
    asked = list(asked_of(replayed_programs(), wanted))
    if not asked:
        return
    rows = None if wanted.json else Rows("replayed", names)
    try:
        for program in asked:
            print(f"journal of {program.name}", file=sys.stderr)
            for way, result in replayed(mallard, program, FOLDER, names):
                found[f"{program.name} {way}"] = result
                each = Replay(program.name, way, result)
                replays.append(each)
                if rows is not None:
                    cells = [number(each.ratio(name), ".2f") for name in names]
                    rows.line(f"{program.name} {way}", cells)
    finally:
        if rows is not None and replays:
            for way in dict.fromkeys(each.way for each in replays):
                of_way = [each for each in replays if each.way == way]
                means = [mean_of([each.ratio(name) for each in of_way]) for name in names]
                rows.line(f"mean {way}", [number(one, ".2f") for one in means])
            print(REPLAYS, machine_line(), "", sep="\n", flush=True)


def main(given: Sequence[str]) -> int:
    """Make the inputs, compare, replay, print."""
    wanted = arguments(given)
    if wanted.drift:
        return drift(wanted)
    if wanted.outputs or wanted.plan_outputs:
        return outputs(wanted)
    if wanted.plan_cost:
        return costs(wanted)
    mallard = installed()
    names = [one.name for one in chosen(wanted.malloc, again=False) if one.name != BASE]
    compared_so_far: dict[str, Any] = {}
    replayed_so_far: dict[str, Any] = {}
    interrupted = False
    try:
        prepare(FOLDER)
        if not wanted.replays:
            compare_all(mallard, wanted, names, compared_so_far)
        replay_all(mallard, wanted, names, replayed_so_far)
    except KeyboardInterrupt:
        interrupted = True
    if wanted.json:
        print(json.dumps({"compared": compared_so_far, "replayed": replayed_so_far}))
    comparisons = of_means(compared_so_far)
    return judged(
        list(limits(comparisons)) if comparisons else [], interrupted, wanted.check, aside=wanted.json
    )


if __name__ == "__main__":
    as_command("malloc", main, SetUpError, RunError)
