"""Pictures of memory: after figure 22 of seed 004, and the curves of `--curve`.

sizes     how often each size is asked for, in the colours that operations have in their pictures
held      what each strategy holds over the journal, above what the program has live
costs     time of an event and most memory held, a strategy a row
scale     events that several copies of the threads get done, and at which cost
"""

from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from mallard import figures
from mallard.plot import Replayed, Row
from mallard.plot.canvas import MUTED, as_count, as_size, bytes_axis, events_axis, legend_beside, new_figure
from mallard.plot.durations import COLOUR_MAP

# What holds more than this many times the most live bytes leaves the picture; the legend says how much.
HIGHEST = 4
LIVE = "#c3cad2"


def pictures(replayed: Replayed) -> Iterator[tuple[str, Figure]]:
    """Yield the pictures there are, each with the name of its file."""
    if replayed.journal.get("sizes"):
        yield "sizes", sizes(replayed)
    curves = [row for row in replayed.rows if row.figures.get("curve")]
    if curves:
        yield "held", held(replayed, curves)
    yield "costs", costs(replayed)
    scaled = [row for row in replayed.rows if row.figures.get("scale")]
    if scaled:
        yield "scale", scale(replayed, scaled)


def sizes(replayed: Replayed) -> Figure:
    """Return a bar for each bucket of sizes, as wide as the bucket."""
    buckets: Sequence[dict[str, int]] = replayed.journal["sizes"]
    asked = sum(bucket["allocations"] for bucket in buckets)
    often = max(buckets, key=lambda bucket: bucket["allocations"])
    foot = replayed.foot(
        "allocations and the new sizes of reallocations; to 16 bytes each size, above four bars a doubling"
    )
    made = new_figure(f"{replayed.program}: sizes asked for", foot, 4)
    axes = made.subplots()
    starts = [max(bucket["from"], 1) for bucket in buckets]
    widths = [bucket["to"] + 1 - start for bucket, start in zip(buckets, starts, strict=True)]
    colours = colormaps[COLOUR_MAP](LogNorm(starts[0], max(starts[-1], 2))(starts))
    counts = [bucket["allocations"] for bucket in buckets]
    axes.bar(starts, counts, widths, align="edge", color=colours, edgecolor="white", linewidth=0.5)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(0.7, None)
    axes.xaxis.set_major_locator(LogLocator(base=4))
    axes.xaxis.set_major_formatter(FuncFormatter(as_size))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(as_count))
    axes.set_xlabel("size asked for")
    axes.set_ylabel("how often")
    share = figures.share(often["allocations"] / asked)
    axes.set_title(f"most often {bucket_name(often)}: {figures.count(often['allocations'])} times, {share}")
    return made


def bucket_name(bucket: dict[str, int]) -> str:
    """Return the sizes of a bucket."""
    if bucket["from"] == bucket["to"]:
        return f"{bucket['from']:,} bytes"
    return f"{bucket['from']:,} to {bucket['to']:,} bytes"


def held(replayed: Replayed, rows: Sequence[Row]) -> Figure:
    """Return curves of what is held."""
    made = new_figure(f"{replayed.program}: memory held", replayed.foot("grey: live bytes"), 5.5)
    axes = made.subplots()
    first: dict[str, Any] = rows[0].figures["curve"]
    axes.set_rasterization_zorder(0)
    axes.fill_between(
        first["event"], first["live"], color=LIVE, linewidth=0, label="live", step="post", zorder=-2
    )
    top = 0.0
    for row in rows:
        curve: dict[str, Any] = row.figures["curve"]
        most = max(curve["held_max"])
        top = max(top, most)
        named = f"{row.name}, {figures.size(most)}"
        band = (curve["event"], curve["held_min"], curve["held_max"])
        axes.fill_between(*band, color=row.colour, alpha=0.25, linewidth=0, zorder=-1)
        axes.plot(curve["event"], curve["held_max"], color=row.colour, linestyle=row.dash, label=named)
    axes.set_xlim(0, replayed.journal["events"])
    bytes_axis(axes, "y", min(1.05 * top, max(HIGHEST * max(first["live"]), 1)))
    events_axis(axes)
    legend_beside(made, axes, len(rows) + 1)
    return made


