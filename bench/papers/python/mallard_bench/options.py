"""What a run of a benchmark was asked for: which groups are measured, and how each."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


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


class Level(StrEnum):
    """How much of a benchmark is measured."""

    SMOKE = "smoke"  # whether it works at all
    QUICK = "quick"
    DEFAULT = "default"
    FULL = "full"  # as much as the paper did


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
    contestants: int  # that are measured in each group
    run: str | None = None  # of benchmark II, in the paper's notation, instead of its groups

    @property
    def turns(self) -> int:
        """How many processes measure a group, at least."""
        return self.rounds * self.contestants

    def as_json(self) -> dict[str, Any]:
        """Return them as they are kept with the results, beside the benchmark and the level."""
        kept = asdict(self)
        del kept["benchmark"], kept["level"], kept["contestants"]
        return kept
