"""Record, advise, try: what a program could gain, and how much of that a run of the program itself confirms.

    run       the program as it comes             what it takes, what it prints
    record    its allocations and their owners    journal
    profile   what each part of it does           the page below the verdict
    advise    the journal, replayed               plans; changes of the source, which are not tried
    try       plans and mallocs, in turn          the verdict, which rests on this stage alone

Advice and trial keep to one deadline: advice takes at most half of what recording has left, the trial what
advice leaves (trial_in_budget.py). A stage that fails is reported, and the next ones do without it: without
a journal, mallocs are still tried. After each stage, and after Ctrl-C, all that is known is written
(doctor_findings.py).
"""

import json
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any

from mallard import MallardError, _native, figures, is_interrupt, why
from mallard.advise.trial_in_budget import Room, TrialInBudget, with_room
from mallard.analysis.profile import Options as ProfileOptions
from mallard.analysis.progress import Progress, progress_bar, turns_bar, waiting
from mallard.compare.choice import LEAST
from mallard.compare.halving import Goal, candidates
from mallard.compare.launch import Program, Taken, ending, held_interrupts, run
from mallard.compare.mallocs import chosen
from mallard.compare.plans import planned
from mallard.compare.rounds import Row, Schedule, noted_interrupts
from mallard.compare.trial_outcome import Tried, tried, way_to_use
from mallard.native import tool
from mallard.output import writing
from mallard.plan import Plan, image_of, plan_text
from mallard.processes import processes, summary_of
from mallard.report.data import JournalReport, of_journal

STAGES = ("run", "record", "profile", "advise", "try")
SHORTEST = 0.003  # CPU seconds: below, the loader's work is most of a run
SLOWED = 5.0  # times that recording may slow a program
MOST_PROFILED = 30_000_000  # events
PROFILED_NS, ADVISED_NS = 1500.0, 2000.0  # that an event takes to be profiled, and to be read for advice
MOST_PROFILING = 0.25  # of the time that recording has left
LEAST_READING = 1.0  # seconds: less says nothing of how fast this machine is
PLAN_MAX_RSS = 1.25
MOST_ROWS = 14  # of a trial as a rule, each of which has an untimed start
LEAST_ADVICE, MOST_ADVICE = 0.25, 0.5  # of the time that recording has left
DOCUMENT, PAGE = "doctor.json", "report.html"

Say = Callable[[str, str], None]  # gets the name of a stage, and what to report about it


@dataclass(frozen=True, slots=True)
class Order:
    """What a user asks for."""

    program: Program
    folder: Path  # of all that is written
    minutes: float = 10
    runs: int = 60
    mallocs: Sequence[str] = ()
    no_candidates: Sequence[str] = ()
    max_rss: float | None = None
    same_output: bool = True
    goal: Goal = field(default_factory=Goal)
    seed: int = 1

    @property
    def name(self) -> str:
        """Return what the program is called in names of files."""
        return Path(self.program.arguments[0]).name


@dataclass(slots=True)
class StageState:
    """How far a stage is."""

    name: str
    state: str = "waiting"  # then running, and in the end done, failed, left out or interrupted
    seconds: float = 0.0
    says: str = ""


def counted(number: int, what: str) -> str:
    """Return how many there are of what."""
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


class LeftOutError(MallardError):
    """A stage that is of no use."""


def advice_of(
    journal: str, order: Order, minutes: float, alone: Taken | None, progress: Progress
) -> tuple[dict[str, Any], list[tuple[str, Plan]]]:
    """Return what `mallard advise` says about a journal, and its plans.

    `alone`: what the process took when it was not recorded, where that is known.
    """
    from mallard.advise import Options, advised, as_document

    options = Options(
        max_rss=order.max_rss or PLAN_MAX_RSS,
        budget=minutes,
        until=monotonic() + 60 * minutes,  # which has reading in it, not replays alone
        cpu_seconds=alone.cpu_s if alone else None,
        peak_rss=alone.max_rss_bytes if alone else None,
        seed=order.seed,
    )
    found = advised(journal, options, progress)
    return as_document(found), list(found.plans)


