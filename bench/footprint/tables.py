"""The tables of `./dev footprint`: bytes as MiB, and ratios of what was counted."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from holding import Weighed
from machine import machine

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
