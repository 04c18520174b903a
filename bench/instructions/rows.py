"""What was counted, and the figures made of it."""

from collections.abc import Iterable
from dataclasses import dataclass

BASELINE = "none"
PLAIN_WAY = "typed"


@dataclass(frozen=True, order=True)
class Key:
    """What is done, who does it, bound in which way, at how many live blocks."""

    scenario: str
    allocator: str
    way: str
    live: int


@dataclass(frozen=True)
class Counted:
    """What callgrind counted over a number of operations, the loop around them included.

    Instructions, or what else the scenario says.
    """

    key: Key
    operations: int
    total: int


class BaselineError(Exception):
    """A row came without the row that says what its loop costs."""


def net(counted: Iterable[Counted]) -> dict[Key, float]:
    """Return totals an operation to a hundredth, those of the loop subtracted.

    The loop's are those of the same loop around `none`, bound in the same way if it is; the figures keep
    the order of the rows.
    """
    rows = list(counted)
    baselines = {row.key: row for row in rows if row.key.allocator == BASELINE}
    figures = {}
    for row in rows:
        if row.key.allocator == BASELINE:
            continue
        baseline = baseline_of(row.key, baselines)
        if baseline.operations != row.operations:
            raise BaselineError(f"{name(row.key)} and its baseline count different numbers of operations")
        figures[row.key] = round((row.total - baseline.total) / row.operations, 2)
    return figures


def baseline_of(key: Key, baselines: dict[Key, Counted]) -> Counted:
    """Return the row to subtract from that of `key`."""
    for way in (key.way, PLAIN_WAY):
        found = baselines.get(Key(key.scenario, BASELINE, way, key.live))
        if found is not None:
            return found
    raise BaselineError(f"nothing says what the loop of {name(key)} costs")


def name(key: Key) -> str:
    """Return a row's name as the golden file and the table have it."""
    return f"{key.scenario}: {key.allocator}, {key.way}, {key.live} live"
