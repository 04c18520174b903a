"""`mallard try`: plans and mallocs under a whole program, and whether any of them is worth using."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from mallard import MallardError
from mallard.commands.whole_program import (
    AsJson,
    Mallocs,
    Page,
    RunOptions,
    SavedJson,
    WarmUp,
    asked,
    runs_a_program,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mallard.compare.halving import Goal, Stage
    from mallard.compare.launch import Program
    from mallard.compare.rounds import Schedule
    from mallard.compare.trial_outcome import Tried

STAGES = "3,7,15"
# Installed, but no candidates: one is glibc with a setting for many threads, the other is for finding misuse.
NO_CANDIDATES = ("glibc-arenas", "mallard-checked")
NOTHING_TO_GAIN = 3
NO_VERDICT = 1


class ProgramBehind(TyperCommand):
    """A subcommand whose own arguments end at `--`; the program and its arguments stand behind."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Leave the program in the context."""
        at = args.index("--") if "--" in args else len(args)
        super().parse_args(ctx, args[:at])
        ctx.args = args[at + 1 :]
        return []

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what the line of usage names."""
        return [*super().collect_usage_pieces(ctx), "--", "PROGRAM", "[ARGUMENT]..."]


TAKEN = {"cls": ProgramBehind}


@runs_a_program
def try_(
    context: typer.Context,
    plans: Annotated[
        list[Path] | None, typer.Argument(metavar="PLAN", help="Plans of `mallard plan`.", show_default=False)
    ] = None,
    malloc: Mallocs = None,
    rounds: Annotated[
        str,
        typer.Option(
            "--rounds",
            metavar="N,N,N",
            help="Rounds for all candidates, for the best three and for the best two; up to three numbers.",
        ),
    ] = STAGES,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            min=0,
            metavar="MINUTES",
            help="No further round begins after it; the middle stage is left out if the last would be lost.",
        ),
    ] = None,
    max_rss: Annotated[
        float | None,
        typer.Option(
            "--max-rss",
            min=0,
            metavar="RATIO",
            help="Leave out what takes more of glibc's max RSS than this.",
        ),
    ] = None,
    warmup: WarmUp = 1,
    *,
    run: RunOptions,
    as_json: AsJson = False,
    save: SavedJson = None,
    html: Page = None,
) -> None:
    """Find out which plan or malloc pays under a whole program, if any does.

    Exit code: 0 if something is worth using, 3 if nothing is, 1 if there is no verdict.
    """
    from mallard.compare.choice import NOTHING
    from mallard.compare.rounds import Schedule
    from mallard.compare.trial_outcome import as_document
    from mallard.output import spare

    if not context.args:
        raise MallardError("no program: write -- before it, as in `mallard try plan.toml -- ./program`")
    inputs = [*(plans or []), *([run.stdin] if run.stdin else [])]
    spare(inputs, save)
    spare(inputs, html)
    what = asked(context.args, run)
    stages = stages_of(rounds)
    schedule = Schedule(
        rounds=sum(stage.rounds for stage in stages),
        least=0,
        seconds=float("inf") if budget is None else 60 * budget,
        warmup=warmup,
        same_output=run.same_output,
        seed=run.seed,
    )

    def measure() -> "Tried":
        return measured(what, schedule, stages, run.goal(), malloc or [], plans or [], max_rss)

    choice = told(measure, as_document, as_json, save, html).choice
    if choice.use is None:
        raise typer.Exit(NO_VERDICT)
    if choice.use == NOTHING:
        raise typer.Exit(NOTHING_TO_GAIN)


def stages_of(rounds: str) -> "Sequence[Stage]":
    """Return the stages; the last number is always for those who decide."""
    from mallard.compare.choice import LEAST
    from mallard.compare.halving import STAGES, Stage

    words = rounds.split(",")
    if not 1 <= len(words) <= len(STAGES) or not all(
        re.fullmatch(r"\s*[0-9]{1,6}\s*", word) for word in words
    ):
        raise MallardError(f"--rounds {rounds}: write up to three numbers: 3,7,15")
    numbers = [int(word) for word in words]
    if min(numbers) < 1 or numbers[-1] < LEAST:
        raise MallardError(
            f"--rounds {rounds}: a stage takes at least 1 round, and the last at least {LEAST}"
        )
    best = [STAGES[0].best, *(stage.best for stage in STAGES[1:][-(len(numbers) - 1) :])][: len(numbers)]
    return [Stage(number, many) for number, many in zip(numbers, best, strict=True)]


def measured(
    what: "Program",
    schedule: "Schedule",
    stages: "Sequence[Stage]",
    goal: "Goal",
    mallocs: list[str],
    plans: list[Path],
    max_rss: float | None,
) -> "Tried":
    """Run all stages, with a bar on stderr."""
    from mallard import _native
    from mallard.analysis.progress import turns_bar
    from mallard.compare.choice import NOTHING
    from mallard.compare.halving import Trial
    from mallard.compare.mallocs import chosen
    from mallard.compare.plans import planned
    from mallard.compare.rounds import Row
    from mallard.compare.trial_outcome import tried

    most_rss = float("inf") if max_rss is None else max_rss
    with planned(plans, control=True) as under_plans, turns_bar() as progress:
        rows = [Row(one) for one in chosen(mallocs, True, under_plans, NO_CANDIDATES)]
        if any(row.malloc.name == NOTHING for row in rows):
            raise MallardError(f"a plan or library is called {NOTHING}, as a verdict is: rename it")
        trial = Trial(what, schedule, rows, goal=goal, stages=stages, most_rss=most_rss)
        trial.measure(progress)
    return tried(trial, json.loads(_native.machine_json()))
