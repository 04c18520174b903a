"""The tables of benchmarks II, III and IV, as text."""

import re
from pathlib import Path

import pytest

from bench_runs import Bench
from mallard_bench.results import row
from mallard_bench.tables.columns import column

NOTE = re.compile(r"spread: |fail \(|virt: ")  # what is below the cells


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def tables(bench: Bench, *arguments: str) -> dict[str, list[str]]:
    """Return the tables of a run by their titles."""
    done = bench.run(*arguments)
    assert done.returncode == 0, done.stderr
    parts = [part.splitlines() for part in done.stdout.split("\n\n")]
    return {title: [line for line in lines if not NOTE.match(line)] for title, *lines in parts}


def test_locality_compares_the_same_walks_before_and_after_the_shuffle(bench: Bench) -> None:
    found = tables(bench, "locality", "--quick", "--global", "2^21", "--subsystem", "12", "--subsystem", "16")
    assert found["2^21 links, one heap for all (AS1): CPU time after the shuffle over that before"] == [
        "     few transitions to many",
        "|S|   2^-0  2^-1       2^-2",
        "2^16  8.00  8.00       8.00",
        "2^12  8.00  8.00       8.00",
    ]
    own = found["2^21 links, a multipool each (AS7): CPU time after the shuffle over that before"]
    assert own[2].split() == ["2^16", "2.00", "2.00", "2.00"]
    less = found["2^21 links: how many times less a multipool each degrades"]
    assert less[2].split() == ["2^16", "4.00", "4.00", "4.00"]
    everybody = found["2^21 links, everybody: CPU time after the shuffle over AS1's, median of all splits"]
    assert [line.split() for line in everybody] == [
        ["global", "multipool", "---", "mallard", "----", "std"],
        ["|S|", "AS1", "AS7", "fifo_multipool", "pool", "A/A"],
        ["2^16", "1.00", "0.25", "0.12", "0.50", "1.00"],
        ["2^12", "1.00", "0.25", "0.12", "0.50", "1.00"],
    ]
    fifo = found["2^21 links, a fifo_multipool each: CPU time after the shuffle over that before"]
    assert fifo[2].split() == ["2^16", "1.00", "1.00", "1.00"]
    times = found[
        "2^21 links: ns of CPU time an access, of the first walk and later, before and after the shuffle"
    ]
    assert times[2].split() == [
        "2^16",
        *["6.00", "6.00", "2.00", "16.0", "2.00", "16.0"],
        *["6.00", "6.00", "2.00", "4.00", "2.00", "4.00"],
    ]


def test_locality_has_a_column_for_each_shuffle(bench: Bench) -> None:
    found = tables(bench, "locality", "--smoke")
    assert found["10^2 links, one heap for all (AS1): CPU time after the shuffle over that before"] == [
        "     ---------------------- times shuffled ----------------------",
        "|S|      0     1     2     3     4     5     6     7     8     9",
        "10^2  1.00  1.50  2.00  2.50  3.00  3.50  4.00  4.50  5.00  5.50",
        "10^1  1.00  1.50  2.00  2.50  3.00  3.50  4.00  4.50  5.00  5.50",
        "10^0  1.00  1.50  2.00  2.50  3.00  3.50  4.00  4.50  5.00  5.50",
    ]


def test_locality_takes_one_run_in_the_papers_notation(bench: Bench) -> None:
    found = tables(bench, "locality", "--", "-21", "18", "8", "+3", "32")
    assert bench.calls()[-1][-1] == "--run=-21 18 8 +3 32"
    assert found["21 links in lists of 18, walked 8 times each, 32 times over, after 3 shuffles"] == [
        "     build  shuffle  access  total",
        "AS1   2 µs     2 µs    2 µs   2 µs",
    ]
    assert "undecided" not in "".join(found)


def test_utilization_is_in_percent_of_the_global_allocator(bench: Bench) -> None:
    found = tables(
        bench, "utilization", "--quick", "--total", "30", "--active", "20", "--block", "10", "--block", "11"
    )
    assert found["2^30 bytes in all: CPU time of AS1, the others in percent of it"] == [
        "      ---- global --- monotonic  multipool",
        " A  S      AS1   AS2       AS3    AS7   AS9",
        "                virt                   virt",
        "20 10   105 ms  40.0      fail   40.0  40.0",
        "20 11  52.4 ms  40.0      fail   40.0  40.0",
    ]


