"""`mallard info`: what a journal is about, as a table or as JSON."""

import json
import shlex
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mallard.errors import MallardError


def info(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="A journal, or its text form, also .xz.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what a journal holds and what recording cost."""
    from mallard import _native

    try:
        summary = _native.summary_json(journal)
    except _native.JournalError as error:
        raise MallardError(f"cannot read {journal}: {error}") from error
    if as_json:
        print(summary)
    else:
        show(json.loads(summary))


def show(summary: dict[str, Any]) -> None:
    """Print the summary as a table of names and values."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None)
    for name, value in rows(summary):
        table.add_row(Text(name, style="bold"), Text(value))
    Console().print(table)


def rows(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is worth a line; what the journal does not know is left out."""
    if summary["program"]:
        yield "program", summary["program"]
        yield "command", shlex.join(summary["arguments"])
    yield "events", f"{summary['events']:,}"
    for kind, count in summary["events_by_kind"].items():
        yield f"  {kind}", f"{count:,}"
    yield "threads", f"{summary['threads']:,}"
    yield "contexts", f"{summary['contexts']:,}"
    yield "duration", f"{summary['duration']:.3f} s"
    yield "allocated", f"{summary['bytes']:,} bytes"
    yield "live at peak", f"{summary['peak_live_bytes']:,} bytes in {summary['peak_live_objects']:,} blocks"
    if summary["unmatched_frees"]:
        yield "unmatched frees", f"{summary['unmatched_frees']:,}"
    if summary["stalls"]:
        yield "stalls", f"{summary['stalls']:,}, {summary['stalled_ns'] / 1e9:.3f} s in all"
    yield "journal", f"{summary['file_bytes']:,} bytes, {'complete' if summary['complete'] else 'cut off'}"
    for child in summary["children"]:
        yield "child", f"process {child['process']}: {child['journal']}"
    for warning in summary["warnings"]:
        yield "warning", warning
