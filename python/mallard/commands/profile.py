"""`mallard profile`: what a journal means, as tables or as JSON."""

import re
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mallard import MallardError

if TYPE_CHECKING:
    from rich.console import Console

    from mallard.analysis.model import Profile

UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


class Metric(StrEnum):
    """What sites and calls are compared by."""

    CALLS = "calls"
    BYTES = "bytes"
    LIVE_AT_PEAK = "live_at_peak"
    LEAKED = "leaked"
    TEMPORARIES = "temporaries"


def profile(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="A journal, binary or text; may be .xz.")],
    by: Annotated[
        str, typer.Option(help="What a subsystem is: subtree (of calls), module, thread or annotation.")
    ] = "subtree",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    sites: Annotated[int, typer.Option(min=0, help="Number of sites to show, largest first.")] = 20,
    few: Annotated[
        int,
        typer.Option(min=0, help="A temporary is freed within this many allocations of its thread."),
    ] = 8,
    short: Annotated[str, typer.Option(help="How long a temporary lives at most: 500ns, 2us, 1ms.")] = "1us",
    tree: Annotated[bool, typer.Option("--tree", help="Print the call tree instead.")] = False,
    metric: Annotated[
        Metric | None,
        typer.Option(
            help="What the tree's shares are of (default: bytes), and sites are sorted by (default: their "
            "shares of calls and of bytes)."
        ),
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="Share of the whole that a call has to have for a line of the tree: 1%, 0.5%.")
    ] = "1%",
    max_subsystems: Annotated[int, typer.Option(min=1, help="How many subsystems there are at most.")] = 12,
    process: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="Include child processes: all of them, or instead of the first one those of a program "
            "(its name) or one (its id).",
        ),
    ] = None,
    output: Annotated[str | None, typer.Option("-o", metavar="FILE", help="Write to a file.")] = None,
) -> None:
    """Show what each part of a program allocates and what it could gain."""
    from mallard.analysis.subsystems import WAYS
    from mallard.output import drawn, spare, writing
    from mallard.processes import children_beside

    if by not in WAYS:
        raise MallardError(f"--by {by}: must be one of {', '.join(WAYS)}")
    if tree and as_json:
        raise MallardError("--tree is for people: mallard export has call trees for other tools")
    least, limit = share(threshold), nanoseconds(short)
    spare([journal], output)
    with writing(Path(output) if output else None) as file:
        if tree:
            draw, warnings = call_tree_of(journal, process, metric or Metric.BYTES, least)
            file.write(drawn(draw, output is not None))
        else:
            found = profile_of(journal, process, (by, sites, few, limit), max_subsystems, metric)
            warnings = found.warnings
            file.write(as_text(found).encode() if as_json else tables(found, output is not None))
    for warning in warnings:
        print(f"mallard: warning: {journal}: {warning}", file=sys.stderr)
    if process is None and (children := children_beside(journal)):
        print(
            f"mallard: {journal}: child processes have {children:,} journals that are not in this profile; "
            "--process all takes them in, `mallard info` lists them",
            file=sys.stderr,
        )


def profile_of(
    journal: str,
    which: str | None,
    chosen: tuple[str, int, int, int],
    max_subsystems: int,
    metric: Metric | None,
) -> "Profile":
    """Return the profile of a journal, or of those of its processes that `which` means."""
    from dataclasses import replace

    from mallard.analysis.partition import Limits
    from mallard.analysis.profile import Options, profile
    from mallard.analysis.progress import progress_bar
    from mallard.figures import shown
    from mallard.processes import together

    options = Options(*chosen, Limits(most=max_subsystems), metric)
    with progress_bar(f"profile {journal}") as progress, together(journal, which) as taken:
        found = profile(taken, options, progress)
    return found if which is None else replace(found, journal=shown(f"{journal} --process {which}"))


def call_tree_of(
    journal: str, which: str | None, metric: Metric, threshold: float
) -> tuple[Callable[["Console"], None], list[str]]:
    """Return what draws the call tree, and warnings."""
    from mallard.analysis.call_tree import call_tree
    from mallard.analysis.progress import progress_bar
    from mallard.analysis.store import Reading
    from mallard.analysis.symbols import Symbols
    from mallard.commands.tree import render_tree
    from mallard.processes import together

    with progress_bar(f"profile {journal}") as progress, together(journal, which) as taken:
        reading = Reading.read(taken, progress)
        symbols = Symbols(reading)
        tree = call_tree(reading, symbols)
    warnings = [*reading.totals["warnings"], *symbols.warnings]
    return lambda console: render_tree(tree, metric, threshold, console), warnings


def share(text: str) -> float:
    """Read a share: per cent, with the sign or without."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?%?", text)
    if found is None or float(found[1]) > 100:
        raise MallardError(f"--threshold {text}: must be a share such as 1%")
    return float(found[1]) / 100


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
    """Return the profile as tables."""
    from mallard.commands.tables import render
    from mallard.output import drawn

    return drawn(lambda console: render(found, console), to_file)