def costs(replayed: Replayed) -> Figure:
    """Return the figures of the table: time of an event, and most held."""
    rows = replayed.rows
    on_threads = any(row.figures.get("threads") for row in rows)
    method = "CPU time of an event in a warm pass, the median of the rounds and their spread"
    made = new_figure(
        f"{replayed.program}: what each strategy costs",
        replayed.foot(method + ("; ring: wall time" if on_threads else "")),
        1.8 + 0.27 * len(rows),
    )
    time, memory = made.subplots(1, 2, sharey=True)
    for place, row in enumerate(rows):
        middle, (low, high) = row.figures["ns_per_event"], row.figures["spread"]
        time.plot(
            [low, high], [place, place], color=row.colour, linewidth=2.4, solid_capstyle="butt", alpha=0.5
        )
        time.plot([middle], [place], "o", color=row.colour, markersize=5)
        if on_threads and row.figures["threads"]:
            wall = row.figures["threads"]["wall_ns_per_event"]
            time.plot([wall], [place], "o", color=row.colour, markerfacecolor="none", markersize=6)
        if row.figures["max_held"] is not None:
            memory.barh([place], [row.figures["max_held"]], height=0.55, color=row.colour)
    if replayed.journal.get("max_live"):
        memory.axvline(replayed.journal["max_live"], color=MUTED, linewidth=1, linestyle=":")
    if far_apart([row.figures["ns_per_event"] for row in rows]):
        time.set_xscale("log")
    else:
        time.set_xlim(0, None)
    time.xaxis.set_major_formatter(FuncFormatter(lambda ns, _: f"{ns:.3g}"))
    time.xaxis.set_minor_formatter(FuncFormatter(lambda ns, _: f"{ns:g}" if f"{ns:.0e}"[0] in "25" else ""))
    time.set_xlabel("ns an event")
    time.set_yticks(range(len(rows)), [row.name for row in rows])
    time.set_ylim(len(rows) - 0.4, -0.6)
    bytes_axis(memory, "x", 1.05 * max((row.figures["max_held"] or 0 for row in rows), default=1))
    memory.set_xlabel("most held; dotted: most live")
    for axes in (time, memory):
        axes.grid(visible=False, axis="y")
    return made


def far_apart(times: Sequence[float]) -> bool:
    """Return whether times need a logarithmic axis."""
    return min(times, default=0) > 0 and max(times) / min(times) > 12


def scale(replayed: Replayed, rows: Sequence[Row]) -> Figure:
    """Return throughput, cost and contention over the number of copies."""
    copies = max(point["copies"] for row in rows for point in row.figures["scale"])
    foot = replayed.foot(f"1 to {copies} copies of the journal's threads at once; by wall time")
    made = new_figure(f"{replayed.program}: copies of its threads at once", foot, 4.6)
    parts = {
        "events_per_second": ("events a second, all copies together", as_count),
        "cpu_ns_per_event": ("CPU time of an event", lambda ns, _: f"{ns:.3g} ns"),
        "contention": ("attempts to lock that found another there", lambda share, _: figures.share(share)),
    }
    asked = [
        name
        for name in parts
        if any(point[name] is not None for row in rows for point in row.figures["scale"])
    ]
    fields = made.subplots(1, len(asked), squeeze=False)[0]
    for axes, name in zip(fields, asked, strict=True):
        title, form = parts[name]
        for row in rows:
            draw_scale(axes, row, name)
        axes.set_title(title)
        axes.set_ylim(0, None)
        axes.yaxis.set_major_formatter(FuncFormatter(form))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("copies")
    legend_beside(made, fields[0], len(rows))
    return made


def draw_scale(axes: Axes, row: Row, name: str) -> None:
    """Draw a strategy's figure over the copies, and for throughput what its rounds lie between."""
    points = [point for point in row.figures["scale"] if point[name] is not None]
    number = [point["copies"] for point in points]
    if name == "events_per_second":
        low, high = ([end(point["rounds"]) for point in points] for end in (min, max))
        axes.fill_between(number, low, high, color=row.colour, alpha=0.12, linewidth=0)
    axes.plot(
        number,
        [point[name] for point in points],
        "o",
        color=row.colour,
        linestyle=row.dash,
        markersize=3.5,
        label=row.name,
    )