class Doctor:
    """One program and what is known of it so far."""

    def __init__(self, order: Order, say: Say, written: Callable[["Doctor"], None]) -> None:
        """Take what to do, what reports it, and what writes the files after a stage."""
        self.order, self.say, self.written = order, say, written
        self.stages = [StageState(name) for name in STAGES]
        self.began = monotonic()
        self.writing = 0.0  # seconds that writing the files has taken
        self.slowness = 1.0  # what profiling has taken of what was expected
        self.remarks: list[str] = []
        self.interrupted = False
        self.plain: Taken | None = None
        self.start_seconds = 0.0
        self.journal: str | None = None
        self.events = 0
        self.alone: Taken | None = None  # by the process that is advised, where that is known
        self.report: JournalReport | None = None
        self.advice: dict[str, Any] | None = None
        self.plans: dict[str, str] = {}  # what advice calls a plan, by its file
        self.trial: TrialInBudget | None = None
        self.tried: Tried | None = None  # what has come out of it
        self.way = ""  # the command that uses what is worth using

    @property
    def left(self) -> float:
        """Return the seconds until the deadline, with time to write in the end."""
        return max(0.0, self.began + 60 * self.order.minutes - monotonic() - self.writing)

    def work(self) -> None:
        """Go through all stages, until the user has enough."""
        for stage in self.stages:
            with self.at_work(stage):
                stage.says = getattr(self, f"stage_{stage.name}")()
            began = monotonic()
            try:
                with held_interrupts():
                    self.written(self)
            except KeyboardInterrupt:
                self.interrupted = True
            self.writing = max(self.writing, monotonic() - began)
            if self.interrupted:
                return

    @contextmanager
    def at_work(self, stage: StageState) -> Iterator[None]:
        """Note how a stage ends, and how long it takes; the first one must not fail.

        A stage may hear of Ctrl-C itself, and return what it has.
        """
        began, stage.state = monotonic(), "running"
        try:
            with noted_interrupts() as came:
                yield
            stage.state = "done"
            self.interrupted |= came.is_set()
        except LeftOutError as error:
            stage.state, stage.says = "left out", str(error)
        except (Exception, KeyboardInterrupt) as error:
            interrupted, reason = is_interrupt(error), why(error)
            if stage is self.stages[0] or not (interrupted or reason):
                raise
            self.interrupted |= interrupted
            stage.state, stage.says = "failed", reason
        finally:
            stage.seconds = monotonic() - began
        if self.interrupted:
            stage.state = "interrupted"
        self.say(
            stage.name,
            stage.says if stage.state == "done" else ": ".join(filter(None, (stage.state, stage.says))),
        )

    # --- stages ---

    def stage_run(self) -> str:
        """Run the program as it comes; what is wrong with the order shows here."""
        chosen(self.order.mallocs, True, (), self.order.no_candidates)
        with waiting(f"run {self.order.name}"):
            began = monotonic()
            self.plain = run(self.order.program, {})
            self.start_seconds = monotonic() - began
        if self.order.same_output and self.plain.exit_code != 0:
            raise MallardError(
                f"cannot try anything under {self.order.name}: it "
                f"{ending(self.plain.exit_code, self.plain.errors)}; --output ignore measures it all the same"
            )
        if self.order.program.figure is not None and self.plain.figure is None:
            raise MallardError(f"--figure finds nothing in what {self.order.name} prints")
        try:
            self.order.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MallardError(f"cannot write to {self.order.folder}: {error.strerror}") from error
        self.clear()
        end = datetime.now() + timedelta(seconds=self.left)
        takes = (
            f"{figures.time(1e9 * self.plain.cpu_s)} of CPU time, {figures.size(self.plain.max_rss_bytes)}"
        )
        limits = f"{self.order.minutes:g} minutes, {self.order.runs} runs"
        return f"{takes}; done at about {end:%H:%M:%S} ({limits})"

    def clear(self) -> None:
        """Remove what an earlier run has left, so that it is not taken for this one's."""
        folder = self.order.folder
        try:
            plans = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))["files"]["plans"]
        except (OSError, ValueError, KeyError, TypeError):
            plans = []
        old = [folder / Path(plan).name for plan in plans if isinstance(plan, str)]
        for path in (*old, folder / "advice.json"):
            with suppress(OSError):
                path.unlink()
        self.discard_recording()

    def discard_recording(self) -> None:
        """Remove the journals of this program, and what a recording that was cut off has left of them."""
        journal = self.recording
        for path in (journal, journal.with_name(f"{journal.name}.spool")):
            with suppress(OSError):
                path.unlink()
        shutil.rmtree(journal.with_name(f"{journal.name}.d"), ignore_errors=True)

    @property
    def recording(self) -> Path:
        """Return where the journal goes."""
        return self.order.folder / f"{self.order.name}.mlrd"

    def stage_record(self) -> str:
        """Record the program; it must do what it does unrecorded."""
        order, path = self.order, self.recording
        recorded = replace(
            order.program,
            arguments=(
                *("mallard-record", "--witness", "-o", str(path.absolute()), "--"),
                *order.program.arguments,
            ),
            file=tool("mallard-record"),
            timeout=SLOWED * order.program.timeout if order.program.timeout else None,
        )
        try:
            with waiting(f"record {order.name}"):
                taken = run(recorded, {})
        except (KeyboardInterrupt, MallardError):
            self.discard_recording()
            raise
        if not path.is_file():
            raise MallardError(ending(taken.exit_code, taken.errors))
        self.expect_same(taken)
        self.choose_process(str(path))
        return f"{self.events:,} events: {self.journal}"

    def expect_same(self, recorded: Taken) -> None:
        """Say so if the program does something else while it is recorded."""
        if self.plain is None or not self.order.same_output:
            return
        code = self.plain.exit_code if self.plain.exit_code >= 0 else 128 - self.plain.exit_code
        if recorded.exit_code != code:
            raise MallardError(f"while it is recorded, it {ending(recorded.exit_code, recorded.errors)}")
        if recorded.output != self.plain.output:
            again = run(self.order.program, {})
            if again.output == self.plain.output:
                raise MallardError("it prints something else while it is recorded")

    def choose_process(self, path: str) -> None:
        """Take the process with the most blocks; a plan is for one program."""
        found = list(processes(path, summary_of(path)))
        most = max(found, key=lambda one: one.summary["objects"])
        self.journal, self.events = most.journal, most.summary["events"]
        self.alone = self.plain if len(found) == 1 else None
        if len(found) > 1:
            blocks = sum(one.summary["objects"] for one in found)
            share = figures.share(most.summary["objects"] / blocks if blocks else None)
            self.remarks.append(
                f"{len(found):,} processes were recorded, and a plan is for one program: advice is for "
                f"{most.program}, process {most.summary['process']}, which has {share} of all blocks"
            )

    def stage_profile(self) -> str:
        """Profile the journal."""
        journal = self.recorded()
        if self.events > MOST_PROFILED or self.read_in(PROFILED_NS) > MOST_PROFILING * self.left:
            raise LeftOutError(f"{self.events:,} events take a while: mallard report {shlex.quote(journal)}")
        began = monotonic()
        self.report = of_journal(journal, ProfileOptions(), "never")
        self.slowness = (monotonic() - began) / max(self.read_in(PROFILED_NS), LEAST_READING)
        return counted(len(self.report.profile.subsystems), "subsystem")

    def read_in(self, each_ns: float) -> float:
        """Return the seconds that reading the journal takes, at a fixed cost an event."""
        return self.slowness * self.events * each_ns / 1e9

    def recorded(self) -> str:
        """Return the journal."""
        if self.journal is None:
            raise LeftOutError("there is no journal")
        return self.journal

    def stage_advise(self) -> str:
        """Replay the journal; keep the resulting plans."""
        journal = self.recorded()
        needed = (MOST_ROWS + self.order.runs) * max(self.start_seconds, 1.0)
        share = min(MOST_ADVICE * self.left, max(LEAST_ADVICE * self.left, self.left - needed))
        if self.read_in(ADVISED_NS) > share:
            raise LeftOutError(
                f"{self.events:,} events take longer to read than there is time for: --budget gives more"
            )
        with progress_bar(f"advise {self.order.name}") as progress:
            self.advice, plans = advice_of(journal, self.order, share / 60, self.alone, progress)
        for name, plan in plans:
            self.keep_plan(name, plan)
        parts = counted(len(self.advice["subsystems"]), "subsystem")
        return f"{parts}, {counted(len(self.plans), 'plan')} to try"

    def keep_plan(self, name: str, plan: Plan) -> None:
        """Write a plan, unless the malloc would refuse it."""
        try:
            image_of(plan)
        except MallardError as error:
            self.remarks.append(f"the plan {name} cannot be tried: {error}")
            return
        path = self.order.folder / f"plan-{name}.toml"
        with writing(path) as file:
            file.write(plan_text(plan).encode())
        self.plans[str(path)] = name

    def stage_try(self) -> str:
        """Try plans and mallocs under the program."""
        assert self.plain is not None
        if self.order.goal.name == "cpu_s" and self.plain.cpu_s < SHORTEST:
            raise LeftOutError("too short to judge: give the program more to do")
        order = self.order
        with (
            planned([Path(path) for path in self.plans], control=True) as under_plans,
            turns_bar() as progress,
        ):
            rows = [Row(one) for one in chosen(order.mallocs, True, under_plans, order.no_candidates)]
            if not candidates(rows):
                raise LeftOutError("there is neither a plan nor a malloc to try")
            room = Room(order.runs, self.left, self.start_seconds)
            kept = with_room(rows, self.expected(), room)
            if not kept:
                raise LeftOutError(f"there is no room for {LEAST} rounds; --budget and --runs give more")
            if len(kept) < len(rows):
                names = ", ".join(row.malloc.name for row in rows if row not in kept)
                self.remarks.append(
                    f"not tried, as there was no room for all: {names}; --runs and --budget make room"
                )
            trial = TrialInBudget(
                order.program,
                Schedule(
                    rounds=0, least=0, seconds=self.left, same_output=order.same_output, seed=order.seed
                ),
                kept,
                goal=order.goal,
                most_rss=order.max_rss or float("inf"),
                runs=order.runs,
                start_cpu=self.plain.cpu_s,
            )
            trial.measure(progress)
            self.trial, self.tried = trial, tried(trial, json.loads(_native.machine_json()))
            self.interrupted = trial.interrupted
            if used := self.used_row(trial):
                self.way = way_to_use(used, trial)
        runs = sum(len(row.runs) for row in trial.rows)
        several = f" of {trial.repetitions} starts" if trial.repetitions > 1 else ""
        return f"{runs} runs{several}, {counted(len(candidates(kept)), 'candidate')}"

    def used_row(self, trial: TrialInBudget) -> Row | None:
        """Return the row that is worth using, if one is."""
        use = self.tried.choice.use if self.tried else None
        return next((row for row in trial.rows if row.malloc.name == use), None)

    def expected(self) -> dict[str, float]:
        """Return the change of CPU time that advice expects, by the names of rows."""
        if self.advice is None:
            return {}
        rows = {name: Path(path).stem if len(self.plans) > 1 else "plan" for path, name in self.plans.items()}
        named = [(one["name"], one["cpu"]) for one in self.advice["mallocs"]]
        named += [(rows[one["name"]], one["cpu"]) for one in self.advice["plans"] if one["name"] in rows]
        return {name: of["median"] for name, of in named if of}
