"""`mallard bench`: the benchmarks of P0089, one subcommand each, and their kept results."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from mallard.bench.command import Asked, print_runs, runs
from mallard.bench.notation import checked
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
) -> Asked:
    """I: build, use and destroy data structures."""
    return Asked(
        {
            "structure": numbers("--structure", structure, r"(?:DS)?(\d+)", range(1, 13), "DS1 to DS12"),
            "size": numbers("--size", size, EXPONENT, EXPONENTS),
            "leaves": [] if leaves is None else [leaves],
            "cached-hashes": [0] if uncached_hashes else [],
        }
    )


@runs(Benchmark.LOCALITY)
def locality(
    run: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- G S AF SF RF]",
            help="One run in the paper's notation: G < 0 makes G and S binary exponents, SF < 0 accesses "
            "come before the shuffle. -- -21 18 8 +3 32",
        ),
    ] = None,
    global_: Annotated[
        list[str] | None, typer.Option("--global", metavar="N", help="Only 2^N links in all. Repeatable.")
    ] = None,
    subsystem: Annotated[
        list[str] | None, typer.Option(metavar="N", help="Only lists of 2^N links. Repeatable.")
    ] = None,
    accesses: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="A figure is of about N accesses.")
    ] = None,
) -> Asked:
    """II: access to what long use has shuffled."""
    return Asked(
        {
            "global": numbers("--global", global_, EXPONENT, EXPONENTS),
            "subsystem": numbers("--subsystem", subsystem, EXPONENT, EXPONENTS),
            "accesses": [] if accesses is None else [accesses],
        },
        checked(run) if run else None,
    )


@runs(Benchmark.UTILIZATION)
def utilization(
    total: Annotated[
        list[str] | None, typer.Option(metavar="T", help="Only 2^T bytes in all. Repeatable.")
    ] = None,
    active: Annotated[
        list[str] | None, typer.Option(metavar="A", help="Only 2^A bytes alive at once. Repeatable.")
    ] = None,
    block: Annotated[
        list[str] | None, typer.Option(metavar="S", help="Only blocks of 2^S bytes. Repeatable.")
    ] = None,
) -> Asked:
    """III: replace the oldest of the live blocks, again and again."""
    return Asked(
        {
            "total": numbers("--total", total, EXPONENT, EXPONENTS),
            "active": numbers("--active", active, EXPONENT, EXPONENTS),
            "block": numbers("--block", block, EXPONENT, EXPONENTS),
        }
    )


@runs(Benchmark.CONTENTION)
def contention(
    threads: Annotated[
        list[str] | None, typer.Option(metavar="W", help="Only this many threads. Repeatable.")
    ] = None,
    iterations: Annotated[
        list[str] | None, typer.Option(metavar="N", help="Only 2^N pairs in each thread. Repeatable.")
    ] = None,
    block: Annotated[
        list[str] | None, typer.Option(metavar="S", help="Only blocks of 2^S bytes. Repeatable.")
    ] = None,
) -> Asked:
    """IV: allocate and free in several threads."""
    return Asked(
        {
            "threads": numbers("--threads", threads, r"(\d+)", range(1, 65), "a number from 1 to 64"),
            "iterations": numbers("--iterations", iterations, EXPONENT, EXPONENTS),
            "block": numbers("--block", block, EXPONENT, EXPONENTS),
        }
    )


def table(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What runs have kept.")],
    paper: Annotated[bool, typer.Option("--paper", help="The paper's own tables below ours.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a file, no tables.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one page of all of them, too.")
    ] = None,
) -> None:
    """Print the tables of results that were kept."""
    from mallard.bench.results_file import read

    print_runs([read(path) for path in files], paper, as_json, html)


SUBCOMMANDS: dict[str, Callable[..., None]] = {
    Benchmark.DENSITY.value: density,
    Benchmark.LOCALITY.value: locality,
    Benchmark.UTILIZATION.value: utilization,
    Benchmark.CONTENTION.value: contention,
    "table": table,
}

EXPONENT = r"(?:2\^)?(\d+)"
EXPONENTS = range(41)


def numbers(
    option: str,
    given: list[str] | None,
    form: str,
    allowed: range,
    what: str = "an exponent N from 0 to 40, for 2^N",
) -> list[int]:
    """Return the numbers that were given for an option, each once."""
    found = []
    for text in given or []:
        match = re.fullmatch(form, text, re.IGNORECASE | re.ASCII)
        if match is None or int(match[1]) not in allowed:
            raise MallardError(f"{option} {text}: must be {what}")
        found.append(int(match[1]))
    return list(dict.fromkeys(found))
