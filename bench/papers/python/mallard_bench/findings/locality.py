"""What the paper found in benchmark II, section 8: what a shuffle costs the walk over each subsystem.

    diffusion   time of a walk after the shuffle / before it       AS1: one malloc, AS7: a multipool each
    benefit     diffusion without / with a multipool for each subsystem

Beside AS7 stands fifo_multipool, which reuses first what was freed first: it is not the paper's, and decides
nothing.

With split 0 a list is walked most often before the next one, with split 8 once: 2^8 times the transitions.
What is found of Tables 16, 18 and 20 is also found of 17, 19 and 21, those of the larger system.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial

from mallard_bench.families import BASE, MULTIPOOL
from mallard_bench.findings.finding import Finding, Judge
from mallard_bench.findings.interval import Interval
from mallard_bench.findings.judge import ALWAYS, NEARLY, Ratios, beside, each, quotient, together
from mallard_bench.findings.measured import LAYOUT, Measured

Place = tuple[int, int, int]  # links of the system, links of a subsystem, split or number of shuffles
Where = Callable[[int, int, int], bool]
SYSTEM, SUBSYSTEM, STEP = range(3)

WITHOUT, WITH = BASE, MULTIPOOL[0]
BESIDE = str(LAYOUT["locality"].beside)
FITS_CACHES = 18
LAST_SPLIT = 8


def diffusion(label: str, where: Where) -> Ratios:
    """Return what shuffling costs a strategy, at some places of Tables 16 to 19."""

    def ratios(table: Measured) -> Mapping[Place, Interval]:
        found = {}
        for kind, system, subsystem, split, shuffled, _, who in table.cells:
            if kind == "splits" and shuffled and who == label and where(system, subsystem, split):
                after = table.time(kind, system, subsystem, split, True, None, who)
                before = table.time(kind, system, subsystem, split, False, None, who)
                if after and before:
                    found[system, subsystem, split] = after / before
        return found

    return ratios


def shuffles(where: Where) -> Ratios:
    """Return what each number of shuffles costs without local heaps, at some places of Table 15."""

    def ratios(table: Measured) -> Mapping[Place, Interval]:
        found = {}
        for kind, system, subsystem, _, _, factor, who in table.cells:
            if kind == "factors" and factor and who == WITHOUT and where(system, subsystem, factor):
                after = table.time(kind, system, subsystem, None, None, factor, who)
                before = table.time(kind, system, subsystem, None, None, 0, who)
                if after and before:
                    found[system, subsystem, factor] = after / before
        return found

    return ratios


def benefit(where: Where, label: str) -> Ratios:
    """Return how much less a heap each diffuses, at some places."""
    return quotient(diffusion(WITHOUT, where), diffusion(label, where))


def and_beside(
    of: Callable[[str], Ratios], least: float = 1.0, most: float = math.inf, share: float = NEARLY
) -> Judge:
    """Demand of a multipool each that its ratios lie between bounds; those of fifo_multipool stand beside."""
    return beside(each(of(WITH), least, most, share), BESIDE, of(BESIDE))


def each_diffusion(where: Where, most: float, share: float = NEARLY) -> Judge:
    """Demand that a multipool each does not get much slower."""
    return and_beside(lambda label: diffusion(label, where), 0.0, most, share)


def along(setting: int, first: int, last: int, figures: Ratios) -> Ratios:
    """Return how many times a figure is at one value of a setting what it is at another, all else equal."""

    def ratios(table: Measured) -> Mapping[Place, Interval]:
        found = figures(table)
        result = {}
        for place, figure in found.items():
            start = (*place[:setting], first, *place[setting + 1 :])
            if place[setting] == last and start in found:
                result[place] = figure / found[start]
        return result

    return ratios


def lists(smallest: int = 0, largest: int | None = None, split: int | None = None) -> Where:
    """Choose by links of a list and by split, never the first row of a table, which is a single list."""

    def where(system: int, subsystem: int, at: int) -> bool:
        last = system - 1 if largest is None else largest
        return system >= FITS_CACHES and smallest <= subsystem <= last and split in (None, at)

    return where


def several_lists(system: int, subsystem: int, _: int) -> bool:
    """Choose all but the first row of a table."""
    return subsystem < system


def single_list(system: int, subsystem: int, _: int) -> bool:
    """Choose the first row of a table."""
    return subsystem == system


def small_systems(system: int, subsystem: int, _: int) -> bool:
    """Choose systems that lie in the caches whole."""
    return subsystem < system < FITS_CACHES


EVERYWHERE = lists()
LARGE_LISTS = lists(smallest=12)
MOST_TRANSITIONS = lists(split=LAST_SPLIT)

table_15 = partial(Finding, "15", "8")
table_16 = partial(Finding, "16", "8")
table_18 = partial(Finding, "18", "8")
table_20 = partial(Finding, "20", "8")

FINDINGS = [
    table_15(
        "Shuffling links between lists makes the walk over each of them several times slower.",
        each(shuffles(several_lists), 2.0, share=ALWAYS),
    ),
    table_15(
        "A single shuffle does most of the harm; five do little more.",
        each(along(STEP, 1, 5, shuffles(several_lists)), 0.9, 1.5, ALWAYS),
    ),
    table_15(
        "Shuffling the links of one single list changes nothing.",
        each(shuffles(single_list), 0.9, 1.1),
    ),
    table_15(
        "The harm is larger with few large lists than with many small ones.",
        each(along(SUBSYSTEM, 3, 6, shuffles(several_lists))),
    ),
    table_16(
        "With most transitions, walks over lists of 2^6 links and more get at least ten times slower.",
        each(diffusion(WITHOUT, lists(smallest=6, split=LAST_SPLIT)), 10.0),
        claimed=(10.0, 20.0),
    ),
    table_16(
        "With fewest transitions and small lists there is next to no harm.",
        each(diffusion(WITHOUT, lists(largest=5, split=0)), 0.7, 1.4),
    ),
    table_16(
        "With fewest transitions the harm tapers off quickly from large lists to small ones.",
        each(along(SUBSYSTEM, 8, 18, diffusion(WITHOUT, lists(split=0))), 3.0, share=ALWAYS),
    ),
    table_16(
        "The harm grows with the number of transitions, for lists of up to 2^16 links.",
        each(along(STEP, 0, LAST_SPLIT, diffusion(WITHOUT, lists(largest=16))), share=ALWAYS),
    ),
    table_16(
        "With lists of one link, two walks a visit suffer more than a single one.",
        each(along(STEP, LAST_SPLIT, LAST_SPLIT - 1, diffusion(WITHOUT, lists(largest=0)))),
    ),
    table_18(
        "With a multipool each, walks get at most three times slower.",
        each_diffusion(EVERYWHERE, 3.0, ALWAYS),
    ),
    table_18(
        "With a multipool each, walks get less than twice slower nearly everywhere.",
        each_diffusion(EVERYWHERE, 2.0),
    ),
    table_18(
        "With a multipool each, walks over lists of 2^12 links and more stay below twice, too.",
        each_diffusion(LARGE_LISTS, 2.0),
    ),
    table_18(
        "With a multipool each, the harm does not depend on the size of the whole system.",
        and_beside(lambda label: along(SYSTEM, 21, 25, diffusion(label, EVERYWHERE)), 0.85, 1.15),
    ),
    table_20(
        "For lists of 2^12 links and more a multipool each gains a factor of four and more.",
        and_beside(lambda label: benefit(LARGE_LISTS, label), 4.0),
        claimed=(4.0, 16.0),
    ),
    table_20(
        "With fewest transitions and lists of up to 2^4 links it gains little.",
        and_beside(lambda label: benefit(lists(largest=4, split=0), label), 0.8, 1.25),
    ),
    table_20(
        "With most transitions it gains least for lists of middling size, around 2^8 links.",
        and_beside(
            lambda label: together(
                along(SUBSYSTEM, 8, 2, benefit(MOST_TRANSITIONS, label)),
                along(SUBSYSTEM, 8, 18, benefit(MOST_TRANSITIONS, label)),
            )
        ),
    ),
    # Told without a table.
    table_20(
        "Systems of less than 2^18 links, which caches hold, gain nothing from local heaps.",
        and_beside(lambda label: benefit(small_systems, label), 0.8, 1.2),
    ),
]
