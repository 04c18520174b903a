"""DS5 to DS8, vectors of containers: sections 7.5 to 7.8."""

from mallard_bench.families import COMPOSITE, GLOBAL, LOCAL, MONOTONIC, MULTIPOOL
from mallard_bench.findings.density.ratios import (
    GLOBAL_VIRTUAL,
    LOCAL_VIRTUAL,
    all_of,
    grown,
    kept,
)
from mallard_bench.findings.density.structure import Structure
from mallard_bench.findings.judge import ALWAYS, MOSTLY, each, middle, quotient

FROM_2_10 = (10, 16)
AROUND_2_12 = (10, 13)

ds5 = Structure(5)
DS5 = [
    ds5.finds(
        "Every local heap is several times as fast as the global allocator.",
        each(ds5.compare(all_of(GLOBAL, LOCAL)), 2.5),
        claimed=(3.0, 7.0),
    ),
    ds5.finds(
        "The base class makes no significant difference.",
        middle(ds5.compare([*GLOBAL_VIRTUAL, *LOCAL_VIRTUAL]), 0.9, 1.1),
    ),
    ds5.finds(
        "Wink-out gains with multipool.",
        each(ds5.compare(kept(MULTIPOOL)), share=MOSTLY),
        claimed=(1.1, 1.3),
    ),
    ds5.multipool_is_best(),
    # The paper's own table cannot tell it of AS9 and AS10, which rise by the last of their two digits.
    ds5.finds(
        "Beyond 2^14 vectors everything takes longer an element.",
        each(grown(ds5.times((*GLOBAL, *LOCAL)), 14, 16)),
    ),
]

ds6 = Structure(6)
DS6 = [
    ds6.global_is_slowest(),
    ds6.finds(
        "The base class makes no significant difference.",
        each(ds6.compare([*GLOBAL_VIRTUAL, *LOCAL_VIRTUAL]), 0.95, 1.05),
    ),
    ds6.multipool_is_best(),
    ds6.winkout_is_nothing_with_multipool(),
    ds6.finds(
        "Wink-out gains wherever there is a monotonic heap.",
        each(ds6.compare([*kept(MONOTONIC), *kept(COMPOSITE)])),
        claimed=(1.05, 1.15),
    ),
    ds6.abruptly_longer("vectors", (1.12, 2.0)),
    ds6.finds(
        "Beyond 2^13 vectors the global allocator gets faster, other than local heaps.",
        each(
            quotient(
                grown(ds6.times(LOCAL), 13, 16),
                grown(ds6.times(["AS1"] * len(LOCAL)), 13, 16),
            )
        ),
    ),
]

ds7 = Structure(7)
DS7 = [
    ds7.finds(
        "The global allocator is by far the slowest.",
        each(ds7.compare(all_of(GLOBAL, LOCAL)), 4.0, share=ALWAYS),
    ),
    ds7.virtual_is_nothing_for_global(),
    ds7.virtual_slows_local((1.05, 1.15)),
    # Winked out, the paper's own table has multipool over monotonic ahead by 1 to 2 % up to 2^11.
    ds7.multipool_is_best(),
    ds7.finds(
        "Around 2^12 sets multipool is nearly twenty times as fast as the global allocator.",
        each(ds7.compare([("AS1", MULTIPOOL)], AROUND_2_12), 15.0, 25.0),
        claimed=(20.0, 20.0),
    ),
    ds7.winkout_gains((1.05, 1.35)),
    ds7.winkout_gains_most_with_composite(),
    ds7.global_is_slowest_around_2_13("sets"),
    ds7.local_takes_longer_in_larger(),
]

ds8 = Structure(8)
DS8 = [
    ds8.global_is_slowest(),
    ds8.multipool_is_best(),
    ds8.finds(
        "The global allocator is consistently slower through a base class.",
        each(ds8.compare(GLOBAL_VIRTUAL)),
        claimed=(1.1, 1.1),
    ),
    ds8.finds(
        "Multipool is faster through a base class than directly, from 2^10 sets.",
        each(ds8.compare([("AS7", "AS9")], FROM_2_10)),
        claimed=(1.05, 1.07),
    ),
    ds8.winkout_gains((1.05, 1.25)),
    ds8.global_is_slowest_around_2_13("sets"),
    ds8.local_takes_longer_in_larger(),
]
