"""Replays that measure candidates: the journal each time, of which one part has heaps of its own.

    part, route --numpy--> FILE, a number for each event --> mallard-replay JOURNAL --part FILE --strategy ...
                                                                 |
                              none, glibc, glibc a/a, candidates alternate, each in a fresh process
                                                                 v
    change of a row = (row - mean of both glibc) of the same round, per block of the part,
                      x what glibc took in the program / what it takes in the replay
                      + what its first pass takes beyond others, once

A replay does nothing but allocate and free, so that caches and predictors serve the malloc alone. In the
program the same calls take longer; what they took there was timed. Its memory is new, as in a first pass.

One replay has all candidates that divide a part over heaps alike, so that they share their rounds. Each has
its share of the time that is left. Where the whole journal would take longer, it covers a few stretches
(stretches.py). Such a replay gives the time; what is held at most is measured with the whole journal, in one
pass of each candidate.

Ctrl-C ends the replay that is running, which then reports the rounds that it has: what is measured stays.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mallard import MallardError, is_interrupt
from mallard.advise.stretches import Blocks, Row
from mallard.analysis.progress import Progress
from mallard.compare.intervals import Interval, Lead, lead
from mallard.native import tool

Rounds = NDArray[np.float64]  # one figure per round
MINUTES = 5.0  # for all replays, unless the user says otherwise
BASE = "glibc"
ALWAYS = 3  # none, the base and its repetition are in every replay
ROUNDS, MOST_ROUNDS = 11, 21  # one round that a candidate loses to both rows of the base does not hide it
LEAST_ROUNDS = 7  # of a replay that was ended: fewer cannot rule out chance
WARM_SECONDS, LEAST_WARM_SECONDS = 0.2, 0.02
ENOUGH_PASSES = 50  # warm, in a process: their median is as steady as it gets, however short the journal
TICK = 0.3  # seconds between two looks at a replay that runs
OVERDUE = 3.0  # times its share, that a replay may take before it is ended with what it has
LEAST_OVERDUE = 3.0  # seconds, of one that is to be short: a busy machine starts processes late
GRACE = 10.0  # seconds that it takes to end
INTERRUPTED = (130, -signal.SIGINT)  # the latter where it is ended before it listens, or twice

# What a replay takes, until one was measured: reading an event, a process of a row, an operation of a pass.
READ_NS, TURN_SECONDS, OPERATION_NS = 60.0, 0.02, 30.0
CHECKED, COLD, WARM_PASSES = (
    6,
    2,
    3,
)  # passes: of the check and the footprint; of a turn, cold, and warm at least

UNKNOWN_SLOWNESS = 2.0  # before one was measured: a machine that others use must not end the first one
FIRST = 0.6  # of the time, for first replays; more where the whole journal fits into them then
LEAST_BLOCKS = 20_000  # of a replay: fewer are noise
MOST_SCALE = 4.0  # times the replay's, that an operation may be taken to cost in the program
LEFT_OUT = 2**32 - 1  # in a file of routes (src/replay/trace/part_routes.hpp)


@dataclass(frozen=True, slots=True)
class Passes:
    """What a row takes in each round, in ns a block: in a warm pass, and what its first takes beyond that."""

    warm: Rounds
    first: Rounds

    @property
    def both(self) -> Rounds:
        """Return what a program takes that does once what a pass does."""
        return self.warm + self.first

    def beside(self, other: "Passes") -> Interval:
        """Return the change from another row."""
        return added([spread(self.warm, other.warm), spread(self.first, other.first)])

    def until(self, rounds: int) -> "Passes":
        """Return the first rounds."""
        return Passes(self.warm[:rounds], self.first[:rounds])

    def then(self, later: "Passes") -> "Passes":
        """Return these rounds and those of a later replay."""
        return Passes(np.append(self.warm, later.warm), np.append(self.first, later.first))


@dataclass(frozen=True, slots=True)
class Measured:
    """One row of a replay, and both rows of the base in the same rounds."""

    row: Passes
    base: tuple[Passes, Passes]
    peak_bytes: int | None  # beyond the base's; None as well where stretches alone were replayed
    held_bytes: int | None

    @property
    def ns_per_block(self) -> Interval:
        """Return the change from the mean of both rows of the base."""
        return self.row.beside(mean(*self.base))

    @property
    def first_ns(self) -> float:
        """Return what the first pass takes beyond others: a part of that change."""
        return spread(self.row.first, mean(*self.base).first).median

    @property
    def noise(self) -> Interval:
        """Return the change of the base's second row from its first."""
        once, twice = self.base
        return twice.beside(once)

    def lead(self, spared: float = 0.0) -> Lead:
        """Return how sure the row is ahead; `spared`: ns a block that it takes in the replay alone."""
        return lead((self.row.both - spared).tolist(), [one.both.tolist() for one in self.base])

    @property
    def rounds(self) -> int:
        """Return of how many rounds the figures are."""
        return len(self.row.warm)

    def then(self, later: "Measured") -> "Measured":
        """Return the figures of these rounds and those of a later replay."""
        once, twice = (one.then(other) for one, other in zip(self.base, later.base, strict=True))
        return replace(self, row=self.row.then(later.row), base=(once, twice)).with_memory(later)

    def with_memory(self, known: "Measured") -> "Measured":
        """Return it with the memory of another replay, if its own says nothing of that."""
        if self.peak_bytes is not None:
            return self
        return replace(self, peak_bytes=known.peak_bytes, held_bytes=known.held_bytes)


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay has measured."""

    rows: dict[str, Measured]
    blocks: int  # of the part, in the whole journal
    cost_ns: float  # of a block under the base: its allocation and its free
    replayed: int = 0  # blocks of all parts; 0: the whole journal


class Replays:
    """All replays of one journal, within a budget."""

    def __init__(
        self,
        journal: str,
        events: int,
        blocks: Blocks,
        folder: Path,
        end: float,
        progress: Progress,
        call_ns: float | None = None,
    ) -> None:
        """Plan until a moment of the monotonic clock; files of routes are written to a folder.

        `call_ns` is what an allocation or a free took in the program, where that is known.
        """
        self.journal, self.events, self.blocks, self.call_ns = journal, events, blocks, call_ns
        self.folder, self.progress = folder, progress
        self.begun, self.end = monotonic(), end
        self.planned: list[int] = []  # rows of the first replays that are still to come, in their order
        self.slowness = UNKNOWN_SLOWNESS  # of this machine: what replays take of what was expected
        self.interrupted = False
        self.left_out = 0  # replays for which there was no time
        self.failures: list[str] = []  # why others have failed
        self.in_stretches = False  # whether one was not of the whole journal
        self.machine: dict[str, str] = {}
        self.method: dict[str, Any] = {}

    @property
    def complete(self) -> bool:
        """Return whether all that was to be measured has been."""
        return not (self.interrupted or self.left_out or self.failures)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note why a replay fails, and Ctrl-C: what others have measured stays."""
        try:
            yield
        except MallardError as error:
            self.failures.append(str(error))
        except (KeyboardInterrupt, RuntimeError) as error:
            if not is_interrupt(error):
                raise
            self.interrupted = True

    # --- what there is time for ---

    @property
    def left(self) -> float:
        """Return the seconds until the end."""
        return self.end - monotonic()

    def may_read(self) -> bool:
        """Return whether there is time to read the journal once more, for something else."""
        return not self.interrupted and self.left > self.slowness * self.events * READ_NS / 1e9

    def takes(self, blocks: int, rows: int, rounds: int = ROUNDS, warm: float = LEAST_WARM_SECONDS) -> float:
        """Return the seconds that a replay of this many blocks takes."""
        one = 2 * blocks * OPERATION_NS / 1e9
        turn = TURN_SECONDS + COLD * one + max(WARM_PASSES * one, warm)
        checks = 2 * TURN_SECONDS + CHECKED * one
        return self.slowness * (self.events * READ_NS / 1e9 + rows * (checks + rounds * turn))

    def fits(self, seconds: float, rows: int) -> int:
        """Return how many blocks have room in a replay of that time."""
        few = self.takes(LEAST_BLOCKS, rows)
        each = (self.takes(2 * LEAST_BLOCKS + len(self.blocks), rows) - few) / (
            LEAST_BLOCKS + len(self.blocks)
        )
        return LEAST_BLOCKS + max(int((seconds - few) / each), 0)

    def share(self, rows: int, least: float = 0.0) -> float:
        """Return the seconds that a first replay of this many rows may take; 0 if it has no time.

        A part of the time is kept for second replays, unless all first ones can be of the whole journal
        only without that. `least`: of the time, that it may take if that is enough for the whole journal.
        """
        left = max(self.left, 0.0)
        if self.takes(LEAST_BLOCKS, rows) > left:
            return 0.0
        whole = self.takes(len(self.blocks), rows)
        at_least = whole if whole <= least * left else 0.0
        all_whole = sum(self.takes(len(self.blocks), one) for one in self.planned)
        least_left = left / 2 if all_whole > left else all_whole
        left = max(left - (1 - FIRST) * (self.end - self.begun), least_left)
        return max(left * rows / max(sum(self.planned), rows), at_least)

    # --- replays ---

    def first(
        self, route: Row, strategies: Sequence[str], threads: bool = False, least_share: float = 0.0
    ) -> Replay | None:
        """Measure strategies for a part; None if there is no time left for it."""
        rows = len(strategies) + ALWAYS
        seconds = self.share(rows, least_share)
        del self.planned[:1]
        if self.interrupted:
            return None
        found = self.measured(route, strategies, threads, seconds) if seconds else None
        self.left_out += found is None and not self.interrupted
        return found

    def again(
        self, route: Row, strategies: Sequence[str], threads: bool, seconds: float, rounds: int
    ) -> Replay | None:
        """Measure some of them again, in that time; the whole journal in so many rounds at least."""
        return None if self.interrupted else self.measured(route, strategies, threads, seconds, rounds)

    def held(
        self, route: Row, strategies: Sequence[str], threads: bool
    ) -> dict[str, tuple[int | None, int | None]]:
        """Return by strategy how much more memory the whole journal takes with it: at most, in the end."""
        rows = len(strategies) + ALWAYS
        each = TURN_SECONDS + COLD * 2 * len(self.blocks) * OPERATION_NS / 1e9
        seconds = self.slowness * (self.events * READ_NS / 1e9 + rows * each)
        if self.interrupted or seconds > self.left:
            return {}
        words = self.words(route, strategies, threads)
        ran = self.run([*words, "--held-only"], min(max(OVERDUE * seconds, LEAST_OVERDUE), self.left))
        found = {row["strategy"]: row for row in ran["rows"] if row["status"] == "ok"} if ran else {}
        base = found.get(BASE)
        if base is None:
            return {}
        return {
            name: (row["change_max_held"], held(row, base))
            for name, row in found.items()
            if name in strategies
        }

    def measured(
        self, route: Row, strategies: Sequence[str], threads: bool, seconds: float, rounds: int = ROUNDS
    ) -> Replay | None:
        """Replay the whole journal, in so many rounds at least, or as much of it as has time."""
        rows, whole = len(strategies) + ALWAYS, len(self.blocks)
        part, warm = np.flatnonzero(route), LEAST_WARM_SECONDS
        kept = None
        if self.takes(whole, rows, rounds) > seconds:
            kept, rounds = self.blocks.stretches(part, self.fits(seconds, rows)), ROUNDS
        replayed = whole if kept is None else int(kept[0].sum())
        if kept is not None:
            route = np.where(self.blocks.left_out(*kept, self.events), LEFT_OUT, route)
            self.in_stretches = True
        else:
            spare = (seconds - self.takes(whole, rows, rounds)) / (rows * rounds * self.slowness)
            enough = ENOUGH_PASSES * 2 * whole * OPERATION_NS / 1e9
            warm = max(warm, min(warm + spare, enough, WARM_SECONDS))
            while rounds < MOST_ROUNDS and self.takes(whole, rows, rounds + 1, warm) < seconds:
                rounds += 1
        expected = self.takes(replayed, rows, rounds, warm)
        began = monotonic()
        ran = self.run(
            [
                *self.words(route, strategies, threads),
                *("--rounds", str(rounds), "--most-rounds", str(rounds), "--warm-time", f"{warm:.2f}"),
            ],
            min(OVERDUE * max(seconds, expected), max(self.left, 0.0)),
        )
        self.slowness *= min(max((monotonic() - began) / expected, 1 / 4), 4.0)
        if ran is None:
            return None
        untimed = 0 if threads else ran["journal"]["never_freed"]
        return self.read(ran, len(part), 0 if kept is None else replayed, untimed)

    def words(self, route: Row, strategies: Sequence[str], threads: bool) -> list[str]:
        """Return the arguments of a replay; its file of routes is written."""
        file = self.folder / "part.u32"
        file.write_bytes(route.astype("<u4").tobytes())
        chosen = [f"--strategy={name}" for name in dict.fromkeys(strategies)]
        on_threads = ["--threads"] if threads else []
        return [
            *(self.journal, "--part", str(file), *chosen, "--baseline", BASE),
            *("--touch", "lines", "--json"),
            *on_threads,
        ]

    def run(self, words: Sequence[str], seconds: float) -> dict[str, Any] | None:
        """Run mallard-replay for at most `seconds`; None if it has measured nothing by its end."""
        try:
            running = subprocess.Popen(
                [tool("mallard-replay"), *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        except OSError as error:
            raise MallardError(f"cannot run mallard-replay: {error.strerror}") from error
        output, errors = self.wait(running, monotonic() + seconds)
        if running.returncode not in (0, 1, *INTERRUPTED) or not output:
            if running.returncode in INTERRUPTED or self.interrupted:
                return None
            told = (errors.strip() or f"it ended with {running.returncode}").splitlines()[-1]
            raise MallardError(f"mallard-replay: {told.removeprefix('mallard-replay: ')}")
        found: dict[str, Any] = json.loads(output)
        return found

    def wait(self, running: "subprocess.Popen[str]", end: float) -> tuple[str, str]:
        """Return what a replay says at its end; Ctrl-C ends it, and all that would follow."""
        while True:
            try:
                output, errors = running.communicate(timeout=TICK)
            except subprocess.TimeoutExpired:
                self.progress(self.reached())
                if monotonic() > end:
                    os.kill(running.pid, signal.SIGINT)
                    end += GRACE
                continue
            except KeyboardInterrupt:
                self.interrupted = True
                os.kill(running.pid, signal.SIGINT)
                continue
            return output or "", errors or ""

    def reached(self) -> float:
        """Return how far all replays have got."""
        return min((monotonic() - self.begun) / max(self.end - self.begun, 1.0), 0.99)

    def read(self, found: Mapping[str, Any], blocks: int, replayed: int, untimed: int = 0) -> Replay | None:
        """Return the rows that have figures; `untimed`: operations of a pass that these do not cover."""
        self.machine = {name: str(value) for name, value in found.get("machine", {}).items()}
        self.method = found.get("method", {})
        rows = {
            row["strategy"]: row
            for row in found["rows"]
            if row["status"] == "ok" and len(row["rounds_ns"]) >= LEAST_ROUNDS
        }
        base, again = rows.get(BASE), rows.get(f"{BASE} a/a")
        if base is None or again is None:
            return None
        part, is_whole = found["part"], not replayed
        operations = found["journal"]["operations"]
        scale = self.scale(base, operations / max(operations - untimed, 1))
        of_warm, of_first = scale * operations / max(part["blocks"], 1), operations / max(blocks, 1)

        def passes(row: Mapping[str, Any]) -> Passes:
            warm, cold = (np.array(row[name]) for name in ("rounds_ns", "cold_rounds_ns"))
            return Passes(of_warm * warm, of_first * (cold - warm))

        once, twice = passes(base), passes(again)

        def figures(row: Mapping[str, Any]) -> Measured:
            own = passes(row)
            rounds = min(len(one.warm) for one in (own, once, twice))
            return Measured(
                row=own.until(rounds),
                base=(once.until(rounds), twice.until(rounds)),
                peak_bytes=row["change_max_held"] if is_whole else None,
                held_bytes=held(row, base) if is_whole else None,
            )

        others = (
            name for name, row in rows.items() if name != "none" and row is not base and row is not again
        )
        return Replay(
            rows={name: figures(rows[name]) for name in others},
            blocks=blocks,
            cost_ns=scale * max(base["ns_per_event"] or 0.0, 0.0) * part["events"] / max(part["blocks"], 1),
            replayed=replayed,
        )

    def scale(self, base: Mapping[str, Any], timed: float = 1.0) -> float:
        """Return how many times longer the base's operations took in the program than in the replay.

        `timed`: all operations of a pass by those that its time covers.
        """
        replayed = timed * (base["ns_per_event"] or 0.0)
        if not self.call_ns or replayed <= 0:
            return 1.0
        return min(max(self.call_ns / replayed, 1.0), MOST_SCALE)


def mean(row: Passes, other: Passes) -> Passes:
    """Return the mean of two rows, round by round."""
    return Passes((row.warm + other.warm) / 2, (row.first + other.first) / 2)


def spread(row: Rounds, other: Rounds) -> Interval:
    """Return how far a row is from another in the same rounds: the median, and the middle four fifths."""
    low, middle, high = np.quantile(row - other, (0.1, 0.5, 0.9)).tolist()
    return Interval(middle, low, high)


def held(row: Mapping[str, Any], base: Mapping[str, Any]) -> int | None:
    """Return how much more a row holds in the end."""
    if row.get("held_after") is None or base.get("held_after") is None:
        return None
    return int(row["held_after"]) - int(base["held_after"])


def scaled(of: Interval, factor: float) -> Interval:
    """Return an interval in another unit; a factor is positive."""
    return Interval(of.median * factor, of.low * factor, of.high * factor)


def added(parts: Sequence[Interval]) -> Interval:
    """Return the sum of independent changes: deviations add up by their squares."""
    middle = sum(one.median for one in parts)
    low, high = (
        sum((getattr(one, end) - one.median) ** 2 for one in parts) ** 0.5 for end in ("low", "high")
    )
    return Interval(middle, middle - low, middle + high)
