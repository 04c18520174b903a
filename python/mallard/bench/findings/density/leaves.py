"""DS1 to DS4, containers of int and of string: sections 7.1 to 7.4."""

from functools import partial

from mallard.bench.findings.density.ratios import (
    COMPOSITE,
    GLOBAL,
    GLOBAL_VIRTUAL,
    LOCAL,
    LOCAL_KEPT,
    LOCAL_VIRTUAL,
    MONOTONIC,
    MULTIPOOL,
    OTHERS_TO_MULTIPOOL,
    all_of,
    compare,
    grown,
    like,
    times,
)
from mallard.bench.findings.finding import Finding
from mallard.bench.findings.judge import ALWAYS, MOSTLY, each, middle

FROM_2_8 = (8, 16)
FROM_2_12 = (12, 16)
UP_TO_2_7 = (6, 7)

ds1 = partial(Finding, "DS1", "7.1")
DS1 = [
    ds1(
        "Direct access is faster than access through a base class.",
        each(compare("DS1", [("AS2", "AS1"), ("AS5", "AS3"), ("AS9", "AS7"), ("AS13", "AS11")])),
    ),
    ds1(
        "The base class costs the global allocator a quarter, from 2^8 elements.",
        each(compare("DS1", GLOBAL_VIRTUAL, FROM_2_8), 1.1, 1.4),
        claimed=(1.2, 1.25),
    ),
    ds1(
        "With 64 and 128 elements the base class costs the global allocator much more.",
        each(compare("DS1", GLOBAL_VIRTUAL, UP_TO_2_7), 1.4, share=ALWAYS),
        claimed=(1.6, 1.7),
    ),
    ds1(
        "In each heap direct access with normal destruction is the fastest.",
        each(
            compare(
                "DS1",
                [pair for of in (MONOTONIC, MULTIPOOL, COMPOSITE) for pair in all_of(of[1:], of[:1])],
            )
        ),
        claimed=(1.5, 1.8),
    ),
    ds1(
        "Winked out, direct access and the base class take the same.",
        middle(compare("DS1", [("AS6", "AS4"), ("AS10", "AS8"), ("AS14", "AS12")]), 0.9, 1.1),
    ),
    ds1(
        "From 2^8 elements every local heap is at least nearly twice as fast as the global one.",
        each(compare("DS1", all_of(["AS1"], LOCAL), FROM_2_8), 1.7),
        claimed=(2.0, 2.0),
    ),
]

ds2 = partial(Finding, "DS2", "7.2")
DS2 = [
    ds2(
        "For the global allocator the base class makes no difference.",
        each(compare("DS2", GLOBAL_VIRTUAL), 0.95, 1.05, ALWAYS),
    ),
    # Without exception, says the paper; its own table has monotonic at 1.45 with 2^15 strings.
    ds2(
        "Every local heap is much faster than the global allocator.",
        each(compare("DS2", all_of(GLOBAL, LOCAL)), 1.5),
        claimed=(1.75, 6.75),
    ),
    ds2(
        "Multipool is the fastest, then multipool over monotonic, then monotonic.",
        each(compare("DS2", [*like(COMPOSITE, MULTIPOOL), *like(MONOTONIC, COMPOSITE)])),
    ),
    ds2(
        "Multipool is about five times as fast as the global allocator.",
        each(compare("DS2", all_of(["AS1"], MULTIPOOL)), 4.0, 6.5),
        claimed=(5.0, 5.0),
    ),
    ds2(
        "Beyond 2^14 elements everything takes abruptly longer.",
        each(grown(times("DS2", (*GLOBAL, *LOCAL)), 14, 15), 1.1, share=ALWAYS),
    ),
    ds2(
        "For local heaps the base class makes little difference.",
        each(compare("DS2", LOCAL_VIRTUAL), 0.95, 1.05),
    ),
    ds2(
        "Wink-out gains a little.",
        each(compare("DS2", LOCAL_KEPT), share=MOSTLY),
        claimed=(1.01, 1.09),
    ),
]

ds3 = partial(Finding, "DS3", "7.3")
DS3 = [
    ds3(
        "The global allocator is always the slowest.",
        each(compare("DS3", all_of(GLOBAL, LOCAL)), share=ALWAYS),
    ),
    ds3(
        "The global allocator takes much longer an element in larger sets.",
        each(grown(times("DS3", GLOBAL)), 1.5, share=ALWAYS),
    ),
    ds3(
        "Local heaps take as long an element in large sets as in small ones.",
        each(grown(times("DS3", LOCAL)), 0.75, 1.2, ALWAYS),
    ),
    ds3(
        "Access through a base class is somewhat slower.",
        each(compare("DS3", [*GLOBAL_VIRTUAL, *LOCAL_VIRTUAL])),
        claimed=(1.01, 1.1),
    ),
    ds3(
        "Wink-out wins everywhere.",
        each(compare("DS3", LOCAL_KEPT)),
        claimed=(1.05, 1.1),
    ),
    ds3(
        "Multipool is the best heap.",
        each(compare("DS3", OTHERS_TO_MULTIPOOL), share=MOSTLY),
    ),
    ds3(
        "Multipool accessed directly and winked out is the fastest of all.",
        each(compare("DS3", all_of([*GLOBAL, *(label for label in LOCAL if label != "AS8")], ["AS8"]))),
    ),
    ds3(
        "In large sets that is five to seven times as fast as the global allocator.",
        each(compare("DS3", [("AS1", "AS8")], FROM_2_12), 5.0, 7.0),
        claimed=(5.0, 7.0),
    ),
]

ds4 = partial(Finding, "DS4", "7.4")
DS4 = [
    ds4(
        "The global allocator is always the slowest.",
        each(compare("DS4", all_of(GLOBAL, LOCAL)), share=ALWAYS),
    ),
    ds4(
        "Everything takes longer an element in larger sets, local heaps too.",
        each(grown(times("DS4", (*GLOBAL, *LOCAL))), share=ALWAYS),
    ),
    ds4(
        "The base class costs the global allocator a fifth.",
        each(compare("DS4", GLOBAL_VIRTUAL), 1.1, 1.35),
        claimed=(1.2, 1.2),
    ),
    ds4(
        "The base class costs local heaps next to nothing.",
        each(compare("DS4", LOCAL_VIRTUAL), 0.95, 1.05),
        claimed=(1.01, 1.01),
    ),
    ds4(
        "Multipool is the best heap.",
        each(compare("DS4", OTHERS_TO_MULTIPOOL), share=MOSTLY),
    ),
    ds4(
        "Wink-out wins consistently.",
        each(compare("DS4", LOCAL_KEPT)),
        claimed=(1.01, 1.1),
    ),
    ds4(
        "Wink-out gains more in larger sets.",
        each(grown(compare("DS4", LOCAL_KEPT))),
    ),
    ds4(
        "Multipool winked out is at least nearly twice as fast as the global allocator.",
        each(compare("DS4", all_of(["AS1"], ["AS8", "AS10"])), 1.8),
        claimed=(2.0, 2.0),
    ),
    ds4(
        "Multipool winked out is faster through a base class than directly.",
        each(compare("DS4", [("AS8", "AS10")])),
        claimed=(1.02, 1.04),
    ),
]
