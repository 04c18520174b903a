"""The table of the replay: what each strategy costs on this journal."""

from typing import Any
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.html.element import Column, head, line, scrolled, tag
from mallard.report.data import JournalReport

Row = dict[str, Any]


def strategies(report: JournalReport) -> list[Element]:
    """Return the table, or why there is none."""
    if report.replay is None:
        return [tag("p", report.replay_hint, class_="summary no-script")]
    rows: list[Row] = report.replay["rows"]
    all_columns = columns(best_malloc(rows), time_of(rows, "glibc"))
    table = tag("table", head(all_columns), tag("tbody", *(line(all_columns, row) for row in rows)))
    table.set("class", "sortable strategies")
    return [scrolled(table, "Strategies")]


def columns(best: float | None, glibc: float | None) -> list[Column[Row]]:
    """Return all columns; two of them relate to these times."""

    def times(base: float | None, row: Row) -> float | None:
        own = row["ns_per_event"]
        return own / base if own is not None and base and row["strategy"] != "none" else None

    def spread(row: Row) -> str:
        around = row["spread"]
        if around is None:
            return figures.UNKNOWN
        return f"{figures.number(around[0])}..{figures.number(around[1])}"

    def ratio(value: float | None) -> str:
        return figures.UNKNOWN if value is None else f"{value:.2f}"

    return [
        Column("Strategy", lambda row: row["strategy"]),
        Column("Binding", lambda row: row["binding"]),
        Column(
            "ns/event",
            lambda row: row["ns_per_event"],
            figures.number,
            "CPU time of an allocation or a free, warm, median over the rounds, net of the floor (none).",
        ),
        Column("Spread", lambda row: row["spread"] and row["spread"][0], figures.number, show=spread),
        Column("x glibc", lambda row: times(glibc, row), ratio, "Time over glibc's."),
        Column("x best malloc", lambda row: times(best, row), ratio, "Time over the best malloc's."),
        Column(
            "Cold ns", lambda row: row["cold_ns_per_event"], figures.number, "The first pass of a process."
        ),
        Column("Max held", lambda row: row["max_held"], figures.size, "Most memory held."),
        Column("F", lambda row: row["fragmentation"], ratio, "Fragmentation: max held / max live."),
        Column("Held after", lambda row: row["held_after"], figures.size, "Held when all was freed."),
        Column("Faults", lambda row: row["page_faults"], figures.count, "Page faults of the cold pass."),
        Column("Status", lambda row: f"{row['status']}: {row['reason']}" if row["reason"] else row["status"]),
    ]


def time_of(rows: list[Row], strategy: str) -> float | None:
    """Return the time of a strategy, None if it was not measured."""
    return next((row["ns_per_event"] for row in rows if row["strategy"] == strategy), None)


def best_malloc(rows: list[Row]) -> float | None:
    """Return the lowest time of a malloc; a repeated row does not count."""
    times = [
        row["ns_per_event"]
        for row in rows
        if row["binding"] == "malloc" and row["status"] == "ok" and not row["strategy"].endswith(" a/a")
    ]
    return min((time for time in times if time is not None), default=None)
