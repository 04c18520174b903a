"""What `mallard compare` and `mallard try` have in common: options of the program, and where results go."""

import json
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from mallard import MallardError

if TYPE_CHECKING:
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
        "--warmup", min=1, metavar="N", help="Untimed rounds before; the first looks what is loaded."
    ),
]
StandardInput = Annotated[
    Path | None, typer.Option("--stdin", metavar="FILE", help="Standard input of each run (default: empty).")
]
Folder = Annotated[
    Path | None, typer.Option("--cwd", metavar="DIR", help="Where the program is looked for and runs.")
]
SetUp = Annotated[
    str | None, typer.Option("--setup", metavar="COMMAND", help="A shell's command before each run, untimed.")
]
CleanUp = Annotated[str | None, typer.Option("--cleanup", metavar="COMMAND", help="The same after each run.")]
OwnFigure = Annotated[
    str | None,
    typer.Option(
        "--figure",
        metavar="REGEX",
        help="The program's own figure: the last match in what it prints, its first group if it has one.",
    ),
]
WhichIsBetter = Annotated[Better, typer.Option("--better", help="Which way that figure is good.")]
SameOutput = Annotated[
    Output,
    typer.Option(
        "--output",
        help="same: the program must succeed and print the same under every malloc; ignore: it need not.",
    ),
]
TimeOut = Annotated[
    float | None, typer.Option("--timeout", min=0, metavar="SECONDS", help="What one run may take.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Of the order within the rounds.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON in place of the table.")]
SavedJson = Annotated[
    Path | None, typer.Option("-o", metavar="FILE", help="Write the JSON to a file as well.")
]
Page = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page with bars as well.")]


def asked(
    arguments: list[str],
    cwd: Path | None,
    stdin: Path | None,
    setup: str | None,
    cleanup: str | None,
    timeout: float | None,
    figure: str | None,
) -> "Program":
    """Return what is to be run; refuse what cannot be, before anything is."""
    from mallard import _native
    from mallard.compare.launch import Program, found

    folder = (cwd or Path()).absolute()
    if not folder.is_dir():
        raise MallardError(f"--cwd {cwd}: no such folder")
    if stdin is not None and not stdin.is_file():
        raise MallardError(f"--stdin {stdin}: no such file")
    try:
        pattern = re.compile(figure, re.MULTILINE) if figure is not None else None
    except re.error as error:
        raise MallardError(f"--figure {figure}: {error}") from error
    file = found(arguments, folder)
    if reason := _native.out_of_reach(file):
        raise MallardError(f"cannot compare mallocs under {arguments[0]}: {reason}")
    given = stdin.absolute() if stdin else None
    return Program(tuple(arguments), file, folder, given, setup, cleanup, timeout, pattern)


def told(
    measure: "Callable[[], Result]",
    document_of: "Callable[[Result], dict[str, Any]]",
    as_json: bool,
    save: Path | None,
    html: Path | None,
) -> "Result":
    """Measure, and write what comes out as it is asked for; Ctrl-C is told when all is written."""
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
