"""The paper's values: complete, and in agreement with each other and with what its text says of them."""

import statistics

import pytest

from mallard_bench import expected
from mallard_bench.expected import Failure, Printed, Sheet

STRATEGIES = [f"AS{number}" for number in range(1, 15)]
WITHOUT_WINKOUT = ("AS2", "AS3", "AS5", "AS7", "AS9", "AS11", "AS13")


def printed(sheet: Sheet, row: tuple[int, ...], column: str) -> Printed:
    cell = sheet.rows[row][column]
    assert isinstance(cell, Printed)
    return cell


@pytest.mark.parametrize("structure", range(1, 13))
def test_density_has_every_cell_but_the_one_that_is_lost(structure: int) -> None:
    sheet = expected.density(structure)
    assert sheet.settings == ("size",)
    assert list(sheet.columns) == STRATEGIES
    assert list(sheet.rows) == [(n,) for n in range(6, 17)]
    lost = [
        (size, label)
        for (size,), cells in sheet.rows.items()
        for label, cell in cells.items()
        if not isinstance(cell, Printed)
    ]
    assert lost == ([(6, "AS14")] if structure == 6 else [])


@pytest.mark.parametrize("structure", range(2, 13))
def test_neighbours_in_a_density_table_are_alike(structure: int) -> None:
    """A digit lost or a row shifted would stand out; DS1 is left out, since its times vary by half."""
    sheet = expected.density(structure)
    sizes = [size for (size,) in sheet.rows]
    for label in STRATEGIES:
        for before, here, after in zip(sizes, sizes[1:], sizes[2:], strict=False):
            cells = [sheet.rows[(size,)][label] for size in (before, here, after)]
            values = [cell.value for cell in cells if isinstance(cell, Printed)]
            assert values[len(values) // 2] < 1.5 * max(values[0], values[-1]), (label, here)
            assert values[len(values) // 2] > min(values[0], values[-1]) / 1.5, (label, here)


def test_density_is_what_the_text_says() -> None:
    unordered_set = expected.density(3)
    largest = (16,)
    assert printed(unordered_set, largest, "AS1").value / printed(
        unordered_set, largest, "AS8"
    ).value == pytest.approx(6.6, abs=0.1)
    nested = expected.density(7)
    assert max(
        printed(nested, row, "AS1").value / printed(nested, row, "AS8").value for row in nested.rows
    ) == pytest.approx(20.8, abs=0.1)


@pytest.mark.parametrize(("table", "largest"), [(16, 21), (17, 25), (18, 21), (19, 25), (20, 21), (21, 25)])
def test_locality_has_every_cell(table: int, largest: int) -> None:
    sheet = expected.locality(table)
    assert sheet.settings == ("subsystem",)
    assert sheet.columns == tuple(f"split_{n}" for n in range(9))
    assert list(sheet.rows) == [(n,) for n in range(largest, -1, -1)]


@pytest.mark.parametrize(("without", "with_multipool", "quotient"), [(16, 18, 20), (17, 19, 21)])
def test_quotients_of_locality_follow_from_what_they_are_of(
    without: int, with_multipool: int, quotient: int
) -> None:
    above, below, of_both = map(expected.locality, (without, with_multipool, quotient))
    for row in of_both.rows:
        for column in of_both.columns:
            a, b, q = (printed(sheet, row, column) for sheet in (above, below, of_both))
            low = (a.value - a.half_digit) / (b.value + b.half_digit)
            high = (a.value + a.half_digit) / (b.value - b.half_digit)
            assert q.value + q.half_digit > low, (row, column)
            assert q.value - q.half_digit < high, (row, column)


def test_shuffles_of_one_subsystem_change_nothing() -> None:
    sheet = expected.locality(15)
    assert list(sheet.rows) == [(n,) for n in range(7, -1, -1)]
    assert {printed(sheet, (7,), column).value for column in sheet.columns} == {1.0}
    assert {printed(sheet, row, "shuffle_0").value for row in sheet.rows} == {1.0}
    assert printed(sheet, (6,), "shuffle_3") == Printed(16.2, 0.05)


def test_utilization_has_six_tables_and_fails_where_the_text_says() -> None:
    sheet = expected.utilization()
    assert sheet.settings == ("total", "active", "block")
    assert sheet.columns == ("AS1_seconds", *(f"{label}_percent" for label in WITHOUT_WINKOUT))
    rows = [(active, 10) for active in range(15, 21)]
    rows += [(20, block) for block in range(11, 16)]
    assert list(sheet.rows) == [(total, *row) for total in range(30, 36) for row in rows]
    for (total, _, block), cells in sheet.rows.items():
        failed = {column.partition("_")[0] for column, cell in cells.items() if isinstance(cell, Failure)}
        monotonic = {"AS3", "AS5"} if total >= 32 else set()
        passed_through = {"AS11", "AS13"} if total >= 32 and block > 12 else set()
        assert failed == monotonic | passed_through
    first = (30, 15, 10)
    assert printed(sheet, first, "AS1_seconds") == Printed(0.063, 0.0005)
    assert [printed(sheet, first, f"{label}_percent").value for label in WITHOUT_WINKOUT] == [
        *(103, 440, 435, 46, 43, 46, 47)
    ]


def test_contention_has_seven_tables() -> None:
    sheet = expected.contention()
    assert sheet.settings == ("iterations", "block", "threads")
    tables = [(15, 6), (15, 7), (15, 8), (16, 8), (17, 8), (18, 8), (19, 8)]
    assert list(sheet.rows) == [
        (iterations, block, threads) for iterations, block in tables for threads in range(1, 9)
    ]
    middle = {
        label: statistics.median(printed(sheet, row, f"{label}_percent").value for row in sheet.rows)
        for label in WITHOUT_WINKOUT
    }
    assert middle["AS2"] == pytest.approx(100, abs=3)
    assert all(20 <= middle[label] <= 28 for label in ("AS7", "AS9", "AS11", "AS13"))
