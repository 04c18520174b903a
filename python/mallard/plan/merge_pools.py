"""Which pools may become one: those whose blocks are alive at different times, or rise and fall together.

a  __/~~\\______      a and b are never alive together: one pool needs the memory of one
b  ________/~~\\_
c  _/~~~~~~~~~\\_     c and d are alive alike, and their blocks live as long: apart brings nothing
d  _/~~~~~~~~~\\_
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mallard import MallardError, _native
from mallard.analysis.groups import Grouping
from mallard.analysis.store import Store
from mallard.plan.plan_model import WORDS
from mallard.plan.pool_candidates import Draft

DISJOINT = 0.9  # of the smaller one's peak, that is saved by pools that are not alive at the same times
THRIFTY = 0.5  # likewise, where memory is short
SIMILAR = 0.98  # the cosine of what is alive of two over time
SIMILAR_LIFETIME = 16  # a factor between the median lifetimes of two
MOMENTS = 512  # of the journal's events, at which curves are compared
FEWER = 2 / 3  # of the pools are left from one degree of merging to the next


@dataclass(frozen=True, slots=True)
class Life:
    """A draft, and when its blocks are alive."""

    draft: Draft
    curve: NDArray[np.float64]  # bytes alive, the most in each moment
    lifetime: float  # events, the median

    def with_(self, other: "Life") -> "Life":
        """Return both as one."""
        both = self.draft.with_(other.draft)
        return Life(both, self.curve + other.curve, max(self.lifetime, other.lifetime))

    def saved_with(self, other: "Life") -> float:
        """Return how many bytes less both hold together at their peak than each by itself."""
        return float(self.curve.max() + other.curve.max() - (self.curve + other.curve).max())

    def smaller_peak(self, other: "Life") -> float:
        """Return the peak of the one that has less."""
        return float(min(self.curve.max(), other.curve.max()))

    def is_disjoint(self, other: "Life") -> bool:
        """Tell whether both are hardly alive at the same times."""
        return self.saved_with(other) >= DISJOINT * self.smaller_peak(other)

    def is_alike(self, other: "Life") -> bool:
        """Tell whether both rise and fall together, and their blocks live about as long."""
        length = float(np.linalg.norm(self.curve) * np.linalg.norm(other.curve))
        shorter, longer = sorted((self.lifetime, other.lifetime))
        near = shorter == longer or longer <= SIMILAR_LIFETIME * max(shorter, 1)
        return near and length > 0 and float(self.curve @ other.curve) >= SIMILAR * length


def lives_of(store: Store, drafts: Sequence[Draft]) -> list[Life]:
    """Return when each draft's blocks are alive; reads the journal again."""
    group_of = np.zeros(len(store.contexts["parent"]), np.uint32)
    for number, draft in enumerate(drafts, 1):
        group_of[draft.contexts] = number
    one_each, slabs, unknown = (np.full_like(group_of, each) for each in (1, 0, len(WORDS)))
    try:
        work = _native.PoolsPass(
            store.path, [(group_of, one_each, slabs, unknown)], store.totals["event_numbers"], MOMENTS
        )
        while work.advance():
            pass
    except _native.JournalError as error:
        raise MallardError(f"cannot read {store.path} again: {error}") from error
    grouping = Grouping("context", group_of, 1 + len(drafts))
    with grouping.objects(store) as objects:
        lived = "coalesce((free - allocation)::DOUBLE, 'inf'::DOUBLE)"
        medians = dict(store.rows(f"SELECT grp, median({lived}) FROM {objects} GROUP BY grp"))
    curves = work.alive_over_time(0)
    return [
        Life(draft, curves[number].astype(np.float64), medians.get(number, 0.0))
        for number, draft in enumerate(drafts, 1)
    ]


def grouped(lives: Sequence[Life]) -> list[Draft]:
    """Return the drafts with those as one that are disjoint or alike."""
    left: list[Life] = []
    for one in lives:
        fits = (number for number, other in enumerate(left) if one.is_disjoint(other) or one.is_alike(other))
        if (at := next(fits, None)) is None:
            left.append(one)
        else:
            left[at] = left[at].with_(one)
    return [one.draft for one in left]


def best_pair(lives: Sequence[Life], least: float) -> tuple[int, int] | None:
    """Return the two that save most as one, of those that save that part of the smaller one's peak."""
    pairs = [
        (lives[i].saved_with(lives[j]), i, j)
        for i in range(len(lives))
        for j in range(i + 1, len(lives))
        if lives[i].draft.kind == lives[j].draft.kind
        and lives[i].draft.has_instances == lives[j].draft.has_instances
        and lives[i].saved_with(lives[j]) >= least * lives[i].smaller_peak(lives[j])
    ]
    return max(pairs)[1:] if pairs else None


def thriftier(lives: Sequence[Life]) -> list[Draft]:
    """Return the drafts with those as one that save much together, instances with instances."""
    left = list(lives)
    while pair := best_pair(left, THRIFTY):
        left = joined(left, *pair)
    return [one.draft for one in left]


def ever_fewer(lives: Sequence[Life]) -> list[list[Draft]]:
    """Return ever fewer pools, down to one; those are merged first that save most together."""
    left, degrees, wanted = list(lives), [], FEWER * len(lives)
    while pair := best_pair(left, 0):
        left = joined(left, *pair)
        if len(left) <= max(wanted, 1):
            degrees.append([one.draft for one in left])
            wanted = FEWER * len(left)
    return degrees


def joined(lives: Sequence[Life], i: int, j: int) -> list[Life]:
    """Return the same with two of them as one, which is the last then."""
    return [*(one for number, one in enumerate(lives) if number not in (i, j)), lives[i].with_(lives[j])]
