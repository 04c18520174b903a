"""Which strategies have columns, under whose headings; only what was measured has one."""

from collections.abc import Sequence

from mallard_bench.families import FAMILIES, word
from mallard_bench.results import Key, Result, Row
from mallard_bench.tables.grid import Column, Columns

MAKERS = ("std", "boost")
OURS = "mallard"
AGAIN = Columns("", [Column("A/A")])


def papers(results: Sequence[Result]) -> tuple[list[Columns], list[str]]:
    """Return the columns of the paper's strategies, and their labels in the same order."""
    measured = {row.label for result in results for row in result.rows}
    known = {family: [label for label in labels if label in measured] for family, labels in FAMILIES.items()}
    columns = [
        Columns(family, [Column(label, word(label)) for label in labels])
        for family, labels in known.items()
        if labels
    ]
    return columns, [label for labels in known.values() for label in labels]


def others(results: Sequence[Result]) -> tuple[list[Columns], list[Key]]:
    """Return the columns of all other strategies, and what tells them apart in the same order."""
    makers: dict[str, dict[Key, Row]] = {}
    for result in results:
        for row in result.rows:
            if row.label is None:
                makers.setdefault(maker(row), {}).setdefault(row.key, row)
    columns = [Columns(of, [column(row) for row in rows.values()]) for of, rows in makers.items()]
    return columns, [key for rows in makers.values() for key in rows]


def maker(row: Row) -> str:
    """Return whose strategy it is, or that it is another malloc under AS1."""
    if row.binding == "malloc":
        return "AS1 over other mallocs"
    start = row.strategy.partition(".")[0]
    return start if start in MAKERS else OURS


def column(row: Row) -> Column:
    """Return the heading of a strategy under its maker's; winked out it stands beside itself."""
    if row.destruction == "winkout":
        return Column("wink", whole=f"{row.strategy} wink")
    of = maker(row)
    how = "virt" if of == OURS and row.binding == "pmr" else ""
    return Column(row.strategy.removeprefix(f"{of}."), how, f"{row.strategy} {how}".strip())
