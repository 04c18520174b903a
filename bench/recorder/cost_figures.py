"""From single runs to the figures of the table, and whether each limit is held.

Everything is compared within a round: what a variant adds is its CPU time less native's of the same round,
and the figure is the median over the rounds. Medians and quantiles, not means: one disturbed round must not
move the result.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median, quantiles

from limits import Limit
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
