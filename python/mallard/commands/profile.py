"""`mallard profile`: what a journal means, as tables or as JSON."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mallard import MallardError

if TYPE_CHECKING:
    from mallard.analysis.model import Profile

UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


def profile(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="A journal, binary or text; may be .xz.")],
    by: Annotated[
        str, typer.Option(help="What a subsystem is: subtree (of calls), module, thread or annotation.")
    ] = "subtree",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    sites: Annotated[int, typer.Option(min=0, help="Number of sites to show, largest first.")] = 20,
    few: Annotated[
        int, typer.Option(min=0, help="Most allocations of its thread that a temporary may outlive.")
    ] = 8,
    short: Annotated[str, typer.Option(help="How long a temporary lives at most: 500ns, 2us, 1ms.")] = "1us",
    max_subsystems: Annotated[int, typer.Option(min=1, help="How many subsystems there are at most.")] = 12,
    output: Annotated[str | None, typer.Option("-o", metavar="FILE", help="Write to a file.")] = None,
) -> None:
    """Show what each part of a program allocates and what it could gain."""
    from mallard.analysis.partition import Limits
    from mallard.analysis.profile import Options, profile
    from mallard.analysis.progress import progress_bar
    from mallard.analysis.subsystems import WAYS
    from mallard.output import spare, writing

    if by not in WAYS:
        raise MallardError(f"--by {by}: must be one of {', '.join(WAYS)}")
    spare([journal], output)
    options = Options(by, sites, few, nanoseconds(short), Limits(most=max_subsystems))
    with writing(Path(output) if output else None) as file:
        with progress_bar(f"profile {journal}") as progress:
            found = profile(journal, options, progress)
        file.write(as_text(found).encode() if as_json else tables(found, output is not None))
    for warning in found.warnings:
        print(f"mallard: warning: {journal}: {warning}", file=sys.stderr)


def nanoseconds(text: str) -> int:
    """Read a duration: a number and its unit."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ns|us|ms|s)", text)
    if found is None:
        raise MallardError(f"--short {text}: must be a number with ns, us, ms or s behind it")
    return round(float(found[1]) * UNITS[found[2]])


def as_text(found: "Profile") -> str:
    """Return the profile as one JSON object; members are those of analysis/model.py."""
    import json
    from dataclasses import asdict

    return json.dumps(asdict(found), ensure_ascii=False, allow_nan=False) + "\n"


def tables(found: "Profile", to_file: bool) -> bytes:
    """Return the profile as tables, as wide as the terminal; what that cannot show is a question mark."""
    from rich.console import Console

    from mallard.commands.tables import render

    console = Console(width=120, no_color=True) if to_file else Console()
    with console.capture() as captured:
        render(found, console)
    return captured.get().encode("utf-8" if to_file else sys.stdout.encoding, "replace")
