"""Benchmark II: what shuffling does to the time of the same walks.

15   all shuffles of each |S|: time after them over that before           one heap for all, AS1
16   all splits of af and rf of each |S|: time after over before          one heap for all, AS1
18   the same                                                             a multipool each, AS7
20   16 over 18: how many times less a multipool each degrades
     18 of fifo_multipool, which reuses first what was freed first
and then everybody's, as the median of all splits, and times in ns; single runs have a table of their own
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from mallard import figures
from mallard_bench.papers import BASE, MULTIPOOL
from mallard_bench.repeated import Repeated, middle_of
from mallard_bench.results import Key, Result, Row
from mallard_bench.tables.columns import (
    AGAIN,
    MEMORY_TITLE,
    cold,
    compared,
    memory_table,
    other_columns,
    over,
    paper_columns,
    plain,
    three_digits,
    warm,
)
from mallard_bench.tables.grid import Cell, Column, Columns, Grid, Line, Section, around_one

ONE_HEAP, OWN_HEAP = BASE, MULTIPOOL[0]
FIFO: Key = (None, "fifo_multipool", "typed", "normal")
CORNER = "|S|"
AFTER = "CPU time after the shuffle over that before"


def sections(results: Sequence[Result]) -> Iterator[Section]:
    """Yield the tables in the paper's order."""
    factors, splits = of_table(results, "factors"), of_table(results, "splits")
    whose = ((ONE_HEAP, "one heap for all (AS1)"), (OWN_HEAP, "a multipool each (AS7)"))
    both = [of for of in splits if has(of, ONE_HEAP) and has(of, OWN_HEAP)]
    beyond = [of for of in splits if has_others(of)]
    tables = {
        "15": [shuffles(of, *who) for of in factors for who in whose if has(of, who[0])],
        "16": [degradation(of, *whose[0]) for of in splits if has(of, ONE_HEAP)],
        "18": [degradation(of, *whose[1]) for of in splits if has(of, OWN_HEAP)],
        "20": [benefit(of) for of in both],
        "beyond": [
            *(degradation(of, FIFO, "a fifo_multipool each") for of in splits if has(of, FIFO)),
            *(table for of in beyond for table in (degradations(of), after(of), times(of), held(of))),
        ],
        "runs": [run(result) for result in results if result.group["table"] == "run"],
    }
    for name, found in tables.items():
        if found:
            yield Section(name, found)


def of_table(results: Sequence[Result], table: str) -> list[list[Result]]:
    """Return the results of a kind, those with as many links together, large lists first.

    The paper has a table for each strategy, we have all strategies in a group: groups of a size are one.
    """
    of: dict[int, dict[int, Result]] = {}
    for result in results:
        if result.group["table"] == table:
            same = of.setdefault(int(result.group["global"]), {})
            known = same.get(lists(result))
            same[lists(result)] = replace(known, rows=known.rows + result.rows) if known else result
    return [[same[size] for size in sorted(same, reverse=True)] for _, same in sorted(of.items())]


def lists(result: Result) -> int:
    """Return the exponent of how many links a list has."""
    return int(result.group["subsystem"])


def has(results: Sequence[Result], who: str | Key) -> bool:
    """Return whether a strategy takes part, told by its label or its key."""
    return any(row_of(result, who) for result in results)


def has_others(results: Sequence[Result]) -> bool:
    """Return whether anything is measured that is not in the paper."""
    return any(row.label is None for result in results for row in result.rows)


def shuffles(results: Sequence[Result], label: str, heap: str) -> Grid:
    """Return Table 15: a column for each factor of shuffling."""
    factors = sorted({row.factor for result in results for row in result.rows if row.factor is not None})

    def cells(result: Result) -> list[Cell]:
        before = row_of(result, label, factor=0)
        return [over(row_of(result, label, factor=factor), before) for factor in factors]

    title = f"10^{links(results)} links, {heap}: {AFTER}"
    headings = [Columns("times shuffled", [Column(str(factor)) for factor in factors])]
    lines = [Line(f"10^{lists(result)}", cells(result), result.skipped) for result in results]
    of = f"factors {links(results)} {label}"
    return Grid(title, CORNER, headings, lines, papers=of).coloured()


def degradation(results: Sequence[Result], who: str | Key, heap: str) -> Grid:
    """Return Table 16 or 18, or the like of another strategy: a column for each split of accesses."""

    def cells(result: Result) -> list[Cell]:
        return [degraded(result, who, split) for split in splits(results)]

    title = f"2^{links(results)} links, {heap}: {AFTER}"
    of = f"splits {links(results)} {who}" if isinstance(who, str) else None
    return Grid(title, CORNER, [by_split(results)], lines(results, cells), papers=of).coloured()


def benefit(results: Sequence[Result]) -> Grid:
    """Return Table 20: Table 16 over Table 18."""

    def cells(result: Result) -> list[Cell]:
        return [
            quotient(degraded(result, ONE_HEAP, split), degraded(result, OWN_HEAP, split))
            for split in splits(results)
        ]

    title = f"2^{links(results)} links: how many times less a multipool each degrades"
    of = f"benefit {links(results)}"
    grid = Grid(title, CORNER, [by_split(results)], lines(results, cells), papers=of)
    return replace(grid, heat=around_one(more_is_better=True))


def degradations(results: Sequence[Result]) -> Grid:
    """Return how everybody degrades, over all splits."""
    headings, keys = everybody(results)

    def cells(result: Result) -> list[Cell]:
        return [middle([degraded(result, key, split) for split in splits(results)]) for key in keys]

    title = f"2^{links(results)} links, everybody: {AFTER}, median of all splits"
    return Grid(title, CORNER, headings, lines(results, cells)).coloured()


