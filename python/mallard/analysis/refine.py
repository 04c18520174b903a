"""Moves subsystems to where a reader expects them: the last step of finding subsystems.

    main > dispatch > a, b, c         cut out: a, b; what is left of dispatch is c alone  -->  c

Two rules, each for what would otherwise look odd:
- What is left of a subsystem after divisions may be one of its subtrees and a trifle. Then the subtree is the
  subsystem, and the trifle goes outwards; but not if the function also works elsewhere, as helpers do.
- A root that others only pass through, as main or a thread's start, moves inwards.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.partition import Collapsed, Limits, Partition, sums_of_subtrees

# How much of what is left may go outwards: of a subsystem, and of the program itself.
TRIFLE = 0.02
START_UP = 0.1


@dataclass(frozen=True, slots=True)
class Nodes:
    """What is known of each node of the tree."""

    tree: Collapsed
    share: NDArray[np.float64]  # of allocations and bytes, without its children
    passage: Sequence[bool]  # whether others only pass it
    wrapper: Sequence[bool]  # whether it only allocates for others


class Refinement:
    """The subsystems while they move."""

    def __init__(self, nodes: Nodes, parts: Partition, limits: Limits) -> None:
        """Take the parts."""
        self.tree, self.share = nodes.tree, nodes.share
        self.passage, self.wrapper = nodes.passage, nodes.wrapper
        self.limits = limits
        self.roots = list(parts.roots)
        self.owner = parts.owner.copy()
        of_subtree = sums_of_subtrees(self.tree.parent, self.share)
        self.children: list[list[int]] = [[] for _ in self.tree.parent]
        self.occurs: Counter[int] = Counter()
        for node in range(1, len(self.tree.parent)):
            self.children[self.tree.parent[node]].append(node)
            if of_subtree[node] > 0:
                self.occurs[self.tree.function[node]] += 1

    def left(self, subsystem: int) -> NDArray[np.float64]:
        """Return for each node what its subtree has of the subsystem."""
        return sums_of_subtrees(self.tree.parent, np.where(self.owner == subsystem, self.share, 0.0))

    def enclosing(self, subsystem: int) -> int:
        """Return the subsystem that this one was cut out of."""
        return int(self.owner[self.tree.parent[self.roots[subsystem]]])

    def main_subtree(self, subsystem: int, trifle: float) -> int:
        """Return the node that has all of what is left of the subsystem but a trifle; maybe its root.

        It is the outermost that leaves out as many parts that were cut out as possible.
        """
        left = self.left(subsystem)
        root = node = self.roots[subsystem]
        way = [root]
        while heavy := [n for n in self.children[node] if left[n] >= (1 - trifle) * left[root]]:
            node = heavy[0]
            way.append(node)
        parts = [self.parts_inside(subsystem, node) for node in way]
        found = [
            n for n, inside in zip(way, parts, strict=True) if inside == parts[-1] and not self.passage[n]
        ]
        if parts[-1] == parts[0] or not found or self.wrapper[found[0]]:
            return root
        return found[0] if self.occurs[self.tree.function[found[0]]] == 1 else root

    def parts_inside(self, subsystem: int, node: int) -> int:
        """Return how many parts that were cut out of the subsystem lie below a node."""
        others = [n for n in range(1, len(self.roots)) if n != subsystem and self.enclosing(n) == subsystem]
        return sum(self.is_inside(self.roots[n], node) for n in others)

    def is_inside(self, node: int, outer: int) -> bool:
        """Return whether a node is in the subtree of another."""
        while node > outer:
            node = self.tree.parent[node]
        return node == outer

    def narrow(self) -> None:
        """Move the roots of what is left to where nearly all of it is."""
        for subsystem in range(len(self.roots) - 1, -1, -1):
            node = self.main_subtree(subsystem, TRIFLE if subsystem else START_UP)
            if node == self.roots[subsystem] or self.left(subsystem)[node] < self.limits.least_share:
                continue
            inside = np.array([self.is_inside(n, node) for n in range(len(self.owner))])
            mine = self.owner == subsystem
            if subsystem:
                self.owner[mine & ~inside] = self.enclosing(subsystem)
                self.roots[subsystem] = node
            elif self.has_room_beside(node):
                self.owner[mine & inside] = len(self.roots)
                self.roots.append(node)

    def has_room_beside(self, node: int) -> bool:
        """Return whether what is left of the program may become a subsystem at a node and a rest."""
        left = self.left(0)
        return len(self.roots) < self.limits.most or bool(left[node] == left[0])

    def move_inwards(self) -> None:
        """Let no root be a function that everything only passes through."""
        for subsystem in range(1, len(self.roots)):
            left = self.left(subsystem)
            root = node = self.roots[subsystem]
            while self.passage[node] and self.share[node] == 0:
                inner = [n for n in self.children[node] if left[n] > 0]
                if len(inner) != 1:
                    break
                node = inner[0]
            if not self.passage[node] and not self.wrapper[node]:
                while root != node:
                    self.owner[root] = self.enclosing(subsystem)
                    root = next(n for n in self.children[root] if left[n] > 0)
                self.roots[subsystem] = node


def refine(nodes: Nodes, parts: Partition, limits: Limits) -> Partition:
    """Return the subsystems as they are reported; the first is what belongs to no other one."""
    refinement = Refinement(nodes, parts, limits)
    refinement.narrow()
    refinement.move_inwards()
    return Partition(refinement.roots, refinement.owner)
