"""Each row of a document with what it is compared with: ratios, made round by round (repeated.py).

    {"label": "AS7", "ns_per_event": 5.1, ...}  -->  {..., "ratio": 0.504, "ratio_spread": [0.5, 0.505], ...}

ratio        CPU time over that of the first strategy, of the same figure where a row is one of several
wall_ratio   time by the clock over that of the first strategy
degradation  of benchmark II: CPU time after the shuffle over that before it

Files of results hold none of these: they follow from the rounds.
"""

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

from mallard_bench.papers import paper_of
from mallard_bench.repeated import Repeated
from mallard_bench.results import Document, Row, result

Ratios = dict[str, Repeated]
Time = Callable[[Row], Repeated | None]

WARM: Time = attrgetter("warm")
WALL: Time = attrgetter("wall")
NAMES = ("ratio", "wall_ratio", "degradation")


def with_ratios(document: Document) -> dict[str, Any]:
    """Return a document with the ratios of its rows; null is what there is none of."""
    rows = zip(document["rows"], ratios(document), strict=True)
    return {**document, "rows": [{**row, **told(of)} for row, of in rows]}


def ratios(document: Document) -> Iterator[Ratios]:
    """Yield the ratios of each row by their names."""
    base = paper_of(document["benchmark"]).base
    rows = result(document).rows
    bases = {row.figure: row for row in rows if row.label == base and not row.repeated}
    unshuffled = {
        (row.key, row.repeated, row.split): row for row in rows if not row.shuffled and not row.factor
    }
    for row in rows:
        first = bases.get(row.figure)
        before = unshuffled.get((row.key, row.repeated, row.split)) if row.shuffled or row.factor else None
        found = {
            "ratio": over(row, first, WARM),
            "wall_ratio": over(row, first, WALL),
            "degradation": over(row, before, WARM),
        }
        yield {name: ratio for name, ratio in found.items() if ratio is not None}


def over(row: Row, base: Row | None, time: Time) -> Repeated | None:
    """Return the ratio of a time of two rows, where both have it."""
    above, below = time(row), None if base is None else time(base)
    return None if above is None or below is None else above.over(below)


def told(ratios: Ratios) -> dict[str, Any]:
    """Return the members that say the ratios of a row."""
    members: dict[str, Any] = {}
    for name in NAMES:
        ratio = ratios.get(name)
        members[name] = None if ratio is None else ratio.value
        members[f"{name}_spread"] = None if ratio is None or ratio.spread is None else list(ratio.spread)
    return members
