"""The subcommands of `mallard bench`: the benchmarks of the papers, one each, and their kept results."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from mallard import MallardError
from mallard_bench.command import Asked, print_comparison, print_runs, runs
from mallard_bench.options import LATENCY, Benchmark

WORKS = ("ranges", "nodes", "threads")
MOST = 100_000_000  # elements, or iterations
Texts = list[str] | None  # as they were given; numbers() reads them


def only(metavar: str, what: str, *names: str) -> Any:
    """Return an option that narrows what is measured, and may be given several times."""
    return typer.Option(*names, metavar=metavar, help=f"Only {what}. Repeatable.")


@runs(Benchmark.DENSITY)
def density(
    structure: Annotated[Texts, only("DS", "this structure, DS1 to DS12")] = None,
    size: Annotated[Texts, only("N", "sizes of 2^N elements")] = None,
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
            "size": exponents("--size", size),
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
    global_: Annotated[Texts, only("N", "2^N links in all", "--global")] = None,
    subsystem: Annotated[Texts, only("N", "lists of 2^N links")] = None,
    accesses: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="A figure is of about N accesses.")
    ] = None,
) -> Asked:
    """II: access to what long use has shuffled."""
    return Asked(
        {
            "global": exponents("--global", global_),
            "subsystem": exponents("--subsystem", subsystem),
            "accesses": [] if accesses is None else [accesses],
        },
        checked(run) if run else None,
    )


@runs(Benchmark.UTILIZATION)
def utilization(
    total: Annotated[Texts, only("T", "2^T bytes in all")] = None,
    active: Annotated[Texts, only("A", "2^A bytes alive at once")] = None,
    block: Annotated[Texts, only("S", "blocks of 2^S bytes")] = None,
) -> Asked:
    """III: replace the oldest of the live blocks, again and again."""
    return Asked(
        {
            "total": exponents("--total", total),
            "active": exponents("--active", active),
            "block": exponents("--block", block),
        }
    )


@runs(Benchmark.CONTENTION)
def contention(
    threads: Annotated[Texts, only("W", "this many threads")] = None,
    iterations: Annotated[Texts, only("N", "2^N pairs in each thread")] = None,
    block: Annotated[Texts, only("S", "blocks of 2^S bytes")] = None,
) -> Asked:
    """IV: allocate and free in several threads."""
    return Asked(
        {
            "threads": numbers("--threads", threads, r"(\d+)", range(1, 65), "a number from 1 to 64"),
            "iterations": exponents("--iterations", iterations),
            "block": exponents("--block", block),
        }
    )


@runs(Benchmark.EXPANSION)
def expansion(
    elements: Annotated[Texts, only("N", "vectors of N elements")] = None,
    iterations: Annotated[Texts, only("N", "N vectors a turn")] = None,
) -> Asked:
    """Push elements back into vectors that expand in place, and grow blocks by a command."""
    return combinations(elements, iterations)


@runs(Benchmark.SHRINK)
def shrink(
    elements: Annotated[Texts, only("N", "vectors of N elements at first, a multiple of 5")] = None,
    iterations: Annotated[Texts, only("N", "N vectors a turn")] = None,
) -> Asked:
    """Shrink vectors to fit, in place."""
    return combinations(elements, iterations)


@runs(Benchmark.BURST)
def burst(
    elements: Annotated[Texts, only("N", "ranges of N elements")] = None,
    iterations: Annotated[Texts, only("N", "N ranges a list")] = None,
) -> Asked:
    """Insert ranges into lists in bursts, and erase them."""
    return combinations(elements, iterations)


@runs(Benchmark.POOLS)
def pools(
    work: Annotated[Texts, only("WORK", "ranges, nodes or threads")] = None,
    elements: Annotated[Texts, only("N", "ranges of N elements, N nodes, lists of N")] = None,
    iterations: Annotated[Texts, only("N", "N ranges a list, N lists a thread")] = None,
) -> Asked:
    """Allocate and free nodes of pools: ranges, single ones, in threads; and what that does to memory."""
    narrowed = combinations(elements, iterations).narrowed
    return Asked({**narrowed, "work": works(work)})


def works(given: Texts) -> list[int]:
    """Return the places of the works that were given among all of them."""
    for name in given or []:
        if name not in WORKS:
            raise MallardError(f"--work {name}: must be {', '.join(WORKS)}")
    return list(dict.fromkeys(WORKS.index(name) for name in given or []))


def combinations(elements: Texts, iterations: Texts) -> Asked:
    """Return how many elements are asked for, and how often."""
    return Asked(
        {"elements": amounts("--elements", elements), "iterations": amounts("--iterations", iterations)}
    )


def latency(
    journals: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[JOURNAL...]", help="Journals; by default two kept and two recorded now."),
    ] = None,
    strategy: Annotated[Texts, only("NAME", "this one beside none and glibc")] = None,
    passes: Annotated[
        int, typer.Option(metavar="K", min=1, max=100_000, help="Passes in which each call is timed.")
    ] = 30,
    output: Annotated[
        Path, typer.Option("-o", metavar="FILE", help="Keep results here, recordings in FILE.d.")
    ] = Path("mallard-bench-latency.jsonl"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the results that are there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, no table.")] = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page, too.")] = None,
    native: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help="The mallard-replay to run, if not the usual one.")
    ] = None,
) -> None:
    """Time single calls of journals with every strategy, and journals of threads on their threads.

    Without journals those of tests/fixtures are replayed, and two that are recorded now: four threads and one
    that frees what they allocate (examples/08_synchronized_pools.cpp), and xz -T4. It takes half an hour.
    """
    from mallard_bench.latency import Asked as Replays
    from mallard_bench.latency import measure

    measure(Replays(journals or [], strategy or [], passes, output, resume, native), as_json, html)


def table(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What runs have kept.")],
    paper: Annotated[bool, typer.Option("--paper", help="The paper's own tables below ours.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a file, no tables.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write one page of all of them, too.")
    ] = None,
) -> None:
    """Print the tables of results that were kept."""
    from mallard_bench.results_file import read

    print_runs([read(path) for path in files], paper, as_json, html)


def compare(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="What a run has kept.")],
    second: Annotated[Path, typer.Argument(metavar="SECOND", help="What another run of it has.")],
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=0, help="Name this many that are apart, of each kind.")
    ] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Tell where the spreads of two runs of a benchmark overlap."""
    from mallard_bench.results_file import read

    print_comparison(read(first), read(second), most, as_json)


