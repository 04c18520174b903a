"""Which ratios a claim is about, written in a line; `selection` reads it.

    AS2 AS5 / AS1           each of the first over each of the others, in the same cell
    AS2 AS5 // AS1 AS3      the first over the first of the others, the second over their second
    AS1 / AS8&AS12          over the fastest of several, all of which must have been measured
    net V1 / V2             of what is left of both without the floor
    V2#alive / V2#needed    of what was counted
    AS1                     times as they are, to be compared along a setting
    X : Y                   how many times each ratio of X is that of Y at the same place
    X + Y                   the ratios of both
    X @ size 8.., insert    only there; of a bare word, where any setting is it
    X @ size 14->15         at 15 over what it is at 14, all else equal

`size least->most` is from the smallest that was measured to the largest, `factor 0->any` to each, `block
this->next` from each to the one above. `threads 1->cores` is to each for which there is a processor, by the
work of one thread: figures are by the events of all. `iterations+block` is a setting made of two. A name can
mean several labels or structures.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mallard_bench.findings.interval import Interval, smallest
from mallard_bench.findings.judge import Ratios, quotient, together
from mallard_bench.findings.measured import Key, Measured
from mallard_bench.papers import (
    ADAPTIVE,
    COMPOSITE,
    FLOOR,
    GLOBAL,
    LOCAL,
    MONOTONIC,
    MULTIPOOL,
    POOLED,
    POOLS_OF_ARTICLE,
    boosts,
)


def strided(labels: Sequence[str], *bindings: int) -> list[str]:
    """Return of every four labels those with some bindings."""
    return [label for place, label in enumerate(labels) if place % 4 in bindings]


FAMILIES = {
    "global": GLOBAL,
    "monotonic": MONOTONIC,
    "multipool": MULTIPOOL,
    "composite": COMPOSITE,
    "pooled": POOLED,
    "local": LOCAL,
}
NAMED: dict[str, Sequence[str]] = {
    **FAMILIES,
    # A heap has four bindings: direct, direct winked out, virtual, virtual winked out.
    **{f"{name}.destroyed": labels[::2] for name, labels in FAMILIES.items()},
    **{f"{name}.winkout": labels[1::2] for name, labels in FAMILIES.items()},
    **{f"{name}.direct": strided(labels, 0, 1) for name, labels in FAMILIES.items()},
    **{f"{name}.virtual": strided(labels, 2, 3) for name, labels in FAMILIES.items()},
    **{f"article.V{version}": [boosts(pool, version) for pool in POOLS_OF_ARTICLE] for version in (1, 2)},
    **{f"boost.adaptive.V{version}": [boosts(pool, version) for pool in ADAPTIVE] for version in (1, 2)},
    "every": [f"DS{number}" for number in range(1, 13)],
    "of_containers": [f"DS{number}" for number in range(5, 13)],
    "sets_of_int": ["DS3", "DS7", "DS11"],
    "no_sets_of_int": [f"DS{number}" for number in range(1, 13) if number not in (3, 7, 11)],
}
TOKEN = re.compile(r"//|->|[/:+@,()]|[^\s/:+@,()>-]+(?:\+[a-z]+)?")

Place = tuple[Key, int]  # settings, and the number of the pair


@dataclass(frozen=True)
class Along:
    """Compare figures between two values of a setting."""

    setting: str
    first: str
    last: str

    def over(self, figures: Ratios) -> Ratios:
        """Return how many times a figure is at the last value what it is at the first."""

        def ratios(table: Measured) -> Mapping[Place, Interval]:
            found: Mapping[Place, Interval] = figures(table)
            if not found:
                return {}
            indices = [table.settings.index(name) for name in self.setting.split("+")]
            alike: dict[Any, dict[Any, Place]] = {}  # by all else, by value
            for place in found:
                settings, number = place
                rest = tuple(part for index, part in enumerate(settings) if index not in indices)
                parts = [settings[index] for index in indices]
                alike.setdefault((rest, number), {}).setdefault(
                    parts[0] if len(parts) == 1 else sum(parts), place
                )
            result = {}
            for places in alike.values():
                for start, end in self.ends(places, table.cores):
                    ratio = found[places[end]] / found[places[start]]
                    result[places[end]] = ratio * end if self.last == "cores" else ratio
            return result

        return ratios

    def ends(self, values: Mapping[Any, Place], cores: int) -> Iterator[tuple[Any, Any]]:
        """Yield which values are compared, of those that there are."""
        if self.first == "least":
            if min(values) != max(values):
                yield min(values), max(values)
            return
        if self.first == "this":
            yield from ((value, value + 1) for value in values if value + 1 in values)
            return
        by_text = {str(value): value for value in values}
        if self.first not in by_text:
            return
        start = by_text[self.first]
        if self.last in by_text:
            yield start, by_text[self.last]
        elif self.last == "any":
            yield from ((start, value) for value in values if value != start)
        elif self.last == "cores":
            yield from ((start, value) for value in values if start < value <= cores)


@dataclass(frozen=True)
class Only:
    """Figures of some values of a setting alone."""

    fits: Callable[[Mapping[str, Any]], bool]
    structures: Sequence[str] = ()  # that it names; places differ by which of these they are of


@dataclass(frozen=True)
class Selection:
    """What a line says: the ratios, and which cells and structures they are of."""

    ratios: Ratios
    labels: Sequence[str]
    filters: Sequence[Only]

    @property
    def structures(self) -> set[str]:
        """All structures that are named."""
        return {structure for only in self.filters for structure in only.structures}

    def keys(self, table: Measured) -> list[tuple[Key, str]]:
        """Return the cells, each with what of it is counted."""
        labels = [label.partition("#") for label in self.labels]
        return [
            ((*settings, label), count)
            for settings in chosen(table, self.filters)
            for label, _, count in labels
        ]


def selection(line: str, everywhere: str = "") -> Selection:
    """Read a line; what holds everywhere precedes the conditions of each of its parts."""
    reader = Reader(TOKEN.findall(line), TOKEN.findall(everywhere))
    read = reader.expression()
    if reader.tokens:
        raise ValueError(f"{line}: {' '.join(reader.tokens)} is left over")
    return read


class Reader:
    """What is left of a line."""

    def __init__(self, tokens: list[str], everywhere: list[str]) -> None:
        """Begin with all of it."""
        self.tokens = tokens
        self.everywhere = everywhere

    def next_is(self, *wanted: str) -> bool:
        """Tell whether one of some tokens is next, and take it if so."""
        if self.tokens and self.tokens[0] in wanted:
            self.tokens.pop(0)
            return True
        return False

    def expression(self) -> Selection:
        """Read X : Y."""
        first = self.sum()
        if not self.next_is(":"):
            return first
        second = self.sum()
        return Selection(quotient(first.ratios, second.ratios), (), (*first.filters, *second.filters))

    def sum(self) -> Selection:
        """Read X + Y."""
        parts = [self.part()]
        while self.next_is("+"):
            parts.append(self.part())
        if len(parts) == 1:
            return parts[0]
        return Selection(
            together(*(part.ratios for part in parts)), (), [one for part in parts for one in part.filters]
        )

    def part(self) -> Selection:
        """Read what stands in brackets, or labels, and the conditions behind it."""
        if self.next_is("("):
            inner = self.expression()
            if not self.next_is(")"):
                raise ValueError("a bracket is not closed")
            figures, labels, filters = inner.ratios, inner.labels, inner.filters
            _, steps = self.conditions()
        else:
            net = self.next_is("net")
            labels, pairs = self.pairs()
            outer = Reader(["@", *self.everywhere], []) if self.everywhere else Reader([], [])
            (filters, first_steps), (own, last_steps) = outer.conditions(), self.conditions()
            filters, steps = [*filters, *own], [*first_steps, *last_steps]
            figures = compared(pairs, filters, net)
        for step in steps:
            figures = step.over(figures)
        return Selection(figures, labels, filters)

    def pairs(self) -> tuple[list[str], list[tuple[str, str | None]]]:
        """Read labels, and the others that they are compared with."""
        above = self.labels()
        if self.next_is("//"):
            return above, list(zip(above, self.labels(), strict=True))
        if self.next_is("/"):
            below = self.labels()
            return above, [(one, other) for one in above for other in below]
        return above, [(one, None) for one in above]

    def labels(self) -> list[str]:
        """Read labels, and names of several."""
        found: list[str] = []
        while self.tokens and self.tokens[0] not in ("/", "//", ":", "+", "@", ")"):
            name, mark, count = self.tokens.pop(0).partition("#")
            times, _, repeated = name.rpartition("*")
            found += [
                f"{label}{mark}{count}" for label in [*NAMED.get(repeated, [repeated])] * int(times or 1)
            ]
        return found

    def conditions(self) -> tuple[list[Only], list[Along]]:
        """Read @ and what follows: where figures are of, and along which settings they are compared."""
        filters, steps = [], []
        if self.next_is("@"):
            while True:
                words = []
                while self.tokens and self.tokens[0] not in (",", ")", ":", "+"):
                    words.append(self.tokens.pop(0))
                if "->" in words:
                    setting, first, _, last = words
                    steps.append(Along(setting, first, last))
                else:
                    filters.append(only(words))
                if not self.next_is(","):
                    break
        return filters, steps


def only(words: Sequence[str]) -> Only:
    """Return the condition of some words: `size 8..`, `elements 10 100`, `subsystem<global`, `insert`."""
    name, *values = words
    if not values:
        if comparison := re.fullmatch(r"(\w+)([<=])(\w+)", name):
            one, sign, other = comparison.groups()
            return Only(lambda at: at[one] < at[other] if sign == "<" else at[one] == at[other])
        return Only(lambda at: name in at.values())
    if bounds := re.fullmatch(r"(\d*)\.\.(\d*)", values[0]):
        low, high = (int(bound) if bound else None for bound in bounds.groups())
        return Only(lambda at: (low is None or low <= at[name]) and (high is None or at[name] <= high))
    texts = [text for value in values for text in NAMED.get(value, [value])]
    return Only(lambda at: str(at[name]) in texts, texts if name == "structure" else ())


def chosen(table: Measured, filters: Sequence[Only]) -> Iterator[Key]:
    """Yield the settings of all cells that meet every condition."""
    for settings in dict.fromkeys(key[:-1] for key in table.cells):
        at = dict(zip(table.settings, settings, strict=True))
        if all(one.fits(at) for one in filters):
            yield settings


def compared(pairs: Sequence[tuple[str, str | None]], filters: Sequence[Only], net: bool) -> Ratios:
    """Return how many times the second of each pair the first is, at every place that was measured."""
    structures = [structure for one in filters for structure in one.structures]

    def ratios(table: Measured) -> Mapping[Place, Interval]:
        found = {}
        for settings in chosen(table, filters):
            place = (structures.index(settings[0]), *settings[1:]) if structures else settings
            floor = table.time(*settings, FLOOR) if net else None
            for number, (one, other) in enumerate(pairs):
                above = figure(table, settings, one)
                below = figure(table, settings, other) if other else None
                if above is None or (other and below is None) or (net and floor is None):
                    continue
                if floor and below:
                    above, below = above - floor, below - floor
                found[place, number] = above / below if below else above
        return found

    return ratios


def figure(table: Measured, settings: Key, who: str) -> Interval | None:
    """Return the time of a strategy or of the fastest of several, or what was counted of one."""
    label, counted, name = who.partition("#")
    if counted:
        cell = table.cells.get((*settings, label))
        if cell is None or name not in cell.counts:
            return None
        number = float(cell.counts[name])
        return Interval(number, number, number, of=(str(settings[1]), label))
    known = [time for one in label.split("&") if (time := table.time(*settings, one))]
    if len(known) <= label.count("&"):
        return None
    return smallest(known) if "&" in label else known[0]
