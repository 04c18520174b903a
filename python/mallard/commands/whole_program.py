"""What commands that run a whole program have in common: how it is run, and where results go."""

import inspect
import json
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from mallard import MallardError

if TYPE_CHECKING:
    from mallard.compare.halving import Goal
    from mallard.compare.launch import Program
    from mallard.compare.outcome import Outcome

    Result = TypeVar("Result", bound=Outcome)

INTERRUPTED = 130


class Output(StrEnum):
    """What happens with what the program prints."""

    SAME = "same"
    IGNORE = "ignore"


class Better(StrEnum):
    """Which way a program's own figure is good."""

    HIGHER = "higher"
    LOWER = "lower"


Mallocs = Annotated[
    list[str] | None,
    typer.Option(
        "--malloc",
        metavar="NAME",
        help="Beside glibc: glibc-notrim, glibc-arenas, jemalloc, tcmalloc, mimalloc, tbbmalloc, "
        "mallard, mallard-checked or a library's file, with variables before it if it needs any "
        "('MALLOC_CONF=narenas:1 jemalloc'); may be repeated (default: all that are installed).",
    ),
]
Plans = Annotated[
    list[Path] | None,
    typer.Option(
        "--plan",
        metavar="FILE",
        help="Beside them: mallard's malloc under a plan of `mallard plan`; may be repeated.",
    ),
]
WarmUp = Annotated[
    int,
    typer.Option(
        "--warmup",
        min=1,
        metavar="N",
        help="Untimed rounds before the others; the first checks what is loaded.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in place of the table.")]
SavedJson = Annotated[
    Path | None, typer.Option("-o", metavar="FILE", help="Write the JSON to a file as well.")
]
Page = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page with bars as well.")]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How the program is run, and what is measured of it beside its times."""

    stdin: Annotated[
        Path | None,
        typer.Option("--stdin", metavar="FILE", help="Standard input of each run (default: empty)."),
    ] = None
    cwd: Annotated[
        Path | None, typer.Option("--cwd", metavar="DIR", help="Where the program is found and run.")
    ] = None
    setup: Annotated[
        str | None,
        typer.Option("--setup", metavar="COMMAND", help="A shell's command before each run, untimed."),
    ] = None
    cleanup: Annotated[
        str | None, typer.Option("--cleanup", metavar="COMMAND", help="The same after each run.")
    ] = None
    figure: Annotated[
        str | None,
        typer.Option(
            "--figure",
            metavar="REGEX",
            help="The program's own figure: the last match in what it prints, its first group if it has one.",
        ),
    ] = None
    better: Annotated[Better, typer.Option("--better", help="Which way that figure is good.")] = Better.HIGHER
    output: Annotated[
        Output,
        typer.Option(
            "--output",
            help="same: the program must succeed and print the same under every malloc; ignore: it need not.",
        ),
    ] = Output.SAME
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0, metavar="SECONDS", help="How long one run may take.")
    ] = None
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the order within rounds.")] = 1

    @property
    def same_output(self) -> bool:
        """Whether the program must print the same under every malloc."""
        return self.output is Output.SAME

    @property
    def higher_is_better(self) -> bool:
        """Whether more of the program's own figure is better."""
        return self.better is Better.HIGHER

    def goal(self) -> "Goal":
        """Return the figure that decides: the program's own if it has one, else its CPU time."""
        from mallard.compare.halving import Goal

        return Goal("cpu_s") if self.figure is None else Goal("figure", self.higher_is_better)


def runs_a_program(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command RunOptions one by one, in the place of its parameter `run`, which has them together."""
    options = [
        inspect.Parameter(of.name, inspect.Parameter.KEYWORD_ONLY, default=of.default, annotation=of.type)
        for of in fields(RunOptions)
    ]
    parameters: list[inspect.Parameter] = []
    for own in inspect.signature(command).parameters.values():
        parameters += options if own.name == "run" else [own]

    @wraps(command)
    def called(**given: Any) -> None:
        run = RunOptions(**{of.name: given.pop(of.name) for of in options})
        command(**given, run=run)

    called.__dict__["__signature__"] = inspect.Signature(parameters)
    return called


def asked(arguments: list[str], run: RunOptions) -> "Program":
    """Return what is to be run; refuse what cannot be, before anything is."""
    from mallard import _native
    from mallard.compare.launch import Program, found

    folder = (run.cwd or Path()).absolute()
    if not folder.is_dir():
        raise MallardError(f"--cwd {run.cwd}: no such folder")
    if run.stdin is not None and not run.stdin.is_file():
        raise MallardError(f"--stdin {run.stdin}: no such file")
    try:
        pattern = None if run.figure is None else re.compile(run.figure, re.MULTILINE)
    except re.error as error:
        raise MallardError(f"--figure {run.figure}: {error}") from error
    file = found(arguments, folder)
    if reason := _native.out_of_reach(file):
        raise MallardError(f"cannot compare mallocs under {arguments[0]}: {reason}")
    given = run.stdin.absolute() if run.stdin else None
    return Program(tuple(arguments), file, folder, given, run.setup, run.cleanup, run.timeout, pattern)


def told(
    measure: "Callable[[], Result]",
    document_of: "Callable[[Result], dict[str, Any]]",
    as_json: bool,
    save: Path | None,
    html: Path | None,
) -> "Result":
    """Measure, and write the results in the requested forms; Ctrl-C is reported when all is written."""
    from importlib.metadata import version

    from mallard.compare.bars import page
    from mallard.compare.listing import render
    from mallard.output import drawn, writing

    with ExitStack() as files:  # opened before anything is measured, which may take long
        saved, drawing = (files.enter_context(writing(path)) if path else None for path in (save, html))
        result = measure()
        document = document_of(result)
        text = (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        if saved is not None:
            saved.write(text)
        if drawing is not None:
            whole = page(result, document, version("mallard"), ["mallard", *sys.argv[1:]])
            drawing.write(whole.encode("utf-8", "replace"))
    with writing(None) as printed:
        printed.write(text if as_json else drawn(lambda on: render(result, on), not sys.stdout.isatty()))
    if result.interrupted:
        print("mallard: interrupted; these rounds are measured", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)
    return result
