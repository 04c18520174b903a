"""A replay as pictures, PNG and SVG, that stand by themselves: for a paper, a ticket, a page.

    mallard-replay's JSON --Replayed--> durations, footprints --canvas--> DIR/boxes.png, DIR/boxes.svg ...

The page of `mallard report` draws the same figures; here hovering shows nothing, so each picture names
its journal, its machine and its method. A row of the replay has its look in all pictures:

    colour   the strategy
    dash     the binding: malloc and typed in one stroke, pmr dashed; with dots where colours come again

`none` is the floor that times are net of, `glibc a/a` the noise: neither is a strategy, and neither is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mallard.figures import UNKNOWN, count, shown, size

Json = dict[str, Any]

# People who see few colours can tell them apart; those of html/page/style.css, in its order.
COLOURS = (
    *("#0072b2", "#d55e00", "#00936b", "#aa4f86", "#8a6d00", "#4a4fb0", "#7a3b1d", "#5f6b76"),
    *("#5fa8d8", "#ef9a5a", "#63bfa3", "#d08db4"),
)
GLIBC = "#1b1f24"
FLOOR = "none"


@dataclass(frozen=True)
class Row:
    """A strategy that was measured, in one binding."""

    strategy: str
    binding: str
    figures: Json
    colour: str
    again: bool = False  # another strategy has this colour, too

    @property
    def name(self) -> str:
        """Return how pictures call it."""
        return f"{self.strategy} ({self.binding})"

    @property
    def dash(self) -> str:
        """Return the style of its lines."""
        if self.binding == "pmr":
            return ":" if self.again else "--"
        return "-." if self.again else "-"

    def times(self, call: str, kind: str = "minimum") -> Json | None:
        """Return percentiles of the calls; `raw` are all times as they came; None if none was timed."""
        found: Json | None = self.figures.get(f"{call}_ns")
        if found is None or found["max"] is None:
            return None
        return found if kind == "raw" else found[kind]


class Replayed:
    """The JSON of a replay."""

    def __init__(self, replay: Json, only: Sequence[str] = ()) -> None:
        """Take the rows that are complete; only those of some strategies, if any are named."""
        self.journal: Json = replay["journal"]
        self.machine: Json = replay["machine"]
        self.clock: Json | None = replay.get("latency")
        measured = [
            row
            for row in replay["rows"]
            if row["ns_per_event"] is not None
            and row["strategy"] != FLOOR
            and not row["strategy"].endswith(" a/a")
            and (not only or row["strategy"] in only)
        ]
        others = list(dict.fromkeys(row["strategy"] for row in measured if row["strategy"] != "glibc"))
        self.rows = [
            Row(row["strategy"], row["binding"], row, *look(row["strategy"], others)) for row in measured
        ]

    @cached_property
    def program(self) -> str:
        """Return the name of the program, or of the journal where it is not known."""
        return shown((self.journal.get("program") or self.journal["file"]).rpartition("/")[2])

    @property
    def quantum_ns(self) -> float:
        """Return the step of the clock: no time is known closer."""
        return float(self.clock["quantum_ns"]) if self.clock else 1.0

    def foot(self, method: str = "") -> str:
        """Return the small print of a picture: of what it is, where it was measured, and how."""
        of = f"{shown(self.journal['file']).rpartition('/')[2]}, {count(self.journal['events'])} events"
        live = f"most live {size(self.journal['max_live'])}" if self.journal.get("max_live") else ""
        return "; ".join(filter(None, (of, live, str(self.machine.get("cpu", UNKNOWN)), method)))

    @property
    def lowest(self) -> str:
        """Return how times of single calls were made."""
        if self.clock is None:
            return ""
        step = f"{self.quantum_ns:.3g} ns"
        return f"of each call the lowest of {self.clock['passes']} passes, by a clock with steps of {step}"


def look(strategy: str, others: Sequence[str]) -> tuple[str, bool]:
    """Return the colour of a strategy, and whether one before it has that, too; glibc has its own."""
    if strategy not in others:
        return GLIBC, False
    place = others.index(strategy)
    return COLOURS[place % len(COLOURS)], place >= len(COLOURS)
