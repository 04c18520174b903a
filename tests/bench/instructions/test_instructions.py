"""`./dev instructions`: figures made of counts, the tables of costs in pages, and the exit code."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import instructions
import pages
from instructions import GOLDEN
from limits import Limit
from rows import BaselineError, Counted, GoldenError, Key, accept, accepted, changes, net


@pytest.fixture
def golden_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One row is counted, golden file and page lie in a folder of their own, and nothing is promised."""
    path = tmp_path / "golden.txt"
    monkeypatch.setattr(instructions, "GOLDEN", path)
    page = tmp_path / "pool.md"
    page.write_text("<!-- costs: pool -->\n<!-- end of costs -->\n", encoding="utf-8")
    monkeypatch.setattr(instructions, "PAGES", [page])
    monkeypatch.setattr(instructions, "limits", lambda _: [])
    monkeypatch.setattr(instructions, "of_mallocs", lambda _: iter(()))
    monkeypatch.setattr(instructions, "of_plans", lambda _: iter(()))
    monkeypatch.setattr(instructions, "replayed", dict)
    counts(monkeypatch, 1500)
    return path


def counts(monkeypatch: pytest.MonkeyPatch, total: int) -> None:
    """Let a pool's loop of 100 pairs take `total` instructions, 800 of them the loop's."""
    baseline = Counted(Key("pair", "none", "typed", 64), 100, 800)
    monkeypatch.setattr(
        instructions,
        "count",
        lambda _, placed=0: [baseline, Counted(Key("pair", "pool", "typed", 64), 100, total + 100 * placed)],
    )


