"""A trial that fits into a number of runs and a time: how many candidates, in which stages, how often a run.

    60 runs                 all of up to ten candidates twice, the best two six times or more
    20 s each, 8 minutes    only as many candidates as leave six rounds to the last stage
    10 ms each              a run is the program many times over, and its figures are their means

What a run takes decides. A program that is started once in a run of seconds would be judged by six starts; a
short one is started again and again within a run, since its noise is that of single starts. Within a round
the rows take turns start by start, so whatever else the machine does for a second or two slows all of them
alike. Where runs are long, the candidates with the lowest expectations are dropped first. Six rounds of a
stage make a verdict (compare/choice.py); where there is no room for them, nothing is tried.

The control matters to verdicts alone. Stages of fewer than six rounds run without it, which leaves room for
one candidate more.

`mallard try` has no such limits: its stages are in compare/halving.py.
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

RUN_SECONDS = 4.0  # CPU time that a run shall have, where there is time for it
MOST_REPETITIONS = 100
USED = 0.8  # of the time: starts are not alike
MOST_ROUNDS = 15  # of the last stage
# From many runs to few, for up to twelve candidates. Two reach the last stage if they can: of two that are
# nearly alike, the few rounds before cannot tell the better one. Nor does one round tell the best from the
# fourth, or a change from noise.
SHAPES = (
    (Stage(3, ALL), Stage(7, 4), Stage(MOST_ROUNDS, 2)),
    (Stage(2, ALL), Stage(4, 4), Stage(9, 2)),
    (Stage(2, ALL), Stage(2, 4), Stage(LEAST, 2)),
    (Stage(2, ALL), Stage(LEAST, 2)),
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

    def holds(self, rows: Sequence[Row], shape: Sequence[Stage]) -> bool:
        """Return whether untimed starts and all runs have room."""
        timed = runs_of(shape, rows)
        return timed <= self.runs and (len(rows) + timed) * self.start_seconds <= self.seconds


def decides(stage: Stage) -> bool:
    """Return whether a stage has rounds enough for a verdict."""
    return stage.rounds >= LEAST


def runs_of(shape: Sequence[Stage], rows: Sequence[Row]) -> int:
    """Return how many runs stages take at most; one that would drop no candidate is left out."""
    choice = candidates(rows)
    mallocs = sum(not row.malloc.plan for row in choice)
    controls = sum(row.malloc.control for row in rows)
    always = len(rows) - len(choice) - controls  # glibc twice
    control = controls if len(choice) > mallocs else 0
    total = 0
    for stage, following in zip(shape, [*shape[1:], None], strict=True):
        chosen = min(stage.best, len(choice))
        if following is None or chosen > following.best:
            # The best malloc runs along with plans alone.
            malloc = mallocs > 0 and len(choice) > mallocs and chosen < len(choice)
            total += stage.rounds * (always + chosen + malloc + control * decides(stage))
    return total


def shape_within(rows: Sequence[Row], runs: int) -> Sequence[Stage]:
    """Return the stages for this many runs; those left over go to the last stage, which decides."""
    few = [ALL_DECIDE] if len(candidates(rows)) <= ALL_DECIDE[0].best else []
    shape = next((one for one in (*few, *SHAPES) if runs_of(one, rows) <= runs), SHAPES[-1])
    while shape[-1].rounds < MOST_ROUNDS:
        longer = (*shape[:-1], replace(shape[-1], rounds=shape[-1].rounds + 1))
        if runs_of(longer, rows) > runs:
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
            if room.holds(kept, SHAPES[-1]):
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
        starts_left = USED * (self.schedule.seconds - one_round) * len(rows) / one_round
        self.stages = shape_within(rows, min(self.runs, int(starts_left)))
        seconds = USED * (self.schedule.seconds - one_round) / max(1, runs_of(self.stages, rows))
        starts = min(RUN_SECONDS / max(self.start_cpu, 1e-6), seconds * len(self.rows) / one_round)
        self.repetitions = max(1, min(MOST_REPETITIONS, int(starts)))
        Trial.take_turns(self, progress, one_round)

    def rows_of(self, stage: Stage) -> list[Row]:
        """Return the rows of a stage; the control is in those that can decide."""
        rows = Trial.rows_of(self, stage)
        return rows if decides(stage) else [row for row in rows if not row.malloc.control]

    def take_round(
        self, number: int, rows: list[Row], shuffled: random.Random, pace: Pace, progress: Progress
    ) -> None:
        """Run these rows once: their starts take turns, in an order that is shuffled anew each time.

        A round that is cut off counts with the starts that all rows have had, if these are half of it.
        """
        starts: dict[str, list[Taken]] = {row.malloc.name: [] for row in rows}
        try:
            for _ in range(self.repetitions):
                shuffled.shuffle(rows)
                for row in rows:
                    if row.reason:
                        continue
                    self.announce(number, row, pace, progress)
                    if taken := self.turn(row, row.malloc.environment()):
                        starts[row.malloc.name].append(taken)
                    pace.done += 1 / self.repetitions
        finally:
            going_on = [row for row in rows if not row.reason]
            had = min((len(starts[row.malloc.name]) for row in going_on), default=0)
            if 2 * had >= self.repetitions:
                for row in going_on:
                    name = row.malloc.name
                    row.runs[number] = mean_of(starts[name][:had], f"round {number} of {name}")


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