SUBCOMMANDS: dict[str, Callable[..., None]] = {
    Benchmark.DENSITY.value: density,
    Benchmark.LOCALITY.value: locality,
    Benchmark.UTILIZATION.value: utilization,
    Benchmark.CONTENTION.value: contention,
    Benchmark.EXPANSION.value: expansion,
    Benchmark.SHRINK.value: shrink,
    Benchmark.BURST.value: burst,
    Benchmark.POOLS.value: pools,
    LATENCY: latency,
    "table": table,
    "compare": compare,
}


def exponents(option: str, given: Texts) -> list[int]:
    """Return the binary exponents that were given for an option, as 10 or 2^10."""
    return numbers(option, given, r"(?:2\^)?(\d+)", range(41), "an exponent N from 0 to 40, for 2^N")


def amounts(option: str, given: Texts) -> list[int]:
    """Return the numbers of something that were given for an option."""
    return numbers(option, given, r"(\d+)", range(1, MOST + 1), f"a number from 1 to {MOST}")


def numbers(option: str, given: Texts, form: str, allowed: range, what: str) -> list[int]:
    """Return the numbers that were given for an option, each once."""
    found = []
    for text in given or []:
        match = re.fullmatch(form, text, re.IGNORECASE | re.ASCII)
        if match is None or int(match[1]) not in allowed:
            raise MallardError(f"{option} {text}: must be {what}")
        found.append(int(match[1]))
    return list(dict.fromkeys(found))


# A run of benchmark II in the paper's notation: |G| |S| af sf rf, as -21 18 8 +3 32. |G| < 0 makes both sizes
# binary exponents; sf < 0 lets the accesses come before the shuffle. mallard-bench reads it, too; here it is
# told which number is wrong, before anything is made.
NAMES = ("G", "S", "AF", "SF", "RF")
LARGEST = 40  # exponent
MOST = 1 << 40  # links
MOST_TIMES = 1 << 20


def checked(words: Sequence[str]) -> str:
    """Return a run as it is handed on; refuse what is none."""
    if len(words) != len(NAMES):
        raise refused(words, f"it takes five numbers, {' '.join(NAMES)}, not {len(words)}")
    for name, word in zip(NAMES, words, strict=True):
        if re.fullmatch(r"[+-]?[0-9]+", word) is None:
            raise refused(words, f"{name} is {word}, no whole number")
    links, lists, access, shuffles, repeat = map(int, words)
    largest = -links if links < 0 else links
    if links == 0 or (links < 0 and largest > LARGEST) or links > MOST:
        raise refused(
            words, f"G is {links}: not from 1 to 2^{LARGEST}, nor an exponent from -{LARGEST} to -1"
        )
    if not (0 if links < 0 else 1) <= lists <= largest:
        raise refused(
            words, f"S is {lists}: a list has {'2^0' if links < 0 else 1} links at least, and at most all"
        )
    for name, number in (("AF", access), ("RF", repeat)):
        if number not in range(MOST_TIMES + 1):
            raise refused(words, f"{name} is {number}: not from 0 to 2^20")
    if abs(shuffles) > MOST_TIMES:
        raise refused(words, f"SF is {shuffles}: not from -2^20 to 2^20")
    return " ".join(words)


def refused(words: Sequence[str], why: str) -> MallardError:
    """Return what is wrong with a run."""
    return MallardError(f"{' '.join(words)} is no run: {why}")