def test_a_change_fails_the_check_until_it_is_accepted(
    golden_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert instructions.main(["--accept"]) == 0
    assert instructions.main(["--check"]) == 0
    counts(monkeypatch, 1600)
    capsys.readouterr()
    assert instructions.main(["--check"]) == 1
    told = capsys.readouterr().out
    assert "CHANGED pair: pool, typed, 64 live: 8.00, 7.00 accepted" in told
    assert "./dev instructions --accept" in told
    assert instructions.main([]) == 0
    assert instructions.main(["--accept"]) == 0
    assert instructions.main(["--check"]) == 0
    assert "8.00  pair | pool | typed | 64" in golden_file.read_text(encoding="utf-8")
    assert "| `pool` | 8 |" in golden_file.with_name("pool.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("golden_file")
def test_a_missed_limit_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(instructions, "limits", lambda _: [Limit("pair", 6, 7.0, "most at 1 live")])
    assert instructions.main(["--accept"]) == 0
    assert instructions.main(["--check"]) == 1
    assert "MISSED  pair: 7.000, at most 6" in capsys.readouterr().out


@pytest.mark.usefixtures("golden_file")
def test_rows_that_depend_on_the_place_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert instructions.main(["--placements", "1"]) == 0
    assert capsys.readouterr().out == ""
    assert instructions.main(["--placements", "3"]) == 0
    assert capsys.readouterr().out == "pair: pool, typed, 64 live: 7.0 to 47.0\n"


@pytest.mark.usefixtures("golden_file")
def test_the_figures_are_written_as_json(tmp_path: Path) -> None:
    assert instructions.main(["--accept", "--json", str(tmp_path / "figures.json")]) == 0
    whole = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    row = {"scenario": "pair", "allocator": "pool", "way": "typed", "live": 64, "figure": 7.0}
    assert whole["rows"] == [row]
    assert whole["limits"] == []


@pytest.mark.usefixtures("golden_file")
def test_replays_are_judged_and_no_part_of_the_golden_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = Key("replay of sqlite3", "best_fit", "typed", 1)
    monkeypatch.setattr(instructions, "replayed", lambda: {ours: 95.0})
    monkeypatch.setattr(instructions, "limits", lambda found: [Limit("replay", 94, found[ours], "a pair")])
    assert instructions.main(["--accept"]) == 0
    assert instructions.main(["--check"]) == 1
    told = capsys.readouterr().out
    assert "MISSED  replay: 95.000, at most 94" in told
    assert "CHANGED" not in told


def test_each_malloc_is_a_part_of_the_golden_file(
    golden_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each from a run of its own, with a loop of its own."""

    def of_mallocs(_: Path) -> Iterator[list[Counted]]:
        for who, loop in (("glibc", 800), ("mallard", 700)):
            rows = (("none", "typed", loop), (who, "16 bytes", loop + 3700))
            yield [Counted(Key("malloc pair", name, way, 1), 100, total) for name, way, total in rows]

    assert instructions.main(["--accept"]) == 0
    monkeypatch.setattr(instructions, "of_mallocs", of_mallocs)
    assert instructions.main(["--check"]) == 1
    assert "CHANGED malloc pair: mallard, 16 bytes, 1 live: 37.00, none accepted" in capsys.readouterr().out
    assert instructions.main(["--accept"]) == 0
    assert "37.00  malloc pair | glibc | 16 bytes | 1\n" in golden_file.read_text(encoding="utf-8")


def counted(allocator: str, way: str, instructions: int, operations: int = 100, live: int = 1) -> Counted:
    """Make a row of pairs."""
    return Counted(Key("pair", allocator, way, live), operations, instructions)


def test_the_loop_is_subtracted() -> None:
    figures = net([counted("none", "typed", 800), counted("pool", "typed", 1500)])
    assert figures == {Key("pair", "pool", "typed", 1): 7.0}


def test_the_loop_bound_in_the_same_way_goes_first() -> None:
    baselines = [counted("none", "typed", 800), counted("none", "run-time size", 1000)]
    figures = net([*baselines, counted("pool", "run-time size", 1500), counted("pool", "pmr", 1500)])
    assert list(figures.values()) == [5.0, 7.0]


def test_what_goes_in_and_out_of_the_loop_is_below_a_hundredth() -> None:
    rows = [counted("none", "typed", 0, 16384), counted("pool", "typed", 7 * 16384 + 16, 16384)]
    [figure] = net(rows).values()
    assert figure == 7.0


@pytest.mark.parametrize(
    "baseline", [counted("none", "typed", 800, live=64), counted("none", "typed", 800, operations=50)]
)
def test_a_row_without_its_floor_is_no_figure(baseline: Counted) -> None:
    with pytest.raises(BaselineError, match="pair: pool, typed, 1 live"):
        net([baseline, counted("pool", "typed", 1500)])


POOL = Key("pair", "pool", "typed", 64)
OTHER = Key("pair", "multipool/monotonic", "run-time size and alignment", 1)
ACCEPTED = {POOL: 50.0, OTHER: 0.0}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    accept(tmp_path / "golden.txt", ACCEPTED)
    assert accepted(tmp_path / "golden.txt") == ACCEPTED
    assert "     50.00  pair | pool | typed | 64\n" in (tmp_path / "golden.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("figure", [50.0, 52.0, 48.0, 52.5, 47.5])
def test_five_per_cent_are_no_change(figure: float) -> None:
    assert list(changes(ACCEPTED, {**ACCEPTED, POOL: figure})) == []


@pytest.mark.parametrize("figure", [53.0, 47.0])
def test_six_per_cent_are_a_change_in_either_direction(figure: float) -> None:
    [change] = changes(ACCEPTED, {**ACCEPTED, POOL: figure})
    assert change == f"pair: pool, typed, 64 live: {figure:.2f}, 50.00 accepted"


def test_anything_is_a_change_of_nothing() -> None:
    [change] = changes(ACCEPTED, {**ACCEPTED, OTHER: 1.0})
    assert change.endswith("1 live: 1.00, 0.00 accepted")


def test_a_row_that_is_missing_is_a_change() -> None:
    [change] = changes(ACCEPTED, {OTHER: 0.0})
    assert change == "pair: pool, typed, 64 live: no longer counted, 50.00 accepted"


def test_a_row_that_is_new_is_a_change() -> None:
    [change] = changes({OTHER: 0.0}, ACCEPTED)
    assert change == "pair: pool, typed, 64 live: 50.00, none accepted"


@pytest.mark.parametrize("line", ["50.00 pair | pool | typed", "x pair | pool | typed | 1", "", "50.00"])
def test_a_line_that_is_no_row_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "golden.txt"
    path.write_text(f"# head\n{line}\n", encoding="utf-8")
    with pytest.raises(GoldenError, match=r"golden\.txt:2: no row"):
        accepted(path)


def test_a_golden_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(GoldenError, match=r"cannot read .*golden\.txt: No such file"):
        accepted(tmp_path / "golden.txt")


FIGURES = {
    Key("pair", "pool", "typed", 64): 11.0,
    Key("pair", "pool", "pmr", 64): 23.0,
    Key("life", "pool", "typed", 1): 641.02,
    Key("life", "pool", "pmr", 1): 1660.05,
    Key("pair", "glibc", "malloc", 64): 133.0,
}
LIVES = {Key(scenario, "reap", way, 1): 51.09 for scenario, way in pages.LIVES.values()}
PAGE = "# Pool\n<!-- costs: pool; beside: glibc -->\nold\n<!-- end of costs -->\nafter\n"


def test_pages_show_what_was_accepted() -> None:
    assert list(pages.stale(accepted(GOLDEN))) == [], "./dev instructions --accept writes them"
    assert len(pages.PAGES) > 5


def test_a_table_has_a_line_for_each_allocator() -> None:
    made = pages.written(PAGE, FIGURES)
    assert made.startswith("# Pool\n<!-- costs: pool; beside: glibc -->\n| instructions |")
    assert "| `pool` | 11 | - | 23 | 1,660 |\n" in made
    assert "| `glibc` | - | 133 | - | - |\n" in made
    assert made.endswith("<!-- end of costs -->\nafter\n")
    assert pages.written(made, FIGURES) == made


def test_a_table_of_lives_has_every_column() -> None:
    page = "<!-- lives: reap -->\nold\n<!-- end of lives -->\n"
    made = pages.written(page, LIVES)
    assert made.startswith("<!-- lives: reap -->\n| instructions | allocation, bumping |")
    assert "\n| `reap` | 51 | 51 | 51 | 51 | 51 |\n<!-- end of lives -->\n" in made
    for key in LIVES:
        with pytest.raises(KeyError):
            pages.written(page, {other: 51.0 for other in LIVES if other != key})


def test_a_page_with_another_figure_is_told_and_refreshed(tmp_path: Path) -> None:
    page = tmp_path / "pool.md"
    page.write_text(pages.written(PAGE, FIGURES), encoding="utf-8")
    assert list(pages.stale(FIGURES, [page])) == []
    changed = FIGURES | {Key("pair", "pool", "typed", 64): 12.0}
    assert list(pages.stale(changed, [page])) == [page]
    pages.refresh(changed, [page])
    assert list(pages.stale(changed, [page])) == []


def test_a_allocator_that_nobody_counts_is_not_left_out_silently() -> None:
    with pytest.raises(KeyError):
        pages.written(PAGE.replace("glibc", "nobody"), FIGURES)
