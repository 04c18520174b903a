"""What long use does to walks over lists of 2^12 links and more: the table of docs/strategies/multipool.md.

            lists walked 256 times a visit     walked once a visit
glibc       11.2 to 380                        75 to 290
"""

from collections.abc import Iterator

from beside_paper import line, ratio
from mallard_bench.findings.measured import Measured
from mallard_bench.papers import BESIDE, LAST_SPLIT, WITH, WITHOUT
from mallard_bench.tables.columns import three_digits

LEAST = 12  # links of a list, as an exponent
LEAST_SYSTEM = 21
HEAPS = {WITHOUT: "`glibc`, one heap for all", WITH: "`multipool` each", BESIDE: f"`{BESIDE}` each"}
SPLITS = {0: f"lists walked {2**LAST_SPLIT} times a visit", LAST_SPLIT: "walked once a visit"}


def lines(table: Measured) -> Iterator[str]:
    """Yield the lines of the table."""
    yield line(["after the shuffle over before", *SPLITS.values()])
    yield line(["---", *["---:"] * len(SPLITS)])
    for label, name in HEAPS.items():
        yield line([name, *(extent(list(walks(table, label, split))) for split in SPLITS)])


def walks(table: Measured, label: str, split: int) -> Iterator[float]:
    """Yield what a heap's walks take after the shuffle over before, of all large lists but single ones."""
    for kind, links, lists, at, shuffled, _, who in table.cells:
        if (kind, at, shuffled, who) == (
            "splits",
            split,
            True,
            label,
        ) and LEAST <= lists < links >= LEAST_SYSTEM:
            after = table.cells[kind, links, lists, at, True, None, who]
            of = ratio(after, table.cells.get((kind, links, lists, at, False, None, who)))
            if of is not None:
                yield of


def extent(values: list[float]) -> str:
    """Return between which figures all lie."""
    if not values:
        return "-"
    least, most = three_digits(min(values)), three_digits(max(values))
    return least if least == most else f"{least} to {most}"
