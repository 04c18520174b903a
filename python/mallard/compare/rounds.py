"""The mallocs in turn: one round that is looked into, further ones without a clock, then those that count.

    untimed      glibc  jemalloc  mimalloc  glibc a/a      with libmallard-witness.so behind each malloc
    round 1      mimalloc  glibc  glibc a/a  jemalloc      shuffled anew each round, by a fixed seed
    round 2      jemalloc  glibc  mimalloc  glibc a/a

The order changes so that no malloc always runs behind the same one. What the untimed round finds leaves a
malloc out: it was not loaded, or is not what the program calls, or the program ends otherwise than under
glibc.
"""

import os
import random
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic

from mallard import MallardError
from mallard.compare.launch import INTERRUPTS, Program, RunError, Taken, ending, run
from mallard.compare.mallocs import AGAIN, BASE, OWN_SETTINGS, PLAN_VARIABLE, Malloc, own_library
from mallard.compare.plans import build_id_of

Progress = Callable[[float, str, float], None]  # share that is done, what is at work, seconds that are left

FIELDS = 5  # of a line of the witness; a program's name may have a tab in it

# Allocators inside programs, by the function that src/harness/whole/witness.c finds them by.
POOLS = {
    "PyObject_Malloc": ("PYTHONMALLOC", "Python's own pools; PYTHONMALLOC=malloc sends them to malloc"),
    "_emalloc": ("USE_ZEND_ALLOC", "PHP's own memory manager; USE_ZEND_ALLOC=0 sends them to malloc"),
}


@dataclass(frozen=True, slots=True)
class Schedule:
    """How often, for how long, and what is compared beside the figures."""

    rounds: int
    least: int  # rounds, however long they take
    seconds: float  # after which no further round begins
    warmup: int = 1  # untimed rounds
    same_output: bool = True  # of all mallocs, and that the program succeeds
    seed: int = 1


@dataclass(slots=True)
class Row:
    """A malloc and its runs."""

    malloc: Malloc
    loaded: str = ""  # the library whose malloc the program calls
    reason: str = ""  # why it is left out
    runs: dict[int, Taken] = field(default_factory=dict)  # by the number of the round


@contextmanager
def noted_interrupts() -> Iterator[Event]:
    """Note Ctrl-C, and SIGTERM as one, beside raising it: Python drops what is raised in a destructor."""
    came = Event()

    def note(_number: int, _frame: object) -> None:
        came.set()
        raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in INTERRUPTS}
    try:
        yield came
    finally:
        for number, by in before.items():
            signal.signal(number, by)


