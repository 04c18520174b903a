"""Divides a call tree where behaviour changes.

    main > parse > list > parse > item   -->   main > parse > list
                                                           \\ > item
    one subsystem: everything  -->  the subtree is cut out that explains most  -->  ... until none does

The tree is one of functions, with recursion collapsed: a call of a function that is already on the stack
goes back to where the function was entered first, so that what a recursive function does stands in one place,
however deep the stacks are.

Each allocation shows one kind of behaviour: a bin of its size, lifetime and end. To tell the bins of a
subsystem's allocations takes as many bits each as its histogram has entropy. A subtree that behaves in its
own way makes both histograms simpler, its own and that of what is left: the bits saved are the gain of the
division. Allocations and bytes count alike: the gain is the mean of bits saved per allocation and per byte,
less what the further histogram itself takes to tell (half a logarithm of its objects for each of its bins).

A division takes and leaves at least `least_share`, but for the program itself, which may end as a rest. So
the tree can be reduced to nodes that have as much: a few hundred, whatever the number of contexts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

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


Numbers = NDArray[Any]

# What a division counts at a function that works in several places, as helpers do: better its caller.
HELPERS = 0.5


@dataclass(frozen=True, slots=True)
class Observed:
    """How often a kind of behaviour occurs in a node itself; columns of equal length."""

    node: NDArray[np.int64]
    bin: NDArray[np.int64]
    objects: NDArray[np.float64]
    bytes: NDArray[np.float64]

    def at(self, node_of: NDArray[np.int64]) -> Self:
        """Return the same for a tree in which each node has become another."""
        return replace(self, node=node_of[self.node])

    def shares(self, nodes: int) -> NDArray[np.float64]:
        """Return what each node itself has of all: the mean of its shares of objects and of bytes."""
        share = np.zeros(nodes)
        for values in (self.objects, self.bytes):
            np.add.at(share, self.node, values / (2 * max(float(values.sum()), 1.0)))
        return share


@dataclass(frozen=True, slots=True)
class Limits:
    """When cutting ends."""

    most: int = 12  # subsystems
    least_share: float = 0.005  # of all, the mean of those of allocations and of bytes
    least_objects: int = 16
    least_gain: float = 0.03  # bits


@dataclass(frozen=True, slots=True)
class Partition:
    """The subsystems: each a subtree without those cut out of it."""

    roots: list[int]  # nodes; the first is 0, the program
    owner: NDArray[np.int64]  # of each node: index into roots


class Partitioner:
    """The histograms of all subtrees, and which subsystem each belongs to."""

    def __init__(self, tree: Collapsed, observed: Observed, limits: Limits, wrapper: Sequence[bool]) -> None:
        """Add up the histograms."""
        self.parent = tree.parent
        self.limits = limits
        self.totals = float(observed.objects.sum()), float(observed.bytes.sum())
        nodes, bins = len(tree.parent), 1 + int(observed.bin.max(initial=0))
        self.left = np.zeros((2, nodes, bins))  # what each subtree has of its subsystem: objects and bytes
        for layer, values in zip(self.left, (observed.objects, observed.bytes), strict=True):
            np.add.at(layer, (observed.node, observed.bin), values)
        for node in range(nodes - 1, 0, -1):
            self.left[:, tree.parent[node]] += self.left[:, node]
        often = np.unique(tree.function, return_inverse=True, return_counts=True)
        self.worth = np.where(often[2][often[1]] > 1, HELPERS, 1.0) * ~np.array(wrapper)
        self.owner = np.zeros(nodes, np.int64)
        self.roots = [0]

    def gains(self) -> NDArray[np.float64]:
        """Return what cutting each candidate out of its subsystem would save."""
        roots = np.array(self.roots)[self.owner]
        gain = np.zeros(len(self.parent))
        for left, total in zip(self.left, self.totals, strict=True):
            whole = left[roots]
            saved = bits(whole) - bits(left) - bits(whole - left)
            gain += saved / (2 * max(total, 1))
        objects = self.left[0].sum(axis=1)
        telling = (self.left[0] > 0).sum(axis=1) * np.log2(np.maximum(objects, 1)) / 2
        gain -= telling / max(self.totals[0], 1)
        shares = self.shares()
        stays = shares[roots] - shares
        stays[self.owner == 0] = 1
        allowed = (np.minimum(shares, stays) >= self.limits.least_share) & (
            objects >= self.limits.least_objects
        )
        return np.where(allowed, gain * self.worth, 0)

    def shares(self) -> NDArray[np.float64]:
        """Return what each candidate has left of all."""
        parts = [left.sum(axis=1) / max(total, 1) for left, total in zip(self.left, self.totals, strict=True)]
        share: NDArray[np.float64] = (parts[0] + parts[1]) / 2
        return share

    def divide(self) -> None:
        """Divide off the best candidate, again and again."""
        while len(self.roots) < self.limits.most:
            gain = self.gains()
            best = int(np.argmax(gain))  # of equal ones the outermost
            if gain[best] < self.limits.least_gain:
                return
            self.take(best)

    def take(self, root: int) -> None:
        """Make the subtree of `root` a subsystem of its own."""
        old, new = int(self.owner[root]), len(self.roots)
        self.roots.append(root)
        inside = np.zeros(len(self.parent), bool)
        inside[root] = True
        for node in range(root + 1, len(self.parent)):
            inside[node] = inside[self.parent[node]]
        self.owner[inside & (self.owner == old)] = new
        taken = self.left[:, root].copy()
        node = root
        while node != self.roots[old]:
            node = self.parent[node]
            self.left[:, node] -= taken


def bits(histograms: Numbers) -> Numbers:
    """Return the bits that it takes to tell the bins of all that a histogram counts; rows are histograms."""
    counts = np.maximum(histograms, 0)
    sums = counts.sum(axis=-1)
    logs = np.log2(counts, out=np.zeros_like(counts), where=counts > 0)
    total = np.log2(sums, out=np.zeros_like(sums), where=sums > 0)
    needed: Numbers = sums * total - (counts * logs).sum(axis=-1)
    return needed


def partition(tree: Collapsed, observed: Observed, limits: Limits, wrapper: Sequence[bool]) -> Partition:
    """Divide the tree, nowhere at a node that `wrapper` says to allocate for others only.

    The same input always gives the same parts.
    """
    partitioner = Partitioner(tree, observed, limits, wrapper)
    partitioner.divide()
    return Partition(partitioner.roots, partitioner.owner)
