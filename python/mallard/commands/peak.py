"""`mallard peak`: what is alive when a program has most bytes alive, by subsystem and by calling context."""

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mallard import MallardError

if TYPE_CHECKING:
    from rich.console import Console

    from mallard.analysis.alive import AliveSite
    from mallard.analysis.partition import Limits
    from mallard.analysis.store import Store
    from mallard.analysis.symbols import Symbols

AT_PEAK = "allocation <= ? AND (free IS NULL OR free > ?)"


@dataclass(frozen=True, slots=True)
class AlivePart:
    """What a subsystem has alive."""

    name: str
    bytes: int
    blocks: int


def peak(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="A journal, binary or text; may be .xz.")],
    by: Annotated[
        str, typer.Option(help="What a subsystem is: subtree (of calls), module, thread or annotation.")
    ] = "subtree",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    sites: Annotated[int, typer.Option(min=0, help="Number of sites to show, largest first.")] = 20,
    frames: Annotated[int, typer.Option(min=1, help="Number of frames of each stack to show.")] = 12,
    max_subsystems: Annotated[int, typer.Option(min=1, help="How many subsystems there are at most.")] = 12,
    output: Annotated[str | None, typer.Option("-o", metavar="FILE", help="Write to a file.")] = None,
) -> None:
    """Show what is alive when a program has most bytes alive."""
    from mallard.analysis.alive import alive_sites
    from mallard.analysis.partition import Limits
    from mallard.analysis.progress import progress_bar
    from mallard.analysis.store import Store
    from mallard.analysis.subsystems import WAYS
    from mallard.analysis.symbols import Symbols
    from mallard.output import drawn, spare, writing

    if by not in WAYS:
        raise MallardError(f"--by {by}: must be one of {', '.join(WAYS)}")
    spare([journal], output)
    with progress_bar(f"peak {journal}") as progress:
        store = Store.read(journal, progress)
        symbols = Symbols(store)
        parts = parts_alive(store, symbols, by, Limits(most=max_subsystems))
        found = alive_sites(store, symbols, "peak")
    with writing(Path(output) if output else None) as file:
        if as_json:
            file.write(as_text(store, parts, found, sites).encode())
        else:
            file.write(
                drawn(lambda console: show(store, parts, found, sites, frames, console), output is not None)
            )
    for warning in [*store.totals["warnings"], *symbols.warnings]:
        print(f"mallard: warning: {journal}: {warning}", file=sys.stderr)


def parts_alive(store: "Store", symbols: "Symbols", by: str, limits: "Limits") -> list[AlivePart]:
    """Return the subsystems that have something alive at the peak, most bytes first."""
    from mallard.analysis.subsystems import divide

    event = store.totals["peak_event"]
    division = divide(store, symbols, by, limits)
    with division.grouping.objects(store) as objects:
        rows = store.rows(
            f"SELECT grp, sum(size)::BIGINT AS bytes, count(*) FROM {objects} WHERE {AT_PEAK} "
            "GROUP BY grp ORDER BY bytes DESC, grp",
            event,
            event,
        )
    return [AlivePart(division.names[group], size, blocks) for group, size, blocks in rows]


def show(
    store: "Store",
    parts: "list[AlivePart]",
    found: "list[AliveSite]",
    sites: int,
    frames: int,
    console: "Console",
) -> None:
    """Print it."""
    from rich.text import Text

    from mallard import figures
    from mallard.commands.stacks import amount, counted, print_sites, say
    from mallard.commands.tables import Figure, table_of

    totals = store.totals
    whole = totals["peak_live_bytes"]
    alive = amount(whole, totals["peak_live_objects"])
    say(console, f"Alive at the peak: {alive}, from {counted(len(found), 'site')}.", style="bold")
    time = f"{figures.time(totals['peak_time'])} of {figures.time(totals['end_time'])}"
    event, events = totals["peak_event"] + 1, totals["event_numbers"]
    say(console, f"Reached at {time}, by event {event:,} of {events:,} ({figures.share(event / events)}).")
    console.print()
    columns: list[Figure[AlivePart]] = [
        ("bytes", lambda part: f"{part.bytes:,}", True),
        ("share", lambda part: figures.share(part.bytes / whole if whole else None), True),
        ("blocks", lambda part: figures.count(part.blocks), True),
    ]
    console.print(table_of("subsystem", [(Text(part.name), part) for part in parts], columns, console.width))
    print_sites(found, sites, frames, console)


def as_text(store: "Store", parts: list[AlivePart], found: "list[AliveSite]", sites: int) -> str:
    """Return it as one JSON object; the event's number is from 0 on."""
    import json

    from mallard.figures import shown

    totals = store.totals
    whole = {
        "journal": shown(store.path),
        "program": totals["program"],
        "complete": totals["complete"],
        "bytes": totals["peak_live_bytes"],
        "blocks": totals["peak_live_objects"],
        "event": totals["peak_event"],
        "events": totals["events"],
        "time_ns": totals["peak_time"],
        "end_ns": totals["end_time"],
        "subsystems": [asdict(part) for part in parts],
        "sites_total": len(found),
        "sites": [asdict(site) for site in found[:sites]],
    }
    return json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n"
