"""`./dev instructions`: what the shell is told, whatever was counted."""

import json
from pathlib import Path

import pytest

import instructions
from limits import Limit
from rows import Counted, Key


@pytest.fixture
def golden_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One row is counted, golden file and page lie in a folder of their own, and nothing is promised."""
    path = tmp_path / "golden.txt"
    monkeypatch.setattr(instructions, "GOLDEN", path)
    page = tmp_path / "pool.md"
    page.write_text("<!-- costs: pool -->\n<!-- end of costs -->\n", encoding="utf-8")
    monkeypatch.setattr(instructions, "PAGES", [page])
    monkeypatch.setattr(instructions, "limits", lambda _: [])
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
