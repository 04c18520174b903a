"""A run as text: tables in the paper's order with findings below, then where and how it was measured.

holds      Wink-out wins everywhere. (section 7.3: 66 of 66; counted as holding: above 1 in 90 %; ...)
does not   Multipool is the best heap. (section 7.3: 5 of 88; ...)
undecided  ...

findings/words.py has the words of the figures.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.text import Text

from mallard import figures
from mallard_bench import expected_documents
from mallard_bench.findings import judged, left_out, words
from mallard_bench.findings.judge import Finding, Judgement, Verdict
from mallard_bench.options import Benchmark
from mallard_bench.printing import PatientConsole, has_width, print_text
from mallard_bench.results import Document, Result, result
from mallard_bench.results_file import Run
from mallard_bench.tables import (
    allocators_tables,
    contention_tables,
    density_tables,
    grid,
    latency_tables,
    locality_tables,
    pools_tables,
    utilization_tables,
)
from mallard_bench.tables.grid import Section, legend, notes

WIDE = 120  # columns where no terminal says how many there are

SECTIONS: dict[str, Callable[[Sequence[Result]], Iterator[Section]]] = {
    Benchmark.DENSITY: density_tables.sections,
    Benchmark.LOCALITY: locality_tables.sections,
    Benchmark.UTILIZATION: utilization_tables.sections,
    Benchmark.CONTENTION: contention_tables.sections,
    Benchmark.EXPANSION: allocators_tables.expansion,
    Benchmark.SHRINK: allocators_tables.shrink,
    Benchmark.BURST: allocators_tables.burst,
    Benchmark.POOLS: pools_tables.sections,
}


def show_run(run: Run, paper: bool) -> None:
    """Print a run to standard output; colours and width are the terminal's.

    With `paper` each of its tables stands below ours of the same title.
    """
    console = PatientConsole() if has_width() else PatientConsole(width=WIDE)
    benchmark = run.header.benchmark
    findings = judged(benchmark, run.documents)
    theirs = {table.papers: table for table in papers_tables(benchmark)} if paper else {}
    explained = False
    for section in sections(benchmark, run.documents):
        for table in section.tables:
            grid.show(table, console)
            for line in [*notes(table), *([] if explained else [legend(benchmark)])]:
                say(line, console)
            explained = True
            console.print()
            if paper and table.papers is not None:
                if of := theirs.get(table.papers):
                    grid.show(as_printed(of), console)
                else:
                    say(f"The paper has no table of {table.title.partition(':')[0]}.", console)
                console.print()
        below = [(finding, judgement) for finding, judgement in findings if finding.table == section.name]
        show_findings(below, console)
        if below:
            console.print()
    if findings:
        say(words.NOISE, console)
    if unmeasured := left_out(benchmark, findings):
        say(unmeasured, console)
    for line in closing(run, run.results):
        say(line, console)


def show_replays(run: Run) -> None:
    """Print a run of replays to standard output: one table."""
    console = PatientConsole() if has_width() else PatientConsole(width=WIDE)
    table = latency_tables.table(latency_tables.journals_of(run.documents))
    grid.show(table, console)
    for line in [*notes(table), latency_tables.LEGEND]:
        say(line, console)
    for line in unique(machine(document["machine"]) for document in run.documents):
        say(line, console)
    of = "" if run.complete else f" of {run.header.groups}"
    say(f"{len(run.documents)}{of} replays ({run.header.date}): {run.path}", console)


def say(line: str, console: PatientConsole) -> None:
    """Print a line of small print."""
    print_text(Text(line, style="dim"), console)


def as_printed(papers: grid.Grid) -> grid.Grid:
    """Return a table of the paper, which has no spreads but those of rounding."""
    lines = [
        replace(line, cells=[replace(cell, spread=None) for cell in line.cells]) for line in papers.lines
    ]
    return replace(papers, title=f"In the paper: {papers.title}", lines=lines)


def sections(benchmark: str, documents: Sequence[Document]) -> Iterator[Section]:
    """Yield the tables of some documents."""
    return SECTIONS[benchmark]([result(document) for document in documents])


def papers_tables(benchmark: str) -> list[grid.Grid]:
    """Return the paper's own tables, from its values."""
    if benchmark == Benchmark.POOLS:
        return [pools_tables.papers_memory()]
    return [
        table
        for section in sections(benchmark, expected_documents.documents(benchmark))
        for table in section.tables
    ]


def closing(run: Run, results: Sequence[Result]) -> Iterator[str]:
    """Yield where and how the figures were measured, and where they are."""
    yield from unique(machine(result.machine) for result in results)
    yield from unique(method(result) for result in results)
    of = "" if run.complete else f" of {run.header.groups}"
    groups = "group" if run.header.groups == 1 else "groups"
    yield f"{len(results)}{of} {groups} ({run.header.level}, {run.header.date}): {run.path}"


def machine(known: Mapping[str, Any]) -> str:
    """Say where something was measured."""
    return (
        f"{known['cpu']}, {known['cores']} cores, {figures.size(known['memory'])}; {known['kernel']}, "
        f"transparent huge pages: {known['transparent_huge_pages']}; {known['c_library']}; "
        f"{known['compiler']} {known['flags']}"
    )


def method(result: Result) -> str:
    """Say how a group was measured."""
    known = result.method
    litter = f"littered with {known['litter']} times the live objects" if known["litter"] else "fresh heaps"
    return (
        f"{known['turns']}; {known['figures']}; {litter}; "
        f"at most {figures.size(known['memory_limit'])} a strategy"
    )


def unique(lines: Iterator[str]) -> list[str]:
    """Return each line once."""
    return list(dict.fromkeys(lines))


STYLES = {Verdict.HOLDS: "green", Verdict.DOES_NOT: "red", Verdict.OPEN: "yellow"}
VERDICT_WIDTH = max(len(verdict) for verdict in Verdict)


def show_findings(judged: Iterable[tuple[Finding, Judgement]], console: Console) -> None:
    """Print findings."""
    for finding, judgement in judged:
        figures = f"{words.where(finding.section)}: {judgement.figures}{claim(finding)}"
        verdict = Text(f"{judgement.verdict:<{VERDICT_WIDTH}}  ", STYLES[judgement.verdict])
        said = Text.assemble(f"{finding.sentence} ", (f"({figures})", "dim"))
        print_text(said, console, verdict)


def claim(finding: Finding) -> str:
    """Return the ratio that the paper's text names."""
    if finding.claimed is None:
        return ""
    low, high = (f"{bound:.3g}" for bound in finding.claimed)
    return f"; the paper says {low}" if low == high else f"; the paper says {low} to {high}"
