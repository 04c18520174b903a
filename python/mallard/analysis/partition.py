"""Divides a call tree where behaviour changes.

    one subsystem: everything  -->  the subtree is cut out that explains most  -->  ... until none does

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

from mallard.analysis.collapse import Collapsed

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
