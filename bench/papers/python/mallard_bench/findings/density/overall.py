"""Over all data structures: the end of section 7."""

from mallard_bench.families import COMPOSITE, LOCAL, MONOTONIC, MULTIPOOL
from mallard_bench.findings.density.ratios import (
    GLOBAL_VIRTUAL,
    LOCAL_KEPT,
    LOCAL_VIRTUAL,
    all_of,
    compare,
    kept,
    like,
)
from mallard_bench.findings.finding import Finding, Judge
from mallard_bench.findings.judge import MOSTLY, each, made_by, middle, provided, quotient, together
from mallard_bench.findings.measured import Measured

EVERY = " ".join(f"DS{number}" for number in range(1, 13))
OF_CONTAINERS = "DS5 DS6 DS7 DS8 DS9 DS10 DS11 DS12"
SETS_OF_INT = "DS3 DS7 DS11"
NO_SETS_OF_INT = "DS1 DS2 DS4 DS5 DS6 DS8 DS9 DS10 DS12"


def overall(
    sentence: str, structures: str, judge: Judge, claimed: tuple[float, float] | None = None
) -> Finding:
    """Return a finding about some structures: of a part of them it cannot be told."""

    def all_measured(table: Measured) -> bool:
        return set(structures.split()) <= {key[0] for key, cell in table.cells.items() if cell.time}

    return Finding("all", "7", sentence, provided(all_measured, judge), claimed)


OVERALL = [
    overall(
        "Multipool is usually four to twenty times as fast as the global allocator.",
        EVERY,
        middle(compare(EVERY, all_of(["AS1"], MULTIPOOL)), 4.0, 20.0),
        claimed=(4.0, 20.0),
    ),
    overall(
        "Access through a base class costs a few percent, where it costs anything.",
        EVERY,
        middle(compare(EVERY, [*GLOBAL_VIRTUAL, *LOCAL_VIRTUAL]), 1.0, 1.1),
        claimed=(1.02, 1.1),
    ),
    overall(
        "Without an unordered_set<int> inside multipool gains much more than monotonic.",
        NO_SETS_OF_INT,
        middle(compare(NO_SETS_OF_INT, like(MONOTONIC, MULTIPOOL)), 1.5),
    ),
    overall(
        "Without an unordered_set<int> inside monotonic is 1.2 to 2.5 times as fast as the global allocator.",
        NO_SETS_OF_INT,
        middle(compare(NO_SETS_OF_INT, all_of(["AS1"], MONOTONIC)), 1.2, 2.5),
        claimed=(1.2, 2.0),
    ),
    overall(
        "With an unordered_set<int> inside monotonic is more than five times as fast, too.",
        SETS_OF_INT,
        middle(compare(SETS_OF_INT, all_of(["AS1"], MONOTONIC)), 5.0),
        claimed=(5.0, 5.0),
    ),
    overall(
        "Wink-out wins modestly nearly everywhere.",
        EVERY,
        each(compare(EVERY, LOCAL_KEPT), share=MOSTLY),
    ),
    overall(
        "With unordered_set<int> inside, wink-out gains most with multipool over monotonic.",
        "DS7 DS11",
        each(
            together(
                quotient(compare("DS7 DS11", kept(COMPOSITE)), compare("DS7 DS11", kept(MULTIPOOL))),
                quotient(compare("DS7 DS11", kept(COMPOSITE)), compare("DS7 DS11", kept(MONOTONIC))),
            )
        ),
    ),
    overall(
        "With unordered_set<string> inside, wink-out gains most with multipool.",
        "DS8 DS12",
        each(
            together(
                quotient(compare("DS8 DS12", kept(MULTIPOOL)), compare("DS8 DS12", kept(COMPOSITE))),
                quotient(compare("DS8 DS12", kept(MULTIPOOL)), compare("DS8 DS12", kept(MONOTONIC))),
            )
        ),
    ),
    overall(
        "With vector<string> inside, wink-out makes no difference with multipool.",
        "DS6 DS10",
        each(compare("DS6 DS10", kept(MULTIPOOL)), 0.94, 1.06),
    ),
    overall(
        "Strategies compare alike with a set outside (DS9 to DS12) and a vector (DS5 to DS8).",
        OF_CONTAINERS,
        each(
            quotient(
                compare("DS9 DS10 DS11 DS12", all_of(["AS1"], LOCAL)),
                compare("DS5 DS6 DS7 DS8", all_of(["AS1"], LOCAL)),
            ),
            least=0.7,
            most=1.5,
        ),
    ),
    # Told without a table.
    overall(
        "Made by clang, vectors of containers take two to three times as long through a base class.",
        "DS5 DS6 DS7 DS8",
        made_by("clang", middle(compare("DS5 DS6 DS7 DS8", LOCAL_VIRTUAL), 1.8, 3.3)),
        claimed=(2.0, 3.0),
    ),
    overall(
        "Monotonic gains more with int inside than with string.",
        OF_CONTAINERS,
        each(
            quotient(
                compare("DS5 DS7 DS9 DS11", all_of(["AS1"], MONOTONIC)),
                compare("DS6 DS8 DS10 DS12", all_of(["AS1"], MONOTONIC)),
            )
        ),
    ),
]
