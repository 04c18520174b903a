"""The benchmarks of Gaztañaga's allocators: which groups, which tables, and what is said of them."""

import copy
import math
import re
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest
from playwright.sync_api import Browser
from report_browser import opened

from allocator_runs import DOCUMENTS, FLOOR_NS, Row, run_of
from mallard import MallardError
from mallard_bench.findings import FINDINGS, judged, left_out
from mallard_bench.findings.interval import Interval
from mallard_bench.findings.judge import Verdict, reached
from mallard_bench.findings.measured import measured
from mallard_bench.options import Benchmark, Level, Options
from mallard_bench.page.bench_page import render
from mallard_bench.papers import ALLOCATORS, P0089, count_allocators, titles
from mallard_bench.results import result
from mallard_bench.schedules import schedule
from mallard_bench.show import sections
from mallard_bench.tables.grid import Grid

BENCHMARKS = list(DOCUMENTS)
HOLDS, DOES_NOT, OPEN = Verdict.HOLDS, Verdict.DOES_NOT, Verdict.OPEN


def groups(
    benchmark: Benchmark, level: Level, litter: int = 0, **narrowed: list[int]
) -> list[tuple[int | str, ...]]:
    options = Options(benchmark, level, narrowed, [], 5, litter, None, 20)
    return [tuple(group.settings.values()) for group in schedule(options)]


def test_full_is_the_combinations_of_the_article() -> None:
    vectors = [one[1:] for one in groups(Benchmark.EXPANSION, Level.FULL) if one[0] == "push_back"]
    assert vectors == [(10_000, 10_000), (1_000, 100_000), (100, 1_000_000), (10, 10_000_000)]
    assert groups(Benchmark.SHRINK, Level.FULL) == [(10_000, 100), (2_000, 1_000), (500, 10_000)]
    lists = [(10_000, 200), (1_000, 2_000), (100, 20_000), (10, 200_000)]
    assert groups(Benchmark.BURST, Level.FULL) == lists


def test_other_levels_are_parts_of_it_and_what_is_asked_for_is_measured() -> None:
    assert groups(Benchmark.SHRINK, Level.DEFAULT) == [(10_000, 20), (2_000, 200), (500, 2_000)]
    assert groups(Benchmark.SHRINK, Level.SMOKE) == [(10_000, 1), (2_000, 1), (500, 1)]
    assert groups(Benchmark.BURST, Level.QUICK, elements=[50], iterations=[7, 9]) == [(50, 7), (50, 9)]
    asked = groups(Benchmark.EXPANSION, Level.FULL, elements=[50])
    assert asked == [("push_back", 50, 2_000_000), ("command", 50, 1_000_000)]


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(MallardError, match=re.escape("--elements 7: must be a multiple of 5")):
        groups(Benchmark.SHRINK, Level.QUICK, elements=[7])
    for benchmark in BENCHMARKS:
        with pytest.raises(MallardError, match="--litter does not reach"):
            groups(Benchmark(benchmark), Level.QUICK, litter=3)


def test_the_first_and_the_floor_take_part_always() -> None:
    labels = ("boost.V1", "none", "Std", "V1", "V2")
    known = [{"label": label, "strategy": "none" if label == "none" else "any"} for label in labels]
    assert count_allocators([], known, ALLOCATORS) == len(labels) + 1
    assert count_allocators(["V2"], known, ALLOCATORS) == 4
    assert count_allocators(["V2"], [{"label": "AS1", "strategy": "glibc"}, *known], P0089) == 3


def tables(benchmark: str, documents: list[Row]) -> dict[str, Grid]:
    """Return the tables of some documents by their titles."""
    return {grid.title: grid for section in sections(benchmark, documents) for grid in section.tables}


def cells(grid: Grid) -> dict[str, dict[str, str]]:
    """Return what stands in a table, by row and column."""
    names = [f"{group.heading} {column.name}".strip() for group in grid.groups for column in group.columns]
    return {
        line.name: dict(zip(names, [cell.text for cell in line.cells], strict=True)) for line in grid.lines
    }


