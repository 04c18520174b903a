"""The papers' own values, from the folder expected_values: one file a benchmark, one sheet a table.

    density.csv    structure  log2_size  AS1   AS2  ...      row       cells
                   3          6          10.2  11.0 ...      (3, 6)    AS1: 10.2, AS2: 11.0 ...

The README beside the files says what a table is and in which unit; settings are exponents, as in the
groups of mallard-bench. Of the article about pools there is text, as its sentences have it.
"""

import csv
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

SETTINGS = ("structure", "table", "log2_", "log10_", "threads")
FAIL = "fail"


@dataclass(frozen=True)
class Printed:
    """A number as it is printed: the true one lies less than half of its last digit away."""

    value: float
    half_digit: float


@dataclass(frozen=True)
class Failure:
    """What the paper prints where memory ran out."""


Cell = Printed | Failure | None  # None: the paper's value is lost


@dataclass(frozen=True)
class Sheet:
    """One table, or several: by the settings of each row, the cell of each column."""

    settings: tuple[str, ...]
    columns: tuple[str, ...]
    rows: dict[tuple[int, ...], dict[str, Cell]]

    def of(self, first: int) -> "Sheet":
        """Return the table whose rows have this first setting, without it."""
        rows = {key[1:]: cells for key, cells in self.rows.items() if key[0] == first}
        return Sheet(self.settings[1:], self.columns, rows)


def density(structure: int) -> Sheet:
    """Return the table of DS1 ... DS12: size; AS1 ... AS14 in seconds."""
    return sheet("density").of(structure)


def locality(table: int) -> Sheet:
    """Return one of Tables 15 ... 21: size of a subsystem; shuffle_0 ... shuffle_9 or split_0 ... split_8."""
    return sheet("locality_shuffles") if table == 15 else sheet("locality_splits").of(table)


def utilization() -> Sheet:
    """Return benchmark III: total, active, block; AS1_seconds, AS2_percent ..."""
    return sheet("utilization")


def contention() -> Sheet:
    """Return benchmark IV: iterations, block, threads; AS1_seconds, AS2_percent ..."""
    return sheet("contention")


POOLS = ("taken", "overhead", "in_use")


def pools() -> list[dict[str, str]]:
    """Return what the article says of the memory of pools: by name the allocator, and what POOLS names."""
    with file_of("pools_memory").open(encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


@cache
def sheet(name: str) -> Sheet:
    """Return the table of a file, named without its ending."""
    with file_of(name).open(encoding="ascii", newline="") as file:
        header, *lines = csv.reader(file)
    keys = sum(column.startswith(SETTINGS) for column in header)
    return Sheet(
        settings=tuple(column.rpartition("_")[2] for column in header[:keys]),
        columns=tuple(header[keys:]),
        rows={
            tuple(map(int, line[:keys])): dict(zip(header[keys:], map(cell, line[keys:]), strict=True))
            for line in lines
        },
    )


def file_of(name: str) -> Path:
    """Return where a file is."""
    return Path(__file__).parent / "expected_values" / f"{name}.csv"


def cell(text: str) -> Cell:
    """Return what is printed in a cell."""
    if not text:
        return None
    if text == FAIL:
        return Failure()
    digits = Decimal(text).as_tuple().exponent
    return Printed(float(text), 0.5 * 10.0 ** int(digits))
