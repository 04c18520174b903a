"""The tables of benchmark I, as text."""

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bench_runs import Bench
from mallard_bench.repeated import of_rounds
from mallard_bench.results import Result
from mallard_bench.results_file import read
from mallard_bench.tables import density_tables
from mallard_bench.tables.grid import STOPS, notes, show

TABLES = """\
DS3, unordered_set<int>, hashes cached: CPU seconds for 2^27 leaves, scaled from 2^20
     -- global -- ------ monotonic ------- ------ multipool ------- ----- mono + multi -----
size   AS1   AS2    AS3   AS4   AS5   AS6    AS7   AS8   AS9  AS10   AS11  AS12  AS13  AS14
            virt         wink  virt   v+w         wink  virt   v+w         wink  virt   v+w
2^6   1.29  0.64   0.43  fail  0.26  0.21   0.18  0.16  0.14  0.13   0.12  0.11  0.10  0.09
2^10  1.61  0.81   0.54  fail  0.32  0.27   0.23  0.20  0.18  0.16   0.15  0.13  0.12  0.12
2^16  skipped: needs about 7 GiB, the limit is 4 GiB
DS3: CPU time of AS1, the others in percent of it
     --- global --- ------ monotonic ------- ------ multipool ------- ----- mono + multi -----
size     AS1   AS2    AS3   AS4   AS5   AS6    AS7   AS8   AS9  AS10   AS11  AS12  AS13  AS14
              virt         wink  virt   v+w         wink  virt   v+w         wink  virt   v+w
2^6   1.29 s  50.0   33.3  fail  20.0  16.7   14.3  12.5  11.1  10.0   9.09  8.33  7.69  7.14
2^10  1.61 s  50.0   33.3  fail  20.0  16.7   14.3  12.5  11.1  10.0   9.09  8.33  7.69  7.14
2^16  skipped: needs about 7 GiB, the limit is 4 GiB
DS3, beyond the paper: percent of AS1's CPU time
     AS1 over other mallocs --- std ---- boost  ------- mallard --------
size              jemalloc   pool  wink   pool   synchronized_multipool   A/A
                                                                   virt
2^6                   12.5   25.0  37.5   50.0                     62.5   101
2^10                  12.5   25.0  37.5   50.0                     62.5   101
2^16  skipped: needs about 7 GiB, the limit is 4 GiB
DS3, first touch: CPU seconds for 2^27 leaves
     -- global -- ------ monotonic ------- ------ multipool ------- ----- mono + multi -----
size   AS1   AS2    AS3   AS4   AS5   AS6    AS7   AS8   AS9  AS10   AS11  AS12  AS13  AS14
            virt         wink  virt   v+w         wink  virt   v+w         wink  virt   v+w
2^6   3.87  1.93   1.29  fail  0.77  0.64   0.55  0.48  0.43  0.39   0.35  0.32  0.30  0.28
2^10  4.83  2.42   1.61  fail  0.97  0.81   0.69  0.60  0.54  0.48   0.44  0.40  0.37  0.35
2^16  skipped: needs about 7 GiB, the limit is 4 GiB
DS3, memory: held at most, and page faults
     ------------ held ------------ ---- page faults ----
size     AS1     AS3    AS7   AS11   AS1  AS3  AS7  AS11
2^6   36 KiB  12 KiB  4 KiB    0 B     9    3    1     0
2^10  48 KiB  16 KiB  4 KiB  4 KiB    12    4    1     1
2^16  skipped: needs about 7 GiB, the limit is 4 GiB
"""

