"""The call tree by functions, and what each node allocates itself."""

from collections.abc import Sequence

import numpy as np
from made_store import Calls, Made, make_store

from mallard.analysis.call_tree import call_tree
from mallard.analysis.frame_tree import FrameTree
from mallard.analysis.model import CallTree, Frame
from mallard.analysis.store import Store
from mallard.analysis.symbols import Symbols


class Named(Symbols):
    """Symbols written by hand: the frames of each context, outermost first; inlined ones behind a space."""

    def __init__(self, store: Store, calls: Sequence[str]) -> None:
        """Take the functions of the contexts."""
        self.warnings = []
        self._reading = store
        self._parents = store.contexts["parent"]
        self._scopes = store.contexts["name"]
        self._place_of = np.arange(len(calls))
        self._places = [[Frame(name, "prog") for name in reversed(call.split())] for call in calls]
        self._places[0] = [Frame("program", "")]


def tree_of(parents: Sequence[int], calls: Sequence[str], objects: Sequence[Made]) -> CallTree:
    """Return the call tree of objects whose contexts have these functions."""
    store = make_store(objects, Calls(parents=parents, functions=calls))
    return call_tree(store, Named(store, calls))


def paths(tree: CallTree, metric: str = "calls") -> dict[str, int]:
    """Return a metric by path."""
    names: list[str] = []
    for node, parent in enumerate(tree.parent):
        assert parent < node or node == 0
        names.append((names[parent] + ">" if node else "") + tree.names[tree.name[node]])
    return dict(zip(names, tree.metrics[metric], strict=True))


def test_contexts_of_the_same_functions_are_one_node() -> None:
    objects = [Made(0, None, context=2), Made(1, None, context=3), Made(2, None, context=3), Made(3, None)]
    tree = tree_of((0, 0, 1, 1), ("", "main", "f", "f"), objects)
    assert paths(tree) == {"program": 0, "program>main": 1, "program>main>f": 3}
    assert tree.modules[tree.module[2]] == "prog"


def test_the_same_function_below_another_is_another_node() -> None:
    objects = [Made(n, None, context=n + 1) for n in range(4)]
    tree = tree_of((0, 0, 0, 1, 2), ("", "f", "g", "h", "h"), objects)
    assert paths(tree) == {"program": 0, "program>f": 1, "program>g": 1, "program>f>h": 1, "program>g>h": 1}


def test_inlined_functions_are_nodes() -> None:
    tree = tree_of((0, 0, 1), ("", "main parse", "read grow"), [Made(0, None, context=2), Made(1, None)])
    assert paths(tree) == {
        "program": 0,
        "program>main": 0,
        "program>main>parse": 1,
        "program>main>parse>read": 0,
        "program>main>parse>read>grow": 1,
    }


def test_objects_without_a_context_are_the_programs() -> None:
    assert paths(tree_of((0,), ("",), [Made(0, None, context=0)])) == {"program": 1}


def test_functions_of_one_name_in_two_modules_are_two() -> None:
    store = make_store([Made(0, None), Made(1, None, context=2)], Calls((0, 0, 0), ("", "init", "init")))
    symbols = Named(store, ("", "init", "init"))
    symbols._places[2] = [Frame("init", "libother.so")]
    tree = call_tree(store, symbols)
    assert len(tree.parent) == 3
    assert [tree.modules[module] for module in tree.module] == ["", "prog", "libother.so"]


def test_metrics_are_of_the_node_itself() -> None:
    objects = [
        Made(0, 9, size=100, context=1, between=3),
        Made(1, 2, size=50, context=2),  # nothing came between, and it ended
        Made(3, None, size=7, context=2),
        Made(4, 6, size=1000, context=2, between=1),  # the peak is here
        Made(5, 6, size=1, context=2, region=1),  # of a region: not the heap's
        Made(8, 9, size=30, context=1),
    ]
    tree = tree_of((0, 0, 1), ("", "main", "f"), objects)
    assert paths(tree) == {"program": 0, "program>main": 2, "program>main>f": 3}
    assert paths(tree, "bytes") == {"program": 0, "program>main": 130, "program>main>f": 1057}
    assert paths(tree, "live_at_peak") == {"program": 0, "program>main": 100, "program>main>f": 1007}
    assert paths(tree, "leaked") == {"program": 0, "program>main": 0, "program>main>f": 7}
    assert paths(tree, "temporaries") == {"program": 0, "program>main": 1, "program>main>f": 1}


def test_what_is_freed_at_the_peak_is_not_live_there() -> None:
    objects = [Made(0, 1, size=10), Made(1, 5, size=30, previous=0)]  # a reallocation: one event
    assert paths(tree_of((0, 0), ("", "main"), objects), "live_at_peak")["program>main"] == 30


def test_deep_recursion() -> None:
    depth = 20000
    calls = ["", *("even" if n % 2 else "odd" for n in range(depth))]
    tree = tree_of([0, *range(depth)], calls, [Made(0, None, context=depth)])
    assert len(tree.parent) == depth + 1
    assert len(tree.names) == 3
    assert sum(tree.metrics["calls"]) == tree.metrics["calls"][depth] == 1


def test_many_contexts_are_few_nodes() -> None:
    count = 200_000
    parents = np.zeros(count, dtype=np.uint32)
    parents[1000:] = np.arange(1000, count) // 10 % 1000
    calls = ["", *(f"f{n % 10}" for n in range(1, count))]
    tree = tree_of(parents.tolist(), calls, [Made(0, None, size=5, context=count - 1)])
    assert len(tree.parent) == 1 + 10 + 10 * 10
    assert sum(tree.metrics["bytes"]) == 5


def test_a_frame_tree_keeps_calls_apart() -> None:
    places = [
        [Frame("program", "")],
        [Frame("g", "prog", inlined=True), Frame("f", "prog")],
        [Frame("h", "prog")],
    ]
    parents, scopes = np.array([0, 0, 1, 0], np.uint32), np.array([0, 0, 0, 1], np.uint32)
    tree = FrameTree.build(parents, scopes, np.array([0, 1, 2, 2]), places)
    assert [name for name, _ in tree.functions] == ["program", "f", "g", "h"]
    assert tree.parent.tolist() == [0, 0, 1, 2, 0]
    assert tree.innermost.tolist() == [0, 2, 3, 4]
    assert tree.place.tolist() == [0, 1, 1, 2, 2]
    assert [name for name, _ in tree.outwards(3)] == ["h", "g", "f"]
