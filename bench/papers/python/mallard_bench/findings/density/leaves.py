"""DS1 to DS4, containers of int and of string: sections 7.1 to 7.4."""

from mallard_bench.families import COMPOSITE, GLOBAL, LOCAL, MONOTONIC, MULTIPOOL
from mallard_bench.findings.density.ratios import (
    GLOBAL_VIRTUAL,
    LOCAL_KEPT,
    LOCAL_VIRTUAL,
    all_of,
    grown,
    like,
)
from mallard_bench.findings.density.structure import Structure
from mallard_bench.findings.judge import ALWAYS, MOSTLY, each, middle

FROM_2_8 = (8, 16)
FROM_2_12 = (12, 16)
UP_TO_2_7 = (6, 7)

ds1 = Structure(1)
DS1 = [
    ds1.finds(
        "Direct access is faster than access through a base class.",
        each(ds1.compare([("AS2", "AS1"), ("AS5", "AS3"), ("AS9", "AS7"), ("AS13", "AS11")])),
    ),
    ds1.finds(
        "The base class costs the global allocator a quarter, from 2^8 elements.",
        each(ds1.compare(GLOBAL_VIRTUAL, FROM_2_8), 1.1, 1.4),
        claimed=(1.2, 1.25),
    ),
    ds1.finds(
        "With 64 and 128 elements the base class costs the global allocator much more.",
        each(ds1.compare(GLOBAL_VIRTUAL, UP_TO_2_7), 1.4, share=ALWAYS),
        claimed=(1.6, 1.7),
    ),
    ds1.finds(
        "In each heap direct access with normal destruction is the fastest.",
        each(
            ds1.compare(
                [pair for of in (MONOTONIC, MULTIPOOL, COMPOSITE) for pair in all_of(of[1:], of[:1])],
            )
        ),
        claimed=(1.5, 1.8),
    ),
    ds1.finds(
        "Winked out, direct access and the base class take the same.",
        middle(ds1.compare([("AS6", "AS4"), ("AS10", "AS8"), ("AS14", "AS12")]), 0.9, 1.1),
    ),
    ds1.finds(
        "From 2^8 elements every local heap is at least nearly twice as fast as the global one.",
        each(ds1.compare(all_of(["AS1"], LOCAL), FROM_2_8), 1.7),
        claimed=(2.0, 2.0),
    ),
]

ds2 = Structure(2)
DS2 = [
    ds2.virtual_is_nothing_for_global(),
    # Without exception, says the paper; its own table has monotonic at 1.45 with 2^15 strings.
    ds2.finds(
        "Every local heap is much faster than the global allocator.",
        each(ds2.compare(all_of(GLOBAL, LOCAL)), 1.5),
        claimed=(1.75, 6.75),
    ),
    ds2.finds(
        "Multipool is the fastest, then multipool over monotonic, then monotonic.",
        each(ds2.compare([*like(COMPOSITE, MULTIPOOL), *like(MONOTONIC, COMPOSITE)])),
    ),
    ds2.finds(
        "Multipool is about five times as fast as the global allocator.",
        each(ds2.compare(all_of(["AS1"], MULTIPOOL)), 4.0, 6.5),
        claimed=(5.0, 5.0),
    ),
    ds2.finds(
        "Beyond 2^14 elements everything takes abruptly longer.",
        each(grown(ds2.times((*GLOBAL, *LOCAL)), 14, 15), 1.1, share=ALWAYS),
    ),
    ds2.finds(
        "For local heaps the base class makes little difference.",
        each(ds2.compare(LOCAL_VIRTUAL), 0.95, 1.05),
    ),
    ds2.finds(
        "Wink-out gains a little.",
        each(ds2.compare(LOCAL_KEPT), share=MOSTLY),
        claimed=(1.01, 1.09),
    ),
]

ds3 = Structure(3)
DS3 = [
    ds3.global_is_slowest(),
    ds3.finds(
        "The global allocator takes much longer an element in larger sets.",
        each(grown(ds3.times(GLOBAL)), 1.5, share=ALWAYS),
    ),
    ds3.finds(
        "Local heaps take as long an element in large sets as in small ones.",
        each(grown(ds3.times(LOCAL)), 0.75, 1.2, ALWAYS),
    ),
    ds3.finds(
        "Access through a base class is somewhat slower.",
        each(ds3.compare([*GLOBAL_VIRTUAL, *LOCAL_VIRTUAL])),
        claimed=(1.01, 1.1),
    ),
    ds3.finds(
        "Wink-out wins everywhere.",
        each(ds3.compare(LOCAL_KEPT)),
        claimed=(1.05, 1.1),
    ),
    ds3.multipool_is_best(),
    ds3.finds(
        "Multipool accessed directly and winked out is the fastest of all.",
        each(ds3.compare(all_of([*GLOBAL, *(label for label in LOCAL if label != "AS8")], ["AS8"]))),
    ),
    ds3.finds(
        "In large sets that is five to seven times as fast as the global allocator.",
        each(ds3.compare([("AS1", "AS8")], FROM_2_12), 5.0, 7.0),
        claimed=(5.0, 7.0),
    ),
]

ds4 = Structure(4)
DS4 = [
    ds4.global_is_slowest(),
    ds4.finds(
        "Everything takes longer an element in larger sets, local heaps too.",
        each(grown(ds4.times((*GLOBAL, *LOCAL))), share=ALWAYS),
    ),
    ds4.finds(
        "The base class costs the global allocator a fifth.",
        each(ds4.compare(GLOBAL_VIRTUAL), 1.1, 1.35),
        claimed=(1.2, 1.2),
    ),
    ds4.finds(
        "The base class costs local heaps next to nothing.",
        each(ds4.compare(LOCAL_VIRTUAL), 0.95, 1.05),
        claimed=(1.01, 1.01),
    ),
    ds4.multipool_is_best(),
    ds4.finds(
        "Wink-out wins consistently.",
        each(ds4.compare(LOCAL_KEPT)),
        claimed=(1.01, 1.1),
    ),
    ds4.finds(
        "Wink-out gains more in larger sets.",
        each(grown(ds4.compare(LOCAL_KEPT))),
    ),
    ds4.finds(
        "Multipool winked out is at least nearly twice as fast as the global allocator.",
        each(ds4.compare(all_of(["AS1"], ["AS8", "AS10"])), 1.8),
        claimed=(2.0, 2.0),
    ),
    ds4.finds(
        "Multipool winked out is faster through a base class than directly.",
        each(ds4.compare([("AS8", "AS10")])),
        claimed=(1.02, 1.04),
    ),
]
