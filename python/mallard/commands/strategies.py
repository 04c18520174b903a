"""`mallard strategies`: every strategy that a replay knows, as a table or as JSON."""

import json
import subprocess
from typing import Annotated

import typer

from mallard import MallardError
from mallard.native import tool


def strategies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    regions: Annotated[bool, typer.Option("--regions", help="Those of a replay of regions.")] = False,
    threads: Annotated[
        bool, typer.Option("--threads", help="Those that several threads may use at once.")
    ] = False,
    part: Annotated[
        bool, typer.Option("--part", help="Those of a part of the program with heaps of its own.")
    ] = False,
) -> None:
    """List the strategies that a replay compares."""
    asked = [tool("mallard-replay"), "--list-strategies", "--json"]
    asked += ["--regions"] * regions + ["--threads"] * threads + ["--part", "FILE"] * part
    listing = subprocess.run(asked, capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        raise MallardError(listing.stderr.strip())
    if as_json:
        print(listing.stdout, end="")
    else:
        show(json.loads(listing.stdout))


def show(known: list[dict[str, str]]) -> None:
    """Print a row for each strategy."""
    from rich.console import Console
    from rich.table import Table

    columns = ("strategy", "binding", "summary")
    table = Table(*columns, box=None, header_style="bold")
    for strategy in known:
        table.add_row(*(strategy[column] for column in columns))
    Console().print(table)
