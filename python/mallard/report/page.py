"""The whole page: what is static, and around it the files of page/ (bundle.py)."""

import shlex
from string import Template
from xml.etree.ElementTree import Element

from mallard.report import bundle
from mallard.report.data import JournalReport, as_json
from mallard.report.html import tag, text_of

# The sections that scripts draw into, in the order of the page.
CHARTS = ("timeline", "dvluc", "flame", "heat", "threads", "replay")


def render(reports: list[JournalReport], version: str) -> str:
    """Return the page of one or more journals."""
    body = tag("main", *(panel(report, number) for number, report in enumerate(reports)), id="content")
    data = [
        f'<script type="text/plain" id="data-{number}">{bundle.packed(as_json(report).encode())}</script>'
        for number, report in enumerate(reports)
    ]
    return Template(bundle.page_file("index.html")).substitute(
        version=version,
        title="mallard report",
        style=bundle.styles(),
        body=text_of(body),
        plotly=bundle.plotly(),
        data="\n".join(data),
        scripts=bundle.scripts(),
    )


def panel(report: JournalReport, number: int) -> Element:
    """Return the part of the page that is one journal's."""
    profile = report.profile
    return tag(
        "div",
        tag("h1", profile.program),
        tag("p", shlex.join(profile.arguments), class_="command"),
        tag("p", profile.verdict.headline, class_="verdict"),
        *(tag("section", data_chart=chart, hidden="") for chart in CHARTS),
        class_="journal",
        id=f"journal-{number}",
    )
