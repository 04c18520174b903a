"""The whole page of one or more journals: what is static; page/ is what scripts add."""

from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from pathlib import PurePath
from typing import Any
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.analysis.verdict import MOST_MEMORY
from mallard.html.element import Column, head, line, scrolled, tag
from mallard.html.frame import Page, tabs, whole
from mallard.report.data import JournalReport, as_json
from mallard.report.method import DIMENSIONS
from mallard.report.panel import doctors, panel, program_name


def render(reports: list[JournalReport], version: str, command: list[str]) -> str:
    """Return the page of one or more journals; `command` makes it again."""
    names = ", ".join(dict.fromkeys(program_name(report.profile) for report in reports))
    several = len(reports) > 1
    named = [(f"{program_name(one.profile)} ({one.profile.process})", one.profile.journal) for one in reports]
    content = [comparison(reports), tabs(named)] if several else []
    content += [panel(report, number, several) for number, report in enumerate(reports)]
    return written("mallard report", f"{names}: allocation report", content, reports, version, command)


def render_doctor(
    document: Mapping[str, Any], report: JournalReport | None, version: str, command: list[str]
) -> str:
    """Return the page of `mallard doctor`: `document` is its JSON, the report that of its journal."""
    name = PurePath(document["program"][0]).name
    reports = [report] if report else []
    content = [doctors(document, report)]
    return written("mallard doctor", f"{name}: what would pay", content, reports, version, command)


def written(
    name: str,
    title: str,
    content: list[Element],
    reports: list[JournalReport],
    version: str,
    command: list[str],
) -> str:
    """Return the page with its data and scripts."""
    page = Page(
        name=name,
        title=title,
        content=content,
        data=[as_json(report).encode() for report in reports],
        own=files("mallard.report") / "page",
        given={
            "dimensions": [asdict(dimension) for dimension in DIMENSIONS],
            "most_memory": MOST_MEMORY,
        },
    )
    return whole(page, version, command)


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
