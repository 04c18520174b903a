"""Pictures of how long single calls take: after figures 14 to 21 of seed 004, section 4.

operations-STRATEGY         each call over the journal, coloured by size, the worst ringed; axes are the same
operations-alloc, -free     the same, small, of all strategies on one sheet
boxes                       half of all calls in a box, whiskers from the fastest to 999 in 1000
percentiles                 how long all but one in 10, 100, 1000 ... take: lowest times, and all that came
"""

from collections.abc import Iterator, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from mallard.plot import Replayed, Row
from mallard.plot.canvas import (
    MUTED,
    WIDTH,
    as_size,
    as_time,
    events_axis,
    file_name,
    floor_of,
    grid_of,
    legend_beside,
    new_figure,
    percentile_axis,
    times_axis,
    visible,
)

CALLS = ("alloc", "free", "realloc", "calloc")  # by their number in a row's operations
TITLES = {"alloc": "allocation", "free": "free"}
PANELS = {"allocations": ("alloc", "calloc", "realloc"), "frees": ("free",)}
MARKERS = {"alloc": "o", "free": "o", "realloc": "^", "calloc": "s"}
COLOUR_MAP = "viridis_r"
SHEET_COLUMNS = 4
WORST = "#c8102e"
# Of a dot, in square points: in a strategy's own picture, and on a sheet.
AREA = 6
SHEET_AREA = 2


def pictures(replayed: Replayed) -> Iterator[tuple[str, Figure]]:
    """Yield the pictures there are, each with the name of its file."""
    timed = [row for row in replayed.rows if any(row.times(call) for call in CALLS)]
    if not timed:
        return
    scatter = Scatter(replayed, timed)
    if scatter.rows:
        yield "operations-alloc", scatter.sheet("allocations")
        yield "operations-free", scatter.sheet("frees")
    yield "boxes", boxes(replayed, timed)
    yield "percentiles", percentiles(replayed, timed)
    for row in scatter.rows:
        yield f"operations-{file_name(row.strategy, row.binding)}", scatter.of(row)


def longest(rows: Sequence[Row], calls: Sequence[str], kind: str = "minimum") -> float:
    """Return the longest time of some calls."""
    found = (row.times(call, kind) for row in rows for call in calls)
    return max((float(times["max"]) for times in found if times), default=1.0)


# --- each call -----------------------------------------------------------------------------------


