"""The JSON of speedscope: one profile a metric, each stack a sample that weighs its value.

The file is written piece by piece: its stacks together can be much larger than the tree.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from mallard.analysis.model import CallTree
from mallard.export.folded import stack
from mallard.output import writing

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
UNITS = {"calls": "none", "bytes": "bytes", "live_at_peak": "bytes", "leaked": "bytes", "temporaries": "none"}


def pieces(tree: CallTree, metrics: Sequence[str], name: str) -> Iterator[str]:
    """Yield the text of the file."""
    kinds: dict[tuple[int, int], int] = {}
    frame_of = [kinds.setdefault(kind, len(kinds)) for kind in zip(tree.name, tree.module, strict=True)]
    frames = [frame(tree.names[name], tree.modules[module]) for name, module in kinds]
    opening = {"$schema": SCHEMA, "name": name, "exporter": "mallard", "activeProfileIndex": 0}
    yield f'{json.dumps(opening)[:-1]},\n"shared": {json.dumps({"frames": frames})},\n"profiles": ['
    for number, metric in enumerate(metrics):
        yield from chain([",\n" if number else "\n"], profile(tree, metric, frame_of))
    yield "\n]}\n"


def frame(function: str, module: str) -> dict[str, str]:
    """Describe a function; what speedscope calls its file is the module."""
    return {"name": function or "unknown", "file": module} if module else {"name": function or "unknown"}


def profile(tree: CallTree, metric: str, frame_of: Sequence[int]) -> Iterator[str]:
    """Yield the text of the profile of one metric."""
    values = tree.metrics[metric]
    opening: dict[str, Any] = {
        "type": "sampled",
        "name": metric.replace("_", " "),
        "unit": UNITS[metric],
        "startValue": 0,
        "endValue": sum(values),
    }
    yield f'{json.dumps(opening)[:-1]},\n"samples": ['
    separator = ""
    for node, value in enumerate(values):
        if value > 0:
            yield f"{separator}{json.dumps([frame_of[at] for at in stack(tree, node)])}"
            separator = ",\n"
    yield f'],\n"weights": {json.dumps([value for value in values if value > 0])}}}'


def export_speedscope(tree: CallTree, metrics: Sequence[str], name: str, output: Path | None) -> None:
    """Write the file."""
    with writing(output) as file:
        for piece in pieces(tree, metrics, name):
            file.write(piece.encode())
