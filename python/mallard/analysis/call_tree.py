"""The call tree by functions: contexts that went through the same functions become one path.

    contexts              call tree
    main:12 > f:3         program > main > f       one node; its figures are the sums
    main:12 > f:9

An inlined call is a node of its own, a scope of an annotation as well. Frames are visited once, callers
first, whatever the depth of the stacks.
"""

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.behaviour import FREED
from mallard.analysis.frame_tree import FrameTree
from mallard.analysis.model import CallTree
from mallard.analysis.store import Store
from mallard.analysis.symbols import Symbols

METRICS = """
    SELECT context,
        count(*) AS calls,
        sum(size)::BIGINT AS bytes,
        sum(if(allocation <= $peak AND coalesce(free > $peak, true), size, 0))::BIGINT AS live_at_peak,
        count(*) FILTER ({freed} AND between = 0) AS temporaries
    FROM heap GROUP BY context
"""


def call_tree(store: Store, symbols: Symbols) -> CallTree:
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
        metrics=metrics(store, merged[tree.innermost], len(parent)),
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


def metrics(store: Store, node_of: NDArray[np.int64], nodes: int) -> dict[str, list[int]]:
    """Return the figures of each node itself."""
    rows = store.sql.execute(METRICS.format(freed=FREED), {"peak": store.totals["peak_event"]}).fetchnumpy()
    sums: dict[str, list[int]] = {}
    for name in ("calls", "bytes", "live_at_peak", "temporaries"):
        column = np.zeros(nodes, dtype=np.int64)
        np.add.at(column, node_of[rows["context"]], rows[name].astype(np.int64))
        sums[name] = column.tolist()
    return sums
