"""What papers found, and whether measured tables show it; the claims are data, in claims.txt."""

from collections.abc import Sequence

from mallard_bench.findings.claims import claims
from mallard_bench.findings.judge import Finding, Judgement
from mallard_bench.findings.measured import Document, measured

FINDINGS = claims()


def judged(benchmark: str, documents: Sequence[Document]) -> list[tuple[Finding, Judgement]]:
    """Return each finding of a benchmark about what was measured, with what some documents of it say."""
    table = measured(benchmark, documents)
    every = [(finding, finding.judge(table)) for finding in FINDINGS[benchmark]]
    return [(finding, said) for finding, said in every if said.figures]


def left_out(benchmark: str, told: Sequence[tuple[Finding, Judgement]]) -> str:
    """Say how many findings are about what was not measured; nothing if there are none."""
    count = len(FINDINGS[benchmark]) - len(told)
    if not count:
        return ""
    return f"Left out: {count} finding{'s' if count > 1 else ''} about what was not measured."
