"""The page of one or more runs: verdict, noise and where it was measured first, then a section a benchmark.

Without scripts there are findings, facts and the tables of allocators; assets/ adds heat maps, surfaces and
lines. The browser gets each run's documents and the paper's, in one form:

    {"runs": [{"name": "density quick gcc ...", "benchmark": "density", "cores": 4, "documents": [...]}],
     "paper": {"density": [...]}, "titles": {"DS1": "vector<int>"}, "families": {"global": ["AS1", ...]}}

A document has its group and rows; members of a row that say nothing are left out.
"""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from mallard.html.element import scrolled, tag
from mallard.html.frame import Page, whole
from mallard.output import replacing
from mallard_bench import expected_documents
from mallard_bench.options import Benchmark
from mallard_bench.page.facts import BENCHMARK_HEADINGS, measured_on, method, noise, run_names
from mallard_bench.page.page_findings import verdict
from mallard_bench.papers import FAMILIES, OF_ALLOCATORS, titles
from mallard_bench.ratios import with_ratios
from mallard_bench.results import Document
from mallard_bench.results_file import Run
from mallard_bench.show import sections
from mallard_bench.tables.density_tables import title as structure_title
from mallard_bench.tables.grid import Cell, Grid, Heat, Line, legend, notes


def write_page(runs: Sequence[Run], path: Path, version: str, command: list[str]) -> None:
    """Write the page of some runs; `command` makes it again."""
    with replacing(path) as part:
        part.write_text(render(runs, version, command), encoding="utf-8")


def render(runs: Sequence[Run], version: str, command: list[str]) -> str:
    """Return the page of some runs."""
    names = run_names(runs)
    shown = [benchmark for benchmark in Benchmark if any(run.header.benchmark == benchmark for run in runs)]
    page = Page(
        name="mallard bench",
        title=f"{title(shown)}: {', '.join(shown)}",
        content=[
            head(runs, names),
            contents(shown),
            verdict(runs, names),
            noise(runs, names),
            measured_on(runs, names),
            *(section(benchmark, runs, names) for benchmark in shown),
            method(runs),
        ],
        data=[as_json(runs, names).encode()],
        own=files("mallard_bench.page") / "assets",
    )
    return whole(page, version, command)


def head(runs: Sequence[Run], names: Sequence[str]) -> Element:
    """Return what the page is of."""
    facts = tag("p", *(tag("span", name) for name in names), class_="facts")
    made = tag("div", tag("h1", title([run.header.benchmark for run in runs])), facts, class_="head")
    for run, name in zip(runs, names, strict=True):
        if not run.complete:
            there = f"{len(run.documents)} of {run.header.groups} groups"
            again = shlex.join(["mallard", "bench", run.header.benchmark, "--resume"])
            made.append(
                tag("p", f"{name} has {there}; the same command with --resume goes on: ", tag("code", again))
            )
            made[-1].set("class", "notice")
    return made


def contents(shown: Sequence[Benchmark]) -> Element:
    """Return the links to all sections."""
    links = [("verdict", "Verdict"), ("noise", "Noise"), ("measured-on", "Measured on")]
    links += [(benchmark, BENCHMARK_HEADINGS[benchmark]) for benchmark in shown]
    links.append(("method", "Method"))
    items = (tag("li", tag("a", heading, href=f"#{name}")) for name, heading in links)
    return tag("nav", tag("ul", *items), class_="contents", aria_label="Sections")


def title(benchmarks: Sequence[str]) -> str:
    """Return what a page of some benchmarks is called."""
    return f"Benchmarks of {titles(benchmarks)}"


def section(benchmark: Benchmark, runs: Sequence[Run], names: Sequence[str]) -> Element:
    """Return the place of a benchmark's charts, or its tables."""
    drawn = benchmark not in OF_ALLOCATORS
    return tag(
        "section",
        tag("h2", BENCHMARK_HEADINGS[benchmark], id=f"{benchmark}-heading"),
        *([tag("div", data_part=benchmark)] if drawn else printed(benchmark, runs, names)),
        class_="card drawn" if drawn else "card",
        id=benchmark,
        aria_labelledby=f"{benchmark}-heading",
    )


