"""The processes of a recording: which there are, and their profile together."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Mallard

WORK = "my @a = map { [$_] } 1 .. 3000;"
PROGRAM = (
    f"for (1 .. 3) {{ if (!fork) {{ {WORK} exit }} }} 1 while wait > 0; if (!fork) {{ exec 'ls', '/' }} wait"
)


@pytest.fixture(scope="module")
def family(mallard: Mallard, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of a perl program with three children of the same work, and one that becomes ls: five."""
    path = tmp_path_factory.mktemp("family") / "family.mlrd"
    assert mallard("record", "-o", path, "--", "/usr/bin/perl", "-e", PROGRAM).returncode == 0
    return path


@pytest.fixture(scope="module")
def listed(mallard: Mallard, family: Path) -> list[dict[str, Any]]:
    """What `mallard info` says of the children."""
    found: list[dict[str, Any]] = json.loads(mallard("info", "--json", family).stdout)["processes"]
    return found


def profile(mallard: Mallard, *arguments: str | Path) -> dict[str, Any]:
    done = mallard("profile", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_profile_says_that_there_are_children(mallard: Mallard, family: Path, journal: Path) -> None:
    assert "child processes have 5 journals that are not in this profile" in mallard("profile", family).stderr
    assert "child processes" not in mallard("profile", journal).stderr


def test_all_processes_together_are_the_sum(
    mallard: Mallard, family: Path, listed: list[dict[str, Any]]
) -> None:
    alone = profile(mallard, family)
    whole = profile(mallard, family, "--process", "all")
    assert whole["totals"]["allocations"] == alone["totals"]["allocations"] + sum(
        o["objects"] for o in listed
    )
    assert whole["totals"]["bytes"] == alone["totals"]["bytes"] + sum(o["bytes"] for o in listed)
    assert whole["totals"]["events"] == alone["totals"]["events"] + sum(o["events"] for o in listed)
    assert whole["program"] == alone["program"]
    assert whole["dvluc"]["contention"]["value"] is None
    assert any("6 journals together" in line for line in whole["warnings"])


def test_the_same_call_in_several_processes_is_one_site(mallard: Mallard, family: Path) -> None:
    perls = profile(mallard, family, "--process", "perl")
    child = profile(mallard, family, "--process", str(perl_child(mallard, family)))
    busiest = max(child["sites"], key=lambda site: site["behaviour"]["allocations"])
    together = max(perls["sites"], key=lambda site: site["behaviour"]["allocations"])
    assert together["name"] == busiest["name"]
    assert together["stack"] == busiest["stack"]
    assert together["behaviour"]["allocations"] >= 3 * busiest["behaviour"]["allocations"]


def perl_child(mallard: Mallard, family: Path) -> int:
    below = json.loads(mallard("info", "--json", family).stdout)["processes"]
    perls = [one for one in below if one["program"].endswith("perl")]
    process: int = max(perls, key=lambda one: int(one["objects"]))["process"]
    return process


def test_one_process_is_its_own_journal(mallard: Mallard, family: Path, listed: list[dict[str, Any]]) -> None:
    (ls,) = (one for one in listed if one["program"].endswith("/ls"))
    chosen = profile(mallard, family, "--process", "ls")
    own = profile(mallard, ls["journal"])
    chosen["journal"] = own["journal"]
    assert chosen == own


def test_a_process_that_is_not_there_is_one_line(mallard: Mallard, family: Path) -> None:
    refused = mallard("profile", family, "--process", "emacs")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "one of: ls, perl" in refused.stderr


def test_a_plan_is_for_one_program_of_a_family(mallard: Mallard, family: Path, tmp_path: Path) -> None:
    first = mallard("plan", family)
    assert first.returncode == 0
    assert "child processes have 5 journals that are not in this plan; --process NAME plans" in first.stderr
    done = mallard("plan", "--process", "perl", "--json", "-o", tmp_path / "plan.toml", family)
    assert done.returncode == 0, done.stderr
    assert "not in this plan" not in done.stderr
    found = json.loads(done.stdout)
    assert found["program"] == "/usr/bin/perl"
    assert found["journal"] == f"{family} --process perl"
    assert (
        found["recorded_peak_bytes"]
        > json.loads(mallard("plan", "--json", family).stdout)["recorded_peak_bytes"]
    )
    refused = mallard("plan", "--process", "all", family)
    assert refused.returncode == 2
    assert "has several programs, name one: ls, perl" in refused.stderr