def test_times_are_less_the_floor_and_compared_with_boosts_plain_allocator() -> None:
    found = tables("expansion", DOCUMENTS["expansion"]())
    times = cells(found["push_back: ns of CPU time an element, less that of none"])
    assert list(times) == ["10000 x 100", "1000 x 100", "100 x 100", "10 x 100"]
    assert times["10000 x 100"] == {
        "none": "1.00",
        "boost V1": "4.00",
        "boost V2new": "3.00",
        "boost V2bwd": "2.80",
        "boost V2": "1.00",
        "best_fit V1": "3.50",
        "best_fit V2new": "2.00",
        "best_fit V2bwd": "1.50",
        "best_fit V2fwd": "0.90",
        "best_fit V2": "0.80",
        "locked best_fit V1": "3.80",
        "std::allocator over glibc": "4.20",
        "std::allocator over jemalloc": "4.20",
        "A/A": "4.00",
    }
    speed = cells(found["push_back: times as fast as boost.V1, both less none"])["10 x 100"]
    assert (speed["best_fit V2"], speed["boost V1"], speed["boost V2"]) == ("5.00", "1.00", "4.00")
    first = cells(found["push_back, first in a process: ns an element"])["10 x 100"]
    assert first["boost V1"] == "15.0"


def test_nothing_is_taken_off_a_command_which_is_what_two_loops_differ_by() -> None:
    found = tables("expansion", DOCUMENTS["expansion"]())
    assert (
        "none"
        not in cells(found["growth by a command from n to 2n objects: ns of CPU time a growth"])["500 x 100"]
    )


def test_counts_have_tables() -> None:
    found = tables("expansion", DOCUMENTS["expansion"]())
    asked = cells(found["push_back: allocations, of a vector"])["10 x 100"]
    assert (asked["boost V1"], asked["boost V2new"], asked["best_fit V2"]) == ("6", "4", "1")
    assert cells(found["push_back: expansions forward, of a vector"])["10 x 100"]["best_fit V2"] == "3"
    assert "A/A" not in asked
    command = cells(found["growth by a command from n to 2n objects: expansions backward, of a growth"])
    assert command["500 x 100"]["best_fit V2bwd"] == "1"


def test_what_the_clock_cannot_tell_from_the_floor_is_faster_by_no_number() -> None:
    documents = DOCUMENTS["shrink"]()
    for document in documents:
        next(row for row in document["rows"] if row["label"] == "V2")["ns_per_event"] = 0.9 * FLOOR_NS
    speed = cells(tables("shrink", documents)["shrink_to_fit: times as fast as boost.V1, both less none"])
    assert speed["500 x 10"]["best_fit V2"] == "-"


def test_ranges_inserted_and_erased_stand_apart() -> None:
    found = tables("burst", DOCUMENTS["burst"]())
    inserted = cells(found["ranges inserted: ns of CPU time an element, less that of none"])
    erased = cells(found["ranges erased: ns of CPU time an element, less that of none"])
    assert inserted["100 x 10"]["best_fit V2one"] == "6.00"
    assert erased["100 x 10"]["best_fit V2one"] == "5.00"


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_strategy_that_failed_says_so(benchmark: str) -> None:
    documents = DOCUMENTS[benchmark]()
    for row in documents[0]["rows"]:
        if row["label"] == "V2":
            row |= {"status": "failed", "reason": "crashed", "counts": None}
            row |= dict.fromkeys(("ns_per_event", "spread", "cold_ns_per_event"))
    for grid in tables(benchmark, documents).values():
        if grid.lines[0].name == "10000 x 10":
            assert cells(grid)["10000 x 10"]["best_fit V2"] == "broke"


def verdicts(benchmark: str, documents: list[Row]) -> dict[str, Verdict]:
    return {
        f"{one.table} {one.section} {one.sentence}": said.verdict
        for one, said in judged(benchmark, documents)
    }


def changed(benchmark: str, change: Callable[[Row, Row], None]) -> list[Row]:
    """Return made-up documents, each row of which was changed, given its group."""
    documents = DOCUMENTS[benchmark]()
    for document in documents:
        for row in document["rows"]:
            change(document["group"], row)
    return documents


def scaled(row: Row, net: float) -> None:
    """Give a row another time beyond the floor."""
    if row["label"] != "none":
        row["ns_per_event"] = FLOOR_NS + net
        row["rounds_ns"] = [part * row["ns_per_event"] for part in (0.99, 1.0, 1.01)]
        row["spread"] = [row["rounds_ns"][0], row["rounds_ns"][-1]]


def inverted(_: Row, row: Row) -> None:
    """Make what was slow fast."""
    scaled(row, 12 / max(row["ns_per_event"] - FLOOR_NS, 0.1))
    row["counts"] = row["counts"] and {name: value + 1 for name, value in row["counts"].items()}


def steepened(_: Row, row: Row) -> None:
    """Make every difference larger."""
    scaled(row, (row["ns_per_event"] - FLOOR_NS) ** 4)


def slow_standard(_: Row, row: Row) -> None:
    """Make the standard allocator slow, alone."""
    if row["label"] == "Std":
        scaled(row, 5 * (row["ns_per_event"] - FLOOR_NS))


