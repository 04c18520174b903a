"""From single runs to figures, whether each limit is held, and the table and the JSON made of both.

Everything is compared within a round: what a variant adds is its CPU time less native's of the same round,
and the figure is the median over the rounds. Medians and quantiles, not means: one disturbed round must not
move the result.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from statistics import median, quantiles
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from limits import Limit, number, verdict
from workloads import CALLER, COMPRESSED, FULL, NATIVE, RAW, WITNESS


@dataclass(frozen=True)
class Run:
    """One run of a program in one way; the last two only where it made a journal of ours."""

    cpu: float
    events: int | None = None
    journal_bytes: int | None = None


@dataclass
class Measured:
    """All runs of one program: a dictionary a round, by variant, and why a variant has none."""

    program: str
    does: str
    rounds: list[dict[str, Run]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    stack_depth: float | None = None
    no_depth: str | None = None  # why it is unknown
    deep: bool = False  # of the programs whose stacks are deep and seldom the same

    def lacks_a_figure(self) -> bool:
        """Whether one that limits are about could not be run: heaptrack's compressing is not among them."""
        return any(variant != COMPRESSED for variant in self.failed)

    def runs(self, variant: str) -> list[Run]:
        """Return the runs of one variant."""
        return [runs[variant] for runs in self.rounds if variant in runs and variant not in self.failed]

    def events(self) -> int | None:
        """Return how many events the program has: what every figure an event is divided by."""
        counts = [r.events for variant in (FULL, CALLER) for r in self.runs(variant) if r.events is not None]
        return counts[0] if counts else None


@dataclass(frozen=True)
class Row:
    """The figures of a program and a variant; None is what was not measured or cannot be known."""

    program: str
    variant: str
    status: str
    reason: str | None = None
    rounds: int = 0
    cpu_s: float | None = None
    spread: tuple[float, float] | None = None
    added_s: float | None = None
    added_ns_per_event: float | None = None
    of_raw: float | None = None
    of_full: float | None = None  # CPU time over that of recording full stacks
    bytes_per_event: float | None = None
    deep: bool = False


def spread(figures: list[float]) -> tuple[float, float]:
    """Return the 10th and the 90th of 100 parts, linear between the two nearest figures."""
    if len(figures) == 1:
        return figures[0], figures[0]
    tenths = quantiles(figures, n=10, method="inclusive")
    return tenths[0], tenths[-1]


def added(measured: Measured, variant: str) -> float | None:
    """Return the seconds that a variant adds to native: the median of the differences within a round."""
    differences = [
        runs[variant].cpu - runs[NATIVE].cpu for runs in measured.rounds if variant in runs and NATIVE in runs
    ]
    return median(differences) if differences and variant not in measured.failed else None


def over_full(measured: Measured, variant: str) -> float | None:
    """Return the CPU time of a variant over that of full stacks: the median of the ratios within a round."""
    ratios = [
        runs[variant].cpu / runs[FULL].cpu for runs in measured.rounds if variant in runs and FULL in runs
    ]
    return median(ratios) if ratios and not {variant, FULL} & measured.failed.keys() else None


def row(measured: Measured, variant: str) -> Row:
    """Return the figures of one variant."""
    if variant in measured.failed:
        return Row(measured.program, variant, "failed", measured.failed[variant], deep=measured.deep)
    runs = measured.runs(variant)
    if not runs:
        return Row(measured.program, variant, "skipped", "interrupted", deep=measured.deep)
    cpu = [run.cpu for run in runs]
    more, raw, events = added(measured, variant), added(measured, RAW), measured.events()
    bytes_an_event = [r.journal_bytes / r.events for r in runs if r.journal_bytes is not None and r.events]
    compared = variant != NATIVE and more is not None
    return Row(
        program=measured.program,
        variant=variant,
        status="ok",
        rounds=len(runs),
        cpu_s=median(cpu),
        spread=spread(cpu),
        added_s=more if compared else None,
        added_ns_per_event=more / events * 1e9 if compared and more is not None and events else None,
        of_raw=more / raw if compared and more is not None and raw is not None and raw > 0 else None,
        of_full=over_full(measured, variant) if variant == WITNESS else None,
        bytes_per_event=median(bytes_an_event) if bytes_an_event else None,
        deep=measured.deep,
    )


def limits(rows: list[Row]) -> Iterator[Limit]:
    """Yield every promise about the cost of recording, judged by these rows."""

    def ratio(found: Row) -> float | None:
        return found.of_raw

    def slowdown(found: Row) -> float | None:
        return found.of_full

    def size(found: Row) -> float | None:
        return found.bytes_per_event

    for deep, at_most, which in ((False, 0.4, ""), (True, 0.6, ", where they are deep")):
        group = [found for found in rows if found.deep == deep]
        if group or not rows:
            yield worst(f"full stacks add, of what heaptrack --raw adds{which}", at_most, group, FULL, ratio)
    yield worst("caller only adds, of what heaptrack --raw adds", 0.25, rows, CALLER, ratio)
    yield middle("caller only adds, of what heaptrack --raw adds", 0.15, rows, CALLER, ratio)
    yield worst("with --witness it takes, of full stacks' CPU time", 2, rows, WITNESS, slowdown)
    yield middle("journal bytes over events, full stacks", 3, rows, FULL, size)
    yield worst("journal bytes over events, full stacks", 4.5, rows, FULL, size)


