"""The benchmark of pools: which groups, which tables, and what is said of them."""

import re
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest

from allocator_runs import FLOOR_NS, Row, pools, run_of
from mallard import MallardError
from mallard_bench import expected
from mallard_bench.findings import FINDINGS, judged, left_out
from mallard_bench.findings.judge import Verdict
from mallard_bench.findings.measured import measured
from mallard_bench.options import Benchmark, Level, Options
from mallard_bench.page.bench_page import render
from mallard_bench.papers import ARTICLES
from mallard_bench.results import result
from mallard_bench.results_lines import faults
from mallard_bench.schedules import probes, schedule
from mallard_bench.show import papers_tables, show_run
from mallard_bench.subcommands import works
from mallard_bench.tables.grid import Grid
from mallard_bench.tables.pools_tables import sections


def options(level: Level, narrowed: dict[str, list[int]] | None = None, litter: int = 0) -> Options:
    return Options(Benchmark.POOLS, level, narrowed or {}, [], 5, litter, None, 30)


def groups(level: Level, **narrowed: list[int]) -> list[tuple[int | str, ...]]:
    return [tuple(group.settings.values()) for group in schedule(options(level, narrowed))]


def test_full_is_the_combinations_of_the_article_and_single_nodes() -> None:
    assert groups(Level.FULL)[:4] == [
        ("ranges", 10_000, 200),
        ("ranges", 1_000, 2_000),
        ("ranges", 100, 20_000),
        ("ranges", 10, 200_000),
    ]
    assert ("nodes", 1_000_000, 1) in groups(Level.DEFAULT)
    assert groups(Level.SMOKE) == [("ranges", 10, 20), ("nodes", 100, 1), ("threads", 50, 1)]
    assert len(probes(options(Level.DEFAULT))) == 1


def test_what_is_asked_for_is_measured() -> None:
    assert groups(Level.QUICK, work=works(["nodes"]), elements=[5, 6]) == [("nodes", 5, 1), ("nodes", 6, 1)]
    assert groups(Level.QUICK, work=works(["threads", "threads"]), iterations=[7]) == [("threads", 10_000, 7)]
    assert works(None) == []
    with pytest.raises(MallardError, match="--work lists: must be ranges, nodes, threads"):
        works(["lists"])
    with pytest.raises(MallardError, match="--litter does not reach"):
        schedule(options(Level.QUICK, litter=3))


def tables(documents: list[Row]) -> dict[str, Grid]:
    return {
        grid.title: grid
        for section in sections([result(document) for document in documents])
        for grid in section.tables
    }


def cells(grid: Grid) -> dict[str, dict[str, str]]:
    names = [f"{group.heading} {column.name}".strip() for group in grid.groups for column in group.columns]
    return {
        line.name: dict(zip(names, [cell.text for cell in line.cells], strict=True)) for line in grid.lines
    }


def test_times_of_ranges_are_less_the_floor() -> None:
    found = tables(pools())
    inserted = cells(found["insertion: ns of CPU time a node, less that of none"])
    assert inserted["boost.V1"] == dict.fromkeys(("10000 x 10", "1000 x 10", "100 x 10", "10 x 10"), "10.0")
    assert (inserted["none"]["10 x 10"], inserted["A/A"]["10 x 10"]) == ("1.00", "3.00")
    first = cells(found["first in a process: ns a node"])
    assert first["boost.V1"]["erasure 10 x 10"] == "33.0"


def test_memory_says_what_the_nodes_take_and_what_is_left() -> None:
    found = cells(tables(pools())["memory of 10000 x 10 nodes"])
    assert found["boost.V2"] == {
        "taken": "312 KiB",
        "overhead": "33.0 %",
        "left": "23.4 KiB",
        "left again": "234 KiB",
        "in use": "0 B",
        "cached": "11.7 KiB",
        "trimmed": "0 B",
        "held at most": "1 MiB",
        "page faults": "40",
    }
    assert (found["jemalloc"]["in use"], found["none"]["overhead"]) == ("-", "-")


def test_single_nodes_are_told_by_themselves_and_beside_our_pool() -> None:
    found = tables(pools())
    times = cells(found["10,000 nodes: ns of CPU time a node, less that of none; of walks, whole"])[
        "boost.V1"
    ]
    assert times["one after the other cold"] == "12.0"
    assert times["walk over the list turned over"] == "93.0"
    beside = cells(found["10,000 nodes: times what pool.V1 takes"])["boost.V1"]
    assert beside["at random free"] == "3.00"
    assert beside["walk over the list turned over"] == "1.09"


def test_threads_are_told_by_the_clock() -> None:
    title = "four threads, 100 x 5 nodes each: ns a node of any thread, allocated and freed"
    grid = tables(pools())[title]
    found = cells(grid)
    assert found["boost.V1"] == {"by the clock": "6.50", "CPU time": "13.0", "cold, CPU time": "39.0"}
    assert found["boost.fast_pool.null"]["by the clock"] == "skip"
    by_the_clock = measured("pools", pools()).time("threads", 100, "threads", "boost.V1")
    assert by_the_clock is not None
    assert by_the_clock.value == 6.5


