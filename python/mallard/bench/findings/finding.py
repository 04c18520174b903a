"""What a paper found, as a check: a sentence, and a judge that says whether a table shows it.

Finding --judge(measured)--> Judgement: holds | does not | cannot be told, and the figures that decided
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from mallard.bench.findings.interval import Interval
from mallard.bench.findings.measured import Measured


class Verdict(StrEnum):
    """Whether a finding holds in a table."""

    HOLDS = "holds"
    DOES_NOT = "does not"
    OPEN = "cannot be told"  # what is needed was not measured, or differences lie within the noise


@dataclass(frozen=True)
class Judgement:
    """A verdict, in how many places the table speaks for and against it, and the ratio over all of them."""

    verdict: Verdict
    held: int
    against: int
    unclear: int  # the noise is larger than the difference
    ratio: Interval | None = None  # the median, between the smallest and the largest

    @property
    def figures(self) -> str:
        """The figures in words."""
        places = self.held + self.against + self.unclear
        if not places:
            return "not measured"
        count = f"{self.held} of {places}" + (f", {self.unclear} within noise" if self.unclear else "")
        if self.ratio is None:
            return count
        return f"{count}; ratio {self.ratio.value:.3g} ({self.ratio.low:.3g} to {self.ratio.high:.3g})"


Judge = Callable[[Measured], Judgement]


@dataclass(frozen=True)
class Finding:
    """One finding; `claimed` is the range of the ratio that the paper's text names, "10 % more" as 1.1."""

    table: str  # below which table it belongs: DS1 ... DS12, a table's number, or the whole benchmark
    section: str
    sentence: str
    judge: Judge
    claimed: tuple[float, float] | None = None
