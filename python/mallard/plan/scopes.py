"""Functions in whose activations blocks end: what the region of a plan may last until.

    thread 1   main > read               allocates
               main > parse > node    -.
               main > parse > text     |  one activation of parse; blocks freed before the print ended in it
               main > print           -'  the first event without parse: it has returned by now

A journal has the stack of each allocation, and with --free-stacks that of each free, but neither calls nor
returns. So an activation ends, as far as anybody can tell, at the first event of its thread that is not
inside of it. That overstates what ends in it by what its callers free before they allocate. Calls from one
place with no event between them are one activation here, as they are one region for the malloc. A function
that is active when its thread's last event comes, as main is, is not seen to return: what it holds then
counts neither way.

A recursive function is active until its outermost call returns. One that was inlined has no frame to return
from: it ends with the function that it is part of.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.function_names import own_name, qualified_name
from mallard.analysis.store import Store
from mallard.analysis.symbols import Symbols
from mallard.plan.plan_model import MOST_FRAMES, Frame
from mallard.plan.stacks_of_plan import Stacks, outwards

NEARLY_ALL = 0.95  # of the blocks: a function in which they end is as good as one in which all do
LASTING = 0.5  # of the events come while a function is active: it lasts about as long as the program
SEEN = 0.5  # of the blocks, at least, are in activations whose end is seen
MOST_EVENTS = 1 << 25  # of a longer journal, the first count
NEVER = 2**64 - 1  # as the number of an event

OUTSIDE, BY_NOBODY = 0, 1  # in place of an activation: not inside, called by nobody that is known


class Calls:
    """Which function each frame is in, without those that are inlined there."""

    def __init__(self, store: Store, symbols: Symbols) -> None:
        """Find the function of each context's own frame, and how far inside contexts are."""
        tree, scope = symbols.tree, store.contexts["name"] > 0
        self.functions = tree.functions
        self.outer = outwards(store.contexts["parent"], scope)
        self.first = np.where(scope, self.outer, np.arange(len(scope)))
        self.function = tree.function[np.concatenate([[0], tree.innermost[:-1] + 1])]
        depth, above = [0] * len(scope), self.outer.tolist()
        for node in range(1, len(scope)):
            depth[node] = depth[above[node]] + 1
        order = np.argsort(depth, kind="stable")[1:]
        self.levels = np.split(order, np.flatnonzero(np.diff(np.array(depth)[order])) + 1)

    def outwards(self, context: int) -> Iterator[int]:
        """Yield the frames of a context, innermost first."""
        node = int(self.first[context])
        while node:
            yield node
            node = int(self.outer[node])

    def called(self, name: str) -> set[int]:
        """Return the functions of that name: the whole one, or else one without parameters."""
        for short in (str, qualified_name, own_name):
            if found := {number for number, (whole, _) in enumerate(self.functions) if short(whole) == name}:
                return found
        return set()

    def activations(self, functions: Collection[int]) -> NDArray[np.int64]:
        """Return which outermost call of them each context is inside: 1 + the caller's frame, or OUTSIDE."""
        is_one = np.isin(self.function, list(functions))
        found = np.zeros(len(self.outer), np.int64)
        for level in self.levels:
            above = self.outer[level]
            own = np.where(is_one[level], 1 + above, OUTSIDE)
            found[level] = np.where(found[above] != OUTSIDE, found[above], own)
        return found


