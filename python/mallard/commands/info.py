"""`mallard info`: what a journal is about, as a table or as JSON."""

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mallard.figures import shown

if TYPE_CHECKING:
    from rich.table import Table

    from mallard.processes import Process


def info(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="A journal, binary or text; may be .xz.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit with 2 if the journal, or one of a child process, is damaged, cut off, being recorded "
            "or lacks something, or if a child process was not recorded.",
        ),
    ] = False,
) -> None:
    """Show what a journal holds and what recording cost."""
    from mallard.processes import processes, summary_of

    summary = summary_of(journal)
    summary["regions"] = regions(journal, summary)
    below = [one for one in processes(journal, summary) if one.depth > 0]
    summary["processes"] = [process_row(one) for one in below]
    if as_json:
        print(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        show(summary)
    for path, told in [(journal, summary), *((one.journal, one.summary) for one in below)]:
        for warning in told["warnings"]:
            print(f"mallard: warning: {path}: {warning}", file=sys.stderr)
    whole = summary["complete"] and all(one.summary["complete"] for one in below)
    if strict and not (whole and all_recorded(summary)):
        raise typer.Exit(2)


def process_row(one: "Process") -> dict[str, Any]:
    """Return what the list of processes says of one of them."""
    members = ("process", "parent_process", "program", "arguments", "events", "objects", "bytes", "complete")
    return {"journal": one.journal, "depth": one.depth, **{name: one.summary[name] for name in members}}


def all_recorded(summary: dict[str, Any]) -> bool:
    """Return whether every child process has a journal."""
    return not summary["unrecorded"] and all(child["journal"] for child in summary["children"])


def regions(journal: str, summary: dict[str, Any]) -> dict[str, Any] | None:
    """Say of what was allocated in regions what the summary says of the malloc family; None without any."""
    from mallard import _native

    if not any(kind.startswith("region_") for kind in summary["events_by_kind"]):
        return None
    totals = _native.totals_of_regions(journal)
    objects, peak = totals["objects"], totals["peak_live_bytes"]
    return {
        **totals,
        "mean_object_bytes": totals["bytes"] / objects if objects else None,
        "bytes_over_peak": totals["bytes"] / peak if peak else None,
    }


def show(summary: dict[str, Any]) -> None:
    """Print the summary as a table of names and values."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None)
    for name, value in rows(summary):
        table.add_row(Text(name, style="bold"), Text(value))
    console = Console()
    console.print(table)
    if summary["processes"]:
        console.print(process_table(summary["processes"]))


def process_table(listed: Sequence[dict[str, Any]]) -> "Table":
    """Return the processes below the journal's own, each behind its parent."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, title_justify="left", title_style="bold", title=f"{len(listed):,} child journals")
    table.add_column("program", overflow="fold")
    for name in ("process", "events", "bytes"):
        table.add_column(name, justify="right")
    table.add_column("journal", overflow="fold")
    for one in listed:
        indent = "  " * (one["depth"] - 1)
        figures = (str(one["process"]), f"{one['events']:,}", f"{one['bytes']:,}")
        table.add_row(Text(indent + shown(one["program"])), *figures, Text(shown(one["journal"])))
    return table


def rows(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is worth a line; what the journal does not know is left out."""
    if summary["program"]:
        yield "program", summary["program"]
        yield "command", shlex.join(summary["arguments"])
    yield "events", f"{summary['events']:,}"
    for kind, count in summary["events_by_kind"].items():
        median = summary["median_ns_by_kind"].get(kind)
        yield f"  {kind}", f"{count:,}" + (f", {median:,.0f} ns each (median)" if median else "")
    yield "threads", f"{summary['threads']:,}"
    yield "contexts", f"{summary['contexts']:,}"
    if summary["stack_depth_median"]:
        yield "stack depth", f"{summary['stack_depth_median']:,} frames (median)"
    yield "duration", f"{summary['duration']:.3f} s"
    yield from allocation(summary)
    if summary["memory_ns"]:
        yield "memory calls", memory_cost(summary)
    if summary["regions"]:
        yield "regions", f"{summary['regions']['regions']:,}, and in them:"
        for name, value in allocation(summary["regions"]):
            yield f"  {name}", value
    if summary["snapshots"]:
        yield "snapshots", f"{summary['snapshots']:,}, of the callers' registers and stacks"
    if summary["unmatched_frees"]:
        yield "unmatched frees", f"{summary['unmatched_frees']:,}"
    if summary["cpu_ns"]:
        yield "CPU time", f"{summary['cpu_ns'] / 1e9:.3f} s"
    if summary["recording_ns"]:
        yield "recording", recording_cost(summary)
    if summary["stalls"]:
        yield "stalls", f"{summary['stalls']:,}, {summary['stalled_ns'] / 1e9:.3f} s in all"
    yield "journal", f"{summary['file_bytes']:,} bytes, {state(summary)}"
    for child in summary["children"]:
        if not child["journal"]:
            yield "not recorded", f"process {child['process']}"
    for program in summary["unrecorded"]:
        times = f" ({program['processes']:,} processes)" if program["processes"] > 1 else ""
        yield "not recorded", f"{program['program']}{times}: {program['reason']}"
    if summary["unrecorded"]:
        yield "", "nor what these started"


def allocation(figures: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield how many objects there were, how large, and how much was alive at once."""
    mean, ratio = figures["mean_object_bytes"], figures["bytes_over_peak"]
    yield "objects", f"{figures['objects']:,}" + (f", {mean:,.1f} bytes each (mean)" if mean else "")
    times = f", {ratio:,.1f} times those at peak" if ratio else ""
    yield "allocated", f"{figures['bytes']:,} bytes{times}"
    yield "live at peak", f"{figures['peak_live_bytes']:,} bytes in {figures['peak_live_objects']:,} objects"


def memory_cost(summary: dict[str, Any]) -> str:
    """Say what all calls of the malloc family took, and which part of the run that was."""
    share = f", {summary['memory_share']:.1%} of the program's CPU time" if summary["memory_share"] else ""
    return f"{summary['memory_ns'] / 1e9:.3f} s{share}, estimated from those that were timed"


def recording_cost(summary: dict[str, Any]) -> str:
    """Say what the recording took of the program's CPU time, and how that is known."""
    share = f", {summary['recording_share']:.1%} of it" if summary["recording_share"] else ""
    seconds = summary["recording_ns"] / 1e9
    return f"{seconds:.3f} s{share}, estimated from {summary['events_timed']:,} timed calls"


def state(summary: dict[str, Any]) -> str:
    """Say in a word or two whether the journal is whole."""
    if summary["complete"]:
        return "complete"
    return f"{summary['recovered']:,} events recovered" if summary["recovered"] else "incomplete"
