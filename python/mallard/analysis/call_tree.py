"""The call tree by functions: contexts that went through the same functions become one path.

    contexts              call tree
    main:12 > f:3         program > main > f       one node; its figures are the sums
    main:12 > f:9

An inlined call is a node of its own, a scope of an annotation as well. Frames are visited once, callers
first, whatever the depth of the stacks.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.frame_tree import FrameTree
from mallard.analysis.model import CallTree
from mallard.analysis.store import Reading
from mallard.analysis.symbols import Symbols

# Each metric is a sum of the contexts (src/profile/context_totals.hpp).
METRICS = {
    "calls": "allocations",
    "bytes": "bytes",
    "live_at_peak": "peak_bytes",
    "leaked": "leaked_bytes",
    "temporaries": "temporaries",
}


def call_tree(reading: Reading, symbols: Symbols) -> CallTree:
    """Merge the contexts by caller and function, and add up what they allocate."""
    tree = symbols.tree
    parent, function, merged = merge(tree)
    names = number([tree.functions[index][0] for index in function])
    modules = number([tree.functions[index][1] for index in function])
    return CallTree(
        parent=parent,
        name=names[0],
        names=names[1],
        module=modules[0],
        modules=modules[1],
        metrics=metrics(reading, merged[tree.innermost], len(parent)),
    )


def merge(tree: FrameTree) -> tuple[list[int], list[int], NDArray[np.int64]]:
    """Return parent and function of each merged node, and the merged node of each frame."""
    parents, functions = tree.parent.tolist(), tree.function.tolist()
    parent, function, merged = [0], [0], [0]
    children: dict[int, int] = {}  # by parent and function
    for node in range(1, len(parents)):
        above = merged[parents[node]]
        child = children.setdefault(above * len(tree.functions) + functions[node], len(parent))
        if child == len(parent):
            parent.append(above)
            function.append(functions[node])
        merged.append(child)
    return parent, function, np.array(merged)


def number(texts: list[str]) -> tuple[list[int], list[str]]:
    """Return the number of each text, and the texts by number."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(text, len(numbers)) for text in texts], list(numbers)


def metrics(reading: Reading, node_of: NDArray[np.int64], nodes: int) -> dict[str, list[int]]:
    """Return the figures of each node itself."""
    sums: dict[str, list[int]] = {}
    for name, of_context in METRICS.items():
        column = np.zeros(nodes, dtype=np.int64)
        np.add.at(column, node_of, reading.by_context(of_context).astype(np.int64))
        sums[name] = column.tolist()
    return sums


def inclusive(parent: Sequence[int], own: Sequence[int]) -> list[int]:
    """Return what each node has of a metric with its callees."""
    sums = list(own)
    for node in range(len(parent) - 1, 0, -1):
        sums[parent[node]] += sums[node]
    return sums