class Scatter:
    """Dots of calls, on axes and in colours that are the same for all strategies."""

    def __init__(self, replayed: Replayed, timed: Sequence[Row]) -> None:
        """Find the ranges of all strategies."""
        self.replayed = replayed
        self.rows = [row for row in timed if row.figures.get("operations")]
        self.longest = longest(self.rows, CALLS)
        sizes = [size for row in self.rows for size in row.figures["operations"]["size"] if size > 0]
        self.colours: Normalize = LogNorm(min(sizes, default=1), max(max(sizes, default=1), 2))

    def of(self, row: Row) -> Figure:
        """Return a strategy's own picture."""
        foot = self.replayed.foot(
            f"{self.replayed.lowest}; dots are thinned, none of the slowest is left out"
        )
        made = new_figure(f"{self.replayed.program}, {row.name}: each call", foot, 7.5)
        for axes, panel in zip(made.subplots(2, 1, sharex=True, sharey=True), PANELS, strict=True):
            self.draw(axes, row, panel, AREA)
            axes.set_title(panel)
            axes.set_ylabel("time of a call")
        events_axis(made.axes[1])
        self.explain(made, made.axes[:2], CALLS)
        return made

    def sheet(self, panel: str) -> Figure:
        """Return one picture of all strategies."""
        rows_down = -(-len(self.rows) // SHEET_COLUMNS)
        foot = self.replayed.foot(self.replayed.lowest)
        made = new_figure(
            f"{self.replayed.program}: each of its {panel}", foot, 1.6 + 2.2 * rows_down, 1.2 * WIDTH
        )
        fields = grid_of(made, len(self.rows), min(SHEET_COLUMNS, len(self.rows)))
        for axes, row in zip(fields, self.rows, strict=True):
            self.draw(axes, row, panel, SHEET_AREA)
            axes.set_title(row.name)
        self.explain(made, fields, PANELS[panel])
        return made

    def draw(self, axes: Axes, row: Row, panel: str, area: float) -> None:
        """Draw the dots of a panel's calls, and rings around the worst."""
        times_axis(axes, "y", self.replayed.quantum_ns, self.longest)
        axes.set_xlim(0, self.replayed.journal["events"])
        dots = row.figures["operations"]
        for call in PANELS[panel]:
            chosen = [at for at, number in enumerate(dots["call"]) if CALLS[number] == call]
            if not chosen:
                continue
            axes.scatter(
                [dots["event"][at] for at in chosen],
                visible((dots["ns"][at] for at in chosen), self.replayed.quantum_ns),
                c=[max(dots["size"][at], 1) for at in chosen],
                norm=self.colours,
                cmap=COLOUR_MAP,
                s=area,
                marker=MARKERS[call],
                linewidths=0,
                rasterized=True,
            )
        ring_worst(
            axes, [worst for worst in row.figures.get("worst") or [] if worst["call"] in PANELS[panel]], area
        )

    def explain(self, made: Figure, fields: Sequence[Axes], calls: Sequence[str]) -> None:
        """Add what colours and the marks of some calls mean."""
        scale = ScalarMappable(self.colours, COLOUR_MAP)
        bar = made.colorbar(scale, ax=list(fields), label="size of the block", pad=0.01, aspect=40)
        bar.ax.yaxis.set_major_locator(LogLocator(base=4))
        bar.ax.yaxis.set_major_formatter(FuncFormatter(as_size))
        bar.ax.yaxis.set_minor_locator(NullLocator())
        present = {CALLS[number] for row in self.rows for number in row.figures["operations"]["call"]}
        shapes = [call for call in calls if call in present and call != "free"]
        marks = [mark(MARKERS[call], MUTED, call) for call in shapes]
        ring = mark("o", WORST, "one of the ten worst", hollow=True)
        shown = [*(marks if len(marks) > 1 else []), ring]
        made.legend(handles=shown, loc="upper right", ncols=len(shown), fontsize=8)


def mark(shape: str, colour: str, name: str, hollow: bool = False) -> Line2D:
    """Return a mark for the legend."""
    face = "none" if hollow else colour
    return Line2D(
        [], [], marker=shape, markersize=6, color=colour, markerfacecolor=face, linestyle="", label=name
    )


def ring_worst(axes: Axes, worst: Sequence[dict[str, Any]], area: float) -> None:
    """Mark the worst calls, and say what the very worst one is."""
    if not worst:
        return
    axes.scatter(
        [one["event"] for one in worst],
        [one["ns"] for one in worst],
        s=area + 34,
        marker="o",
        facecolors="none",
        edgecolors=WORST,
        linewidths=0.9,
        clip_on=False,
    )
    first = max(worst, key=lambda one: one["ns"])
    left = first["event"] > sum(axes.get_xlim()) / 2
    said = axes.annotate(
        f"{as_time(first['ns'])}: {as_size(first['size'])}"
        + f", event {first['event']:,}" * (area > SHEET_AREA),
        (first["event"], first["ns"]),
        xytext=(4 if left else -4, 6),
        textcoords="offset points",
        ha="right" if left else "left",
        va="bottom",
        fontsize=7,
        color=WORST,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8},
    )
    said.set_in_layout(False)


# --- all calls of a strategy ---------------------------------------------------------------------