@dataclass(slots=True)
class Session:
    """All rows, measured as far as time and the user let it."""

    program: Program
    schedule: Schedule
    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False  # by the user, in a round
    stopped: str = ""  # what ended the rounds before their time
    base_end: int = 0  # exit code of the base's untimed run; a program may always end by a signal
    builds: set[str] = field(
        default_factory=set
    )  # build ids of what the program's processes were in that run
    asked_to_end: Event = field(default_factory=Event)

    @property
    def base(self) -> Row:
        """Return what the others are compared with."""
        return self.rows[0]

    def measure(self, progress: Progress) -> None:
        """Run all rounds; Ctrl-C and what goes wrong end them, once there is something to show."""
        if unset := [name for name in OWN_SETTINGS if name in os.environ]:
            self.notes.append(f"the program does not see your environment's {', '.join(unset)}")
        with noted_interrupts() as self.asked_to_end:
            began = monotonic()
            self.look_into(progress)
            for _ in range(self.schedule.warmup - 1):
                for row in self.going_on():
                    self.turn(row, row.malloc.environment())
            self.measure_rounds(progress, (monotonic() - began) / self.schedule.warmup)

    def measure_rounds(self, progress: Progress, one_round: float) -> None:
        """Run the rounds that count, and keep those before what ends them."""
        try:
            self.take_turns(progress, one_round)
        except KeyboardInterrupt:
            if not self.base.runs:
                raise
            self.interrupted = True
        except MallardError as error:
            if not self.base.runs:
                raise
            self.stopped = str(error)

    def take_turns(self, progress: Progress, one_round: float) -> None:
        """Run the rounds that count."""
        shuffled = random.Random(self.schedule.seed)
        began = monotonic()
        for number in range(self.schedule.rounds):
            if number:
                one_round = (monotonic() - began) / number
            if number >= self.schedule.least and monotonic() - began > self.schedule.seconds:
                return
            rounds = self.expected_rounds(one_round)
            order = self.going_on()
            shuffled.shuffle(order)
            for at, row in enumerate(order):
                done = number + at / len(order)
                left = max(0.0, one_round * (rounds - done))
                progress(done / rounds, f"round {number + 1} of {rounds}: {row.malloc.name}", left)
                self.measure_run(number, row)
        progress(1, "done", 0)

    def measure_run(self, number: int, row: Row) -> None:
        """Make a row's run of a round."""
        if taken := self.turn(row, row.malloc.environment()):
            row.runs[number] = taken

    def expected_rounds(self, one_round: float) -> int:
        """Return how many rounds there will be if each takes this many seconds."""
        if one_round * self.schedule.rounds <= self.schedule.seconds:
            return self.schedule.rounds
        return min(self.schedule.rounds, max(self.schedule.least, int(self.schedule.seconds / one_round) + 1))

    def going_on(self) -> list[Row]:
        """Return the rows that have not been left out."""
        return [row for row in self.rows if not row.reason]

    def turn(self, row: Row, environment: dict[str, str]) -> Taken | None:
        """Run the program once; a run that fails leaves the malloc out, and ends all if it is the base."""
        if self.asked_to_end.is_set():
            raise KeyboardInterrupt
        try:
            taken = run(self.program, environment)
            self.expect_good_end(row, taken)
        except RunError as error:
            if row is self.base:
                name = Path(self.program.arguments[0]).name
                raise MallardError(f"cannot compare mallocs under {name}: {error}") from error
            row.reason = str(error)
            return None
        return taken

    def expect_good_end(self, row: Row, taken: Taken) -> None:
        """Refuse a run in which the program has failed, if that is asked for."""
        if self.schedule.same_output and taken.exit_code != 0:
            hint = "; --output ignore measures it all the same" if row is self.base else ""
            raise RunError(f"it {ending(taken.exit_code, taken.errors)}{hint}")
        if self.program.figure is not None and taken.figure is None:
            raise RunError("--figure finds nothing in what it prints")
        if row is not self.base and taken.exit_code < 0 and taken.exit_code != self.base_end:
            raise RunError(f"it {ending(taken.exit_code, taken.errors)}")

    def look_into(self, progress: Progress) -> None:
        """Run each malloc once with the witness behind it, and leave out those that are not in force."""
        witness = own_library("libmallard-witness.so")
        if not witness:
            raise MallardError(
                "libmallard-witness.so is not beside mallard-launch: this installation is not whole"
            )
        with TemporaryDirectory(prefix="mallard-") as folder:
            for at, row in enumerate(self.rows):
                if row.malloc.build and row.malloc.build not in self.builds:
                    row.reason = f"it is for another build of the program, {row.malloc.build}"
                    continue
                progress(0, f"untimed round: {row.malloc.name}", 0)
                told = Path(folder) / str(at)
                told.touch()
                taken = self.turn(row, row.malloc.environment(witness) | {"MALLARD_WITNESS": str(told)})
                if taken is None:
                    continue
                processes = Processes.told(told.read_text(errors="surrogateescape"))
                if row is self.base:
                    self.base_end = taken.exit_code
                    self.builds = {build_id_of(image.program) for image in processes.images}
                    self.know_base(processes)
                else:
                    row.loaded = processes.main.library if processes.main else ""
                    row.reason = why_not(row.malloc, processes, self.base.loaded, taken.errors)
                    if not (row.reason or row.malloc.repeated):
                        self.notes += [*others_told(row.malloc, processes), *changes_told(row.malloc)]

    def know_base(self, processes: "Processes") -> None:
        """Find out what the program calls when nothing is preloaded; it need not be the C library."""
        name = Path(self.program.arguments[0]).name
        main = processes.main
        if main is None:
            raise MallardError(f"cannot compare mallocs under {name}: nothing could be loaded into it")
        if not main.library:
            raise MallardError(
                f"cannot compare mallocs under {name}: {Path(main.program).name} defines malloc itself, "
                "and nothing preloaded takes its place"
            )
        self.base.loaded = main.library
        library = Path(self.base.loaded).name
        if not is_c_library(self.base.loaded):
            self.notes.append(f"{name} is linked with {library}: that is its malloc in place of {BASE}")
            for row in self.rows:
                if row.malloc.name in (BASE, BASE + AGAIN):
                    row.malloc = replace(row.malloc, name=row.malloc.name.replace(BASE, library))
        self.notes += pools_told(processes)


