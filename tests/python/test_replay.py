"""`mallard replay` and `mallard strategies`: the native tables under the Python command."""

import json
from pathlib import Path

import pytest
from conftest import Mallard

pytestmark = pytest.mark.heaps


def test_rows_are_the_strategies_asked_for_and_the_baseline(mallard: Mallard, journal: Path) -> None:
    replayed = mallard(
        "replay", journal, "--strategy", "none", "--strategy", "multipool", "--warm-time", "0", "--json"
    )
    assert replayed.returncode == 0, replayed.stderr
    rows = json.loads(replayed.stdout)["rows"]
    assert {row["strategy"] for row in rows} == {"none", "multipool", "glibc", "glibc a/a"}
    assert all(row["status"] == "ok" for row in rows)


def test_exit_code_and_message_are_the_tools_own(mallard: Mallard, tmp_path: Path) -> None:
    refused = mallard("replay", tmp_path / "absent")
    assert refused.returncode == 2
    assert refused.stderr.startswith("mallard-replay: ")
    assert refused.stderr.count("\n") == 1


def test_strategies_names_ours_and_others(mallard: Mallard) -> None:
    known = json.loads(mallard("strategies", "--json").stdout)
    names = {strategy["strategy"] for strategy in known}
    assert {"none", "monotonic", "multipool", "multipool/monotonic", "glibc", "jemalloc", "std.pool"} <= names
    shown = mallard("strategies").stdout
    assert all(name in shown for name in names)


def test_strategies_of_regions_are_asked_for(mallard: Mallard) -> None:
    known = json.loads(mallard("strategies", "--regions", "--json").stdout)
    names = {strategy["strategy"] for strategy in known}
    assert {"none", "region", "reap", "sized_reap", "apr", "talloc", "obstack"} <= names
    assert "multipool" not in names
    assert "talloc" in mallard("strategies", "--regions").stdout


def test_strategies_of_threads_are_asked_for(mallard: Mallard) -> None:
    known = json.loads(mallard("strategies", "--threads", "--json").stdout)
    names = {strategy["strategy"] for strategy in known}
    assert {"none", "glibc", "mimalloc", "std.sync_pool", "synchronized_multipool"} <= names
    assert "multipool" not in names
