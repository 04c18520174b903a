"""Successive halving: many candidates get few rounds, the best get many, and the last rounds decide.

    rounds 1-3     glibc  a/a    blind  plan  mallard  jemalloc  tcmalloc  mimalloc  ...     all
    rounds 4-10    glibc  a/a   (blind) plan  mimalloc  mallard                              the best three
    rounds 11-25   glibc  a/a   (blind) plan  mimalloc                                       the best two

A candidate that was lucky in the rounds that chose it is not lucky in those that follow. So a stage's rounds
judge the rows of that stage, which earlier rounds have chosen; they are not counted together.

glibc and its second measurement are in every round. A plan is chosen together with what it has to beat: the
best malloc, and the control, its own heap without routing. A stage that would drop no candidate is left out;
so is one for which there is no time.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from time import monotonic

from mallard.compare.outcome import beside, outputs_of
from mallard.compare.rounds import Progress, Row, Session

ALL = 10**6


@dataclass(frozen=True, slots=True)
class Stage:
    """A number of rounds for a number of the best."""

    rounds: int
    best: int


STAGES = (Stage(3, ALL), Stage(7, 3), Stage(15, 2))


@dataclass(frozen=True, slots=True)
class Part:
    """A stage that has begun: its rows, and the number of its first round."""

    first: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Goal:
    """The figure that is to become better, and which way."""

    name: str = "cpu_s"
    upwards: bool = False

    def worth(self, ratio: float) -> float:
        """Return a ratio so that less is better."""
        return ratio if not self.upwards else 1 / ratio if ratio > 0 else inf


@dataclass(slots=True)
class Pace:
    """How fast runs follow each other, how many there are, and when no further round may begin."""

    expected: float  # seconds of a run, before one has been timed
    began: float
    deadline: float
    all: float = 0  # runs, as far as they are known
    done: float = 0  # with the part of a run that has been made

    @property
    def seconds(self) -> float:
        """Return what one run takes, with all that is around it."""
        return (monotonic() - self.began) / self.done if self.done else self.expected

    @property
    def is_over(self) -> bool:
        """Return whether the time is up."""
        return monotonic() > self.deadline

    def has_room(self, runs: int) -> bool:
        """Return whether there is time for this many further runs."""
        return monotonic() + runs * self.seconds <= self.deadline


@dataclass(slots=True)
class Trial(Session):
    """Candidates in stages, which take the place of the schedule's rounds."""

    goal: Goal = field(default_factory=Goal)
    stages: Sequence[Stage] = STAGES
    most_rss: float = inf  # of the base's
    parts: list[Part] = field(default_factory=list)

    def measure_rounds(self, progress: Progress, one_round: float) -> None:
        """Run the rounds that count, and leave out what differs in them, whatever has ended them."""
        Session.measure_rounds(self, progress, one_round)
        self.leave_out_what_differs()

    def take_turns(self, progress: Progress, one_round: float) -> None:
        """Run all stages, until time is up or no candidate is left beside the base."""
        shuffled = random.Random(self.schedule.seed)
        began, untimed = monotonic(), one_round * self.schedule.warmup
        pace = Pace(one_round / len(self.rows), began, began + self.schedule.seconds - untimed)
        number = 0
        for at, stage in enumerate(self.stages):
            later = self.stages[at + 1 :]
            if later and self.may_leave_out(at, pace):
                continue
            rows = self.rows_of(stage)
            self.parts.append(Part(number, tuple(rows)))
            pace.all = pace.done + sum(one.rounds * len(self.rows_of(one)) for one in (stage, *later))
            for _ in range(stage.rounds):
                if number and (pace.is_over or not candidates(self.going_on())):
                    return
                self.take_round(number, [row for row in rows if not row.reason], shuffled, pace, progress)
                number += 1
            self.leave_out_what_differs()
        progress(1, "done", 0)

    def take_round(
        self, number: int, rows: list[Row], shuffled: random.Random, pace: Pace, progress: Progress
    ) -> None:
        """Run these rows once, in an order that is shuffled anew."""
        shuffled.shuffle(rows)
        for row in rows:
            self.announce(number, row, pace, progress)
            self.measure_run(number, row)
            pace.done += 1

    def announce(self, number: int, row: Row, pace: Pace, progress: Progress) -> None:
        """Report what runs next, and how far all is."""
        what = f"stage {len(self.parts)} of {len(self.stages)}, round {number + 1}: {row.malloc.name}"
        left = max(0, pace.all - pace.done)
        progress(1 - left / pace.all, what, left * pace.seconds)

    def may_leave_out(self, at: int, pace: Pace) -> bool:
        """Return whether a stage would drop no candidate, or takes time that the last one needs."""
        stage, following, last = self.stages[at], self.stages[at + 1], self.stages[-1]
        if len(candidates(self.rows_of(stage))) <= following.best:
            return True
        needed = sum(one.rounds * len(self.rows_of(one)) for one in (stage, last))
        return at > 0 and not pace.has_room(needed)

    def rows_of(self, stage: Stage) -> list[Row]:
        """Return the best that a stage is for, by all rounds so far, and what runs along with them."""
        going_on = self.going_on()
        ranked = sorted(candidates(going_on), key=self.rank)
        kept = ranked[: stage.best]
        if any(row.malloc.plan for row in kept):
            mallocs = [row for row in ranked if not row.malloc.plan]
            kept += [row for row in mallocs[:1] if row not in kept]
            kept += [row for row in going_on if row.malloc.control]
        return [row for row in going_on if row is self.base or row.malloc.repeated or row in kept]

    def rank(self, row: Row) -> float:
        """Return what rows are sorted by: the ratio to the base in all rounds so far."""
        found = beside(row, self.base, self.goal.name, 1)
        return self.goal.worth(found.median) if found else inf

    def leave_out_what_differs(self) -> None:
        """Leave out rows under which the program prints something else, or takes more memory than it may."""
        outputs = outputs_of(self.rows) if self.schedule.same_output else set()
        for row in self.going_on():
            memory = beside(row, self.base, "max_rss_bytes", 1)
            if len(outputs) == 1 and any(taken.output not in outputs for taken in row.runs.values()):
                row.reason = f"the program prints something else than under {self.base.malloc.name}"
            elif row in candidates(self.rows) and memory and memory.median > self.most_rss:
                row.reason = f"it takes {memory.median:.2f} of {self.base.malloc.name}'s max RSS (--max-rss)"


def candidates(rows: Sequence[Row]) -> list[Row]:
    """Return what may be chosen: not the base, its second measurement, or the control."""
    return [row for row in rows[1:] if not (row.malloc.repeated or row.malloc.control)]