@dataclass(frozen=True, slots=True)
class Image:
    """One program that a process was, and the library whose malloc it called; empty if it has its own."""

    process: str
    program: str
    library: str


@dataclass(frozen=True, slots=True)
class Processes:
    """What the witness has seen."""

    images: Sequence[Image]  # in the order of their starts
    pools: Sequence[tuple[str, str]]  # program and function
    strays: Sequence[tuple[str, str]]  # an object, and the library whose malloc it alone calls

    @classmethod
    def told(cls, lines: str) -> "Processes":
        """Read the witness's lines."""
        fields = [line.split("\t") for line in lines.splitlines() if line.count("\t") == FIELDS - 1]
        return cls(
            [Image(*one[1:4]) for one in fields if one[0] == "malloc"],
            [(program, function) for kind, _, program, function, _ in fields if kind == "pool"],
            [(place or program, other) for kind, _, program, place, other in fields if kind == "bound"],
        )

    @property
    def main(self) -> Image | None:
        """Return what the first process became last: a script may end with exec."""
        return next((one for one in reversed(self.images) if one.process == self.images[0].process), None)


def why_not(malloc: Malloc, processes: Processes, base: str, errors: str) -> str:
    """Say why a malloc is not the one that was measured; empty if it is."""
    library, main = Path(malloc.library).name, processes.main
    if main is None:
        return "nothing could be loaded into the program"
    if not malloc.library:
        if malloc.repeated or is_c_library(main.library):
            return ""
        return f"the program calls the malloc of {Path(base).name}, not the C library's"
    if not same_file(main.library, malloc.library):
        refused = re.search(rf"ld\.so: object '[^']*{re.escape(library)}' from LD_PRELOAD .*\((.*)\)", errors)
        if refused:
            return f"{library} cannot be loaded: {refused[1]}"
        return f"{library} is loaded, but the program calls {of_whom(main.library)}"
    image = malloc.settings.get(PLAN_VARIABLE, "")
    if image and (refused := re.search(rf"(?m)^mallard-malloc: {re.escape(image)} (.*)", errors)):
        return f"mallard-malloc refuses its plan: it {refused[1]}"
    if processes.strays:
        place, other = (Path(file).name for file in processes.strays[0])
        return f"{place} calls the malloc of {other}: it was opened with RTLD_DEEPBIND"
    return ""


def others_told(malloc: Malloc, processes: Processes) -> list[str]:
    """Say which programs that the program starts call another malloc."""
    main = processes.main
    others = {one.program: one.library for one in processes.images if main and not alike(one, main)}
    return [
        f"under {malloc.name}, {Path(program).name} calls {of_whom(library)}"
        for program, library in others.items()
    ]


def changes_told(malloc: Malloc) -> list[str]:
    """Say which libraries a plan knows in other builds than they are."""
    if malloc.control or not malloc.changed:
        return []
    return [f"{malloc.name} is for other builds of {', '.join(malloc.changed)}: no call of theirs is routed"]


def alike(one: Image, other: Image) -> bool:
    """Return whether two programs call the same malloc."""
    return one.library == other.library or same_file(one.library, other.library)


def of_whom(library: str) -> str:
    """Name a malloc by its library."""
    return f"the malloc of {Path(library).name}" if library else "a malloc of its own"


def pools_told(processes: Processes) -> list[str]:
    """Say which programs serve objects themselves, without asking any malloc."""
    told = []
    for program, function in dict.fromkeys(processes.pools):
        variable, words = POOLS.get(
            function, ("", f"an allocator of its own ({function}), which is not compared")
        )
        if variable not in os.environ:
            told.append(f"{Path(program).name} takes small objects from {words}")
    return told


def is_c_library(file: str) -> bool:
    """Return whether a malloc is the C library's."""
    return Path(file).name.startswith("libc.so")


def same_file(one: str, other: str) -> bool:
    """Return whether two paths lead to one file."""
    return bool(one and other) and Path(one).exists() and Path(one).samefile(other)
