"""The page of `mallard bench latency`: a panel for each journal, its table and the charts of the report.

    panel --> div data-replay=N --> places of charts, which find replay N in the data of the page

The charts, their helpers and their style are those of `mallard report`: they are of a replay, wherever it is
shown. page/latency/main.js starts them.
"""

import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.analysis.verdict import MOST_MEMORY
from mallard.html.element import scrolled, tag
from mallard.html.frame import Page, tabs, whole
from mallard.output import replacing
from mallard.report.data import small
from mallard_bench.page.bench_page import printed_table
from mallard_bench.results import Document
from mallard_bench.results_file import Run
from mallard_bench.show import machine
from mallard_bench.tables.latency_tables import LEGEND, Journal, journals_of, table

# By how a journal is replayed the charts of its replay, and their headings.
CHARTS = {
    "blocks": {
        "replay": "Strategies",
        "operations": "Single operations",
        "tails": "Times of calls",
        "held": "Held over time",
        "requests": "Sizes asked for",
    },
    "threads": {"replay": "On its threads"},
}
BORROWED = ("replay_rows.js", "log_scales.js", "strategy_lines.js")


def write_page(runs: Sequence[Run], path: Path, version: str, command: list[str]) -> None:
    """Write the page of some runs; `command` makes it again."""
    page = render(runs, version, command)
    with replacing(path) as part:
        part.write_text(page, encoding="utf-8")


def render(runs: Sequence[Run], version: str, command: list[str]) -> str:
    """Return the page of some runs."""
    journals = [journal for run in runs for journal in journals_of(run.documents)]
    shown = [(journal, how) for journal in journals for how in CHARTS if getattr(journal, how)]
    numbers = {(id(journal), how): number for number, (journal, how) in enumerate(shown)}
    names = [journal.name for journal in journals]
    facts = tag("p", *(tag("span", name) for name in names), class_="facts")
    content = [
        tag("div", tag("h1", "Times of single calls"), facts, class_="head"),
        tabs([(journal.name, journal.name) for journal in journals]),
        *(panel(journal, at, numbers) for at, journal in enumerate(journals)),
        methods(journals),
    ]
    page = Page(
        name="mallard bench latency",
        title=f"Times of single calls: {', '.join(names)}",
        content=content,
        data=[as_json(getattr(journal, how)) for journal, how in shown],
        own=files("mallard_bench.page") / "latency",
        borrowed=list(of_others()),
        given={"most_memory": MOST_MEMORY},
    )
    return whole(page, version, command)


def of_others() -> Iterator[Traversable]:
    """Yield what is taken from the page of the papers, and from the report's."""
    yield files("mallard_bench.page") / "assets" / "bench.css"
    page = files("mallard.report") / "page"
    yield page / "report.css"
    yield from (page / "lib" / name for name in BORROWED)
    charts = dict.fromkeys(name for of in CHARTS.values() for name in of)
    yield from (page / "charts" / f"{name}.js" for name in charts)


def as_json(document: Document) -> bytes:
    """Return what the browser gets of a replay: as the report has it."""
    data = {"replay": small(document), "journal": document["group"]["journal"], "replay_hint": ""}
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode()


def panel(journal: Journal, at: int, numbers: dict[tuple[int, str], int]) -> Element:
    """Return all of a journal."""
    grid = table([journal])
    made = tag("article", class_="journal", id=f"journal-{at}", role="tabpanel", aria_labelledby=f"tab-{at}")
    shown = scrolled(printed_table(grid), grid.title)
    legend = tag("p", LEGEND, class_="note")
    made.append(tag("section", tag("h2", journal.name), facts_of(journal), shown, legend, class_="card"))
    for how, charts in CHARTS.items():
        number = numbers.get((id(journal), how))
        if number is None:
            continue
        replay = tag("div", data_replay=str(number))
        for name, heading in charts.items():
            replay.append(tag("section", tag("h2", heading), tag("div", data_part=name), class_="card drawn"))
        made.append(replay)
    return made


def facts_of(journal: Journal) -> Element:
    """Return what the journal holds."""
    known: dict[str, Any] = (journal.blocks or journal.threads or {})["journal"]
    said = [
        f"{figures.count(known['events'])} events",
        f"{figures.count(known['threads'])} thread{'' if known['threads'] == 1 else 's'}",
        f"most live {figures.size(known['max_live'])}",
    ]
    return tag("p", *(tag("span", fact) for fact in said), class_="facts")


def methods(journals: Sequence[Journal]) -> Element:
    """Return where and how figures were made: for each way to replay each line once."""
    made = tag("section", tag("h2", "Method"), class_="card", id="method")
    for how, heading in {"blocks": "On one thread", "threads": "On the recorded threads"}.items():
        documents = [document for journal in journals if (document := getattr(journal, how))]
        lines = dict.fromkeys(("machine", machine(of["machine"])) for of in documents)
        lines |= dict.fromkeys(
            line for of in documents for line in of["method"].items() if line[0] != "machine"
        )
        rows = [tag("tr", tag("th", name, scope="row"), tag("td", text)) for name, text in lines]
        if rows:
            made.append(tag("h3", heading))
            made.append(tag("table", tag("tbody", *rows), class_="pairs"))
    return made
