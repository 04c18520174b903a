"""The names that --strategy takes: the papers' labels and our own, in any case."""

from collections.abc import Mapping, Sequence

from mallard.errors import MallardError
from mallard_bench.papers import Paper

AGAIN = 1  # what others are compared with is measured a second time


def meant(asked: Sequence[str], known: Sequence[Mapping[str, str | None]]) -> list[str]:
    """Return the names as they are known, each once."""
    names = list(dict.fromkeys(name for one in known for name in (one["label"], one["strategy"]) if name))
    by_lower = {name.lower(): name for name in names}
    found = []
    for name in asked:
        if name.lower() not in by_lower:
            raise MallardError(f"--strategy {name}: is unknown; there are {', '.join(names)}")
        found.append(by_lower[name.lower()])
    return list(dict.fromkeys(found))


def contestants(chosen: Sequence[str], known: Sequence[Mapping[str, str | None]], paper: Paper) -> int:
    """Return how many take part when some are chosen: those, the floor, and the first twice."""
    always = {paper.base, paper.floor} - {None}
    taking = [one for one in known if not chosen or {one["label"], one["strategy"]} & {*always, *chosen}]
    return len(taking) + AGAIN
