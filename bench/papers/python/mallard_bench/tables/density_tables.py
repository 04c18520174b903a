"""Benchmark I, a structure at a time.

1. the paper's table: seconds for 2^27 leaves, warm
2. the same in percent of AS1's, round by round: what another run of the same machine gives again
3. everybody else, and AS1 measured twice, in percent of AS1's
4. the paper's table once more, cold: the first structure of a process
5. what a process held at most, and its page faults in 4
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mallard_bench.expected_documents import PAPERS_LEAVES
from mallard_bench.results import Result
from mallard_bench.tables.columns import (
    MEMORY_TITLE,
    Figure,
    cold,
    measured_beyond,
    memory_table,
    others_table,
    paper_columns,
    plain,
    relative_table,
    three_digits,
    warm,
)
from mallard_bench.tables.grid import Cell, Grid, Line, Section

CORNER = "size"
SECONDS = 2**PAPERS_LEAVES / 1e9  # for as many leaves of one ns
WHOLE = f"CPU seconds for 2^{PAPERS_LEAVES} leaves"
CONTENTS = ("int", "string")
CONTAINERS = ("vector", "unordered_set")


def sections(results: Sequence[Result]) -> Iterator[Section]:
    """Yield the tables of each structure."""
    names = {result.group["structure"] for result in results}
    for structure in sorted(names, key=lambda name: int(name[2:])):
        of = [result for result in results if result.group["structure"] == structure]
        yield Section(structure, list(tables(sorted(of, key=size), structure)))
    yield Section("all", [])


def tables(results: Sequence[Result], structure: str) -> Iterator[Grid]:
    """Yield the tables of a structure."""
    whole = f"{title(structure)}{hashes(results)}: {WHOLE}{scaled(results)}"
    yield replace(paper_table(results, whole, warm), papers=structure)
    in_percent = f"{structure}: CPU time of AS1, the others in percent of it"
    yield relative_table(results, in_percent, CORNER, line, warm, leaves, f"{structure} in percent")
    if measured_beyond(results):
        beyond = f"{structure}, beyond the paper: percent of AS1's CPU time"
        yield others_table(results, beyond, CORNER, line, warm)
    if any(row.cold is not None for result in results for row in result.rows):
        yield paper_table(results, f"{structure}, first touch: {WHOLE}", cold)
        yield memory_table(results, f"{structure}, {MEMORY_TITLE}", CORNER, line)


def hashes(results: Sequence[Result]) -> str:
    """Say whether sets keep hashes, where there are sets and it is known."""
    kept = {result.group.get("cached_hashes") for result in results} - {None}
    if len(kept) != 1 or "set" not in title(results[0].group["structure"]):
        return ""
    return ", hashes cached" if kept == {True} else ", hashes not cached"


def scaled(results: Sequence[Result]) -> str:
    """Say how many leaves were measured, where it is not as many as in the paper."""
    written = sorted({int(result.group["leaves"]) for result in results if "leaves" in result.group})
    if written in ([], [PAPERS_LEAVES]):
        return ""
    return f", scaled from {' and '.join(f'2^{number}' for number in written)}"


def title(structure: str) -> str:
    """Return a structure with what it is: DS7, vector<unordered_set<int>>."""
    number = int(structure[2:]) - 1
    name = f"{CONTAINERS[number // 2 % 2]}<{CONTENTS[number % 2]}>"
    return f"{structure}, {f'{CONTAINERS[number // 8]}<{name}>' if number >= 4 else name}"


def paper_table(results: Sequence[Result], title: str, time: Figure) -> Grid:
    """Return the paper's table of a time."""
    headings, labels = paper_columns(results)

    def cells(result: Result) -> list[Cell]:
        return [plain(result.row(label), time, lambda ns: three_digits(ns * SECONDS)) for label in labels]

    return Grid(title, CORNER, headings, [line(result, cells(result)) for result in results]).coloured()


def leaves(_: Result) -> float:
    """Return for how many leaves times are given."""
    return float(2**PAPERS_LEAVES)


def line(result: Result, cells: Sequence[Cell]) -> Line:
    """Return the row of a size."""
    return Line(f"2^{size(result)}", cells, result.skipped)


def size(result: Result) -> int:
    """Return the binary exponent of a group's size."""
    return int(result.group["size"])
