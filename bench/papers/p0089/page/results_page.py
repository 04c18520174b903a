"""Writes what pages have from the results kept here: tables, findings and pictures; the prose is their own.

    results_page.py [--check]

    <!-- measured: density -->     where, how and when          <!-- end of measured -->
    <!-- beside: density -->       medians, and the paper's     <!-- end of beside -->
    <!-- since: density -->        times over those of then     <!-- end of since -->
    <!-- best: density -->         ours over others             <!-- end of best -->
    <!-- findings: density DS3 --> a line a finding             <!-- end of findings -->
    <!-- walks: locality -->       the table of multipool.md    <!-- end of walks -->

--check changes nothing and says what would change, with exit code 1.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import beside_paper
from beside_paper import line, ratio
from mallard import MallardError, figures
from mallard_bench.expected_documents import documents
from mallard_bench.findings import judged
from mallard_bench.findings.judge import Finding, Judgement, Verdict
from mallard_bench.findings.measured import Measured, measured
from mallard_bench.papers import BESIDE, LAST_SPLIT, WITH, WITHOUT
from mallard_bench.results_file import Run, read
from mallard_bench.show import machine
from mallard_bench.tables.columns import three_digits
from pictures_of_results import drawn

ROOT = Path(__file__).resolve().parents[4]
RESULTS = ROOT / "bench/papers/p0089/results"
PAGES = (ROOT / "docs/p0089.md", ROOT / "docs/strategies/multipool.md")
PICTURES = ROOT / "docs/images/p0089"
BENCHMARKS = ("density", "locality", "utilization", "contention")

BLOCK = re.compile(
    r"(<!-- (measured|beside|since|best|findings|walks): (\w+)( \w+)? -->\n).*?(<!-- end of \2 -->)",
    re.DOTALL,
)
MARKS = {Verdict.HOLDS: "holds", Verdict.DOES_NOT: "**does not**", Verdict.OPEN: "undecided"}


@cache
def run_of(benchmark: str) -> Run:
    """Return what a benchmark was measured by."""
    return read(RESULTS / f"{benchmark}.jsonl.xz")


def written(page: str) -> str:
    """Return a page with its blocks as the results make them."""

    def block(found: re.Match[str]) -> str:
        begin, kind, benchmark, table, end = found.groups()
        if kind == "measured":
            made = facts(benchmark)
        elif kind == "beside":
            made = beside_paper.lines(benchmark, table_of(benchmark), papers(benchmark))
        elif kind == "since":
            made = beside_paper.since(table_of(benchmark), papers(benchmark))
        elif kind == "best":
            made = beside_paper.best(run_of(benchmark).documents)
        elif kind == "walks":
            made = lines_of_walks(table_of(benchmark))
        else:
            made = findings(benchmark, (table or "").strip())
        return "\n".join([begin.rstrip("\n"), *made, end])

    return BLOCK.sub(block, page)


def table_of(benchmark: str) -> Measured:
    """Return the figures that were measured."""
    return measured(benchmark, run_of(benchmark).documents)


def papers(benchmark: str) -> Measured:
    """Return the figures of the paper."""
    return measured(benchmark, documents(benchmark))


def facts(benchmark: str) -> Iterator[str]:
    """Yield where, how and when a benchmark was measured, and how many findings hold."""
    of = run_of(benchmark)
    groups = f"{len(of.documents)} groups" + ("" if of.complete else f" of {of.header.groups}")
    rounds = of.documents[0]["method"]["rounds"]
    least = f"{rounds} round" + ("s" if rounds != 1 else "")
    yield (
        f"Measured: {groups} ({of.header.level}), {of.header.date[:10]}, {least} at least, "
        f"at most {figures.size(of.header.memory_limit)} a strategy. "
        f"{machine(of.documents[0]['machine'])}."
    )
    yield ""
    verdicts = [judgement.verdict for _, judgement in judged(benchmark, of.documents)]
    counted = ", ".join(f"{verdicts.count(one)} {words}" for one, words in COUNTED.items())
    yield f"Of {len(verdicts)} findings {counted}."


COUNTED = {Verdict.HOLDS: "hold", Verdict.DOES_NOT: "do not", Verdict.OPEN: "are undecided"}


def findings(benchmark: str, table: str) -> Iterator[str]:
    """Yield a line a finding of one of the paper's tables; of all, if none is named."""
    found = judged(benchmark, run_of(benchmark).documents)
    yield line(["the paper", "here", "figures"])
    yield line(["---"] * 3)
    for finding, judgement in found:
        if table in ("", finding.table):
            yield line([finding.sentence, MARKS[judgement.verdict], told(finding, judgement)])


def told(finding: Finding, judgement: Judgement) -> str:
    """Return the figures that decided, and those of the paper's text."""
    said = judgement.figures.replace("|", "\\|")
    if finding.claimed is None:
        return said
    low, high = (f"{bound:.3g}" for bound in finding.claimed)
    return f"{said}; the paper says {low}" + ("" if low == high else f" to {high}")


def stale() -> Iterator[tuple[Path, str]]:
    """Yield each file that is not as the results make it, and how it is made."""
    made = {page: written(page.read_text(encoding="utf-8")) for page in PAGES}
    for benchmark in BENCHMARKS:
        if (RESULTS / f"{benchmark}.jsonl.xz").exists():
            made[PICTURES / f"{benchmark}.svg"] = drawn(benchmark, table_of(benchmark), papers(benchmark))
    for path, text in made.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            yield path, text


LEAST = 12  # links of a list, as an exponent
LEAST_SYSTEM = 21
HEAPS = {WITHOUT: "`glibc`, one heap for all", WITH: "`multipool` each", BESIDE: f"`{BESIDE}` each"}
SPLITS = {0: f"lists walked {2**LAST_SPLIT} times a visit", LAST_SPLIT: "walked once a visit"}


def lines_of_walks(table: Measured) -> Iterator[str]:
    """Yield what long use does to walks over lists of 2^12 links and more: the table of multipool.md."""
    yield line(["after the shuffle over before", *SPLITS.values()])
    yield line(["---", *["---:"] * len(SPLITS)])
    for label, name in HEAPS.items():
        yield line([name, *(between(list(walks(table, label, split))) for split in SPLITS)])


def walks(table: Measured, label: str, split: int) -> Iterator[float]:
    """Yield what a heap's walks take after the shuffle over before, of all large lists but single ones."""
    for kind, links, lists, at, shuffled, _, who in table.cells:
        if (kind, at, shuffled, who) == (
            "splits",
            split,
            True,
            label,
        ) and LEAST <= lists < links >= LEAST_SYSTEM:
            after = table.cells[kind, links, lists, at, True, None, who]
            of = ratio(after, table.cells.get((kind, links, lists, at, False, None, who)))
            if of is not None:
                yield of


def between(values: list[float]) -> str:
    """Return between which figures all lie."""
    if not values:
        return "-"
    least, most = three_digits(min(values)), three_digits(max(values))
    return least if least == most else f"{least} to {most}"


def main(arguments: Sequence[str]) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit with 1 if one would change"
    )
    check = parser.parse_args(arguments).check
    try:
        changed = list(stale())
    except MallardError as error:
        print(f"results_page: {error}", file=sys.stderr)
        return 2
    for path, text in changed:
        print(f"{'would change' if check else 'written'}: {path.relative_to(ROOT)}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
