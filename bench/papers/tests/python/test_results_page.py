"""docs/p0089.md: as the results that are kept make it, and told when it is not."""

from pathlib import Path

import pytest

import beside_paper
import results_page
from mallard_bench.expected_documents import GROUPS, documents
from mallard_bench.findings.measured import Cell, Measured, measured
from mallard_bench.tables.grid import around_one
from pictures_of_results import Panel, drawn, picture


def paper(benchmark: str) -> Measured:
    """The paper's own figures, as if they were measured."""
    return measured(benchmark, documents(benchmark))


def test_committed_pages_are_those_of_the_results() -> None:
    assert [path.name for path, _ in results_page.stale()] == [], "./dev findings writes them anew"


def test_a_page_with_another_figure_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results_page, "ROOT", tmp_path)
    monkeypatch.setattr(results_page, "PAGES", (tmp_path / "page.md",))
    monkeypatch.setattr(results_page, "BENCHMARKS", ())
    page = "# P\n<!-- beside: density -->\n| old |\n<!-- end of beside -->\nafter\n"
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    assert [path.name for path, _ in results_page.stale()] == ["page.md"]
    assert results_page.main(["--check"]) == 1
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == page
    assert results_page.main([]) == 0
    made = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert made.startswith("# P\n<!-- beside: density -->\n| times as fast as AS1 | AS3 |")
    assert made.endswith("|\n<!-- end of beside -->\nafter\n")
    assert results_page.main(["--check"]) == 0


@pytest.mark.parametrize("benchmark", GROUPS)
def test_beside_itself_the_paper_has_the_same_figures(benchmark: str) -> None:
    head, _, *rows = beside_paper.lines(benchmark, paper(benchmark), paper(benchmark))
    assert len(rows) >= 4
    for row in rows:
        _, *cells = row.strip("| ").split(" | ")
        assert len(cells) == head.count(" | ")
        for cell in cells:
            ours, _, theirs = cell.rstrip(")").partition(" (")
            assert ours == theirs, row


def test_only_the_same_places_are_put_beside() -> None:
    few = {key: cell for key, cell in paper("utilization").cells.items() if key[0] == 35}
    table = list(beside_paper.lines("utilization", Measured(few), paper("utilization")))
    assert [row.partition(" bytes")[0] for row in table[2:]] == ["| 2^35", "| 2^35"]
    assert "| fail (fail) |" in table[2], "monotonic runs out of memory from 2^32 bytes"


def test_structures_stand_in_their_order_whichever_part_had_them() -> None:
    mixed = Measured(dict(reversed([*paper("density").cells.items()])))
    rows = list(beside_paper.lines("density", mixed, paper("density")))[2:]
    assert [row.partition(",")[0] for row in rows] == [f"| DS{number}" for number in range(1, 13)]


def test_since_the_paper_nothing_has_changed_in_the_paper() -> None:
    _, _, *rows = beside_paper.since(paper("density"), paper("density"))
    assert [row.rpartition("&gt; |")[2].split(" | ") for row in rows] == [
        [" 1.00", *["1.00"] * 2, "1.00 |"]
    ] * 12


def test_walks_are_those_of_large_lists_before_and_after() -> None:
    table = list(results_page.lines_of_walks(paper("locality")))
    glibc, multipool, fifo = (row.strip("| ").split(" | ") for row in table[2:])
    assert glibc[0] == "`glibc`, one heap for all"
    least, most = (float(part) for part in glibc[2].split(" to "))
    assert 10 < least < most < 30
    assert float(multipool[1].split(" to ")[1]) < 2
    assert fifo[1:] == ["-", "-"], "it is not the paper's"


@pytest.mark.parametrize("benchmark", GROUPS)
def test_the_paper_alone_can_be_drawn(benchmark: str) -> None:
    made = drawn(benchmark, paper(benchmark), paper(benchmark))
    assert made.count("<path fill=") >= 4
    assert made == drawn(benchmark, paper(benchmark), paper(benchmark))


def test_cells_of_a_colour_are_one_path_and_those_without_a_figure_are_struck_through() -> None:
    cells = {("2^6", "AS1"): 1.0, ("2^6", "AS2"): 1.0, ("2^6", "AS3"): 0.2, ("2^7", "AS1"): None}
    panel = Panel("vector<int>", ["2^6", "2^7"], ["AS1", "AS2", "AS3"], cells)
    made = picture("A name", [[panel]], around_one(), ("1/4", "as AS1", "4 times"))
    paths = [line for line in made.splitlines() if line.startswith("<path fill")]
    little, ones = sorted(paths, key=len)
    assert (ones.count("M"), little.count("M")) == (2, 1)
    assert '<path stroke="#808080" d="M' in made
    assert "vector&lt;int&gt;" in made
    assert picture("", [[panel, Panel("", [], [], {})]], around_one(), ("", "", "")).count("<path fill") == 2


def test_a_cell_that_ended_otherwise_has_no_ratio() -> None:
    ended = Cell("out_of_memory", None)
    assert beside_paper.ratio(ended, ended) is None
    assert beside_paper.ratio(None, ended) is None


def test_ours_stand_beside_the_best_of_others_that_end_alike() -> None:
    def row(
        strategy: str, time: float | None, destruction: str = "normal", repeated: bool = False
    ) -> dict[str, object]:
        status = "failed" if time is None else "ok"
        is_malloc = strategy in {"glibc", "mimalloc", "tcmalloc", "mallard"}
        return {
            "strategy": strategy,
            "binding": "malloc" if is_malloc else "pmr",
            "destruction": destruction,
            "repeated": repeated,
            "status": status,
            "ns_per_event": time,
        }

    rows = [
        row("monotonic", 1.0),  # it never frees
        row("sized_reap", 4.0),
        row("mallard", 0.5),  # no heap of the library, and no other's
        row("new_delete", 5.5),
        row("synchronized_multipool", 6.0),
        row("glibc", 3.0, repeated=True),
        row("glibc", 10.0),
        row("mimalloc", 5.0),
        row("tcmalloc", None),
        row("monotonic", 2.0, "winkout"),
        row("std.pool", 8.0, "winkout"),
    ]
    small = {"group": {"structure": "DS1", "size": 6}, "rows": rows}
    large = {"group": {"structure": "DS1", "size": 9}, "rows": [row("multipool", 16.0), row("glibc", 5.0)]}
    assert list(beside_paper.best([small, large]))[2:] == [
        "| DS1, vector&lt;int&gt; | 1.60 | 3.20, 2^9 | 0.25 | 0.25, 2^6 |",
        "| all | 1.60 | 3.20, 2^9 | 0.25 | 0.25, 2^6 |",
    ]
