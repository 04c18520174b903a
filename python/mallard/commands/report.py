"""`mallard report`: one HTML file that shows what journals hold, the verdict first."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mallard import MallardError


def report(
    journals: Annotated[
        list[str], typer.Argument(metavar="JOURNAL...", help="Journals, binary or text; may be .xz.")
    ],
    output: Annotated[
        str, typer.Option("-o", metavar="FILE", help="Where the page goes; - is standard output.")
    ] = "report.html",
    by: Annotated[
        str, typer.Option(help="What a subsystem is: subtree (of calls), module, thread or annotation.")
    ] = "subtree",
    replay: Annotated[
        str,
        typer.Option(
            metavar="WHEN",
            help="auto (journals of at most a million events), always, never, or a file that "
            "`mallard replay -o FILE` wrote.",
        ),
    ] = "auto",
    sites: Annotated[int, typer.Option(min=0, help="How many sites are shown, the largest first.")] = 1000,
    children: Annotated[
        bool, typer.Option("--children", help="Add the journals of child processes.")
    ] = False,
) -> None:
    """Write a report of one or more journals as one HTML page."""
    from mallard.analysis.profile import Options
    from mallard.analysis.subsystems import WAYS
    from mallard.output import writing
    from mallard.report.data import of_journal, with_children
    from mallard.report.page import render

    if by not in WAYS:
        raise MallardError(f"--by {by}: must be one of {', '.join(WAYS)}")
    if children:
        journals = with_children(journals)
    check(journals, output, replay)
    options = Options(by=by, sites=sites)
    with writing(None if output == "-" else Path(output)) as page:
        reports = [of_journal(journal, options, replay) for journal in journals]
        page.write(render(reports, installed_version(), ["mallard", *sys.argv[1:]]).encode())
    for one in reports:
        for warning in one.profile.warnings:
            print(f"mallard: warning: {one.profile.journal}: {warning}", file=sys.stderr)


def check(journals: Sequence[str], output: str, replay: str) -> None:
    """Refuse what would lose a journal or mix up replays."""
    from mallard.output import spare
    from mallard.report.replay import WAYS

    if len(journals) > 1 and replay not in WAYS:
        raise MallardError("a replay from a file is of one journal: give one, or --replay always")
    replays = [] if replay in WAYS else [replay]
    spare([*journals, *replays], None if output == "-" else output)


def installed_version() -> str:
    """Return the version of this package."""
    from importlib.metadata import version

    return version("mallard")
