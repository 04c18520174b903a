"""What a paper found, as a check: a sentence, and a judge that says whether a table shows it.

Finding --judge(measured)--> Judgement: holds | does not | undecided, and the figures that decided

Verdicts are reached by ratios of two times at many places of a table, held against bounds:

each(ratios, 1.0, share=0.9)        least            most
                                 x    |   ====    ====  |   ==x==        = held, x against,
                                                                        across a bound: within noise
holds       at least 90 % of the places are held
does not    fewer would be, even if all within noise were
undecided   otherwise

middle(ratios, 4.0, 20.0) asks only whether the median lies between the bounds.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from mallard import figures
from mallard_bench.findings import words
from mallard_bench.findings.interval import Interval, median
from mallard_bench.findings.measured import Key, Measured
from mallard_bench.repeated import ENOUGH_ROUNDS


class Verdict(StrEnum):
    """Whether a finding holds in a table."""

    HOLDS = "holds"
    DOES_NOT = "does not"
    OPEN = "undecided"  # what is needed was not measured, or differences lie within the noise


@dataclass(frozen=True)
class Judgement:
    """A verdict, and the figures that decided in words; none if nothing that it is about was measured."""

    verdict: Verdict
    figures: str = ""


Judge = Callable[[Measured], Judgement]

UNMEASURED = Judgement(Verdict.OPEN)


@dataclass(frozen=True)
class Finding:
    """One finding; `claimed` is the range of the ratio that the paper's text names, "10 % more" as 1.1."""

    table: str  # below which table it belongs: DS1 ... DS12, a table's number, or the whole benchmark
    section: str
    sentence: str
    judge: Judge
    claimed: tuple[float, float] | None = None


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
        if not found:
            return UNMEASURED
        against = [ratio for ratio in found if ratio.high < least or ratio.low > most]
        not_against = [ratio for ratio in found if ratio.high >= least and ratio.low <= most]
        unclear = [ratio for ratio in not_against if ratio.low <= least or ratio.high >= most]
        held = len(not_against) - len(unclear)
        needed = math.ceil(share * len(found))
        if table.rounds < ENOUGH_ROUNDS:
            count = words.few(table.rounds)
        else:
            count = f"{held} of {len(found)}{words.undecided(unclear, least, most)}"
        return Judgement(
            verdict(held >= needed, len(not_against) >= needed),
            f"{count}; {words.accepted(least, most, share)}; {words.around(found)}"
            f"{words.exceptions(against, least, most)}",
        )

    return judge


def middle(ratios: Ratios, least: float = 1.0, most: float = math.inf) -> Judge:
    """Demand of the median of the ratios that it lies between bounds."""

    def judge(table: Measured) -> Judgement:
        found = list(ratios(table).values())
        if not found:
            return UNMEASURED
        centre = median(found)
        if table.rounds < ENOUGH_ROUNDS:
            noise = words.few(table.rounds)
        else:
            noise = f"by noise {centre.low:.3g} to {centre.high:.3g}"
        return Judgement(
            verdict(
                least < centre.low and centre.high < most, not (centre.high < least or centre.low > most)
            ),
            f"median of {len(found)}: {centre.value:.3g}, {noise}; {words.accepted(least, most)}; "
            f"{words.extent(found)}",
        )

    return judge


def ends(keys: Callable[[Measured], list[Key]], status: str) -> Judge:
    """Demand of all cells that were tried that they end in one way, which depends on the limit on memory."""

    def judge(table: Measured) -> Judgement:
        found = [table.cells[key].status for key in keys(table) if key in table.cells]
        tried = [end for end in found if end in ("ok", status)]
        if not tried:
            return UNMEASURED
        held = tried.count(status)
        limits = "".join(
            f"; at most {figures.size(limit)} a strategy" for limit in sorted(table.memory_limits)
        )
        return Judgement(
            verdict(held == len(tried), held == len(tried)),
            f"{held} of {len(tried)}; counted as holding: everywhere{limits}",
        )

    return judge


def reached(values: Callable[[Measured], list[int]], fits: Callable[[int], bool], what: str) -> Judge:
    """Demand of everything that was counted that it fits."""

    def judge(table: Measured) -> Judgement:
        if not (found := values(table)):
            return UNMEASURED
        held = sum(map(fits, found))
        seen = ", ".join(map(str, dict.fromkeys(found)))
        return Judgement(
            verdict(held == len(found), held == len(found)), f"{held} of {len(found)}; {what}: {seen}"
        )

    return judge


def beside(judge: Judge, name: str, ratios: Ratios) -> Judge:
    """Also say where the ratios of another strategy lie, which decide nothing."""

    def judge_and_tell(table: Measured) -> Judgement:
        said, found = judge(table), list(ratios(table).values())
        if not said.figures or not found:
            return said
        return replace(said, figures=f"{said.figures}; {name} beside: {words.around(found)}")

    return judge_and_tell


def made_by(compiler: str, judge: Judge) -> Judge:
    """Judge only what one compiler made."""

    def judge_or_not(table: Measured) -> Judgement:
        if all(name.startswith(compiler) for name in table.compilers):
            return judge(table)
        return Judgement(Verdict.OPEN, f"this is {', '.join(sorted(table.compilers))}")

    return judge_or_not


def provided(condition: Callable[[Measured], bool], judge: Judge) -> Judge:
    """Judge only tables that meet a condition; others do not measure what it is about."""
    return lambda table: judge(table) if condition(table) else UNMEASURED


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
