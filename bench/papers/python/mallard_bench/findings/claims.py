"""The claims of the papers, and ours beside them: claims.txt, read into findings.

[benchmark | table | section | conditions of all ratios]
A sentence.
ratios (selection.py) | how they are judged | what the paper's text names

above 2, 0.9 to 1.1, below 3        of 90 % of the ratios; `always` of all, `mostly` of 75 %
median above 2 ...                  of the median
ends out_of_memory                  of all cells that were tried
counts 4, counts ..16896            of what is counted in each cell
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from mallard_bench.findings.judge import (
    ALWAYS,
    MOSTLY,
    NEARLY,
    Finding,
    Judge,
    beside,
    each,
    ends,
    made_by,
    middle,
    provided,
    reached,
)
from mallard_bench.findings.measured import LAYOUT, Measured
from mallard_bench.findings.selection import Selection, selection
from mallard_bench.papers import WITH

CLAIMS = Path(__file__).with_name("claims.txt")
SHARES = {"always": ALWAYS, "mostly": MOSTLY}
NONE = -1.0  # the bound below which nothing is, not even a count of nothing


@cache
def claims() -> dict[str, list[Finding]]:
    """Return the findings of each benchmark."""
    found: dict[str, list[Finding]] = {}
    header, sentence = ["", "", "", ""], ""
    for line in CLAIMS.read_text(encoding="ascii").splitlines():
        if line.startswith("["):
            header = fields(line.strip("[]"), 4)
        elif line.startswith(" "):
            found.setdefault(header[0], []).append(finding_of(header, sentence, *fields(line, 3)))
        elif not line.startswith("#"):
            sentence = line
    return found


def fields(line: str, count: int) -> list[str]:
    """Return what stands between the bars of a line."""
    found = [field.strip() for field in line.split("|")]
    return found + [""] * (count - len(found))


def finding_of(header: Sequence[str], sentence: str, line: str, judged: str, claimed: str) -> Finding:
    """Return the finding of a line."""
    benchmark, table, section, everywhere = header
    of = selection(line, everywhere)
    judge = judge_of(of, judged.split())
    other = LAYOUT[benchmark].beside
    if other and WITH in line:
        judge = beside(judge, other, selection(line.replace(WITH, other), everywhere).ratios)
    if table == "all":
        judge = provided(lambda measured: of.structures <= structures(measured), judge)
    return Finding(table, section, sentence, judge, named_range(claimed))


def named_range(claimed: str) -> tuple[float, float] | None:
    """Return the range that a paper's text names, of which both ends may be one."""
    low, _, high = claimed.partition(" to ")
    return (float(low), float(high or low)) if claimed else None


def structures(table: Measured) -> set[str]:
    """Return the structures that were measured."""
    return {key[0] for key, cell in table.cells.items() if cell.time}


def judge_of(of: Selection, words: list[str]) -> Judge:
    """Return the judge that some words describe."""
    match words:
        case ["by", compiler, *rest]:
            return made_by(compiler, judge_of(of, rest))
        case ["ends", status]:
            return ends(lambda table: [key for key, _ in of.keys(table)], status)
        case ["counts", wanted]:
            return counts(of, wanted)
        case ["median", *rest]:
            return middle(of.ratios, *bounds(rest))
        case [*rest, "always" | "mostly" as share]:
            return each(of.ratios, *bounds(rest), SHARES[share])
    return each(of.ratios, *bounds(words), NEARLY)


def bounds(words: Sequence[str]) -> tuple[float, float]:
    """Return the bounds that some words name."""
    match words:
        case ["above", least]:
            return float(least), math.inf
        case ["below", most]:
            return NONE, float(most)
        case [least, "to", most]:
            return float(least), float(most)
    raise ValueError(f"no bounds: {' '.join(words)}")


def counts(of: Selection, wanted: str) -> Judge:
    """Demand of what was counted that it is a number, or at most a number of bytes."""

    def values(table: Measured) -> list[int]:
        cells = [(table.cells.get(key), name) for key, name in of.keys(table)]
        return [cell.counts[name] for cell, name in cells if cell is not None and name in cell.counts]

    at_most, number = wanted.startswith(".."), int(wanted.strip("."))
    fits: Callable[[int], bool] = (lambda n: n <= number) if at_most else (lambda n: n == number)
    name = of.labels[0].partition("#")[2]
    return reached(values, fits, "bytes" if at_most else name.replace("_", " "))
