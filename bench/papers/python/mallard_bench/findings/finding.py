"""What a paper found, as a check: a sentence, and a judge that says whether a table shows it.

Finding --judge(measured)--> Judgement: holds | does not | cannot be told, and the figures that decided
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from mallard_bench.findings.measured import Measured


class Verdict(StrEnum):
    """Whether a finding holds in a table."""

    HOLDS = "holds"
    DOES_NOT = "does not"
    OPEN = "cannot be told"  # what is needed was not measured, or differences lie within the noise


@dataclass(frozen=True)
class Judgement:
    """A verdict, and the figures that decided in words; none if nothing that it is about was measured."""

    verdict: Verdict
    figures: str = ""


Judge = Callable[[Measured], Judgement]

UNMEASURED = Judgement(Verdict.OPEN)


@dataclass(frozen=True)
class Finding:
    """One finding; `claimed` is the range of the ratio that the paper's text names, "10 % more" as 1.1."""

    table: str  # below which table it belongs: DS1 ... DS12, a table's number, or the whole benchmark
    section: str
    sentence: str
    judge: Judge
    claimed: tuple[float, float] | None = None
