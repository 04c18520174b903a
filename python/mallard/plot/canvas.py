"""The paper that pictures are drawn on: its style, its axes, and how it becomes a PNG and an SVG.

Text stays text in the SVG, so that it can be searched; a cloud of dots is a picture within it, so that the
file stays small. Equal figures give equal files.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from math import log2
from pathlib import Path
from textwrap import fill
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MultipleLocator,
    NullFormatter,
    NullLocator,
)

from mallard import figures
from mallard.output import replacing

STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#9aa4af",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e7ec",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.4,
    "text.color": "#1b1f24",
    "xtick.color": "#545d68",
    "ytick.color": "#545d68",
    "path.simplify_threshold": 0.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "mallard",
}
# Dots an inch, in an SVG those of its clouds; and no date, so that equal figures give equal files.
FORMS = {"png": (150, {"Software": None}), "svg": (110, {"Date": None, "Creator": None})}
MUTED = "#545d68"
WIDTH = 11.0  # inches
LETTERS_PER_INCH = 14  # of small print
# One call in this number takes longer.
PERCENTILES = {
    "50": 2,
    "90": 10,
    "99": 100,
    "99.9": 1000,
    "99.99": 10_000,
    "99.999": 100_000,
    "99.9999": 1_000_000,
}
MOST_TICKS = 8


def in_style() -> AbstractContextManager[None]:
    """Have all that is drawn meanwhile look alike."""
    return rc_context(STYLE)


def new_figure(title: str, foot: str, height: float, width: float = WIDTH) -> Figure:
    """Return an empty picture with a heading and its small print."""
    made = Figure(figsize=(width, height), layout="constrained")
    made.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    made.supxlabel(fill(foot, round(width * LETTERS_PER_INCH)), x=0.01, ha="left", fontsize=7.5, color=MUTED)
    return made


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write the picture in both forms; it is laid out once, for the first."""
    for form, (dots_per_inch, facts) in FORMS.items():
        with replacing(folder / f"{name}.{form}") as part:
            figure.savefig(part, format=form, dpi=dots_per_inch, metadata=facts)
        figure.set_layout_engine("none")


def file_name(*words: str) -> str:
    """Return words as a part of a file's name."""
    plain = "".join(letter if letter.isalnum() or letter in "_." else " " for letter in " ".join(words))
    return "-".join(plain.split())


# --- axes ----------------------------------------------------------------------------------------


def as_time(ns: float, _: object = None) -> str:
    """Return a duration as an axis has it: 10 ns, 1 µs."""
    for unit, step in (("ns", 1), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)):
        if ns < 999 * step:
            return f"{ns / step:.3g} {unit}"
    return f"{ns / 1e9:.3g} s"


def as_size(bytes_: float, _: object = None) -> str:
    """Return a number of bytes as an axis has it: 16 B, 64 KiB."""
    value, _, unit = figures.size(bytes_).partition(" ")
    return f"{value.removesuffix('.0')} {unit}"


def as_count(number: float, _: object = None) -> str:
    """Return a number of events as an axis has it: 250k, 1.5M."""
    for unit, step in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(number) >= step:
            return f"{number / step:.3g}{unit}"
    return f"{number:.3g}"


def times_axis(axes: Axes, which: str, quantum_ns: float, longest_ns: float) -> None:
    """Make an axis one of durations, logarithmic; what the clock cannot see stands at its lower end."""
    least = floor_of(quantum_ns)
    limits = (least / 1.3, max(longest_ns, 10 * quantum_ns) * 1.6)
    decades = [10.0**power for power in range(-1, 13) if quantum_ns * 0.999 <= 10.0**power <= limits[1]]

    def label(ns: float, _: object = None) -> str:
        if ns <= least:
            return f"< {as_time(quantum_ns)}"
        return as_time(ns) if ns > 4 * least else ""  # there is no room beside the first

    if which == "y":
        axes.set_yscale("log")
        axes.set_ylim(*limits)
    else:
        axes.set_xscale("log")
        axes.set_xlim(*limits)
    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_locator(FixedLocator([least, *decades]))
    axis.set_major_formatter(FuncFormatter(label))
    axis.set_minor_locator(LogLocator(base=10, subs=range(2, 10)))
    axis.set_minor_formatter(NullFormatter())
    axis.set_tick_params(which="minor", length=2, color="#c3cad2")


def bytes_axis(axes: Axes, which: str, most: float) -> None:
    """Make an axis one of bytes from 0 to `most`, with marks at even numbers of KiB or MiB."""
    step = 1
    while step * MOST_TICKS < most:
        step *= 2
    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_locator(MultipleLocator(step))
    axis.set_major_formatter(FuncFormatter(as_size))
    (axes.set_ylim if which == "y" else axes.set_xlim)(0, most)


def floor_of(quantum_ns: float) -> float:
    """Return where times are drawn that the clock cannot tell from 0."""
    return quantum_ns / 2


def visible(times: Iterable[float], quantum_ns: float) -> list[float]:
    """Return times as a logarithmic axis can have them."""
    return [max(float(ns), floor_of(quantum_ns)) for ns in times]


def events_axis(axes: Axes) -> None:
    """Make the horizontal axis one of events."""
    axes.xaxis.set_major_formatter(FuncFormatter(as_count))
    axes.set_xlabel("event of the journal")


def percentile_axis(axes: Axes, deepest: float) -> None:
    """Make the horizontal axis one of percentiles, each half of the rest as wide as the one before.

    Its unit is a halving: at x, 1 in 2^x is slower.
    """
    shown = {log2(one_in): f"{name} %" for name, one_in in PERCENTILES.items() if log2(one_in) <= deepest}
    axes.set_xlim(0, max(deepest, 1) * 1.01)
    axes.xaxis.set_major_locator(FixedLocator(list(shown)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: shown.get(x, "")))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("calls that take no longer")


def legend_beside(figure: Figure, axes: Axes, lines: int) -> None:
    """Put one legend for the whole picture on its right."""
    handles, names = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, names, loc="outside right upper", ncols=1 + (lines - 1) // 40)


def grid_of(figure: Figure, cells: int, columns: int) -> Sequence[Axes]:
    """Return a field for each cell, with axes in common; what is left of the last row is empty."""
    rows = -(-cells // columns)
    fields = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
    for empty in fields[cells:]:
        empty.remove()
    for lowest in fields[max(0, cells - columns) : cells]:
        lowest.tick_params(labelbottom=True)
        events_axis(lowest)
    return fields[:cells]
