"""The tables of the replay: what each strategy costs on this journal, its single calls, and what it holds."""

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.html.element import Column, head, line, scrolled, tag
from mallard.report.data import JournalReport
from mallard.report.replay import of_threads

Row = dict[str, Any]

CALLS = ("alloc", "free", "realloc", "calloc")


def strategies(report: JournalReport) -> list[Element]:
    """Return the table, or why there is none."""
    if report.replay is None:
        return [tag("p", report.replay_hint, class_="summary no-script")]
    rows: list[Row] = report.replay["rows"]
    all_columns = [*named(), *times(best_malloc(rows), time_of(rows, "glibc"))]
    if of_threads(report.replay):
        all_columns += [*on_threads(), *of_copies(rows)]
    return [table(rows, [*all_columns, *footprint()], "Strategies")]


def single_operations(report: JournalReport) -> list[Element]:
    """Return the percentiles of each call at its fastest, if calls were timed."""
    rows: list[Row] = report.replay["rows"] if report.replay else []
    timed = [row for row in rows if any(lowest(row, call) for call in CALLS)]
    known = [call for call in CALLS if any(lowest(row, call) for row in timed)]
    columns = [*named(), *(column for call in known for column in percentiles(call))]
    return [table(timed, columns, "Times of calls", tall=True)] if timed else []


def held(report: JournalReport) -> list[Element]:
    """Return the four measures of fragmentation, if held was measured over the events."""
    rows: list[Row] = report.replay["rows"] if report.replay else []
    measured = [row for row in rows if row.get("fragmentation_measures")]
    return [table(measured, [*named(), *measures()], "Held over time", tall=True)] if measured else []


def table(rows: list[Row], columns: list[Column[Row]], label: str, tall: bool = False) -> Element:
    """Return a table with a row for each strategy."""
    made = tag("table", head(columns), tag("tbody", *(line(columns, row) for row in rows)))
    made.set("class", "sortable strategies")
    return scrolled(made, label, tall)


def named() -> list[Column[Row]]:
    """Return the columns that say which strategy it is."""
    return [
        Column("Strategy", lambda row: row["strategy"]),
        Column("Binding", lambda row: row["binding"]),
    ]


def ratio(value: float | None) -> str:
    """Return one figure over another."""
    return figures.UNKNOWN if value is None else f"{value:.2f}"


def member(*names: str) -> Callable[[Row], Any]:
    """Return what finds a member of a row, or one within it; None where there is none."""

    def find(row: Row) -> Any:
        found: Any = row
        for name in names:
            found = found.get(name) if found else None
        return found

    return find


def times(best: float | None, glibc: float | None) -> list[Column[Row]]:
    """Return the columns of times; two of them relate to these."""

    def over(base: float | None, row: Row) -> float | None:
        own = row["ns_per_event"]
        return own / base if own is not None and base and row["strategy"] != "none" else None

    def spread(row: Row) -> str:
        around = row["spread"]
        if around is None:
            return figures.UNKNOWN
        return f"{figures.number(around[0])}..{figures.number(around[1])}"

    return [
        Column(
            "ns/event",
            lambda row: row["ns_per_event"],
            figures.number,
            "CPU time of an allocation or a free, warm, median over the rounds, net of the floor (none).",
        ),
        Column("Spread", lambda row: row["spread"] and row["spread"][0], figures.number, show=spread),
        Column("x glibc", lambda row: over(glibc, row), ratio, "Time over glibc's."),
        Column("x best malloc", lambda row: over(best, row), ratio, "Time over the best malloc's."),
        Column(
            "Cold ns", lambda row: row["cold_ns_per_event"], figures.number, "The first pass of a process."
        ),
    ]


