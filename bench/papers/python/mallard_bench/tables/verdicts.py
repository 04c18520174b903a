"""The findings below a table, a line each: whether what the paper found holds here.

holds           Wink-out wins everywhere. (section 7.3: 66 of 66; counted as holding: above 1 in 90 %; ...)
does not        Multipool is the best heap. (section 7.3: 5 of 88; ...)
cannot be told  ...

findings/words.py has the words of the figures.
"""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from mallard_bench.findings import words
from mallard_bench.findings.finding import Finding, Judgement, Verdict
from mallard_bench.printing import print_text

STYLES = {Verdict.HOLDS: "green", Verdict.DOES_NOT: "red", Verdict.OPEN: "yellow"}
WIDTH = max(len(verdict) for verdict in Verdict)


def show(judged: Iterable[tuple[Finding, Judgement]], console: Console) -> None:
    """Print findings."""
    for finding, judgement in judged:
        figures = f"{words.where(finding.section)}: {judgement.figures}{claim(finding)}"
        verdict = Text(f"{judgement.verdict:<{WIDTH}}  ", STYLES[judgement.verdict])
        said = Text.assemble(f"{finding.sentence} ", (f"({figures})", "dim"))
        print_text(said, console, verdict)


def claim(finding: Finding) -> str:
    """Return the ratio that the paper's text names."""
    if finding.claimed is None:
        return ""
    low, high = (f"{bound:.3g}" for bound in finding.claimed)
    return f"; the paper says {low}" if low == high else f"; the paper says {low} to {high}"