def of(rows: list[Row], variant: str, figure: Callable[[Row], float | None]) -> dict[str, float] | None:
    """Return one figure by program, or None if any program lacks it: a part does not speak for the whole."""
    figures = {found.program: figure(found) for found in rows if found.variant == variant}
    known = {program: value for program, value in figures.items() if value is not None}
    return known if known and len(known) == len(figures) else None


def worst(
    promise: str, at_most: float, rows: list[Row], variant: str, figure: Callable[[Row], float | None]
) -> Limit:
    """Judge a promise that holds on each program."""
    found = of(rows, variant, figure)
    if found is None:
        return Limit(promise, at_most, None, "on each")
    name = max(found, key=lambda program: found[program])
    return Limit(promise, at_most, found[name], f"on each, most on {name}")


def middle(
    promise: str, at_most: float, rows: list[Row], variant: str, figure: Callable[[Row], float | None]
) -> Limit:
    """Judge a promise about the median of the programs."""
    found = of(rows, variant, figure)
    if found is None:
        return Limit(promise, at_most, None, "median")
    return Limit(promise, at_most, median(found.values()), f"median of {len(found)}")


WIDTH = 120


def method(rounds: int, scale: float) -> dict[str, str]:
    """Say how the figures are made."""
    return {
        "cpu": "user and system time of the program, the writer and every other process that was started",
        "order": f"all variants alternate within a round, a fresh process each, whole rounds: {rounds};"
        " a round begins with another variant than the one before",
        "figures": "median and [10 %, 90 %] over the rounds; added is the median of the differences to native"
        " of the same round; of --raw is that over what heaptrack --raw adds; over full is CPU time over that"
        " of full stacks; events are the journal's;"
        " depth is the median of the frames of the recorded stacks, full",
        "inputs": "full size"
        if scale == 1
        else f"{scale:g} of the full size: too short to judge the limits by",
    }


def whole(
    measured: list[Measured],
    rows: list[Row],
    judged: list[Limit],
    facts: dict[str, Any],
    method: dict[str, str],
) -> dict[str, Any]:
    """Return everything as one JSON object."""
    return {
        "benchmark": "recorder cost",
        "machine": facts,
        "method": method,
        "programs": [
            {
                "program": m.program,
                "does": m.does,
                "events": m.events(),
                "stack_depth_median": m.stack_depth,
            }
            for m in measured
        ],
        "rows": [asdict(row) for row in rows],
        "limits": [asdict(limit) | {"held": limit.held} for limit in judged],
    }


def show(
    measured: list[Measured],
    rows: list[Row],
    judged: list[Limit],
    facts: dict[str, Any],
    method: dict[str, str],
    out: TextIO,
) -> None:
    """Print the tables, the machine, the method, and last a line a limit."""
    console = Console(file=out, width=WIDTH, highlight=False)
    table = Table(box=None, header_style="bold")
    for name in ("program", "variant"):
        table.add_column(name)
    for name in ("depth", "CPU s", "spread", "added s", "ns/event", "of --raw", "over full", "bytes/event"):
        table.add_column(name, justify="right")
    for program in measured:
        for row in rows:
            if row.program == program.program:
                table.add_row(*(Text(cell) for cell in cells(row, program.stack_depth)))
        table.add_section()
    console.print(table)

    programs = Table(box=None, header_style="bold")
    for name in ("program", "events", "what it does"):
        programs.add_column(name, justify="right" if name == "events" else "left")
    for program in measured:
        programs.add_row(program.program, number(program.events(), ","), program.does)
    console.print(programs)

    for program in measured:
        if program.no_depth is not None:
            console.print(Text(f"unknown depth: {program.program}: {program.no_depth}"), soft_wrap=True)
    for row in rows:
        if row.status == "failed":
            console.print(Text(f"failed: {row.program}, {row.variant}: {row.reason}"), soft_wrap=True)
    for group in (facts, method):
        console.print()
        for name, value in group.items():
            console.print(Text(f"{name.replace('_', ' ')}: {value}"), soft_wrap=True)
    console.print()
    for limit in judged:
        console.print(Text(verdict(limit)), soft_wrap=True)


def cells(row: Row, depth: float | None) -> list[str]:
    """Return a row as the table shows it; "-" is what was not measured or cannot be known."""
    if row.status != "ok":
        return [row.program, row.variant, number(depth, "g"), row.status]
    around = "-" if row.spread is None else f"[{row.spread[0]:.3f}, {row.spread[1]:.3f}]"
    return [
        row.program,
        row.variant,
        number(depth, "g"),
        number(row.cpu_s, ".3f"),
        around,
        number(row.added_s, ".3f"),
        number(row.added_ns_per_event, ".1f"),
        number(row.of_raw, ".3f"),
        number(row.of_full, ".2f"),
        number(row.bytes_per_event, ".2f"),
    ]