def slow_plain(_: Row, row: Row) -> None:
    """Make our plain allocators slow, alone."""
    if row["label"] in ("V1", "locked.V1"):
        scaled(row, 5 * (row["ns_per_event"] - FLOOR_NS))


def uneven(group: Row, row: Row) -> None:
    """Let allocators and sizes differ by factors that have no order."""
    if not row["repeated"]:
        scaled(row, 1.0 + crc32(f"{row['label']} {row.get('part')} {group}".encode()) % 13)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_what_is_said_holds_where_it_is_so(benchmark: str) -> None:
    for finding, said in judged(benchmark, DOCUMENTS[benchmark]()):
        assert said.verdict == HOLDS, (finding.sentence, said.figures)
    assert left_out(benchmark, judged(benchmark, DOCUMENTS[benchmark]())) == ""


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_each_finding_is_refused_by_some_table(benchmark: str) -> None:
    wrong = [
        verdicts(benchmark, changed(benchmark, change))
        for change in (inverted, steepened, slow_standard, slow_plain, uneven)
    ]
    assert len(wrong[0]) == len(FINDINGS[benchmark])
    for key in wrong[0]:
        assert DOES_NOT in [table[key] for table in wrong], key


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_nothing_can_be_told_of_what_was_not_measured(benchmark: str) -> None:
    assert judged(benchmark, []) == []
    assert (
        left_out(benchmark, [])
        == f"Left out: {len(FINDINGS[benchmark])} findings about what was not measured."
    )


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_times_within_noise_refuse_nothing(benchmark: str) -> None:
    def widen(_: Row, row: Row) -> None:
        row |= {"spread": [1e-9, 1e9], "rounds_ns": None, "counts": None}

    said = verdicts(benchmark, changed(benchmark, widen))
    assert set(said.values()) == {OPEN}


def test_what_is_left_of_a_time_is_as_noisy_as_both_were() -> None:
    whole = Interval(10.0, 9.5, 10.5, 1.01, ("10", "V1"))
    floor = Interval(8.0, 7.8, 8.2, 1.02, ("10", "none"))
    left = whole - floor
    assert [left.value, left.low, left.high] == pytest.approx([2.0, 1.3, 2.7])
    assert left.of == whole.of
    assert left.noise == pytest.approx(1 + 0.02 * 18 / 2)
    nothing = floor - whole
    assert (nothing.value, nothing.low) == (0.0, 0.0)
    assert (left / nothing).value == math.inf
    assert not math.isnan((nothing / left).high)


def test_counts_are_held_against_what_is_said() -> None:
    judge = reached(
        lambda table: [cell.counts["allocations"] for cell in table.cells.values()], lambda n: n == 1, "n"
    )
    assert judge(measured("expansion", [])).figures == ""
    documents = DOCUMENTS["expansion"]()[:1]
    documents[0]["rows"] = [row for row in documents[0]["rows"] if row["label"] in ("V2", "boost.V1")][:2]
    said = judge(measured("expansion", documents))
    assert (said.verdict, said.figures) == (DOES_NOT, "1 of 2; n: 6, 1")


def test_results_keep_what_was_counted() -> None:
    found = result(DOCUMENTS["expansion"]()[0])
    row = found.row("V2")
    assert row is not None
    assert row.counts == {
        "allocations": 1,
        "expansions_forward": 3,
        "expansions_backward": 0,
        "capacity": 10_000,
    }


def test_a_page_is_named_after_its_papers() -> None:
    assert titles(["density", "locality"]) == "P0089"
    assert titles(["density", "burst", "shrink"]) == "P0089 and Gaztañaga's allocators"


def test_the_page_has_the_tables_without_scripts_and_works_with_them(
    browser: Browser, tmp_path: Path
) -> None:
    runs = [run_of(benchmark) for benchmark in BENCHMARKS]
    page_of = tmp_path / "allocators.html"
    page_of.write_text(render(runs, "1.2.3", ["mallard", "bench", "table"]), encoding="utf-8")
    with opened(browser, page_of) as page:
        for benchmark in BENCHMARKS:
            assert page.locator(f"#{benchmark} table.printed").count() == len(
                tables(benchmark, DOCUMENTS[benchmark]())
            )
    with opened(browser, page_of, java_script_enabled=False) as page:
        first = page.locator("#expansion table.printed").first
        assert "push_back: ns of CPU time an element" in first.inner_text()
        assert "3.50" in first.locator("tbody tr").first.inner_text()
        assert "at least 1.9 times as fast" in (page.locator("#verdict").text_content() or "")
        assert "Benchmarks of Gaztañaga's allocators" in page.title()
    again = copy.deepcopy(runs)
    assert render(again, "1.2.3", ["x"]) == render(runs, "1.2.3", ["x"])