NARROW = """\
DS3, unordered_set<int>, hashes cached: CPU seconds for 2^27 leaves, scaled from 2^20
     -- global -- ------ monotonic -------
size   AS1   AS2    AS3   AS4   AS5   AS6
            virt         wink  virt   v+w
2^6   1.29  0.64   0.43  fail  0.26  0.21
2^10  1.61  0.81   0.54  fail  0.32  0.27
2^16  skipped: needs about 7 GiB, the limit is 4 GiB
     ------ multipool ------- ----- mono + multi -----
size   AS7   AS8   AS9  AS10   AS11  AS12  AS13  AS14
            wink  virt   v+w         wink  virt   v+w
2^6   0.18  0.16  0.14  0.13   0.12  0.11  0.10  0.09
2^10  0.23  0.20  0.18  0.16   0.15  0.13  0.12  0.12
2^16  skipped: needs about 7 GiB, the limit is 4 GiB
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    """What a run found of DS3 with 2^6, 2^10 and 2^16 elements."""
    bench = Bench(tmp_path_factory.mktemp("bench"))
    done = bench.run("density", "--structure", "3", "--size", "6", "--size", "10", "--size", "16", "--quick")
    assert done.returncode == 0, done.stderr
    return read(bench.results).results


def as_text(results: list[Result], width: int = 120, colour: bool = False) -> str:
    written = io.StringIO()
    console = Console(
        file=written, width=width, force_terminal=colour, color_system="truecolor" if colour else None
    )
    for grid in density_tables.tables(results, "DS3"):
        show(grid, console)
    return written.getvalue()


def test_tables_are_the_papers_and_what_is_beyond_it(results: list[Result]) -> None:
    assert as_text(results) == TABLES


def test_a_narrow_terminal_splits_between_groups_of_columns(
    results: list[Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert as_text(results, 60).startswith(NARROW)
    assert all(len(line) <= 60 for line in NARROW.splitlines()[1:])


def test_the_least_of_a_chart_is_green_and_the_most_red(results: list[Result]) -> None:
    coloured = as_text(results, colour=True)
    assert " 1.61 " in styled(coloured, STOPS[2])
    assert " 0.09 " in styled(coloured, STOPS[0])
    assert "fail" not in styled(coloured, STOPS[0])


def styled(text: str, colour: tuple[int, int, int]) -> list[str]:
    """Return what stands on a colour."""
    return re.findall(rf"48;2;{colour[0]};{colour[1]};{colour[2]}m([^\x1b]*)", text)


def test_only_what_was_measured_has_columns(results: list[Result]) -> None:
    few = [
        replace(result, rows=tuple(row for row in result.rows if row.label in ("AS1", "AS7")))
        for result in results[:1]
    ]
    assert as_text(few).startswith(
        "DS3, unordered_set<int>, hashes cached: CPU seconds for 2^27 leaves, scaled from 2^20\n"
        "     global multipool\n"
        "size   AS1       AS7\n"
        "2^6   1.29      0.18\n"
        "DS3: CPU time of AS1, the others in percent of it\n"
        "      global  multipool\n"
        "size     AS1       AS7\n"
        "2^6   1.29 s      14.3\n"
        "DS3, beyond the paper: percent of AS1's CPU time\n"
        "size  A/A\n"
        "2^6   101\n"
    )


def test_the_papers_table_and_its_findings_stand_below_ours(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.run("density", "--structure", "3", "--size", "6", "--size", "10", "--quick")
    lines = bench.table("--paper").stdout.splitlines()
    ours = lines.index(
        "DS3, unordered_set<int>, hashes cached: CPU seconds for 2^27 leaves, scaled from 2^20"
    )
    theirs = lines.index("In the paper: DS3, unordered_set<int>: CPU seconds for 2^27 leaves")
    beyond = lines.index("DS3, beyond the paper: percent of AS1's CPU time")
    assert ours < theirs < beyond
    assert lines[theirs + 4].split()[:4] == ["2^6", "10.2", "11.0", "7.16"]
    judged = [line for line in lines[beyond:] if "(section 7.3: " in line]
    # The first column is as wide as the longest judgement, which is a matter of what was measured.
    assert judged[0].split(maxsplit=1) == [
        "holds",
        "The global allocator is always the slowest. (section 7.3: 44 of 44; "
        "counted as holding: above 1 everywhere; ratios from 1.5 to 14, median 6)",
    ]
    left_out = "findings about what was not measured."
    assert sum(line.startswith("Left out: ") and line.endswith(left_out) for line in lines) == 1
    assert sum(line.startswith("A ratio is within noise where ") for line in lines) == 1
    assert not any(line.startswith("In the paper") for line in bench.table().stdout.splitlines())


def test_structures_have_the_papers_names() -> None:
    assert [density_tables.title(f"DS{number}").partition(", ")[2] for number in range(1, 13)] == [
        "vector<int>",
        "vector<string>",
        "unordered_set<int>",
        "unordered_set<string>",
        "vector<vector<int>>",
        "vector<vector<string>>",
        "vector<unordered_set<int>>",
        "vector<unordered_set<string>>",
        "unordered_set<vector<int>>",
        "unordered_set<vector<string>>",
        "unordered_set<unordered_set<int>>",
        "unordered_set<unordered_set<string>>",
    ]


def with_row(results: list[Result], label: str, **changed: Any) -> list[Result]:
    """Return the small groups with a row of a strategy changed."""
    return [
        replace(
            result,
            rows=tuple(
                replace(row, **changed) if row.label == label and not row.repeated else row
                for row in result.rows
            ),
        )
        for result in results[:2]
    ]


def test_figures_of_which_the_rounds_do_not_agree_are_marked(results: list[Result]) -> None:
    wide = with_row(results, "AS7", warm=of_rounds([0.8, 0.9, 1.0, 1.1, 1.2]))
    table, in_percent, beyond, *_ = density_tables.tables(wide, "DS3")
    assert [cell.mark for cell in table.lines[0].cells].count("~") == 1
    assert list(notes(table)) == [
        "spread: median 3.2 %, widest 32.0 % (AS7 at 2^6); ~ marks more than 10 %",
        "fail (AS4 wink): more than 1 GiB",
    ]
    (agreed,) = notes(beyond)
    assert agreed.startswith("spread: median < 0.1 %, widest < 0.1 % (")
    assert "0.13~ 0.16 " in as_text(wide)
    (marked,) = (cell for cell in in_percent.lines[0].cells if cell.mark == "~")
    # 0.8, 0.9 ... 1.2 of 9.6 ns, of which rounds had 1, 1.02, 0.98, 1.01 and 0.99 times as much
    assert marked.whole == "10.6±2.0"


def test_where_as1_broke_the_others_have_times(results: list[Result]) -> None:
    broke = with_row(results, "AS1", warm=None, status="failed", reason="blocks overlap")
    _, _, beyond, *_ = density_tables.tables(broke, "DS3")
    assert {cell.text for line in beyond.lines for cell in line.cells} >= {"1.20 ns"}
    assert {cell.value for line in beyond.lines for cell in line.cells} == {None}


def test_every_allocator_of_any_group_has_a_column(results: list[Result]) -> None:
    less = replace(results[0], rows=results[0].rows[:14])
    _, _, beyond, *_ = density_tables.tables([less, results[1]], "DS3")
    _, _, whole, *_ = density_tables.tables(results, "DS3")
    assert beyond.groups == whole.groups