def boxes(replayed: Replayed, timed: Sequence[Row]) -> Figure:
    """Return boxes of allocation and free beside each other, a strategy a row."""
    foot = replayed.foot(
        f"{replayed.lowest}; box: the middle half, bar: the median, whiskers: the fastest and p99.9"
    )
    made = new_figure(f"{replayed.program}: times of allocation and free", foot, 1.8 + 0.3 * len(timed))
    fields = made.subplots(1, 2, sharey=True)
    for axes, call in zip(fields, TITLES, strict=True):
        draw_boxes(axes, replayed, timed, call)
        axes.set_title(TITLES[call])
    fields[0].set_yticks(range(len(timed)), [row.name for row in timed])
    fields[0].set_ylim(len(timed) - 0.4, -0.6)
    worst = mark("D", MUTED, "the worst call")
    rare = mark("|", MUTED, "p99.99")
    made.legend(handles=[rare, worst], loc="upper right", ncols=2)
    return made


def draw_boxes(axes: Axes, replayed: Replayed, timed: Sequence[Row], call: str) -> None:
    """Draw a box for each strategy that has such calls."""
    quantum = replayed.quantum_ns
    times_axis(axes, "x", quantum, longest(timed, list(TITLES)))
    axes.set_xlabel("time of a call")
    axes.grid(visible=False, axis="y")
    for place, row in enumerate(timed):
        times = row.times(call)
        if times is None:
            continue
        names = ("min", "p25", "p50", "p75", "p999", "p9999", "max")
        low, quarter, middle, three, high, rare, most = visible((times[name] for name in names), quantum)
        stats = {"whislo": low, "q1": quarter, "med": middle, "q3": three, "whishi": high, "fliers": []}
        axes.bxp(
            [stats],
            positions=[place],
            widths=0.6,
            orientation="horizontal",
            manage_ticks=False,
            patch_artist=True,
            showfliers=False,
            boxprops={"facecolor": f"{row.colour}55", "edgecolor": row.colour},
            medianprops={"color": row.colour, "linewidth": 2.4},
            whiskerprops={"color": row.colour},
            capprops={"color": row.colour},
        )
        axes.plot([rare], [place], marker="|", color=row.colour, markersize=7)
        axes.plot([most], [place], marker="D", color=row.colour, markersize=4)
        axes.annotate(
            as_time(times["max"]),
            (most, place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
            color=MUTED,
        )


def percentiles(replayed: Replayed, timed: Sequence[Row]) -> Figure:
    """Return curves of percentiles: allocation and free, above by the lowest times, below as they came."""
    made = new_figure(
        f"{replayed.program}: the slowest calls", replayed.foot(replayed.lowest), 8.5, 1.2 * WIDTH
    )
    kinds = {"minimum": "the lowest time of each call: the strategy's own", "raw": "all times as they came"}
    fields = made.subplots(2, 2, sharey="row", sharex="col", squeeze=False)
    for line, (kind, said) in zip(fields, kinds.items(), strict=True):
        for axes, call in zip(line, TITLES, strict=True):
            draw_percentiles(axes, replayed, timed, call, kind)
            axes.set_title(f"{ {'alloc': 'allocation', 'free': 'free'}[call] }, {said}")
            axes.label_outer()
    legend_beside(made, fields[0][0], len(timed))
    return made


def draw_percentiles(axes: Axes, replayed: Replayed, timed: Sequence[Row], call: str, kind: str) -> None:
    """Draw a curve for each strategy; a step of its `tail` is a quarter of a halving."""
    quantum = replayed.quantum_ns
    deepest = 1.0
    for row in timed:
        times = row.times(call, kind)
        if times is None:
            continue
        tail = times["tail"]
        depths = [step / 4 for step in range(len(tail))]
        deepest = max(deepest, depths[-1])
        axes.plot(depths, visible(tail, quantum), color=row.colour, linestyle=row.dash, label=row.name)
        axes.plot(depths[-1:], visible(tail[-1:], quantum), ".", color=row.colour)
    times_axis(axes, "y", quantum, longest(timed, list(TITLES), kind))
    axes.set_ylabel("time of a call")
    percentile_axis(axes, deepest)
    axes.axhline(floor_of(quantum), color="#c3cad2", linewidth=0.6)
