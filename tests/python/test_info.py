"""`mallard info` on journals and on what is none."""

import json
from pathlib import Path

from conftest import Mallard


def test_json_describes_the_recorded_program(mallard: Mallard, journal: Path) -> None:
    summary = json.loads(mallard("info", "--json", journal).stdout)
    assert summary["program"].startswith("/usr/bin/perl")
    assert summary["arguments"][1] == "-e"
    assert summary["events"] == sum(summary["events_by_kind"].values())
    assert summary["events_by_kind"]["malloc"] >= 20_000, "a list is at least its elements"
    assert summary["threads"] == 1
    assert summary["complete"]
    assert summary["file_bytes"] == journal.stat().st_size


def test_table_shows_the_same_count(mallard: Mallard, journal: Path) -> None:
    events = json.loads(mallard("info", "--json", journal).stdout)["events"]
    shown = mallard("info", journal)
    assert shown.returncode == 0
    assert f"{events:,}" in shown.stdout
    assert "/usr/bin/perl" in shown.stdout


def test_file_that_is_no_journal(mallard: Mallard, tmp_path: Path) -> None:
    noise = tmp_path / "noise"
    noise.write_bytes(bytes(range(256)))
    refused = mallard("info", noise)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith("mallard: ")
    assert str(noise) in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_missing_file(mallard: Mallard, tmp_path: Path) -> None:
    refused = mallard("info", tmp_path / "absent")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
