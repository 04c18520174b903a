"""A profile as tables for the terminal: the verdict first, then the program, its subsystems and its sites."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypeVar

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mallard import figures
from mallard.analysis.model import Behaviour, Finding, FreeOrder, Profile, Site, Spread, Subsystem

WIDE = 110  # columns from which on all figures have room
GAP = 2
LEAST_NAME = 16
FINDINGS = 5

Part = TypeVar("Part")
# A heading, the text of a row, and whether it is there even where there is little room.
Figure: TypeAlias = tuple[str, Callable[[Part], str], bool]


def render(profile: Profile, console: Console) -> None:
    """Print the whole profile."""
    console.print(Text(profile.verdict.headline, style="bold"))
    console.print()
    for finding in profile.verdict.findings[:FINDINGS]:
        console.print(finding_lines(finding))
    console.print(totals(profile))
    console.print()
    console.print(subsystems(profile.subsystems, console.width))
    console.print()
    console.print(sites(profile, console.width))


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
        "freed": free_order(whole.free_order),
        "D V L U C": ", ".join(dimensions(profile)),
    }
    for name, value in rows.items():
        once = name == "program"  # however long its arguments are
        table.add_row(Text(name, style="bold"), Text(value, no_wrap=once, overflow="ellipsis"))
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


def free_order(counted: FreeOrder) -> str:
    """Return how objects were freed, the ways that occur."""
    kinds = {
        "one by one": counted.one_by_one,
        "youngest first": counted.lifo,
        "together": counted.together,
        "reallocated": counted.reallocated,
        "never": counted.never,
    }
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.items() if count)


def subsystems(found: Sequence[Subsystem], width: int) -> Table:
    """Return a row for each subsystem."""
    figures_of: list[Figure[Subsystem]] = [
        ("calls", lambda part: figures.count(part.behaviour.allocations), True),
        ("bytes", lambda part: figures.size(part.behaviour.bytes), True),
        ("peak", lambda part: figures.size(part.behaviour.max_live_bytes), False),
        ("D", lambda part: figures.share(part.dvluc.density.value), True),
        ("V", lambda part: figures.unit(part.dvluc.variation.value), True),
        ("L*", lambda part: figures.unit(part.dvluc.locality.pages), False),
        ("U", lambda part: figures.unit(part.dvluc.utilization.value), True),
        ("C", lambda part: figures.unit(part.dvluc.contention.value), True),
        ("freed", lambda part: main_free_order(part.behaviour), False),
    ]
    table = table_of("subsystem", [(Text(part.name), part) for part in found], figures_of, width)
    if width >= WIDE:
        table.caption = "L*: not measured; live bytes over the bytes of the pages that hold them"
    return table


def main_free_order(part: Behaviour) -> str:
    """Return how most objects were freed."""
    counted = part.free_order
    kinds = {
        "one by one": counted.one_by_one,
        "LIFO": counted.lifo,
        "together": counted.together,
        "realloc": counted.reallocated,
        "never": counted.never,
    }
    kind = max(kinds, key=lambda name: kinds[name])
    return f"{kind} {100 * kinds[kind] / part.allocations:.0f} %"


def sites(profile: Profile, width: int) -> Table:
    """Return a row for each site."""
    figures_of: list[Figure[Site]] = [
        ("calls", lambda site: figures.count(site.behaviour.allocations), True),
        ("bytes", lambda site: figures.size(site.behaviour.bytes), True),
        ("at peak", lambda site: figures.size(site.behaviour.live_at_peak_bytes), False),
        ("size", lambda site: figures.size(site.behaviour.sizes.p50), True),
        ("lifetime", lambda site: median_time(site.behaviour.lifetime_ns), True),
        ("at exit", lambda site: figures.size(site.behaviour.leaked_bytes), False),
        ("temp.", lambda site: temporaries(site.behaviour), True),
        ("freed", lambda site: main_free_order(site.behaviour), False),
    ]
    table = table_of("site", [(place(site), site) for site in profile.sites], figures_of, width)
    table.caption = (
        f"{len(profile.sites):,} of {profile.sites_total:,} sites; size and lifetime are medians; "
        "temp.: freed before their thread's next allocation"
    )
    return table


def temporaries(part: Behaviour) -> str:
    """Return how many objects were freed before the next allocation, and their share."""
    return f"{part.temporaries.last:,} ({figures.share(part.temporaries.last / part.allocations)})"


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


def table_of(
    heading: str, rows: Sequence[tuple[Text, Part]], figures_of: Sequence[Figure[Part]], width: int
) -> Table:
    """Return a table of names and figures; names give way where there is no room, figures never do."""
    shown = [figure for figure in figures_of if figure[2] or width >= WIDE]
    cells = [[text(part) for _, text, _ in shown] for _, part in rows]
    columns = [[title, *column] for (title, *_), column in zip(shown, zip(*cells, strict=True), strict=False)]
    taken = sum(GAP + max(map(len, column)) for column in columns)
    table = Table(
        box=None, header_style="bold", padding=(0, GAP, 0, 0), pad_edge=False, caption_justify="left"
    )
    table.add_column(heading, no_wrap=True)
    for title, *_ in shown:
        table.add_column(title, justify="right", no_wrap=True)
    for (name, _), row in zip(rows, cells, strict=True):
        name.truncate(max(LEAST_NAME, width - taken - GAP), overflow="ellipsis")
        table.add_row(name, *row)
    return table
