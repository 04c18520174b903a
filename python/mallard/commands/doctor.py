"""`mallard doctor`: record, advise, try and report in one go; what it recommends, it has tried."""

import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from mallard import MallardError
from mallard.commands.try_ import NO_CANDIDATES, NO_VERDICT, NOTHING_TO_GAIN, TAKEN
from mallard.commands.whole_program import (
    INTERRUPTED,
    AsJson,
    Mallocs,
    RunOptions,
    asked,
    runs_a_program,
)
from mallard.figures import shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from mallard.advise.doctor_stages import Doctor

__all__ = ["TAKEN", "doctor"]

DOCUMENT = "doctor.json"
MOST_SOURCES = 3  # changes of the source that are listed below the verdict


@runs_a_program
def doctor(
    context: typer.Context,
    output_folder: Annotated[
        Path | None,
        typer.Option(
            "-o", metavar="DIR", help="Where all of it goes (default: NAME.doctor).", show_default=False
        ),
    ] = None,
    budget: Annotated[
        float,
        typer.Option("--budget", min=0.1, max=1440.0, metavar="MINUTES", help="How long all of it may take."),
    ] = 10,
    runs: Annotated[
        int,
        typer.Option(
            "--runs", min=18, metavar="N", help="Runs of the trial; for a short program each is many starts."
        ),
    ] = 60,
    malloc: Mallocs = None,
    max_rss: Annotated[
        float | None,
        typer.Option(
            "--max-rss",
            min=1,
            metavar="RATIO",
            help="Leave out what takes more of glibc's max RSS (default: no limit, and 1.25 for plans).",
        ),
    ] = None,
    *,
    run: RunOptions,
    as_json: AsJson = False,
) -> None:
    """Find out what a program could gain: record it, advise, and try that on the program itself.

    The report is written after every stage; Ctrl-C keeps what is done. docs/doctor.md tells all of it.
    Exit code: 0 if something is worth using, 3 if nothing is, 1 if there is no verdict.
    """
    from mallard.advise.doctor_findings import document
    from mallard.advise.doctor_stages import Doctor, Order
    from mallard.output import drawn, writing

    if not context.args:
        raise MallardError("no program: write -- before it, as in `mallard doctor -- ./program`")
    what = asked(context.args, run)
    order = Order(
        program=what,
        folder=own_folder(output_folder or Path(f"{Path(context.args[0]).name}.doctor")),
        minutes=budget,
        runs=runs,
        mallocs=malloc or [],
        no_candidates=NO_CANDIDATES,
        max_rss=max_rss,
        same_output=run.same_output,
        goal=run.goal(),
        seed=run.seed,
    )
    found = Doctor(order, teller(sys.stderr if as_json else sys.stdout), write_all)
    with ended_as_by_ctrl_c():
        found.work()
    known = document(found)
    with writing(None) as printed:
        text = json.dumps(known, indent=2, ensure_ascii=False) + "\n"
        printed.write(
            text.encode("utf-8", "replace")
            if as_json
            else drawn(lambda to: show(known, to), not sys.stdout.isatty())
        )
    if found.interrupted:
        raise typer.Exit(INTERRUPTED)
    if code := {"unknown": NO_VERDICT, "nothing": NOTHING_TO_GAIN}.get(known["verdict"]["kind"]):
        raise typer.Exit(code)


def own_folder(folder: Path) -> Path:
    """Refuse a folder with something else in it; it is made when there is something to write."""
    if folder.exists() and not folder.is_dir():
        raise MallardError(f"cannot write to {folder}: it is no folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / DOCUMENT).is_file():
        raise MallardError(f"{folder} has other files in it: name another folder with -o")
    return folder


def teller(to: TextIO) -> Callable[[str, str], None]:
    """Return what prints a line for each stage; what the encoding cannot have is a question mark."""

    def tell(name: str, text: str) -> None:
        line = f"{name:<9}{shown(text)}".encode(to.encoding, "replace").decode(to.encoding)
        print(line, file=to, flush=True)

    return tell


@contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """Have SIGTERM end the work as Ctrl-C does: what is done is kept."""
    before = signal.signal(signal.SIGTERM, lambda _number, _frame: signal.raise_signal(signal.SIGINT))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def write_all(of: "Doctor") -> None:
    """Write what is known so far: a document and a page."""
    from importlib.metadata import version

    from mallard.advise.doctor_findings import document
    from mallard.output import writing
    from mallard.report.page import render_doctor

    found = document(of)
    folder = of.order.folder
    with writing(folder / DOCUMENT) as file:
        file.write((json.dumps(found, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace"))
    if of.advice is not None:
        with writing(folder / "advice.json") as file:
            file.write(
                (json.dumps(of.advice, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")
            )
    page = render_doctor(found, of.report, version("mallard"), ["mallard", *sys.argv[1:]])
    with writing(folder / "report.html") as file:
        file.write(page.encode("utf-8", "replace"))


def show(found: dict[str, Any], console: "Console") -> None:
    """Print the candidates, the verdict, and where more is."""
    from mallard.commands.stacks import say

    verdict, trial = found["verdict"], found["trial"]
    if trial:
        console.print()
        console.print(candidates(trial, console.width))
    console.print()
    say(console, f"{verdict['headline']}.", style="bold")
    if verdict["command"]:
        say(console, f"To use it: {verdict['command']}")
    for line in in_the_source(found["advice"]):
        say(console, line)
    for line in (*found["remarks"], *(trial["notes"] if trial else ())):
        say(console, f"Note: {line}.", style="dim")
    say(console, f"All of it, with the reasons: {found['files']['report']}")


def candidates(trial: dict[str, Any], width: int) -> "Table":
    """Return a row for each that was tried, the best first."""
    from rich.text import Text

    from mallard import figures
    from mallard.advise.doctor_findings import between, change_of, ranked
    from mallard.commands.tables import Figure, table_of

    columns: list[Figure[dict[str, Any]]] = [
        ("runs", lambda row: str(len(row["rounds"]["cpu_s"])), True),
        ("CPU", lambda row: figures.time(1e9 * row["cpu_s"]["median"]), True),
        ("change", lambda row: change_of(row["ratios"]["cpu_s"]), True),
        ("between", lambda row: between(row["ratios"]["cpu_s"], len(row["rounds"]["cpu_s"])), False),
        ("max RSS", lambda row: figures.size(row["max_rss_bytes"]["median"]), True),
        ("change", lambda row: change_of(row["ratios"]["max_rss_bytes"]), True),
        ("verdict", lambda row: row["verdict"] or "-", True),
    ]
    return table_of("tried", [(Text(row["name"]), row) for row in ranked(trial["rows"])], columns, width)


def in_the_source(advice: dict[str, Any] | None) -> Iterator[str]:
    """Yield what changes of the source would bring; nobody has tried them. Parts on one line are named."""
    from mallard.advise.doctor_findings import signed
    from mallard.report.doctor_page import changes_of_source

    changes = changes_of_source(advice)[:MOST_SOURCES]
    told = [f"{one['change']['type']} at {place_of(part, one['change'])}" for part, one in changes]
    for (part, one), what in zip(changes, told, strict=True):
        whose = f", for {part['name']}" if told.count(what) > 1 else ""
        yield f"In the source, not tried: {signed(one['cpu']['median'])} CPU by {what}{whose}"


def place_of(part: Mapping[str, Any], change: Mapping[str, Any]) -> str:
    """Return the line to change, or the part if the line is not known."""
    return f"{Path(change['file']).name}:{change['line']}" if change["file"] else str(part["name"])
