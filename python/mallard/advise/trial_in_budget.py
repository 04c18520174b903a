"""A trial that fits into a number of runs and a time: how many candidates, in which stages, how often a run.

    60 runs                 all candidates once, the best four once or twice, the best two six times or more
    20 s each, 8 minutes    only as many candidates as leave six rounds to the last stage
    10 ms each              a run is the program many times over, and its figures are their means

What a run takes decides. A program that is started once in a run of seconds would be judged by six starts; a
short one is started again and again within a run, since its noise is that of single starts. The starts of a
round alternate, each of one row: what else the machine does for a second or two meets all rows alike. Where
runs are long, the candidates with the lowest expectations are dropped first. Six rounds of a stage make a
verdict (compare/choice.py); where there is no room for them, nothing is tried.

The control decides nothing but the verdict: it runs in the last stage only, so that one candidate more has
room in the stages before.

`mallard try` has no such limits, and more rounds: compare/halving.py, whose stages these are.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from statistics import fmean

from mallard.compare.choice import LEAST
from mallard.compare.halving import ALL, Pace, Stage, Trial, candidates
from mallard.compare.launch import Taken
from mallard.compare.rounds import Progress, Row

RUN_SECONDS = 2.0  # CPU time that a run shall have
MOST_REPETITIONS = 100
USED = 0.8  # of the time: starts are not alike
MOST_ROUNDS = 15  # of the last stage
# From many runs to few. Two reach the last stage if they can: of two that are nearly alike, the few rounds
# before cannot tell the better one. Nor does one round tell the best from the fourth.
SHAPES = (
    (Stage(3, ALL), Stage(7, 4), Stage(MOST_ROUNDS, 2)),
    (Stage(2, ALL), Stage(4, 4), Stage(9, 2)),
    (Stage(1, ALL), Stage(2, 4), Stage(LEAST, 2)),
    (Stage(1, ALL), Stage(1, 4), Stage(LEAST, 2)),
    (Stage(1, ALL), Stage(LEAST, 2)),
    (Stage(1, ALL), Stage(LEAST, 1)),
)
ALL_DECIDE = (Stage(LEAST, 2),)  # for so few candidates that nobody has to choose among them
# What is tried first where nothing is known of a malloc.
USUAL = ("mimalloc", "tcmalloc", "mallard", "jemalloc", "tbbmalloc", "glibc-notrim")


@dataclass(frozen=True, slots=True)
class Room:
    """What a trial may take; a start is one of the program, a run is several starts."""

    runs: int
    seconds: float
    start_seconds: float  # that one start takes, with its set-up and clean-up

    def holds(self, rows: int, shape: Sequence[Stage], plans: bool) -> bool:
        """Return whether untimed starts and all runs have room."""
        timed = runs_of(shape, rows, plans)
        return timed <= self.runs and (rows + timed) * self.start_seconds <= self.seconds


def beside(plans: bool, last: bool) -> int:
    """Return how many rows a stage has beside its best: glibc twice, and what a plan has to beat."""
    return 2 + (2 if last else 1) * plans


def others_of(rows: int, plans: bool) -> int:
    """Return how many of the rows are candidates: not glibc, nor glibc again, nor the control."""
    return rows - (3 if plans else 2)


def runs_of(shape: Sequence[Stage], rows: int, plans: bool) -> int:
    """Return how many runs stages take at most; one that would drop no candidate is left out."""
    total = 0
    for stage, following in zip(shape, [*shape[1:], None], strict=True):
        all_of = others_of(rows, plans)
        chosen, last = min(stage.best, all_of), following is None
        if following is None or chosen > following.best:
            total += stage.rounds * min(rows - (plans and not last), chosen + beside(plans, last))
    return total


def shape_within(rows: int, plans: bool, runs: int) -> Sequence[Stage]:
    """Return the stages for this many runs; those left over go to the last stage, which decides."""
    few = [ALL_DECIDE] if others_of(rows, plans) <= ALL_DECIDE[0].best else []
    shape = next((one for one in (*few, *SHAPES) if runs_of(one, rows, plans) <= runs), SHAPES[-1])
    while shape[-1].rounds < MOST_ROUNDS:
        longer = (*shape[:-1], replace(shape[-1], rounds=shape[-1].rounds + 1))
        if runs_of(longer, rows, plans) > runs:
            break
        shape = longer
    return shape


def with_room(rows: Sequence[Row], expected: Mapping[str, float], room: Room) -> list[Row]:
    """Return the rows that have room, the base first; none without room for six rounds of any candidate.

    The most promising candidates stay; mallocs alone where no plan has room, which is tried with its control.
    """
    ranked = sorted(candidates(rows), key=lambda row: rank(row, expected))
    for some in (ranked, [row for row in ranked if not row.malloc.plan]):
        for many in range(len(some), 0, -1):
            kept = those(rows, some[:many])
            if room.holds(len(kept), SHAPES[-1], any(row.malloc.plan for row in kept)):
                return kept
    return []


def rank(row: Row, expected: Mapping[str, float]) -> tuple[float, int]:
    """Return what candidates are sorted by: the expected change, and what is usual."""
    name = row.malloc.name
    usual = USUAL.index(name) if name in USUAL else len(USUAL)
    if row.malloc.plan:
        return expected.get(name, -inf), 0
    return expected.get(name, 0.0), usual + 1


def those(rows: Sequence[Row], kept: Sequence[Row]) -> list[Row]:
    """Return glibc, these, glibc again, and the control if a plan is among them."""
    plans = any(row.malloc.plan for row in kept)
    return [
        row
        for row in rows
        if row is rows[0] or row.malloc.repeated or row in kept or (row.malloc.control and plans)
    ]


@dataclass(slots=True)
class TrialInBudget(Trial):
    """A trial whose stages follow from the runs that there may be."""

    runs: int = 0
    start_cpu: float = RUN_SECONDS  # CPU seconds of a start
    repetitions: int = 1  # starts of a run

    def take_turns(self, progress: Progress, one_round: float) -> None:
        """Choose stages and the length of a run by what the untimed round took and has left; run them."""
        rows = self.going_on()
        plans = any(row.malloc.plan for row in rows)
        self.stages = shape_within(len(rows), plans, self.runs)
        seconds = USED * (self.schedule.seconds - one_round) / max(1, runs_of(self.stages, len(rows), plans))
        starts = min(RUN_SECONDS / max(self.start_cpu, 1e-6), seconds * len(self.rows) / one_round)
        self.repetitions = max(1, min(MOST_REPETITIONS, int(starts)))
        Trial.take_turns(self, progress, one_round)
        for row in self.going_on():
            if row.malloc.control and not row.runs:
                row.reason = "it is in the last stage only, beside a plan"

    def rows_of(self, stage: Stage) -> list[Row]:
        """Return the rows of a stage; the control is in the last one."""
        rows = Trial.rows_of(self, stage)
        return rows if stage is self.stages[-1] else [row for row in rows if not row.malloc.control]

    def take_round(
        self, number: int, rows: list[Row], shuffled: random.Random, pace: Pace, progress: Progress
    ) -> None:
        """Run these rows once: their starts take turns, in an order that is shuffled anew each time."""
        starts: dict[str, list[Taken]] = {row.malloc.name: [] for row in rows}
        for _ in range(self.repetitions):
            shuffled.shuffle(rows)
            for row in rows:
                if row.reason:
                    continue
                self.announce(number, row, pace, progress)
                if taken := self.turn(row, row.malloc.environment()):
                    starts[row.malloc.name].append(taken)
                pace.done += 1 / self.repetitions
        for row in rows:
            if not row.reason:
                name = row.malloc.name
                row.runs[number] = mean_of(starts[name], f"round {number} of {name}")


def mean_of(starts: Sequence[Taken], name: str) -> Taken:
    """Return what a start takes on average; memory is the most.

    Where outputs vary from start to start, the output is the run's name, like that of no other run.
    """
    own = [one.figure for one in starts if one.figure is not None]
    return replace(
        starts[-1],
        cpu_s=fmean(one.cpu_s for one in starts),
        elapsed_s=fmean(one.elapsed_s for one in starts),
        max_rss_bytes=max(one.max_rss_bytes for one in starts),
        minor_faults=fmean(one.minor_faults for one in starts),
        major_faults=fmean(one.major_faults for one in starts),
        voluntary_switches=fmean(one.voluntary_switches for one in starts),
        involuntary_switches=fmean(one.involuntary_switches for one in starts),
        figure=fmean(own) if own else None,
        output=name if len({one.output for one in starts}) > 1 else starts[0].output,
    )