def after(results: Sequence[Result]) -> Grid:
    """Return everybody's times after the shuffle, over all splits."""
    headings, keys = everybody(results)

    def cell(result: Result, key: Key, repeated: bool = False) -> Cell:
        return middle(
            [
                over(
                    row_of(result, key, repeated=repeated, split=split, shuffled=True),
                    row_of(result, ONE_HEAP, split=split, shuffled=True),
                )
                for split in splits(results)
            ]
        )

    def cells(result: Result) -> list[Cell]:
        first = row_of(result, ONE_HEAP)
        again = [cell(result, first.key, repeated=True)] if first else [Cell()]
        return [*(cell(result, key) for key in keys), *again]

    title = (
        f"2^{links(results)} links, everybody: CPU time after the shuffle over AS1's, median of all splits"
    )
    return Grid(title, CORNER, [*headings, AGAIN], lines(results, cells), around_one())


def times(results: Sequence[Result]) -> Grid:
    """Return the times themselves, with the fewest and the most transitions between lists."""
    ends = (min(splits(results)), max(splits(results)))
    labels = [label for label in (ONE_HEAP, OWN_HEAP) if has(results, label)]

    def cells(result: Result) -> list[Cell]:
        return [
            plain(row_of(result, label, split=split, shuffled=shuffled), time, three_digits)
            for label in labels
            for split, time in ((ends[0], cold), (ends[0], warm), (ends[1], warm))
            for shuffled in (False, True)
        ]

    when = [Column("before"), Column("after")]
    headings = [
        Columns(f"{label}, {walks}", when)
        for label in labels
        for walks in ("first", *(f"2^-{split}" for split in ends))
    ]
    title = (
        f"2^{links(results)} links: ns of CPU time an access, of the first walk and later, "
        "before and after the shuffle"
    )
    return Grid(title, CORNER, headings, lines(results, cells)).coloured()


def held(results: Sequence[Result]) -> Grid:
    """Return what processes held."""
    return memory_table(results, f"2^{links(results)} links, {MEMORY_TITLE}", CORNER, line)


def run(result: Result) -> Grid:
    """Return a single run: a row for each strategy, seconds of each part."""
    parts = list(dict.fromkeys(row.part for row in result.rows if row.part))
    keys = list(dict.fromkeys(row.key for row in result.rows))
    group = result.group

    def cells(key: Key) -> list[Cell]:
        found = (row_of(result, key, part=part) for part in parts)
        return [replace(plain(row, took, figures.time), value=None) for row in found]

    first = "before" if group["access_first"] else "after"
    title = (
        f"{group['global']:,} links in lists of {group['subsystem']:,}, walked {group['access']} times each, "
        f"{group['repeat']} times over, {first} {group['shuffles']} shuffles"
    )
    rows = [Line(key[0] or key[1], cells(key), result.skipped) for key in keys]
    return Grid(title, "", [Columns("", [Column(part) for part in parts])], rows)


def took(row: Row) -> Repeated | None:
    """Return how many ns a part of a run took."""
    return None if row.warm is None or row.events is None else row.warm.times(row.events)


def row_of(result: Result, who: str | Key, repeated: bool = False, **which: float | str) -> Row | None:
    """Return a figure of a strategy, told by its label or its key."""
    return next(
        (
            row
            for row in result.rows
            if who in (row.label, row.key)
            and row.repeated == repeated
            and all(getattr(row, name) == value for name, value in which.items())
        ),
        None,
    )


def degraded(result: Result, who: str | Key, split: int) -> Cell:
    """Return how many times slower a walk is after the shuffle."""
    return over(
        row_of(result, who, split=split, shuffled=True), row_of(result, who, split=split, shuffled=False)
    )


def quotient(above: Cell, below: Cell) -> Cell:
    """Return one ratio over another."""
    if above.figure is None or below.figure is None:
        return above if above.figure is None else below
    ratio = above.figure.over(below.figure)
    return Cell() if ratio is None else compared(ratio)


def middle(cells: Sequence[Cell]) -> Cell:
    """Return the median of ratios, round by round; without any how it ended."""
    ratios = [cell.figure for cell in cells if cell.figure is not None]
    if not ratios:
        return cells[0] if cells else Cell()
    return compared(middle_of(ratios))


def everybody(results: Sequence[Result]) -> tuple[list[Columns], list[Key]]:
    """Return the columns of all strategies, the paper's first, and what tells them apart."""
    headings, labels = paper_columns(results)
    more, others = other_columns(results)
    known = {row.label: row.key for result in results for row in result.rows}
    return [*headings, *more], [*(known[label] for label in labels), *others]


def splits(results: Sequence[Result]) -> list[int]:
    """Return which splits of af and rf were measured."""
    return sorted({row.split for result in results for row in result.rows if row.split is not None})


def by_split(results: Sequence[Result]) -> Columns:
    """Return the columns of all splits, as the paper names them."""
    return Columns("few transitions to many", [Column(f"2^-{split}") for split in splits(results)])


def links(results: Sequence[Result]) -> int:
    """Return the exponent of how many links there are in all."""
    return int(results[0].group["global"])


def lines(results: Sequence[Result], cells: Callable[[Result], list[Cell]]) -> list[Line]:
    """Return a row for each size of a list."""
    return [line(result, cells(result)) for result in results]


def line(result: Result, cells: Sequence[Cell]) -> Line:
    """Return the row of a size."""
    return Line(f"2^{lists(result)}", cells, result.skipped)
