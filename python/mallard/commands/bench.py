"""`mallard bench`: the benchmarks of P0089, one subcommand each, and their kept results."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from mallard.bench.command import Narrowed, print_runs, runs
from mallard.bench.options import Benchmark
from mallard.errors import MallardError


def bench() -> None:
    """Measure strategies by the benchmarks of the paper P0089."""


@runs(Benchmark.DENSITY)
def density(
    structure: Annotated[
        list[str] | None, typer.Option(metavar="DS", help="Only this structure, DS1 to DS12. Repeatable.")
    ] = None,
    size: Annotated[
        list[str] | None, typer.Option(metavar="N", help="Only sizes of 2^N elements. Repeatable.")
    ] = None,
    leaves: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=40, help="A cell writes 2^N leaves.")
    ] = None,
    uncached_hashes: Annotated[
        bool, typer.Option("--uncached-hashes", help="Nodes of sets do not keep their hashes.")
    ] = False,
) -> Narrowed:
    """I: build, use and destroy data structures."""
    return {
        "structure": numbers("--structure", structure, r"(?:DS)?(\d+)", range(1, 13)),
        "size": numbers("--size", size, EXPONENT, range(41)),
        "leaves": [] if leaves is None else [leaves],
        "cached-hashes": [0] if uncached_hashes else [],
    }


def table(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What runs have kept.")],
    paper: Annotated[bool, typer.Option("--paper", help="The paper's own tables below ours.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a file, no tables.")] = False,
) -> None:
    """Print the tables of results that were kept."""
    from mallard.bench.results_file import read

    print_runs([read(path) for path in files], paper, as_json)


SUBCOMMANDS: dict[str, Callable[..., None]] = {
    Benchmark.DENSITY: density,
    "table": table,
}

EXPONENT = r"(?:2\^)?(\d+)"


def numbers(option: str, given: list[str] | None, form: str, allowed: range) -> list[int]:
    """Return the numbers that were given for an option."""
    found = []
    for text in given or []:
        match = re.fullmatch(form, text, re.IGNORECASE)
        if match is None or int(match[1]) not in allowed:
            raise MallardError(f"{option} {text}: must be from {allowed[0]} to {allowed[-1]}")
        found.append(int(match[1]))
    return found