def test_contention_is_by_the_clock_with_the_locks_beside(bench: Bench) -> None:
    found = tables(
        bench,
        "contention",
        "--quick",
        "--threads",
        "1",
        "--threads",
        "4",
        "--iterations",
        "15",
        "--block",
        "6",
    )
    of = "2^15 pairs of 2^6 bytes a thread"
    assert found[f"{of}: time of AS1 by the clock, the others in percent of it"] == [
        "  ---- global --- monotonic  multipool",
        "W      AS1   AS2       AS3    AS7   AS9",
        "            virt                   virt",
        "1  6.55 ms  25.0      fail   25.0  25.0",
        "4  26.2 ms  25.0      fail   25.0  25.0",
    ]
    assert found[f"{of}, beyond the paper: percent of AS1's time by the clock"] == [
        "  AS1 over other mallocs ------- mallard --------       --- lock found taken ---",
        "W              jemalloc   synchronized_multipool   A/A   synchronized_multipool",
        "1                  50.0                     60.0   100                    1.0 %",
        "4                  50.0                     60.0   100                    4.0 %",
    ]


@pytest.mark.parametrize(
    ("arguments", "titles"),
    [
        (
            ("locality", "--quick", "--global", "21"),
            ["2^21 links, one heap for all (AS1): CPU time after the"],
        ),
        (("utilization", "--total", "30"), ["2^30 bytes in all: CPU time of AS1"]),
        (
            ("contention", "--iterations", "15"),
            ["2^15 pairs of 2^6 bytes a thread: time", "2^15 pairs of 2^7"],
        ),
    ],
)
def test_the_papers_tables_stand_below_ours(
    bench: Bench, arguments: tuple[str, ...], titles: list[str]
) -> None:
    shown = bench.run(*arguments, "--paper").stdout
    for title in titles:
        assert f"\n{title}" in f"\n{shown}"
        assert f"\nIn the paper: {title}" in shown


def test_the_papers_strategies_of_a_size_are_one_row(bench: Bench) -> None:
    assert bench.run("locality", "--quick", "--global", "21", "--subsystem", "16").returncode == 0
    theirs = [
        part for part in bench.table("--paper").stdout.split("\n\n") if part.startswith("In the paper: ")
    ]
    less = "In the paper: 2^21 links: how many times less a multipool each degrades"
    _, _, _, *lines = next(part for part in theirs if part.startswith(less)).splitlines()
    assert len(lines) == 22
    assert lines[5].split() == [
        "2^16",
        "3.43",
        "3.34",
        "3.44",
        "3.46",
        "4.62",
        "4.64",
        "4.82",
        "6.47",
        "8.19",
    ]


@pytest.mark.parametrize("benchmark", ["locality", "utilization", "contention"])
def test_findings_stand_below(bench: Bench, benchmark: str) -> None:
    shown = bench.run(benchmark, "--quick").stdout
    verdicts = {line[:11].strip() for line in shown.splitlines() if "(section " in line}
    assert verdicts <= {"holds", "does not", "undecided"}
    assert "holds" in verdicts


def test_what_the_paper_has_no_table_of_is_said(bench: Bench) -> None:
    shown = bench.run("utilization", "--quick", "--total", "27", "--paper").stdout
    assert "\nThe paper has no table of 2^27 bytes in all.\n" in shown
    assert "In the paper" not in shown


def test_small_print_stands_beneath_a_table(bench: Bench) -> None:
    shown = bench.run("utilization", "--quick", "--total", "27", "--active", "20").stdout.splitlines()
    beneath = next(place for place, line in enumerate(shown) if line.startswith("spread: "))
    assert shown[beneath + 1] == "fail (AS3): more than 1 GiB"
    assert sum(line.startswith("virt: through a base class") for line in shown) == 1


def test_lines_are_as_wide_as_columns_says(bench: Bench) -> None:
    shown = bench.run("utilization", "--quick", "--total", "30", COLUMNS="72").stdout
    tables, _, _ = shown.partition("A CPU, 2 cores")
    assert "(section 9: " in " ".join(tables.split())
    assert max(map(len, tables.splitlines())) <= 72
    assert not any(line.endswith(" ") for line in shown.splitlines())


def test_columns_of_a_heap_are_told_apart() -> None:
    found = {"strategy": "lifo_multipool", "repeated": False, "status": "skipped"}
    rows = [
        row({**found, "binding": binding, "destruction": destruction})
        for binding in ("typed", "pmr")
        for destruction in ("normal", "winkout")
    ]
    assert [column(one).whole for one in rows] == [
        "lifo_multipool",
        "lifo_multipool wink",
        "lifo_multipool virt",
        "lifo_multipool virt wink",
    ]
