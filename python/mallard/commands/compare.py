"""`mallard compare`: a whole program under one malloc after another, as a table, JSON or a page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mallard.commands.whole_program import (
    AsJson,
    Mallocs,
    Page,
    Plans,
    RunOptions,
    SavedJson,
    WarmUp,
    asked,
    runs_a_program,
    told,
)

if TYPE_CHECKING:
    from mallard.compare.launch import Program
    from mallard.compare.outcome import Outcome
    from mallard.compare.rounds import Schedule

# This many find a difference of 5 % in noise of 2 % (compare/intervals.py).
ROUNDS = 25
# Where nobody says how long it may take.
SECONDS = 120.0
LEAST = 11


@runs_a_program
def compare(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="What is run.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGUMENT", help="Its arguments; write -- before it all.")
    ] = None,
    malloc: Mallocs = None,
    plan: Plans = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=5, metavar="N", help=f"Rounds, at least 5; each runs every malloc once (default: {ROUNDS})."
        ),
    ] = None,
    time: Annotated[
        float | None,
        typer.Option(
            "--time",
            min=0,
            metavar="SECONDS",
            help="No further round begins after it, once there are 5 (default: "
            f"{SECONDS:.0f}, once there are {LEAST}; none with --rounds).",
        ),
    ] = None,
    warmup: WarmUp = 1,
    again: Annotated[
        bool, typer.Option("--aa/--no-aa", help="Measure glibc a second time, to see the noise.")
    ] = True,
    *,
    run: RunOptions,
    as_json: AsJson = False,
    save: SavedJson = None,
    html: Page = None,
) -> None:
    """Run a whole program under several mallocs in turn and compare what it takes."""
    from mallard.compare.outcome import as_json as document_of
    from mallard.compare.rounds import Schedule
    from mallard.output import spare

    inputs = [run.stdin] if run.stdin else []
    spare(inputs, save)
    spare(inputs, html)
    what = asked([program, *(arguments or [])], run)
    schedule = Schedule(
        rounds=rounds or ROUNDS,
        least=LEAST if time is None else 5,
        seconds=time if time is not None else float("inf") if rounds is not None else SECONDS,
        warmup=warmup,
        same_output=run.same_output,
        seed=run.seed,
    )

    def measure() -> "Outcome":
        return measured(what, schedule, malloc or [], plan or [], again, run.higher_is_better)

    if not told(measure, document_of, as_json, save, html).complete:
        raise typer.Exit(1)


def measured(
    what: "Program",
    schedule: "Schedule",
    mallocs: list[str],
    plans: list[Path],
    again: bool,
    higher: bool,
) -> "Outcome":
    """Run all rounds, with a bar on stderr."""
    from mallard import _native
    from mallard.analysis.progress import turns_bar
    from mallard.compare.mallocs import chosen
    from mallard.compare.outcome import outcome
    from mallard.compare.plans import planned
    from mallard.compare.rounds import Row, Session

    with planned(plans) as under_plans, turns_bar() as progress:
        session = Session(what, schedule, [Row(one) for one in chosen(mallocs, again, under_plans)])
        session.measure(progress)
    return outcome(session, json.loads(_native.machine_json()), higher)
