"""What was counted, and the figures made of it."""

from collections.abc import Iterable
from dataclasses import dataclass

FLOOR = "none"
PLAIN_WAY = "typed"


@dataclass(frozen=True, order=True)
class Key:
    """What is done, who does it, bound in which way, at how many live blocks."""

    scenario: str
    contestant: str
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


class FloorError(Exception):
    """A row came without the row that says what its loop costs."""


def net(counted: Iterable[Counted]) -> dict[Key, float]:
    """Return totals an operation to a hundredth, those of the loop subtracted.

    The loop's are those of the same loop around `none`, bound in the same way if it is; the figures keep
    the order of the rows.
    """
    rows = list(counted)
    floors = {row.key: row for row in rows if row.key.contestant == FLOOR}
    figures = {}
    for row in rows:
        if row.key.contestant == FLOOR:
            continue
        floor = floor_of(row.key, floors)
        if floor.operations != row.operations:
            raise FloorError(f"{name(row.key)} and its floor count different numbers of operations")
        figures[row.key] = round((row.total - floor.total) / row.operations, 2)
    return figures


def floor_of(key: Key, floors: dict[Key, Counted]) -> Counted:
    """Return the row to subtract from that of `key`."""
    for way in (key.way, PLAIN_WAY):
        found = floors.get(Key(key.scenario, FLOOR, way, key.live))
        if found is not None:
            return found
    raise FloorError(f"nothing says what the loop of {name(key)} costs")


def name(key: Key) -> str:
    """Return a row's name as the golden file and the table have it."""
    return f"{key.scenario}: {key.contestant}, {key.way}, {key.live} live"