@dataclass(frozen=True, slots=True)
class Events:
    """All events with a stack, thread by thread; among them the allocations that are asked about."""

    thread: NDArray[np.uint32]
    number: NDArray[np.uint64]
    context: NDArray[np.int64]  # its innermost frame
    blocks: NDArray[np.int64]  # which of the events allocate what is asked about
    frees: NDArray[np.uint64]  # the event that ends each of these

    @classmethod
    def of(cls, store: Store, calls: Calls, contexts: Collection[int]) -> Self:
        """Read them."""
        allocations = store.sql.execute(
            f"SELECT thread, allocation, context, coalesce(free, {NEVER})::UBIGINT AS free "
            f"FROM objects WHERE allocation < {MOST_EVENTS}"
        ).fetchnumpy()
        frees = store.sql.execute(
            "SELECT free_thread, free, free_context "
            f"FROM objects WHERE free < {MOST_EVENTS} AND free_context > 0"
        ).fetchnumpy()
        thread, number, context = (
            np.concatenate([np.asarray(one), np.asarray(other)])
            for one, other in zip(list(allocations.values())[:3], frees.values(), strict=True)
        )
        ends = np.concatenate([np.asarray(allocations["free"]), np.zeros(len(frees["free"]), np.uint64)])
        is_asked = np.isin(context, list(contexts))
        is_asked[len(allocations["free"]) :] = False
        order = np.lexsort((number, thread))
        blocks = np.flatnonzero(is_asked[order])
        return cls(thread[order], number[order], calls.first[context[order]], blocks, ends[order][blocks])

    def ended_in(self, function: str, activations: NDArray[np.int64]) -> "Ended":
        """Return how many of the blocks end in the activation in which they were allocated."""
        inside = activations[self.context]
        is_new = np.diff(inside) != 0
        is_other = np.diff(self.thread) != 0
        last = np.flatnonzero(is_new | is_other)  # of each activation, and of what is between them
        returned = np.append(np.where(is_other[last], NEVER, self.number[last + 1]), np.uint64(NEVER))
        at = np.searchsorted(last, self.blocks)
        own = inside[self.blocks]
        is_seen = (own == OUTSIDE) | (returned[at] != NEVER)
        if is_seen.sum() < SEEN * len(is_seen):
            return Ended(function, 0.0, 0, 0.0)
        ended = is_seen & (own > BY_NOBODY) & (self.frees < returned[at])
        lasts = float((inside > BY_NOBODY).mean())
        return Ended(function, float(ended.sum() / max(is_seen.sum(), 1)), len(np.unique(at[ended])), lasts)


@dataclass(frozen=True, slots=True)
class Ended:
    """How many blocks end before a function returns."""

    function: str
    share: float
    activations: int  # that have any of them
    lasts: float  # share of all events that come while it is active


def ending_functions(store: Store, symbols: Symbols, contexts: Sequence[int]) -> list[tuple[str, float]]:
    """Return functions that contexts are inside of, and the share of their blocks that end before it returns.

    First the innermost in which nearly all end, as memory comes back soonest there. Where a caller returns
    as often, it is the outermost such: a block that ends when the inner one has returned may still end in it.
    Then those further out, then the others. Left out is one of which a single activation is seen, for half of
    the events or more: its blocks end about when the program does. O(events) for each function around half of
    the blocks.
    """
    calls = Calls(store, symbols)
    events = Events.of(store, calls, contexts)
    blocks = np.bincount(events.context[events.blocks], minlength=len(calls.outer))
    inside: defaultdict[int, int] = defaultdict(int)  # blocks of each function
    distance: defaultdict[int, int] = defaultdict(int)  # from the innermost frame to its outermost, summed
    for context in np.flatnonzero(blocks).tolist():
        outermost = {int(calls.function[node]): number for number, node in enumerate(calls.outwards(context))}
        for function, number in outermost.items():
            inside[function] += int(blocks[context])
            distance[function] += int(blocks[context]) * number
    around = [function for function, some in inside.items() if 2 * some >= len(events.blocks)]
    around.sort(key=lambda function: distance[function] / inside[function])
    found = [events.ended_in(calls.functions[one][0], calls.activations([one])) for one in around]
    found = [one for one in found if one.activations > 1 or one.lasts < LASTING]
    enough = NEARLY_ALL * max((one.share for one in found), default=0)
    good = [one for one in found if one.share >= enough > 0]
    alike = [one for one in good if one.activations >= NEARLY_ALL * good[0].activations]
    further = [one for one in good if one not in alike]
    others = sorted((one for one in found if 0 < one.share < enough), key=lambda one: -one.share)
    return [(one.function, one.share) for one in (*reversed(alike), *further, *others)]


@dataclass(frozen=True, slots=True)
class Until:
    """Where a region ends: at the return to a frame, `depth` frames outwards in each of its contexts."""

    frame: Frame
    depth: int


def ends_of(
    calls: Calls, stacks: Stacks, contexts: Sequence[int], function: str
) -> dict[Until | None, list[int]]:
    """Sort contexts by where execution goes on when that function returns; None: a plan cannot tell."""
    wanted = calls.called(function)
    found: defaultdict[Until | None, list[int]] = defaultdict(list)
    for context in contexts:
        nodes = list(calls.outwards(context))
        depth = 1 + max(
            (number for number, node in enumerate(nodes) if int(calls.function[node]) in wanted), default=-1
        )
        can_be = 0 < depth < min(len(nodes), MOST_FRAMES) and all(stacks.goes_on[nodes[:depth]])
        found[Until(stacks.frame(nodes[depth], 0), depth) if can_be else None].append(context)
    return dict(found)
