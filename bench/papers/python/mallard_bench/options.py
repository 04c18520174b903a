"""What a run of a benchmark was asked for: its groups, how each is measured, and the memory it may take."""

import re
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from mallard import MallardError


class Benchmark(StrEnum):
    """Those of both papers."""

    DENSITY = "density"
    LOCALITY = "locality"
    UTILIZATION = "utilization"
    CONTENTION = "contention"
    EXPANSION = "expansion"
    SHRINK = "shrink"
    BURST = "burst"
    POOLS = "pools"


# Of replays of journals, which are no groups of mallard-bench: latency.py.
LATENCY = "latency"


class Level(StrEnum):
    """How much of a benchmark is measured."""

    SMOKE = "smoke"  # whether it works at all
    QUICK = "quick"
    DEFAULT = "default"
    FULL = "full"  # as much as the paper did


# What may be narrowed and says which groups are measured; all else says how.
WHICH = (
    *("structure", "size", "global", "subsystem", "total", "active", "block", "threads", "iterations"),
    *("work", "elements"),
)


@dataclass(frozen=True)
class Options:
    """The options of a run; what is not narrowed is the level's."""

    benchmark: Benchmark
    level: Level
    narrowed: dict[str, list[int]]  # settings of groups by their names: {"structure": [3, 7], "size": [6]}
    strategies: list[str]
    rounds: int
    litter: int
    memory_limit: str | None  # None: half of what is available when the run begins
    allocators: int  # that are measured in each group
    run: str | None = None  # of benchmark II, in the paper's notation, instead of its groups

    @property
    def turns(self) -> int:
        """How many processes measure a group, at least."""
        return self.rounds * self.allocators

    def as_json(self) -> dict[str, Any]:
        """Return them as they are kept with the results, beside the benchmark and the level."""
        kept = asdict(self)
        kept["narrowed"] = {name: sorted(values) for name, values in self.narrowed.items()}
        del kept["benchmark"], kept["level"], kept["allocators"]
        return kept


@dataclass(frozen=True)
class Group:
    """One line of a table: its settings by the names of mallard-bench's options, and what it will cost."""

    title: str
    settings: dict[str, int | str]
    seconds: float  # it takes, about

    def arguments(self) -> list[str]:
        """Return the settings as arguments."""
        return [f"--{name}={value}" for name, value in self.settings.items()]


UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def bytes_of(asked: str | None) -> int:
    """Return the limit in bytes; half of what the machine has available if none is asked for."""
    if asked is None:
        return available() // 2
    found = re.fullmatch(r"(\d+)([KMGT]?)(?:i?B)?", asked, re.IGNORECASE)
    if found is None or int(found[1]) == 0:
        raise MallardError(f"--memory-limit {asked} is not a size; write 512M or 4G")
    return int(found[1]) * UNITS[found[2].upper()]


def available() -> int:
    """Return the bytes that the machine could give to programs without swapping."""
    facts = Path("/proc/meminfo").read_text(encoding="ascii")
    found = re.search(r"^MemAvailable:\s*(\d+) kB$", facts, re.MULTILINE)
    if found is None:
        raise MallardError("cannot tell how much memory is available: say --memory-limit")
    return int(found[1]) << 10
