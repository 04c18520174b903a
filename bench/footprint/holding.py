"""What multipool held for a journal: the figures, what is promised about them, and their tables.

The tables have bytes as MiB, and ratios of what was counted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from limits import Limit
from machine import machine

# Most held over the sum of the size classes' own peaks and the peak of what passed through.
AT_MOST_HELD = 1.15
# Received over requested bytes.
AT_MOST_ROUNDED = 1.10
# What a journal that nobody looked at while choosing constants may have more.
SLACK = 1.10


@dataclass(frozen=True)
class Weighed:
    """A journal's figures, in bytes, as the program `footprint` prints them; `seen` while choosing."""

    journal: str
    seen: bool
    figures: dict[str, Any]

    @property
    def multipool(self) -> dict[str, Any]:
        """Return those of multipool."""
        found: dict[str, Any] = self.figures["multipool"]
        return found

    @property
    def sum(self) -> int:
        """Return the sum of the peaks: what pools of these classes hold that lose nothing."""
        return int(self.multipool["sum_of_peaks"]["granted"])

    @property
    def sum_over_live(self) -> float:
        """Return that sum over the most that was live."""
        return self.sum / int(self.figures["max_live"])

    @property
    def held_over_sum(self) -> float:
        """Return what the process had mapped for the heap at most, its chunk cache included, over it."""
        return int(self.multipool["max_mapped"]) / self.sum

    @property
    def rounding(self) -> float:
        """Return received over requested bytes when the most was live."""
        return ratio(self.multipool["at_max_live"])

    @property
    def rounding_of_peaks(self) -> float:
        """Return the same for each class at its own peak, summed."""
        return ratio(self.multipool["sum_of_peaks"])


def ratio(tally: dict[str, int]) -> float:
    """Return received over requested bytes."""
    return tally["granted"] / tally["requested"]


PROMISES: list[tuple[str, float, Callable[[Weighed], float]]] = [
    ("held over the sum of peaks", AT_MOST_HELD, lambda weighed: weighed.held_over_sum),
    ("class rounding at most live", AT_MOST_ROUNDED, lambda weighed: weighed.rounding),
    ("class rounding at the peaks", AT_MOST_ROUNDED, lambda weighed: weighed.rounding_of_peaks),
]


def limits(weighed: Sequence[Weighed]) -> Iterator[Limit]:
    """Yield every promise, judged by the journal it is tightest on; without journals it is unjudged."""
    for promise, at_most, figure in PROMISES:
        yield worst(promise, at_most, [each for each in weighed if each.seen], figure)
    for promise, at_most, figure in PROMISES:
        unseen = [each for each in weighed if not each.seen]
        yield worst(f"{promise}, unseen", round(at_most * SLACK, 3), unseen, figure)


def worst(
    promise: str, at_most: float, weighed: Sequence[Weighed], figure: Callable[[Weighed], float]
) -> Limit:
    """Judge a promise that holds on each journal."""
    if not weighed:
        return Limit(promise, at_most, None, "on each")
    tightest = max(weighed, key=figure)
    return Limit(promise, at_most, figure(tightest), f"on each, most on {tightest.journal}")


WIDTH = 120
MIB = 1 << 20

METHOD = {
    "sum": "of each size class's own peak and the peak of what passes through: pools without any loss",
    "held": "most bytes out of the source, the process's chunk cache included; worst: over the sum so far, at"
    " any moment from a sum of 1 MiB on",
    "rounding": "received over requested bytes when most is live; peaks: of each class at its own, summed;"
    " worst: at any moment with 1 MiB live",
    "after": "held when everything is freed, by the heap and with what the process keeps for the next heap",
    "others": "most held over most live: ours and pmr resources counted at the source, glibc by the kernel",
}


def show(console: Console, weighed: Sequence[Weighed]) -> None:
    """Print what multipool holds, what others hold, and the method."""
    console.print(holdings(weighed))
    console.print()
    console.print(others(weighed))
    for group in (machine(), METHOD):
        console.print()
        for name, value in group.items():
            console.print(Text(f"{name.replace('_', ' ')}: {value}"), soft_wrap=True)
    console.print()


def table_of(first: str, *columns: str) -> Table:
    """Return a table whose first column is words and whose others are figures."""
    table = Table(box=None, header_style="bold")
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def mib(size: int) -> str:
    """Return bytes as MiB."""
    return f"{size / MIB:.2f}"


def holdings(weighed: Sequence[Weighed]) -> Table:
    """Return the table of multipool."""
    table = table_of(
        "multipool",
        *("objects", "live", "sum", "/live", "held", "/sum", "worst"),
        *("rounding", "peaks", "worst", "after", "process"),
    )
    for each in weighed:
        pool = each.multipool
        table.add_row(
            each.journal,
            f"{each.figures['max_live_objects']:,}",
            mib(each.figures["max_live"]),
            mib(each.sum),
            f"{each.sum_over_live:.3f}",
            mib(pool["max_held"]),
            f"{each.held_over_sum:.3f}",
            f"{pool['worst_held']:.3f}" if pool["worst_held"] else "-",
            f"{each.rounding:.3f}",
            f"{each.rounding_of_peaks:.3f}",
            f"{pool['worst_rounding']:.3f}" if pool["worst_rounding"] else "-",
            mib(pool["held_after"]),
            mib(pool["mapped_after"]),
        )
    return table


def others(weighed: Sequence[Weighed]) -> Table:
    """Return the table of what each holds over what is live."""
    names = [other["strategy"] for other in weighed[0].figures["others"]] if weighed else []
    table = table_of("held/live", "multipool", *names)
    for each in weighed:
        live = each.figures["max_live"]
        held = [other.get("max_held") for other in each.figures["others"]]
        ratios = ("-" if figure is None else f"{figure / live:.3f}" for figure in held)
        table.add_row(each.journal, f"{each.multipool['max_mapped'] / live:.3f}", *ratios)
    return table


def show_sweep(console: Console, journal: str, figures: dict[str, Any]) -> None:
    """Print one journal's rows, a largest class a row."""
    table = table_of(
        journal,
        *("classes", "passed", "sum/live", "held/sum", "held", "after"),
        *("ms", "faults", "ms uncached", "faults uncached"),
    )
    for row in figures["sweep"]:
        cached, uncached = row["cached"], row["uncached"]
        table.add_row(
            f"{row['largest'] >> 10} KiB",
            str(row["classes"]),
            f"{row['passed_through']:,}",
            f"{row['sum_of_peaks'] / figures['max_live']:.3f}",
            f"{row['max_held'] / row['sum_of_peaks']:.3f}",
            mib(row["max_held"]),
            mib(row["held_after"]),
            f"{cached['ns'] / 1e6:.1f}",
            f"{cached['faults']:,}",
            f"{uncached['ns'] / 1e6:.1f}",
            f"{uncached['faults']:,}",
        )
    console.print(table)
    console.print()
