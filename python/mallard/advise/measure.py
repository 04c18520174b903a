"""Replays that measure candidates: the whole journal each time, of which one part has heaps of its own.

    part, route --numpy--> FILE, a number for each event --> mallard-replay JOURNAL --part FILE --strategy ...
                                                                 |
                              none, glibc, glibc a/a, candidates alternate, each in a fresh process
                                                                 v
    change of a row = (row - glibc) of the same round, per block of the part

One replay has all candidates that divide a part over heaps alike, so that they share their rounds. Time is
divided over the replays that are left; a first one says how long a turn takes. Ctrl-C ends the one that is
running, which then reports the rounds that it has: what is measured stays measured.
"""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from mallard import MallardError
from mallard.advise.parts import Row
from mallard.analysis.progress import Progress
from mallard.compare.intervals import Interval
from mallard.native import tool

MINUTES = 5.0  # for all replays, unless the user says otherwise
BASE = "glibc"
ALWAYS = 3  # none, the base and its repetition are in every replay
ROUNDS, MOST_ROUNDS = 5, 15
LEAST_ROUNDS = 3  # of a replay that was ended: fewer say nothing
WARM_SECONDS, LEAST_WARM_SECONDS = 0.2, 0.05
EVENT_NS = 150.0  # that a turn takes of an event, before one was measured: cold and warm passes, the check
TURN_SECONDS = 0.1  # and that it takes besides
TICK = 0.3  # seconds between two looks at a replay that runs
OVERDUE = 1.5  # times its share, that a replay may take before it is ended with what it has
GRACE = 10.0  # seconds that it takes to end
INTERRUPTED = (130, -signal.SIGINT)  # the latter where it is ended before it listens, or twice


@dataclass(frozen=True, slots=True)
class Measured:
    """One row of a replay, as changes from the base in the same rounds."""

    ns_per_block: Interval
    peak_bytes: int | None
    held_bytes: int | None


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay has measured."""

    rows: dict[str, Measured]
    noise: Interval  # of the base measured again
    blocks: int
    cost_ns: float  # of a block under the base: its allocation and its free

    @property
    def level(self) -> float:
        """Return what a row has to stay below to be faster than the base, in ns a block."""
        return min(self.noise.low, 0.0)


class Replays:
    """All replays of one journal, within a budget."""

    def __init__(
        self, journal: str, events: int, folder: Path, minutes: float, planned: int, progress: Progress
    ) -> None:
        """Plan for so many replays; files of routes are written to a folder."""
        self.journal, self.events, self.folder, self.progress = journal, events, folder, progress
        self.end = monotonic() + 60 * minutes
        self.begun = monotonic()
        self.planned, self.done = planned, 0
        self.turn = TURN_SECONDS + events * EVENT_NS / 1e9  # seconds of a process, without warm passes
        self.interrupted = False
        self.left_out = 0  # replays for which there was no time
        self.machine: dict[str, str] = {}
        self.method: dict[str, Any] = {}

    def part(
        self, route: Row, strategies: Sequence[str], threads: bool = False, baseline: str = BASE
    ) -> Replay | None:
        """Measure strategies for a part; None if there is no time left for it."""
        if self.interrupted:
            return None
        rounds, warm, seconds = self.share(len(strategies) + ALWAYS)
        if not rounds:
            self.left_out += 1
            return None
        file = self.folder / "part.u32"
        file.write_bytes(route.tobytes())
        chosen = [f"--strategy={name}" for name in dict.fromkeys(strategies)]
        ran = self.run(
            [
                *(self.journal, "--part", str(file), *chosen, "--baseline", baseline, "--json"),
                *("--rounds", str(rounds), "--warm-time", f"{warm:.2f}"),
                *(["--threads"] if threads else []),
            ],
            rounds * (len(strategies) + ALWAYS),
            seconds,
        )
        self.done += 1
        if ran is not None:
            return self.read(ran, baseline)
        self.left_out += not self.interrupted
        return None

    def share(self, rows: int) -> tuple[int, float, float]:
        """Return rounds, warm time and seconds for a replay of so many rows; no rounds without time."""
        left = (self.end - monotonic()) / max(self.planned - self.done, 1)
        least = ROUNDS * rows * (self.turn + LEAST_WARM_SECONDS)
        if self.done and least > self.end - monotonic():
            return 0, 0.0, 0.0
        warm = min(max(left / (ROUNDS * rows) - self.turn, LEAST_WARM_SECONDS), WARM_SECONDS)
        rounds = int(left / (rows * (self.turn + warm)))
        return min(max(rounds, ROUNDS), MOST_ROUNDS), warm, OVERDUE * left

    def run(self, words: Sequence[str], turns: int, seconds: float) -> dict[str, Any] | None:
        """Run mallard-replay, for so many seconds at most; None if it has measured nothing until its end."""
        began = monotonic()
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
        output, errors = self.wait(running, began + seconds)
        if running.returncode not in (0, 1, *INTERRUPTED) or not output:
            if running.returncode in INTERRUPTED or self.interrupted:
                return None
            told = (errors.strip() or f"it ended with {running.returncode}").splitlines()[-1]
            raise MallardError(f"mallard-replay: {told.removeprefix('mallard-replay: ')}")
        self.turn = (monotonic() - began) / turns
        found: dict[str, Any] = json.loads(output)
        return found

    def wait(self, running: "subprocess.Popen[str]", end: float) -> tuple[str, str]:
        """Return what a replay says in the end; Ctrl-C ends it, and all that would follow."""
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
        """Return how far all replays are."""
        return min((monotonic() - self.begun) / max(self.end - self.begun, 1.0), 0.99)

    def read(self, found: Mapping[str, Any], baseline: str) -> Replay | None:
        """Return the rows that have figures."""
        self.machine = {name: str(value) for name, value in found.get("machine", {}).items()}
        self.method = found.get("method", {})
        rows = {
            row["strategy"]: row
            for row in found["rows"]
            if row["status"] == "ok" and len(row["rounds_ns"]) >= LEAST_ROUNDS
        }
        base, again = rows.get(baseline), rows.get(f"{baseline} a/a")
        if base is None or again is None or not again.get("change_ns_per_block"):
            return None
        part = found["part"]
        return Replay(
            rows={
                name: Measured(
                    interval_of(row["change_ns_per_block"]), row["change_max_held"], held(row, base)
                )
                for name, row in rows.items()
                if row.get("change_ns_per_block") and row is not base and row is not again
            },
            noise=interval_of(again["change_ns_per_block"]),
            blocks=part["blocks"],
            cost_ns=max(base["ns_per_event"] or 0.0, 0.0) * part["events"] / max(part["blocks"], 1),
        )


def interval_of(found: Mapping[str, float]) -> Interval:
    """Return an interval of a row."""
    return Interval(found["median"], found["low"], found["high"])


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
