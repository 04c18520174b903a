"""The table of subsystems: how each behaves, and its D V L U C."""

from collections.abc import Callable
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.analysis.model import Behaviour, Profile, Subsystem
from mallard.html.element import Child, Column, head, line, scrolled, tag

COLOURS = 12  # --series-1 ... of html/page/style.css

# A subsystem with its number, or the whole program without one.
Row = tuple[int | None, Subsystem]


def free_order(of: Behaviour) -> str:
    """Return how most objects end, and how many of them."""
    ends = of.free_order
    ways = {
        "one by one": ends.one_by_one,
        "last in, first out": ends.lifo,
        "all together": ends.together,
        "by realloc": ends.reallocated,
        "never": ends.never,
    }
    way = max(ways, key=lambda name: ways[name])
    return f"{way} {figures.share(ways[way] / max(1, of.allocations))}"


def part(of: int, whole: int) -> float | None:
    """Return a share, None of nothing."""
    return of / whole if whole else None


def name(row: Row) -> Child:
    """Return number, colour and name; the path where it is one."""
    number, subsystem = row
    if number is None:
        return tag("strong", subsystem.name)
    path = " > ".join(frame.function for frame in subsystem.path)
    colour = tag("span", class_="swatch", style=f"--colour: var(--series-{number % COLOURS + 1})")
    return tag(
        "span",
        colour,
        f"{number + 1} ",
        tag("span", subsystem.name, class_="function", data_tip=path or None),
        class_="named",
    )


def dimension(heading: str, value: Callable[[Row], float | None]) -> Column[Row]:
    """Return the column of one of D V L U C."""
    return Column(heading, value, figures.unit, no_script=True)


def columns(profile: Profile) -> list[Column[Row]]:
    """Return all columns."""
    few = f"freed before more than {profile.few_limit} others of their thread were allocated"

    def of(row: Row) -> Behaviour:
        return row[1].behaviour

    def lifetime(row: Row) -> float | None:
        spread = of(row).lifetime_ns
        return spread.p50 if spread else None

    return [
        Column("Subsystem", lambda row: row[1].name, show=name),
        Column("Cost", lambda row: row[1].dvluc.density.cost_ns, figures.time, "Estimated from timed calls."),
        Column("Calls", lambda row: of(row).allocations, figures.count, "Allocations."),
        Column("Bytes", lambda row: of(row).bytes, figures.size, "Allocated in all."),
        Column("Max live", lambda row: of(row).max_live_bytes, figures.size, "Its own most live bytes."),
        Column(
            "At peak", lambda row: of(row).live_at_peak_bytes, figures.size, "Live at the program's peak."
        ),
        Column("Size", lambda row: of(row).sizes.p50, figures.size, "Median requested size."),
        Column("Lifetime", lifetime, figures.time, "Median, of objects that ended."),
        Column(
            "Temporary",
            lambda row: part(of(row).temporaries.few, of(row).allocations),
            figures.share,
            f"Objects {few}.",
        ),
        Column("Freed, mostly", lambda row: free_order(of(row)), tip="How most objects end."),
        Column(
            "Cross-thread frees",
            lambda row: part(of(row).foreign_frees, of(row).allocations),
            figures.share,
            "Objects that another thread frees than the one that allocated them.",
        ),
        Column("Sites", lambda row: row[1].sites, figures.count, "Calling contexts."),
        dimension("D", lambda row: row[1].dvluc.density.value),
        dimension("V", lambda row: row[1].dvluc.variation.value),
        dimension("L*", lambda row: row[1].dvluc.locality.lines),
        dimension("U", lambda row: row[1].dvluc.utilization.value),
        dimension("C", lambda row: row[1].dvluc.contention.value),
    ]


def subsystems(profile: Profile, number: int) -> Element:
    """Return the table; its last row is the whole program."""
    all_columns = columns(profile)
    whole = Subsystem("whole program", [], profile.sites_total, profile.whole, profile.dvluc, [])
    rows = (
        line(all_columns, (rank, one), id=f"journal-{number}-subsystem-{rank}", data_subsystem=str(rank))
        for rank, one in enumerate(profile.subsystems)
    )
    table = tag(
        "table",
        head(all_columns),
        tag("tbody", *rows),
        tag("tfoot", line(all_columns, (None, whole))),
        class_="sortable subsystems",
    )
    note = tag(
        "p",
        "* L itself needs accesses, which a journal does not have: not measured. The column is its "
        "compactness: live bytes over bytes of the 64-byte lines that hold them.",
        class_="note no-script",
    )
    return tag("div", scrolled(table, "Subsystems"), note)