def on_threads() -> list[Column[Row]]:
    """Return the columns that a replay on the recorded threads adds."""

    def of(name: str) -> Callable[[Row], Any]:
        return member("threads", name)

    return [
        Column("Wall ns", of("wall_ns_per_event"), figures.number, "Wall time of a warm pass, an event."),
        Column("Cold wall ns", of("cold_wall_ns_per_event"), figures.number, "Wall time of the first pass."),
        Column(
            "Waiting ns",
            of("waiting_ns_per_event"),
            figures.number,
            "CPU time of the replay's own waits, an event: no cost of the strategy.",
        ),
        Column(
            "Voluntary switches",
            of("voluntary_switches"),
            figures.number,
            "Of a warm pass, without the replay's own: a thread that sleeps for a lock switches voluntarily.",
        ),
        Column("Involuntary", of("involuntary_switches"), figures.number, "Switches of a warm pass."),
        Column(
            "Max live strayed",
            of("max_live_strayed"),
            figures.share,
            "By how much the most live bytes differed from the journal's.",
        ),
    ]


def of_copies(rows: list[Row]) -> list[Column[Row]]:
    """Return the columns of several copies at once: of one, and of the most."""
    most = max((len(row.get("scale") or ()) for row in rows), default=0)
    if most == 0:
        return []

    def of(copies: int, name: str) -> Callable[[Row], Any]:
        return lambda row: row["scale"][copies - 1][name] if len(row.get("scale") or ()) >= copies else None

    return [
        Column("Events/s, 1 copy", of(1, "events_per_second"), figures.count),
        Column(
            f"{most} copies", of(most, "events_per_second"), figures.count, "Events a second of all copies."
        ),
        Column(
            "Contention",
            of(most, "contention"),
            figures.share,
            "Share of the attempts to take a lock that found another thread there, of the most copies.",
        ),
    ]


def footprint() -> list[Column[Row]]:
    """Return the columns of memory, and what became of the row."""
    return [
        Column("Max held", lambda row: row["max_held"], figures.size, "Most memory held."),
        Column("F", lambda row: row["fragmentation"], ratio, "Fragmentation: max held / max live."),
        Column("Held after", lambda row: row["held_after"], figures.size, "Held when all was freed."),
        Column("Faults", lambda row: row["page_faults"], figures.count, "Page faults of the cold pass."),
        Column("Status", lambda row: f"{row['status']}: {row['reason']}" if row["reason"] else row["status"]),
    ]


def lowest(row: Row, call: str) -> Any:
    """Return the percentiles of the lowest time of each event, None where no such call was timed."""
    return member(f"{call}_ns", "minimum")(row)


def percentiles(call: str) -> list[Column[Row]]:
    """Return the columns of one kind of calls."""
    shares = {"p50": "median", "p99": "99 %", "p999": "99.9 %", "max": "slowest"}
    return [
        Column(
            f"{call} {text}",
            member(f"{call}_ns", "minimum", name),
            figures.time,
            "Of the lowest time of each event over the passes.",
        )
        for name, text in shares.items()
    ]


def measures() -> list[Column[Row]]:
    """Return held over live in four ways, and how what is held divides."""

    def of(name: str) -> Callable[[Row], Any]:
        return member("fragmentation_measures", name)

    return [
        Column(
            "Mean",
            of("mean"),
            ratio,
            "Held over live: the mean over all events after which something is live.",
        ),
        Column("At max live", of("at_max_live"), ratio, "Held over live at the moment of most live bytes."),
        Column("At max held", of("at_max_held"), ratio, "Held over live at the moment of most held bytes."),
        Column(
            "Max / max", of("max_to_max"), ratio, "The most held over the most live, whenever either was."
        ),
        Column(
            "Internal", member("internal"), figures.size, "Granted - live, at the moment of most live bytes."
        ),
        Column("Header", member("header"), figures.size, "Carved - granted, at that moment."),
        Column("External", member("external"), figures.size, "Held - carved, at that moment."),
    ]


def time_of(rows: list[Row], strategy: str) -> float | None:
    """Return the time of a strategy, None if it was not measured."""
    return next((row["ns_per_event"] for row in rows if row["strategy"] == strategy), None)


def best_malloc(rows: list[Row]) -> float | None:
    """Return the lowest time of a malloc; a repeated row does not count."""
    measured = [
        row["ns_per_event"]
        for row in rows
        if row["binding"] == "malloc" and row["status"] == "ok" and not row["strategy"].endswith(" a/a")
    ]
    return min((time for time in measured if time is not None), default=None)
