"""The frames of all contexts as one tree of columns, for what looks at all of them.

    context 7: parent 3, f inlined into g     nodes  12: g, parent 9     9 is the innermost node of context 3
                                                     13: f, parent 12    innermost node of context 7

Node 0 is the unknown context: the program itself. A parent's index is lower than its child's. Contexts are
not merged: two calls from different lines of a function are two nodes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.model import Frame

PROGRAM = ("program", "")


@dataclass(frozen=True, slots=True)
class FrameTree:
    """Columns by node, and tables that they refer to."""

    parent: NDArray[np.int64]
    function: NDArray[np.int64]  # index into functions
    place: NDArray[np.int64]  # where in the code: the same number for all contexts with this call
    innermost: NDArray[np.int64]  # the node of each context's innermost frame
    functions: list[tuple[str, str]]  # name and module; the first is the program
    is_scope: NDArray[np.bool_]  # by function: it is an annotated scope

    @classmethod
    def build(
        cls,
        parents: NDArray[np.uint32],
        scopes: NDArray[np.uint32],
        place_of: NDArray[np.int64],
        places: Sequence[Sequence[Frame]],
    ) -> Self:
        """Expand contexts: place_of[context] is an index into places, whose frames are innermost first."""
        functions: dict[tuple[str, str], int] = {PROGRAM: 0}
        flat: list[int] = []
        begins = np.zeros(len(places) + 1, dtype=np.int64)
        for number, frames in enumerate(places):
            for frame in reversed(frames):
                flat.append(functions.setdefault((frame.function, frame.module), len(functions)))
            begins[number + 1] = len(flat)

        sizes = np.diff(begins)[place_of]
        ends = np.cumsum(sizes)
        context = np.repeat(np.arange(len(place_of)), sizes)
        node = np.arange(len(context))
        depth = node - (ends - sizes)[context]  # among the frames of its context, from the outermost
        innermost = ends - 1
        parent = np.where(depth == 0, innermost[parents[context]], node - 1)
        parent[0] = 0
        place = place_of[context]
        function = np.array(flat, dtype=np.int64)[begins[place] + depth]
        is_scope = np.zeros(len(functions), dtype=np.bool_)
        is_scope[function[innermost[scopes != 0]]] = True
        return cls(parent, function, place, innermost, list(functions), is_scope)

    def outwards(self, node: int) -> Iterator[tuple[str, str]]:
        """Yield name and module of the functions from a node to the program, which is left out."""
        while node != 0:
            yield self.functions[self.function[node]]
            node = int(self.parent[node])
