"""Folded stacks, one a line: what flamegraph.pl and its relatives read.

    program;main;make_list 48

The separator cannot be distinguished from a part of a name, so it is replaced there.
"""

from collections.abc import Iterator
from pathlib import Path

from mallard.analysis.model import CallTree
from mallard.output import writing

REPLACED = str.maketrans({";": ":", "\n": " ", "\r": " "})


def lines(tree: CallTree, metric: str) -> Iterator[str]:
    """Yield a line for each node that has something of the metric itself."""
    names = [name.translate(REPLACED).strip() or "unknown" for name in tree.names]
    for node, value in enumerate(tree.metrics[metric]):
        if value > 0:
            yield f"{';'.join(names[tree.name[frame]] for frame in stack(tree, node))} {value}\n"


def stack(tree: CallTree, node: int) -> list[int]:
    """Return the nodes from the program to `node`."""
    found = [node]
    while node != 0:
        node = tree.parent[node]
        found.append(node)
    return found[::-1]


def export_folded(tree: CallTree, metric: str, output: Path | None) -> None:
    """Write all stacks."""
    with writing(output) as file:
        for line in lines(tree, metric):
            file.write(line.encode(errors="replace"))
