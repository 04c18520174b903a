"""The verdict: of each finding of the paper, whether it holds in a run, does not, or is undecided."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element

from mallard.html.element import tag
from mallard_bench.findings import judged, left_out, words
from mallard_bench.findings.judge import Finding, Judgement, Verdict
from mallard_bench.options import Benchmark
from mallard_bench.page.facts import BENCHMARK_HEADINGS
from mallard_bench.results_file import Run

Judged = tuple[Finding, Judgement]

MARKS = {Verdict.HOLDS: "✓", Verdict.DOES_NOT: "✗", Verdict.OPEN: "?"}
PLURALS = {Verdict.HOLDS: "hold", Verdict.DOES_NOT: "do not", Verdict.OPEN: "undecided"}
CLASSES = {Verdict.HOLDS: "holds", Verdict.DOES_NOT: "does-not", Verdict.OPEN: "open"}


def verdict(runs: Sequence[Run], names: Sequence[str]) -> Element:
    """Return the section: the counts of each run, then its findings by the paper's tables."""
    made = tag("section", tag("h2", "Verdict"), class_="card verdict", id="verdict")
    found = [judged(run.header.benchmark, run.documents) for run in runs]
    counted = Counter(judgement.verdict for run in found for _, judgement in run)
    made.append(tag("p", headline(counted), class_="headline"))
    made.append(tag("p", words.NOISE))
    made.append(filters(counted))
    for run, name, findings in zip(runs, names, found, strict=True):
        made.append(of_run(run, name, findings))
    return made


def headline(counted: Counter[Verdict]) -> str:
    """Say how many findings hold."""
    return (
        f"Of {counted.total()} findings of the paper {counted[Verdict.HOLDS]} hold here, "
        f"{counted[Verdict.DOES_NOT]} do not, {counted[Verdict.OPEN]} are undecided."
    )


def filters(counted: Counter[Verdict]) -> Element:
    """Return the buttons that choose which findings are shown; scripts make them work."""
    made = tag("div", class_="toolbar", role="group", aria_label="Findings that are shown", hidden="")
    made.set("id", "findings-filter")
    for one in Verdict:
        words = f"{MARKS[one]} {one} ({counted[one]})"
        made.append(tag("button", words, type="button", aria_pressed="true", data_verdict=CLASSES[one]))
    return made


def of_run(run: Run, name: str, findings: Sequence[Judged]) -> Element:
    """Return the findings of a run."""
    heading = BENCHMARK_HEADINGS[Benchmark(run.header.benchmark)]
    made = tag("div", tag("h3", heading, *chips(findings), " ", tag("small", name)), class_="run-findings")
    if unmeasured := left_out(run.header.benchmark, findings):
        made.append(tag("p", unmeasured, class_="detail"))
    for table, group in groupby(findings, lambda one: one[0].table):
        made.append(of_table(table, list(group)))
    return made


def of_table(table: str, findings: Sequence[Judged]) -> Element:
    """Return the findings that belong to one of the paper's tables."""
    summary = tag("summary", tag("strong", table_name(table)), " ", *chips(findings))
    lines = (of_one(finding, judgement) for finding, judgement in findings)
    return tag("details", summary, tag("ul", *lines, class_="judged"), class_="findings-of")


def table_name(table: str) -> str:
    """Return what a table is called."""
    if table.isdigit():
        return f"Table {table}"
    return {"all": "All structures"}.get(table, table)


def chips(findings: Iterable[Judged]) -> Iterable[Element]:
    """Return how many findings there are of each verdict."""
    counted = Counter(judgement.verdict for _, judgement in findings)
    return [
        tag(
            "span",
            f"{MARKS[one]} {counted[one]} {PLURALS[one] if counted[one] > 1 else one}",
            class_=f"chip {CLASSES[one]}",
        )
        for one in Verdict
        if counted[one]
    ]


def of_one(finding: Finding, judgement: Judgement) -> Element:
    """Return a finding: the verdict, the sentence, and the figures that decided."""
    claimed = finding.claimed
    said = "" if claimed is None else f"; the paper says {ratio(claimed)}"
    return tag(
        "li",
        tag("span", f"{MARKS[judgement.verdict]} {judgement.verdict}", class_="judgement"),
        tag(
            "span",
            f"{finding.sentence} ",
            tag("span", f"{judgement.figures}{said} ({words.where(finding.section)})", class_="detail"),
        ),
        class_=CLASSES[judgement.verdict],
    )


def ratio(claimed: tuple[float, float]) -> str:
    """Return what the paper's text names."""
    low, high = claimed
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
