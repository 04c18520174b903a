"""A few stretches of a journal, for what would take too long with all of it.

    journal    ----[==]--------[==]--------[==]--------[==]----      spread evenly over a part's blocks
    replayed   every block that is alive in one of them, from its allocation to its free

So heaps are as full as they were. What comes and goes between two stretches is left out. Where much is alive,
there are fewer stretches, as each has its own blocks to fill the heaps with; a block that stays is in all of
them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

STRETCHES = (8, 4, 2, 1)
FILLED = 1 / 2  # of the blocks replayed, that may be there to fill the heaps alone; with one stretch
LIVES = 2  # times these are replayed at least
NEARLY_WHOLE = 0.8  # of the blocks: then the whole is replayed

Row = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Blocks:
    """All blocks of a journal, by rising allocation: the event of each, and that of its free."""

    allocation: Row
    free: Row  # beyond all events where there is none

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.allocation)

    def alive(self, moments: Row, ends: Row) -> Row:
        """Return which of them live at some time between a moment and its end."""
        found = np.zeros(len(self), np.bool_)
        for moment, end in zip(moments, ends, strict=True):
            found |= (self.allocation <= end) & (self.free >= moment)
        return found

    def stretches(self, part: Row, most: int) -> tuple[Row, int] | None:
        """Return which of them live in a few stretches, about as many as there may be, and the last event.

        `part` are the allocations that stretches are spread over evenly. None: all may be replayed.
        """
        for many in STRETCHES:
            middles = ((np.arange(many) + 0.5) / many * len(part)).astype(np.int64)
            fill = int(self.alive(part[middles], part[middles]).sum())
            if fill <= FILLED * most:
                break
        most = max(most, LIVES * fill)
        if most >= NEARLY_WHOLE * len(self):
            return None
        width = max(int((most - fill) / many * len(part) / len(self) / 2), 1)
        begins = part[np.maximum(middles - width, 0)]
        ends = part[np.minimum(middles + width, len(part) - 1)]
        return self.alive(begins, ends), int(ends[-1])

    def left_out(self, kept: Row, last: int, events: int) -> Row:
        """Return by event whether it is of none of the blocks that are kept, or behind the last one."""
        out = np.ones(events, np.bool_)
        out[self.allocation[kept].astype(np.int64)] = False
        out[self.free[kept & (self.free <= last)].astype(np.int64)] = False
        return out