def printed(benchmark: Benchmark, runs: Sequence[Run], names: Sequence[str]) -> Iterator[Element]:
    """Yield the tables of all runs of a benchmark."""
    for run, name in zip(runs, names, strict=True):
        if run.header.benchmark == benchmark:
            yield tag("h3", name)
            for of in sections(benchmark, run.documents):
                yield from as_tables(of.tables)
    yield tag("p", legend(benchmark), class_="note")


def as_tables(grids: Iterable[Grid]) -> list[Element]:
    """Return each table, with what is below it."""
    return [tag("div", scrolled(printed_table(grid), grid.title), *small_print(grid)) for grid in grids]


def small_print(grid: Grid) -> list[Element]:
    """Return the notes of a table."""
    return [tag("p", note, class_="note") for note in notes(grid)]


def printed_table(grid: Grid) -> Element:
    """Return one table."""
    groups = [
        tag("th", group.heading, scope="colgroup", colspan=str(len(group.columns))) for group in grid.groups
    ]
    names = [tag("th", column.name, scope="col") for group in grid.groups for column in group.columns]
    head = tag(
        "thead", tag("tr", tag("th", ""), *groups), tag("tr", tag("th", grid.corner, scope="col"), *names)
    )
    body = tag("tbody", *(row(line, grid.heat, len(names)) for line in grid.lines))
    return tag("table", tag("caption", grid.title), head, body, class_="printed")


def row(line: Line, heat: Heat | None, columns: int) -> Element:
    """Return one row, or why it has no figures."""
    heading = tag("th", line.name, scope="row")
    if line.skipped is not None:
        return tag("tr", heading, tag("td", f"skipped: {line.skipped}", colspan=str(columns)))
    return tag("tr", heading, *(of_cell(cell, heat) for cell in line.cells))


def of_cell(cell: Cell, heat: Heat | None) -> Element:
    """Return a figure in its colour."""
    colour = None if heat is None or cell.value is None else heat.style(cell.value).bgcolor
    style = None if colour is None or colour.triplet is None else f"--heat: {colour.triplet.hex}"
    kind = "number heated" if style else "number"
    return tag("td", f"{cell.whole}{cell.mark.strip()}", class_=kind, style=style, title=cell.reason)


DIGITS = 5
STRUCTURES = [f"DS{number}" for number in range(1, 13)]


def as_json(runs: Sequence[Run], names: Sequence[str]) -> str:
    """Return the data of the page."""
    benchmarks = dict.fromkeys(run.header.benchmark for run in runs)
    whole = {
        "runs": [
            {
                "name": name,
                "benchmark": run.header.benchmark,
                "cores": min((one["machine"]["cores"] for one in run.documents), default=0),
                "documents": compact(run.documents),
            }
            for run, name in zip(runs, names, strict=True)
        ],
        "paper": {name: compact(expected_documents.documents(name)) for name in benchmarks},
        "families": FAMILIES,
        "titles": {name: structure_title(name).partition(", ")[2] for name in STRUCTURES},
    }
    return json.dumps(whole, separators=(",", ":"), allow_nan=False)


def compact(documents: Iterable[Document]) -> list[dict[str, Any]]:
    """Return documents with what is shown of them; those of one group, as the paper has some, are one."""
    groups: dict[str, dict[str, Any]] = {}
    for document in map(with_ratios, documents):
        kept = groups.setdefault(json.dumps(document["group"]), {"group": document["group"], "rows": []})
        kept["rows"] += [smaller(row) for row in document["rows"]]
    return list(groups.values())


def smaller(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row says, in as many digits as are read."""
    said = {name: value for name, value in row.items() if value is not None}
    if not said.get("repeated"):
        said.pop("repeated", None)
    return {name: rounded(value) for name, value in said.items()}


def rounded(value: Any) -> Any:
    """Return floats, also those of a list, with fewer digits."""
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