def test_an_allocator_that_failed_says_so() -> None:
    documents = pools()
    for document in documents:
        for row in document["rows"]:
            if row["label"] == "boost.V1":
                row |= {"status": "failed", "reason": "crashed", "counts": None}
                row |= dict.fromkeys(
                    ("ns_per_event", "spread", "cold_ns_per_event", "max_held", "page_faults")
                )
                row |= dict.fromkeys(("wall_ns_per_event", "wall_spread"))
    for grid in tables(documents).values():
        assert set(cells(grid)["boost.V1"].values()) == {"broke"}, grid.title


def test_an_untold_count_is_no_fault_of_a_document() -> None:
    document = pools()[0]
    assert list(faults(document, "pools")) == []
    document["rows"][0]["counts"]["in_use"] = "many"
    assert list(faults(document, "pools")) != []


def changed(change: Callable[[Row, Row], None]) -> list[Row]:
    documents = pools()
    for document in documents:
        for row in document["rows"]:
            change(document["group"], row)
    return documents


def scaled(row: Row, net: float) -> None:
    if row["label"] == "none" or row["ns_per_event"] is None:
        return
    of_clock = ("wall_ns_per_event", "wall_spread", "wall_rounds_ns")
    for time, spread, rounds in (("ns_per_event", "spread", "rounds_ns"), of_clock):
        if row[time] is not None:
            ns = FLOOR_NS + net
            row |= {time: ns, spread: [0.99 * ns, 1.01 * ns], rounds: [ns] * 5}


def inverted(_: Row, row: Row) -> None:
    """Make what was slow fast, and what was small large."""
    scaled(row, 12 / max((row["ns_per_event"] or FLOOR_NS) - FLOOR_NS, 0.1))
    if counts := row["counts"]:
        in_use = 0 if (counts["in_use"] or 0) > 1000 else counts["needed"]
        row["counts"] = {
            **counts,
            "alive": int(2 * counts["alive"] ** 0.9),
            "freed": 200_000,
            "trimmed": 99_000,
            "in_use": in_use,
        }


def uneven(group: Row, row: Row) -> None:
    """Let allocators and sizes differ by factors that have no order."""
    scaled(row, 1.0 + crc32(f"{row['label']} {row.get('part')} {group}".encode()) % 13)
    if row["counts"] and "node" in row["label"]:
        row["counts"] = {**row["counts"], "alive": 3 * row["counts"]["alive"]}


def slow_base(_: Row, row: Row) -> None:
    """Make our pool slow, alone."""
    if row["label"] == "pool.V1":
        scaled(row, 5 * (row["ns_per_event"] - FLOOR_NS))


def slow_adaptive(_: Row, row: Row) -> None:
    """Make our adaptive pools slow, and large, alone."""
    if "adaptive" in row["label"]:
        scaled(row, 30 * (row["ns_per_event"] - FLOOR_NS))
        if counts := row["counts"]:
            row["counts"] = {name: 10 * (n or 0) if name != "needed" else n for name, n in counts.items()}


def verdicts(documents: list[Row]) -> dict[str, Verdict]:
    return {f"{one.section} {one.sentence}": said.verdict for one, said in judged("pools", documents)}


def test_what_is_said_holds_where_it_is_so() -> None:
    found = judged("pools", pools())
    for finding, said in found:
        assert said.verdict == Verdict.HOLDS, (finding.sentence, said.figures)
    assert left_out("pools", found) == ""


def test_each_finding_is_refused_by_some_table() -> None:
    wrong = [verdicts(changed(change)) for change in (inverted, uneven, slow_base, slow_adaptive)]
    assert len(wrong[0]) == len(FINDINGS["pools"])
    for sentence in wrong[0]:
        assert Verdict.DOES_NOT in [one[sentence] for one in wrong], sentence


def test_nothing_can_be_told_of_what_was_not_measured() -> None:
    assert judged("pools", []) == []


def test_what_the_article_says_in_numbers_stands_beside(capsys: pytest.CaptureFixture[str]) -> None:
    assert {one["allocator"] for one in expected.pools()} == set(ARTICLES.values())
    (table,) = papers_tables("pools")
    assert cells(table)["AllocatorPlus (boost)"] == {"taken": "32 MB", "overhead": "33 %", "in use": "0 B"}
    show_run(run_of("pools", pools()), paper=True)
    printed = capsys.readouterr().out
    assert "In the paper: memory of 2,000,000 nodes" in printed
    assert re.search(r"SimpleSegregatedStorage \(boost.node\) +24 MB +< 2 % +all", printed)


def test_the_page_has_the_tables(tmp_path: Path) -> None:
    page = render([run_of("pools", pools())], "1.2.3", ["mallard", "bench", "table"])
    assert page.count('class="printed"') == len(tables(pools()))
    assert "Adaptive pools have two blocks in use" in page
