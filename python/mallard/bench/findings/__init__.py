"""What a paper found, one file a benchmark, and whether measured tables show it."""

from collections.abc import Sequence

from mallard.bench.findings import contention, density, locality, utilization
from mallard.bench.findings.finding import Finding, Judgement
from mallard.bench.findings.measured import Document, measured

FINDINGS = {
    "density": density.FINDINGS,
    "locality": locality.FINDINGS,
    "utilization": utilization.FINDINGS,
    "contention": contention.FINDINGS,
}


def judged(benchmark: str, documents: Sequence[Document]) -> list[tuple[Finding, Judgement]]:
    """Return each finding of a benchmark with what some documents of it say."""
    table = measured(benchmark, documents)
    return [(finding, finding.judge(table)) for finding in FINDINGS[benchmark]]
