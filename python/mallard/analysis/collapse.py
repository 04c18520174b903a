"""The call tree by functions, with recursion collapsed: where subsystems are looked for.

    main > parse > list > parse > item          main > parse > list
                                                            \\ > item

A call of a function that is already on the stack goes back to where the function was entered first, so that
what a recursive function does stands in one place, however deep the stacks are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A tree of functions; node 0 is the program, and a parent's number is below its child's."""

    parent: list[int]  # of node 0: 0
    function: list[int]  # of node 0: -1
    node_of: NDArray[np.int64]  # the collapsed node of each node of the tree before

    def path(self, node: int) -> list[int]:
        """Return the nodes from below the program to this one."""
        found: list[int] = []
        while node != 0:
            found.append(node)
            node = self.parent[node]
        return found[::-1]


def collapse(parent: Sequence[int], function: Sequence[int]) -> Collapsed:
    """Collapse a tree whose parents come before their children; its node 0 is the program."""
    collapsed_parent, collapsed_function = [0], [-1]
    known: dict[tuple[int, int], int] = {}
    node_of: list[int] = [0]
    for node in range(1, len(parent)):
        key = node_of[parent[node]], function[node]
        place = known.get(key)
        if place is None:
            place = entered(collapsed_parent, collapsed_function, *key)
            if place is None:
                place = len(collapsed_parent)
                collapsed_parent.append(key[0])
                collapsed_function.append(key[1])
            known[key] = place
        node_of.append(place)
    return Collapsed(collapsed_parent, collapsed_function, np.array(node_of, np.int64))


def entered(parent: Sequence[int], function: Sequence[int], node: int, wanted: int) -> int | None:
    """Return the node on the way from `node` to the program that is the function `wanted`."""
    while node != 0:
        if function[node] == wanted:
            return node
        node = parent[node]
    return None


def reduce(tree: Collapsed, keep: NDArray[np.bool_]) -> Collapsed:
    """Return the tree of the nodes to keep, the program among them; others become part of their callers."""
    place = np.where(keep, np.cumsum(keep) - 1, -1).tolist()
    for node in range(1, len(place)):
        if place[node] < 0:
            place[node] = place[tree.parent[node]]
    kept = np.flatnonzero(keep).tolist()
    return Collapsed(
        parent=[place[tree.parent[node]] for node in kept],
        function=[tree.function[node] for node in kept],
        node_of=np.array(place, np.int64),
    )


def sums_of_subtrees(parent: Sequence[int], own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each node the sum over its subtree."""
    sums = own.tolist()
    for node in range(len(parent) - 1, 0, -1):
        sums[parent[node]] += sums[node]
    return np.array(sums)
