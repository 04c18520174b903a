"""What the order in which blocks are freed says of how they are used.

allocated   a b a c b a        kinds are mixed in memory
freed       a a a b b c        and used one after the other: kept apart, neighbours would be used together
"""

import numpy as np

from mallard.advise.stretches import Row
from mallard.analysis.strategies import FEW

PAGE = 4096


def far_apart(size: Row, freed: Row) -> float:
    """Return the share of consecutive frees that are of blocks between which a page was allocated."""
    if len(freed) < FEW:
        return 0.0
    place = np.cumsum(size.astype(np.int64))[freed]
    return float((np.abs(np.diff(place)) > PAGE).mean())


def in_order(site: Row, size: Row, freed: Row) -> tuple[Row, Row]:
    """Return two shares of consecutive frees for each site.

    The first is how many more follow one of the same site than by chance, or than consecutive allocations do.
    The second is of these, how many are of blocks between which a page was allocated.
    """
    number = int(site.max()) + 1
    place, ended = np.cumsum(size.astype(np.int64))[freed], site[freed]
    first, same = ended[:-1], ended[1:] == ended[:-1]
    far = same & (np.abs(np.diff(place)) > PAGE)

    def share(of: Row, which: Row) -> Row:
        whole = np.bincount(of, minlength=number)
        found: Row = np.bincount(of, weights=which, minlength=number) / np.maximum(whole, 1)
        return found

    chance = np.bincount(site, minlength=number) / max(len(site), 1)
    gain = share(first, same) - np.maximum(chance, share(site[:-1], site[1:] == site[:-1]))
    return gain, share(first[same], far[same])
