"""The whole page: what is static, and around it the files of page/ (bundle.py).

    bar: title, theme | tabs and comparison, if there are several journals | a panel a journal | foot

All that matters is there without scripts; they add charts, sites, tabs and sorting.
"""

import shlex
from string import Template
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.names import shown
from mallard.report import bundle
from mallard.report.data import JournalReport, as_json
from mallard.report.html import tag, text_of
from mallard.report.panel import panel, program_name
from mallard.report.table import Column, head, line, scrolled

TOO_OLD = (
    "This browser is too old for the charts and for the table of sites: they need DecompressionStream "
    "(Chromium 80, Firefox 113, Safari 16.4). The verdict and the main figures are below."
)
NO_SCRIPT = (
    "JavaScript is off: charts and the table of sites are not shown. "
    "The verdict and the main figures are below."
)


def render(reports: list[JournalReport], version: str, command: list[str]) -> str:
    """Return the page of one or more journals; `command` makes it again."""
    names = ", ".join(dict.fromkeys(program_name(report.profile) for report in reports))
    several = len(reports) > 1
    main = tag("main", id="content", tabindex="-1")
    main.append(tag("p", NO_SCRIPT, class_="notice no-script"))
    main.append(tag("p", TOO_OLD, class_="notice", id="too-old", hidden=""))
    if several:
        main.append(comparison(reports))
        main.append(tabs(reports))
    main.extend(panel(report, number, several) for number, report in enumerate(reports))
    body = tag("body", skip_link(), bar(), main, foot(version, command))
    data = [
        f'<script type="text/plain" id="data-{number}">{bundle.packed(as_json(report).encode())}</script>'
        for number, report in enumerate(reports)
    ]
    return Template(bundle.page_file("index.html")).substitute(
        version=version,
        title=text_of(tag("title", f"{names}: allocation report")),
        style=bundle.styles(),
        body=text_of(body).removesuffix("</body>"),
        plotly=bundle.plotly(),
        data="\n".join(data),
        scripts=bundle.scripts(),
    )


def skip_link() -> Element:
    """Return what takes a keyboard past the bar."""
    return tag("a", "Skip to the report", href="#content", class_="skip")


def bar() -> Element:
    """Return the top of the page; the button works where scripts do."""
    theme = tag("button", "Dark", type="button", id="theme", aria_pressed="false", hidden="")
    return tag("header", tag("span", "mallard report", class_="brand"), theme, class_="top")


def comparison(reports: list[JournalReport]) -> Element:
    """Return a table with a row for each journal."""
    columns: list[Column[tuple[int, JournalReport]]] = [
        Column(
            "Program",
            lambda row: program_name(row[1].profile),
            show=lambda row: tag("a", program_name(row[1].profile), href=f"#journal-{row[0]}"),
        ),
        Column("Process", lambda row: row[1].profile.process, str_of_whole),
        Column("Events", lambda row: row[1].profile.totals.events, figures.count),
        Column("Allocations", lambda row: row[1].profile.totals.allocations, figures.count),
        Column("Allocated", lambda row: row[1].profile.totals.bytes, figures.size),
        Column("Live at peak", lambda row: row[1].profile.totals.peak_live_bytes, figures.size),
        Column("Live at end", lambda row: row[1].profile.totals.end_live_bytes, figures.size),
        Column("CPU time", lambda row: row[1].profile.totals.cpu_ns, figures.time),
        Column("D", lambda row: row[1].profile.dvluc.density.value, figures.unit),
        Column("Verdict", lambda row: row[1].profile.verdict.headline),
    ]
    table = tag("table", head(columns), class_="sortable")
    table.append(tag("tbody", *(line(columns, row) for row in enumerate(reports))))
    return tag("section", tag("h2", "Journals"), scrolled(table, "Journals"), class_="card comparison")


def str_of_whole(value: float | None) -> str:
    """Return a number that is a name, without separators."""
    return figures.UNKNOWN if value is None else f"{value:.0f}"


def tabs(reports: list[JournalReport]) -> Element:
    """Return the selector of journals; scripts show it and make it work."""
    made = tag("div", class_="tabs", role="tablist", aria_label="Journals", hidden="")
    for number, report in enumerate(reports):
        made.append(
            tag(
                "button",
                f"{program_name(report.profile)} ({report.profile.process})",
                type="button",
                role="tab",
                id=f"tab-{number}",
                aria_controls=f"journal-{number}",
                aria_selected="true" if number == 0 else "false",
                tabindex="0" if number == 0 else "-1",
                title=report.profile.journal,
            )
        )
    return made


def foot(version: str, command: list[str]) -> Element:
    """Return who made the page, and how to make it again."""
    return tag(
        "footer",
        tag("p", f"Made by mallard {version}. To make it again: ", tag("code", shown(shlex.join(command)))),
    )
