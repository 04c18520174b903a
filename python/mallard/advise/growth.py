"""Growing blocks: what a reservation, a small buffer or growing in place would save. Estimated, not tried.

    vector::push_back      16 .free     a larger block of the same site and thread is allocated,
                           32 ____.free            then the smaller one is freed: one chain of three blocks
                           64 _____________
    realloc                16 -> 32 -> 64                        the journal says so itself

A chain is one container over its life; its last block is what the container has needed.

    reserve N         all but the last block of each chain
    small buffer      chains that end within N elements, all of their blocks
    grow in place     the frees of all but the last block, and half of the copies

Cost: O(n log n) for n blocks. A copy that allocates, element by element, hides a growth. Of blocks of random
sizes that come and go, one in twenty only looks like one.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.behaviour import chain_lengths

FACTORS = ((1.93, 2.07), (1.45, 1.55))  # that containers grow by, the end of a string's text included
NEAR = 8  # events from the allocation of the larger to the free of the smaller block, at most
LARGEST_BUFFER = 128  # bytes that an object may have inside
MOST_INLINE = 8  # elements
FIT = 0.8  # of the chains, that a small buffer has room for
ENOUGH = 0.9  # of the chains, that a reservation is enough for
SHORT_CHAIN = 3  # blocks: fewer are not worth a reservation


@dataclass(frozen=True, slots=True)
class Saving:
    """What a change of the source would save of some blocks."""

    elements: int  # N
    bytes: int  # of these
    blocks: float  # that are not allocated any more; a half is an allocation, or a free
    copied: float  # bytes that need not be copied any more
    chains: int
    typical: tuple[int, int]  # elements of the median chain, and of the ninety-ninth in a hundred
    unit: str  # what is counted: elements, or bytes where nothing tells of elements


@dataclass(frozen=True, slots=True)
class Chains:
    """The chains of one site: columns, a row for each chain."""

    blocks: int  # of the site
    length: NDArray[np.int64]  # blocks of a chain
    copied: int  # bytes, from one block to the next, of all chains
    last: NDArray[np.int64]  # bytes of its last block
    element: int  # bytes of one element, those of the smallest first block; 1 where sizes tell of none
    doubles: bool  # blocks are twice as large as the one before, as those of a vector are

    @classmethod
    def of(
        cls,
        allocation: NDArray[Any],
        free: NDArray[Any],
        size: NDArray[Any],
        thread: NDArray[Any],
        previous: NDArray[Any],
        stayed: NDArray[Any],
    ) -> Self:
        """Find the chains of blocks, in order of allocation.

        `previous` is -1 where none was reallocated, and `stayed` marks those that were not moved by it.
        """
        before = grown_from(allocation, free, size, thread)
        known = previous >= 0
        before[known] = previous[known]
        place = np.searchsorted(allocation, before)
        is_later = (before >= 0) & (allocation[np.minimum(place, len(allocation) - 1)] == before)
        length = np.ones(len(allocation), np.int64)
        length[is_later] += chain_lengths(allocation[is_later], before[is_later])
        is_last = np.ones(len(allocation), np.bool_)
        is_last[place[is_later]] = False
        factors = size[is_later] / np.maximum(size[place[is_later]], 1)
        doubles = bool(len(factors)) and float(np.mean(factors == 2)) >= FIT
        firsts = size[~is_later]
        return cls(
            blocks=len(allocation),
            length=length[is_last],
            copied=int(size[place[is_later & ~stayed]].sum()),
            last=size[is_last].astype(np.int64),
            element=max(int(firsts.min()), 1) if doubles else 1,
            doubles=doubles,
        )

    @property
    def growing(self) -> float:
        """Return the share of the blocks that are in chains of several."""
        return float(self.length[self.length > 1].sum() / max(self.blocks, 1))

    def reserve(self) -> Saving | None:
        """Return what reserving the size that most chains reach would save."""
        if not len(self.length) or np.median(self.length) < SHORT_CHAIN:
            return None
        elements = -(-int(np.quantile(self.last, ENOUGH, method="inverted_cdf")) // self.element)
        return self.saving(elements, float((self.length - 1).sum()), self.copied)

    def small_buffer(self) -> Saving | None:
        """Return what room for a few elements inside the container would save."""
        if not len(self.length) or not self.growing or not self.doubles:
            return None
        needed = int(np.quantile(self.last, FIT, method="inverted_cdf"))
        elements = -(-needed // self.element)
        if elements > MOST_INLINE or elements * self.element > LARGEST_BUFFER:
            return None
        fits = self.last <= elements * self.element
        return self.saving(elements, float(self.length[fits].sum()), 0.0)

    def in_place(self) -> Saving | None:
        """Return what growing in place would save: a free for each step."""
        if not len(self.length) or np.median(self.length) < SHORT_CHAIN:
            return None
        elements = -(-int(np.median(self.last)) // self.element)
        return self.saving(elements, float((self.length - 1).sum()) / 2, self.copied / 2)

    def saving(self, elements: int, blocks: float, copied: float) -> Saving:
        """Put a saving together."""
        half, most = (
            int(q) // self.element for q in np.quantile(self.last, (0.5, 0.99), method="inverted_cdf")
        )
        unit = "elements" if self.doubles else "bytes"
        return Saving(elements, elements * self.element, blocks, copied, len(self.length), (half, most), unit)


def grown_from(
    allocation: NDArray[Any], free: NDArray[Any], size: NDArray[Any], thread: NDArray[Any]
) -> NDArray[np.int64]:
    """Return for each block the allocation of the block that it takes over from; -1 where there is none."""
    found = np.full(len(allocation), -1, np.int64)
    for one in np.unique(thread).tolist():
        mine = np.flatnonzero(thread == one)
        begins, ends, sizes = allocation[mine], free[mine], size[mine].astype(np.float64)
        larger = np.searchsorted(begins, ends) - 1  # the last block before the free of each
        factor = sizes[larger] / np.maximum(sizes, 1)
        grows = (
            (larger > np.arange(len(mine)))
            & np.any([(factor >= least) & (factor <= most) for least, most in FACTORS], axis=0)
            & (ends - begins[larger] <= NEAR)
        )
        old = np.flatnonzero(grows)
        nearest = old[np.argsort(-ends[old].astype(np.float64), kind="stable")]  # the first free wins
        found[mine[larger[nearest]]] = begins[nearest].astype(np.int64)
    return found
