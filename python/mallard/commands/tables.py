"""A profile as tables for the terminal: the verdict first, then the program, its subsystems and its sites."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mallard import figures
from mallard.analysis.model import Behaviour, Deaths, Finding, Profile, Site, Spread, Subsystem

WIDE = 100  # columns from which on all figures have room
FINDINGS = 5


def render(profile: Profile, console: Console) -> None:
    """Print the whole profile."""
    wide = console.width >= WIDE
    console.print(Text(profile.verdict.headline, style="bold"))
    console.print()
    for finding in profile.verdict.findings[:FINDINGS]:
        console.print(finding_lines(finding))
    console.print(totals(profile))
    console.print()
    console.print(subsystems(profile.subsystems, wide))
    console.print()
    console.print(sites(profile, wide))


def finding_lines(finding: Finding) -> RenderableType:
    """Return a finding as a few lines."""
    share = "" if finding.share is None else f" (at most {figures.share(finding.share)})"
    return Group(
        Text(f"- {finding.title}{share}"),
        Padding(Text(finding.detail, style="dim"), (0, 0, 0, 2)),
        Padding(Text(finding.suggestion), (0, 0, 1, 2)),
    )


def totals(profile: Profile) -> Table:
    """Return the figures of the whole program."""
    known, whole = profile.totals, profile.whole
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    rows = {
        "program": " ".join(profile.arguments) or profile.program,
        "allocations": f"{known.allocations:,}, {figures.size(known.bytes)} in all",
        "live at peak": f"{figures.size(known.peak_live_bytes)} in {known.peak_live_objects:,} blocks",
        "live at the end": f"{figures.size(known.end_live_bytes)} in {known.end_live_objects:,} blocks",
        "temporaries": f"{whole.temporaries.last:,} freed before the next allocation, "
        f"{whole.temporaries.few:,} before {profile.few_limit} more, "
        f"{whole.temporaries.short:,} within {figures.time(profile.short_ns)}",
        "deaths": deaths(whole.deaths),
        "D V L U C": ", ".join(dimensions(profile)),
    }
    for name, value in rows.items():
        table.add_row(Text(name, style="bold"), Text(value))
    return table


def dimensions(profile: Profile) -> Iterable[str]:
    """Yield the five dimensions of the whole program."""
    found = profile.dvluc
    density = found.density.value
    yield f"D {figures.share(density)}" if density is not None else "D unknown"
    yield f"V {figures.unit(found.variation.value)}"
    yield f"L not measured (compactness {figures.unit(found.locality.pages)})"
    yield f"U {figures.unit(found.utilization.value)}"
    yield f"C {figures.unit(found.contention.value)}"


def deaths(counted: Deaths) -> str:
    """Return how objects ended, those that occur."""
    kinds = {
        "one by one": counted.one_by_one,
        "youngest first": counted.lifo,
        "together": counted.together,
        "reallocated": counted.reallocated,
        "never": counted.never,
    }
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)


def subsystems(found: Sequence[Subsystem], wide: bool) -> Table:
    """Return a row for each subsystem."""
    table = table_of("subsystem", ["calls", "bytes", "peak", "D", "V", "L*", "U", "C"], wide)
    if wide:
        table.add_column("deaths", no_wrap=True)
    for part in found:
        dvluc = part.dvluc
        cells = [
            figures.count(part.behaviour.allocations),
            figures.size(part.behaviour.bytes),
            figures.size(part.behaviour.max_live_bytes),
            figures.share(dvluc.density.value),
            figures.unit(dvluc.variation.value),
            figures.unit(dvluc.locality.pages),
            figures.unit(dvluc.utilization.value),
            figures.unit(dvluc.contention.value),
        ]
        if wide:
            cells.append(main_death(part.behaviour))
        table.add_row(Text(part.name), *cells)
    table.caption = "L*: not measured; compactness, live bytes over the bytes of the pages that hold them"
    table.caption_justify = "left"
    return table


def main_death(part: Behaviour) -> str:
    """Return how most objects ended."""
    counted = part.deaths
    kinds = {
        "one by one": counted.one_by_one,
        "LIFO": counted.lifo,
        "together": counted.together,
        "realloc": counted.reallocated,
        "never": counted.never,
    }
    kind = max(kinds, key=lambda name: kinds[name])
    return f"{kind} {100 * kinds[kind] / part.allocations:.0f} %"


def sites(profile: Profile, wide: bool) -> Table:
    """Return a row for each site."""
    headings = ["calls", "bytes", "at peak", "size", "lifetime", "temp."]
    table = table_of("site", headings, wide)
    if wide:
        table.add_column("deaths", no_wrap=True)
    for site in profile.sites:
        part = site.behaviour
        cells = [
            figures.count(part.allocations),
            figures.size(part.bytes),
            figures.size(part.live_at_peak_bytes),
            figures.size(part.sizes.p50),
            median_time(part.lifetime_ns),
            figures.share(part.temporaries.last / part.allocations),
        ]
        if wide:
            cells.append(main_death(part))
        table.add_row(place(site), *cells)
    table.caption = (
        f"{len(profile.sites)} of {profile.sites_total:,} sites; size and lifetime are medians; "
        "temp.: freed before the next allocation"
    )
    table.caption_justify = "left"
    return table


def place(site: Site) -> Text:
    """Return a site's function, and its file and line where they are known."""
    frame = site.stack[site.frame] if site.stack else None
    text = Text(site.name)
    if frame and frame.file:
        text.append(f" {frame.file.rsplit('/', 1)[-1]}:{frame.line}", style="dim")
    elif frame and frame.module and not site.name.startswith(frame.module):
        text.append(f" {frame.module}", style="dim")
    return text


def median_time(lifetime: Spread | None) -> str:
    """Return a median lifetime, or that nothing ended."""
    return "lives on" if lifetime is None else figures.time(lifetime.p50)


def table_of(first: str, others: Sequence[str], wide: bool) -> Table:
    """Return an empty table: a name and figures, which never wrap."""
    settings: dict[str, Any] = {"box": None, "header_style": "bold", "padding": (0, 2 if wide else 1, 0, 0)}
    table = Table(**settings)
    table.add_column(first, overflow="ellipsis", no_wrap=True, ratio=1)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
