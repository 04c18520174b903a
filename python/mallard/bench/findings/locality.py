"""What the paper found in benchmark II, section 8: what a shuffle costs the walk over each subsystem.

    diffusion   time of a walk after the shuffle / before it       AS1: one malloc, AS7: a multipool each
    benefit     diffusion without / with a multipool for each subsystem

With split 0 a list is walked most often before the next one, with split 8 once: 2^8 times the transitions.
What is found of Tables 16, 18 and 20 is also found of 17, 19 and 21, those of the larger system.
"""

from collections.abc import Callable, Mapping
from functools import partial

from mallard.bench.findings.finding import Finding
from mallard.bench.findings.interval import Interval
from mallard.bench.findings.judge import ALWAYS, Ratios, each, quotient, together
from mallard.bench.findings.measured import Measured

Place = tuple[int, int, int, int]  # links of the system, links of a subsystem, split, shuffles
Where = Callable[[int, int, int], bool]  # of system, subsystem, split
SYSTEM, SUBSYSTEM, SPLIT, SHUFFLES = range(4)

WITHOUT, WITH = "AS1", "AS7"
TABLE_15 = 10**7
FITS_CACHES = 1 << 18
LAST_SPLIT = 8


def diffusion(label: str, where: Where) -> Ratios:
    """Return what shuffling costs a strategy, at some places."""

    def ratios(table: Measured) -> Mapping[Place, Interval]:
        found = {}
        for system, subsystem, shuffles, split, shuffled, who in table.cells:
            if shuffled and who == label and where(system, subsystem, split):
                after = table.time(system, subsystem, shuffles, split, True, who)
                before = table.time(system, subsystem, shuffles, split, False, who)
                if after and before:
                    found[system, subsystem, split, shuffles] = after / before
        return found

    return ratios


def benefit(where: Where) -> Ratios:
    """Return how much less a multipool each diffuses, at some places."""
    return quotient(diffusion(WITHOUT, where), diffusion(WITH, where))


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


def lists(smallest: int = 1, largest: int | None = None, split: int | None = None) -> Where:
    """Choose from Tables 16 to 19 by links of a list and by split, never their first row, a single list."""

    def where(system: int, subsystem: int, at: int) -> bool:
        usual = system != TABLE_15 and system >= FITS_CACHES and subsystem < system
        large_enough = smallest <= subsystem <= (largest or system)
        return usual and large_enough and split in (None, at)

    return where


def table_15_lists(system: int, subsystem: int, _: int) -> bool:
    """Choose Table 15 without its first row, which is a single list."""
    return system == TABLE_15 and subsystem < system


def table_15_single(system: int, subsystem: int, _: int) -> bool:
    """Choose the first row of Table 15."""
    return system == subsystem == TABLE_15


def small_systems(system: int, subsystem: int, _: int) -> bool:
    """Choose systems that lie in the caches whole."""
    return subsystem < system < FITS_CACHES


EVERYWHERE = lists()
MOST_TRANSITIONS = lists(split=LAST_SPLIT)

table_15 = partial(Finding, "15", "8")
table_16 = partial(Finding, "16", "8")
table_18 = partial(Finding, "18", "8")
table_20 = partial(Finding, "20", "8")

FINDINGS = [
    table_15(
        "Shuffling links between lists makes the walk over each of them several times slower.",
        each(diffusion(WITHOUT, table_15_lists), 2.0, share=ALWAYS),
    ),
    table_15(
        "A single shuffle does most of the harm; nine do little more.",
        each(along(SHUFFLES, 1, 9, diffusion(WITHOUT, table_15_lists)), 0.9, 1.5, ALWAYS),
    ),
    table_15(
        "Shuffling the links of one single list changes nothing.",
        each(diffusion(WITHOUT, table_15_single), 0.9, 1.1),
    ),
    table_15(
        "The harm is larger with few large lists than with many small ones.",
        each(along(SUBSYSTEM, 10**3, 10**6, diffusion(WITHOUT, table_15_lists))),
    ),
    table_16(
        "With most transitions, walks over lists of 2^6 links and more get ten times slower.",
        each(diffusion(WITHOUT, lists(smallest=1 << 6, split=LAST_SPLIT)), 10.0),
        claimed=(10.0, 20.0),
    ),
    table_16(
        "With fewest transitions and small lists there is next to no harm.",
        each(diffusion(WITHOUT, lists(largest=1 << 5, split=0)), 0.7, 1.4),
    ),
    table_16(
        "With fewest transitions the harm tapers off quickly from large lists to small ones.",
        each(along(SUBSYSTEM, 1 << 8, 1 << 18, diffusion(WITHOUT, lists(split=0))), 3.0, share=ALWAYS),
    ),
    table_16(
        "The harm grows with the number of transitions, for lists of up to 2^16 links.",
        each(along(SPLIT, 0, LAST_SPLIT, diffusion(WITHOUT, lists(largest=1 << 16))), share=ALWAYS),
    ),
    table_16(
        "With lists of one link, two walks a visit suffer more than a single one.",
        each(along(SPLIT, LAST_SPLIT, LAST_SPLIT - 1, diffusion(WITHOUT, lists(largest=1)))),
    ),
    table_18(
        "With a multipool each, walks get at most three times slower.",
        each(diffusion(WITH, EVERYWHERE), 0.0, 3.0, ALWAYS),
    ),
    table_18(
        "With a multipool each, walks get less than twice slower nearly everywhere.",
        each(diffusion(WITH, EVERYWHERE), 0.0, 2.0),
    ),
    table_18(
        "With a multipool each, the harm does not depend on the size of the whole system.",
        each(along(SYSTEM, 1 << 21, 1 << 25, diffusion(WITH, EVERYWHERE)), 0.85, 1.15),
    ),
    table_20(
        "For lists of 2^12 links and more a multipool each gains a factor of four and more.",
        each(benefit(lists(smallest=1 << 12)), 4.0),
        claimed=(4.0, 16.0),
    ),
    table_20(
        "With fewest transitions and lists of up to 2^4 links it gains little.",
        each(benefit(lists(largest=1 << 4, split=0)), 0.8, 1.25),
    ),
    table_20(
        "With most transitions it gains least for lists of middling size, around 2^8 links.",
        each(
            together(
                along(SUBSYSTEM, 1 << 8, 1 << 2, benefit(MOST_TRANSITIONS)),
                along(SUBSYSTEM, 1 << 8, 1 << 18, benefit(MOST_TRANSITIONS)),
            )
        ),
    ),
    # Told without a table.
    table_20(
        "Systems of less than 2^18 links, which caches hold, gain nothing from local heaps.",
        each(benefit(small_systems), 0.8, 1.2),
    ),
]
