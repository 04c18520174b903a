"""How verdicts are reached: ratios of two times at many places of a table, held against bounds.

each(ratios, 1.0, share=0.9)        least            most
                                 x    |   ====    ====  |   ==x==        = held, x against,
                                                                        across a bound: unclear
holds       at least 90 % of the places are held
does not    fewer would be, even if all unclear ones were
otherwise it cannot be told

middle(ratios, 4.0, 20.0) asks only whether the median lies between the bounds.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from mallard.bench.findings.finding import Judge, Judgement, Verdict
from mallard.bench.findings.interval import Interval, median
from mallard.bench.findings.measured import Key, Measured

# Ratios by place: whatever tells them apart, so that two sets of ratios can be compared place by place.
Ratios = Callable[[Measured], Mapping[Any, Interval]]

# What a paper means where it says always, consistently, typically.
ALWAYS = 1.0
NEARLY = 0.9
MOSTLY = 0.75


def each(ratios: Ratios, least: float = 1.0, most: float = math.inf, share: float = NEARLY) -> Judge:
    """Demand of a share of the ratios that they lie between bounds."""

    def judge(table: Measured) -> Judgement:
        found = list(ratios(table).values())
        held = sum(ratio.low > least and ratio.high < most for ratio in found)
        against = sum(ratio.high < least or ratio.low > most for ratio in found)
        needed = math.ceil(share * len(found))
        return Judgement(
            verdict(bool(found) and held >= needed, not found or len(found) - against >= needed),
            held=held,
            against=against,
            unclear=len(found) - held - against,
            ratio=over_all(found),
        )

    return judge


def middle(ratios: Ratios, least: float = 1.0, most: float = math.inf) -> Judge:
    """Demand of the median of the ratios that it lies between bounds."""

    def judge(table: Measured) -> Judgement:
        found = list(ratios(table).values())
        if not found:
            return Judgement(Verdict.OPEN, 0, 0, 0)
        centre = median(found)
        inside = sum(least < ratio.value < most for ratio in found)
        return Judgement(
            verdict(
                least < centre.low and centre.high < most, not (centre.high < least or centre.low > most)
            ),
            held=inside,
            against=len(found) - inside,
            unclear=0,
            ratio=over_all(found),
        )

    return judge


def ends(keys: Callable[[Measured], list[Key]], status: str) -> Judge:
    """Demand of all cells that were tried that they end in one way."""

    def judge(table: Measured) -> Judgement:
        found = [table.cells[key].status for key in keys(table) if key in table.cells]
        tried = [end for end in found if end in ("ok", status)]
        held = tried.count(status)
        return Judgement(
            verdict(bool(tried) and held == len(tried), held == len(tried)), held, len(tried) - held, 0
        )

    return judge


def provided(condition: Callable[[Measured], bool], judge: Judge) -> Judge:
    """Judge only tables that meet a condition; of others nothing can be told."""
    return lambda table: judge(table) if condition(table) else Judgement(Verdict.OPEN, 0, 0, 0)


def quotient(above: Ratios, below: Ratios) -> Ratios:
    """Return how many times each ratio of one set is that of the other at the same place."""

    def both(table: Measured) -> Mapping[Any, Interval]:
        first, second = above(table), below(table)
        return {place: first[place] / second[place] for place in first if place in second}

    return both


def together(*parts: Ratios) -> Ratios:
    """Return the ratios of several sets as one."""
    return lambda table: {
        (number, place): ratio for number, part in enumerate(parts) for place, ratio in part(table).items()
    }


def verdict(holds: bool, possible: bool) -> Verdict:
    """Return the verdict, given whether a finding is proven and whether it could still be."""
    return Verdict.HOLDS if holds else Verdict.OPEN if possible else Verdict.DOES_NOT


def over_all(ratios: list[Interval]) -> Interval | None:
    """Return the median ratio between the smallest and the largest."""
    if not ratios:
        return None
    values = [ratio.value for ratio in ratios]
    return Interval(median(ratios).value, min(values), max(values))
