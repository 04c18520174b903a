"""`mallard report` as a user runs it, on journals of real programs."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import Mallard
from playwright.sync_api import Browser
from report_browser import opened

from mallard.report.replay import DRAWN, replay_of

FAMILY = "my @a = map { [$_] } 1 .. 3000; for (1 .. 2) { fork or exit }; 1 while wait > 0"


def refused(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("mallard: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


def test_report_of_a_real_program(mallard: Mallard, journal: Path, browser: Browser, tmp_path: Path) -> None:
    page_file = tmp_path / "report.html"
    made = mallard("report", journal, "-o", page_file, "--replay", "never")
    assert made.returncode == 0, made.stderr
    assert made.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    profile = json.loads(mallard("profile", "--json", journal).stdout)
    with opened(browser, page_file) as page:
        verdict = page.locator("section.verdict").inner_text()
        assert profile["verdict"]["headline"] in verdict
        assert f"{profile['totals']['events']:,}" in verdict
        assert page.locator("h1").inner_text() == "perl"
        for name in ("timeline", "dvluc", "flame", "heat"):
            chart = page.locator(f'.chart[data-chart="{name}"]')
            assert chart.locator("svg.main-svg, canvas, table.dvluc").count() >= 1, name
        assert page.locator("table.sites tbody tr").count() > 10
        page.get_by_label("Filter sites").fill("Perl_")
        assert page.locator("table.sites tbody tr:not([hidden])").count() > 0
        assert f"{journal} --replay always" in page.locator("[data-part=replay]").inner_text()


@pytest.mark.heaps
def test_replay_from_a_file_gives_the_verdict(
    mallard: Mallard, journal: Path, browser: Browser, tmp_path: Path
) -> None:
    replay = tmp_path / "replay.json"
    printed = mallard("replay", journal, "--strategy", "multipool", "--warm-time", "0", "--json")
    replay.write_text(printed.stdout)
    rows = json.loads(printed.stdout)["rows"]
    made = mallard("report", journal, "-o", tmp_path / "report.html", "--replay", replay)
    assert made.returncode == 0, made.stderr
    with opened(browser, tmp_path / "report.html") as page:
        assert page.locator("table.strategies tbody tr").count() == len(rows)
        assert page.locator('.chart[data-chart="replay"] svg.main-svg').count() >= 1
        assert "no replay has measured" not in page.locator(".headline").inner_text()


@pytest.mark.heaps
@pytest.mark.slow
def test_replay_is_run_where_it_is_wanted(mallard: Mallard, tmp_path: Path) -> None:
    small = tmp_path / "small.mlrd"
    assert mallard("record", "-o", small, "--", "/usr/bin/perl", "-e", "1").returncode == 0
    made = mallard("report", small, "-o", tmp_path / "report.html")
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "report.html").read_text()
    for table in ("Strategies", "Times of calls", "Held over time"):
        assert f'aria-label="{table}"><table class="sortable strategies"' in page


@pytest.mark.parametrize(
    ("wanted", "events", "options"),
    [
        ("auto", 500_000, DRAWN),
        ("auto", 500_001, ()),
        ("auto", 1_000_001, None),
        ("always", 1_000_001, DRAWN),
        ("never", 10, None),
    ],
)
def test_large_journals_are_replayed_with_less(
    monkeypatch: pytest.MonkeyPatch, wanted: str, events: int, options: tuple[str, ...] | None
) -> None:
    asked: list[Sequence[str]] = []

    def run(_: str, options: Sequence[str]) -> tuple[None, str]:
        asked.append(options)
        return None, ""

    monkeypatch.setattr("mallard.report.replay.run", run)
    replay_of("run.mlrd", events, wanted)
    assert asked == ([] if options is None else [options])


@pytest.mark.slow
def test_children_have_their_tabs(mallard: Mallard, browser: Browser, tmp_path: Path) -> None:
    parent = tmp_path / "family.mlrd"
    assert mallard("record", "-o", parent, "--", "/usr/bin/perl", "-e", FAMILY).returncode == 0
    made = mallard("report", parent, "--children", "--replay", "never", "-o", tmp_path / "report.html")
    assert made.returncode == 0, made.stderr
    with opened(browser, tmp_path / "report.html") as page:
        assert page.get_by_role("tab").count() == 3
        assert page.locator(".comparison tbody tr").count() == 3


def test_subsystems_as_asked_for(mallard: Mallard, journal: Path) -> None:
    page = mallard("report", journal, "--by", "module", "--replay", "never", "-o", "-", "--sites", "3").stdout
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>\n")
    assert "here by module" in page


def test_what_is_no_journal_leaves_the_old_report(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    noise = tmp_path / "noise"
    noise.write_bytes(bytes(range(256)))
    page_file = tmp_path / "report.html"
    page_file.write_text("old")
    refused(mallard("report", noise, "-o", page_file), str(noise))
    refused(mallard("report", journal, noise, "-o", page_file, "--replay", "never"), str(noise))
    assert page_file.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["noise", "report.html"]


def test_what_cannot_be_written_is_told_before_the_work(
    mallard: Mallard, journal: Path, tmp_path: Path
) -> None:
    refused(mallard("report", journal, "-o", tmp_path / "absent" / "report.html"), "absent")
    refused(mallard("report", journal, "-o", tmp_path), str(tmp_path))


def test_no_journal_is_overwritten(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.mlrd"
    own.write_bytes(journal.read_bytes())
    refused(mallard("report", own, "-o", own), "own.mlrd")
    assert own.read_bytes() == journal.read_bytes()


@pytest.mark.heaps
def test_replay_of_another_journal(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    other = {"journal": {"file": "other.mlrd"}, "machine": {"cpu": "x"}, "method": {"a": "b"}, "rows": [{}]}
    for text in ("", "{}", "[]", json.dumps(other), json.dumps(other | {"rows": []})):
        replay = tmp_path / "replay.json"
        replay.write_text(text)
        refused(mallard("report", journal, "-o", output, "--replay", replay), "replay.json")
    of_regions = {**other, "journal": {"file": journal.name, "replayed": "regions"}}
    replay.write_text(json.dumps(of_regions))
    refused(mallard("report", journal, "-o", output, "--replay", replay), "is of regions")
    of_a_part = {**other, "journal": {"file": journal.name, "replayed": "blocks"}, "part": {"heaps": 2}}
    replay.write_text(json.dumps(of_a_part))
    refused(
        mallard("report", journal, "-o", output, "--replay", replay), "is of a part with heaps of its own"
    )
    refused(mallard("report", journal, "-o", output, "--replay", "sometimes"), "sometimes")
    refused(mallard("report", journal, journal, "-o", output, "--replay", replay), "one journal")
    assert not output.exists()


def test_misused_options(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    refused(mallard("report"), "JOURNAL")
    refused(mallard("report", journal, "--by", "colour"), "subtree")
    refused(mallard("report", journal, "--sites", "-1", "-o", tmp_path / "report.html"), "--sites")


def test_report_loads_where_nothing_is_a_terminal(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    made = mallard("report", journal, "--replay", "never", "-o", tmp_path / "report.html")
    assert made.stderr == ""


def test_help_stays_cheap() -> None:
    program = "import sys, mallard.cli; sys.exit('mallard.report.page' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
