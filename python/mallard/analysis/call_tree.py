"""The call tree by functions: contexts that went through the same functions become one path.

    contexts              call tree
    main:12 > f:3         program > main > f       one node; its figures are the sums
    main:12 > f:9

An inlined call is a node of its own, a scope of an annotation as well. Contexts and their frames are
visited once, callers first, whatever the depth of the stacks.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.model import CallTree
from mallard.analysis.store import Store
from mallard.analysis.symbols import Symbols

METRICS = """
    SELECT context,
        count(*) AS calls,
        sum(size)::BIGINT AS bytes,
        sum(if(birth <= $peak AND coalesce(death > $peak, true), size, 0))::BIGINT AS live_at_peak,
        count(*) FILTER (between = 0 AND death IS NOT NULL) AS temporaries
    FROM heap GROUP BY context
"""


@dataclass(frozen=True, slots=True)
class FunctionTree:
    """The contexts merged by caller and function. Node 0 is the program; parents have lower numbers."""

    parent: list[int]
    function: list[int]  # index into functions
    functions: list[tuple[str, str]]  # name and module; the first is the program
    node_of: NDArray[np.int64]  # of each context


def function_tree(store: Store, symbols: Symbols) -> FunctionTree:
    """Merge the contexts by caller and function."""
    functions: dict[tuple[str, str], int] = {("program", ""): 0}
    parent, function = [0], [0]
    children: dict[tuple[int, int], int] = {}
    parents = store.contexts["parent"].tolist()
    node_of = [0] * len(parents)
    for context in range(1, len(parents)):
        node = node_of[parents[context]]
        for frame in reversed(symbols.frames_of_node(context)):
            key = node, functions.setdefault((frame.function, frame.module), len(functions))
            node = children.setdefault(key, len(parent))
            if node == len(parent):
                parent.append(key[0])
                function.append(key[1])
        node_of[context] = node
    return FunctionTree(parent, function, list(functions), np.array(node_of, dtype=np.int64))


def call_tree(store: Store, symbols: Symbols) -> CallTree:
    """Merge the contexts by caller and function, and add up what they allocate."""
    tree = function_tree(store, symbols)
    sums = metrics(store, tree.node_of, len(tree.parent))
    return as_columns(tree.parent, tree.function, tree.functions, sums)


def metrics(store: Store, node_of: NDArray[np.int64], nodes: int) -> dict[str, list[int]]:
    """Return the figures of each node itself."""
    rows = store.sql.execute(METRICS, {"peak": store.totals["peak_event"]}).fetchnumpy()
    sums: dict[str, list[int]] = {}
    for name in ("calls", "bytes", "live_at_peak", "temporaries"):
        column = np.zeros(nodes, dtype=np.int64)
        np.add.at(column, node_of[rows["context"]], rows[name].astype(np.int64))
        sums[name] = column.tolist()
    return sums


def as_columns(
    parent: list[int], function: list[int], functions: list[tuple[str, str]], sums: dict[str, list[int]]
) -> CallTree:
    """Put names and modules into tables of their own."""
    names = {name: index for index, name in enumerate(dict.fromkeys(name for name, _ in functions))}
    modules = {module: index for index, module in enumerate(dict.fromkeys(module for _, module in functions))}
    return CallTree(
        parent=parent,
        name=[names[functions[number][0]] for number in function],
        names=list(names),
        module=[modules[functions[number][1]] for number in function],
        modules=list(modules),
        metrics=sums,
    )
