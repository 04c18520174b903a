"""`mallard compare`: a whole program under one malloc after another, as a table, JSON or a page."""

import json
import re
import sys
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mallard import MallardError

if TYPE_CHECKING:
    from mallard.compare.launch import Program
    from mallard.compare.outcome import Outcome
    from mallard.compare.rounds import Plan

# A difference of 5 % in noise of 2 % is found by so many (compare/intervals.py).
ROUNDS = 25
# Where nobody says how long it may take.
SECONDS = 120.0
LEAST = 11
INTERRUPTED = 130


class Output(StrEnum):
    """What happens with what the program prints."""

    SAME = "same"
    IGNORE = "ignore"


class Better(StrEnum):
    """Which way a program's own figure is good."""

    HIGHER = "higher"
    LOWER = "lower"


def compare(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="What is run.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGUMENT", help="What it is given; write -- before it all.")
    ] = None,
    malloc: Annotated[
        list[str] | None,
        typer.Option(
            "--malloc",
            metavar="NAME",
            help="Beside glibc: glibc-notrim, glibc-arenas, jemalloc, tcmalloc, mimalloc, tbbmalloc, "
            "mallard, mallard-checked or a library's file, with variables before it if it needs any "
            "('MALLOC_CONF=narenas:1 jemalloc'); may be repeated (default: all that are installed).",
        ),
    ] = None,
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
    warmup: Annotated[
        int, typer.Option(min=1, metavar="N", help="Untimed rounds before; the first looks what is loaded.")
    ] = 1,
    stdin: Annotated[
        Path | None,
        typer.Option("--stdin", metavar="FILE", help="Standard input of each run (default: empty)."),
    ] = None,
    cwd: Annotated[
        Path | None, typer.Option("--cwd", metavar="DIR", help="Where the program is looked for and runs.")
    ] = None,
    setup: Annotated[
        str | None,
        typer.Option("--setup", metavar="COMMAND", help="A shell's command before each run, untimed."),
    ] = None,
    cleanup: Annotated[
        str | None, typer.Option("--cleanup", metavar="COMMAND", help="The same after each run.")
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            "--figure",
            metavar="REGEX",
            help="The program's own figure: the last match in what it prints, its first group if it has one.",
        ),
    ] = None,
    better: Annotated[
        Better, typer.Option("--better", help="Which way that figure is good.")
    ] = Better.HIGHER,
    output: Annotated[
        Output,
        typer.Option(
            "--output",
            help="same: the program must succeed and print the same under every malloc; ignore: it need not.",
        ),
    ] = Output.SAME,
    timeout: Annotated[
        float | None, typer.Option("--timeout", min=0, metavar="SECONDS", help="What one run may take.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--aa/--no-aa", help="Measure glibc a second time, to see the noise.")
    ] = True,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the order within the rounds.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of the table.")] = False,
    save: Annotated[
        Path | None, typer.Option("-o", metavar="FILE", help="Write the JSON to a file as well.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with bars as well.")
    ] = None,
) -> None:
    """Run a whole program under several mallocs in turn and compare what it takes."""
    from mallard.compare.rounds import Plan
    from mallard.output import spare, writing

    spare([stdin] if stdin else [], save)
    spare([stdin] if stdin else [], html)
    what = asked([program, *(arguments or [])], cwd, stdin, setup, cleanup, timeout, figure)
    limit = time if time is not None else float("inf") if rounds is not None else SECONDS
    plan = Plan(
        rounds=rounds or ROUNDS,
        least=LEAST if time is None else 5,
        seconds=limit,
        warmup=warmup,
        same_output=output is Output.SAME,
        seed=seed,
    )
    with ExitStack() as files:  # opened before anything is measured, which may take long
        saved, page = (files.enter_context(writing(path)) if path else None for path in (save, html))
        result = measured(what, plan, malloc or [], again, better is Better.HIGHER)
        text = as_text(result)
        if saved is not None:
            saved.write(text)
        if page is not None:
            page.write(as_page(result))
        with writing(None) as printed:
            printed.write(text if as_json else as_table(result))
    if result.interrupted:
        print("mallard: interrupted; these rounds are measured", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)
    if not result.complete:
        raise typer.Exit(1)


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


def measured(what: "Program", plan: "Plan", mallocs: list[str], again: bool, higher: bool) -> "Outcome":
    """Run all rounds, with a bar on stderr."""
    from mallard import _native
    from mallard.analysis.progress import turns_bar
    from mallard.compare.mallocs import chosen
    from mallard.compare.outcome import outcome
    from mallard.compare.rounds import Row, Session

    session = Session(what, plan, [Row(one) for one in chosen(mallocs, again)])
    with turns_bar() as progress:
        session.measure(progress)
    return outcome(session, json.loads(_native.machine_json()), higher)


def as_text(result: "Outcome") -> bytes:
    """Return the JSON."""
    from mallard.compare.outcome import as_json

    return (json.dumps(as_json(result), indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def as_table(result: "Outcome") -> bytes:
    """Return the table, as wide as the terminal."""
    from mallard.compare.listing import render
    from mallard.output import drawn

    return drawn(lambda console: render(result, console), not sys.stdout.isatty())


def as_page(result: "Outcome") -> bytes:
    """Return the page with bars."""
    from importlib.metadata import version

    from mallard.compare.bars import page

    return page(result, version("mallard"), ["mallard", *sys.argv[1:]]).encode("utf-8", "replace")
