"""`mallard profile` as a user runs it, on journals of programs and on text."""

import json
import math
import os
import subprocess
import sys
import types
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from conftest import MALLARD, Mallard
from made_store import Made, make_store

from mallard import MallardError
from mallard.analysis.model import Profile
from mallard.analysis.partition import Limits
from mallard.analysis.profile import Options, profile, profile_of
from mallard.analysis.symbols import Symbols

TEXT = """\
a 100 1000 0 10
a 20 2000 0 20
f 1000 0 30
a 100 1000 1 40
f 2000 1 50
"""


@pytest.fixture(scope="session")
def profiled(mallard: Mallard, journal: Path) -> dict[str, Any]:
    """What is reported of the perl program."""
    shown = mallard("profile", "--json", journal)
    assert shown.returncode == 0, shown.stderr
    found: dict[str, Any] = json.loads(shown.stdout)
    return found


@pytest.fixture
def text_journal(tmp_path: Path) -> Path:
    """A journal that one can read."""
    path = tmp_path / "events.txt"
    path.write_text(TEXT)
    return path


def rebuilt(kind: Any, value: Any) -> Any:
    """Make of plain JSON what the model says; anything that does not fit fails."""
    if is_dataclass(kind):
        assert set(value) == {member.name for member in fields(kind)}, kind
        hints = get_type_hints(kind)
        made = {name: rebuilt(hints[name], part) for name, part in value.items()}
        return kind(**made)  # type: ignore[operator]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is list:
        return [rebuilt(arguments[0], part) for part in value]
    if origin is dict:
        return {
            rebuilt(arguments[0], arguments[0](key)): rebuilt(arguments[1], v) for key, v in value.items()
        }
    if origin in (Union, types.UnionType):
        fitting = [part for part in arguments if (value is None) == (part is type(None))]
        return rebuilt(fitting[0], value)
    if kind is float:
        assert math.isfinite(value)
        return float(value)
    assert type(value) is kind or (kind is type(None) and value is None), (kind, value)
    return value


def test_json_is_what_the_model_says(profiled: dict[str, Any]) -> None:
    found = rebuilt(Profile, profiled)
    assert found.program.endswith("/perl")
    assert found.subsystems
    assert found.sites


def test_parts_sum_up_to_the_whole(profiled: dict[str, Any]) -> None:
    parts = [part["behaviour"] for part in profiled["subsystems"]]
    for figure in ("allocations", "bytes", "live_at_peak_bytes", "foreign_frees"):
        assert sum(part[figure] for part in parts) == profiled["whole"][figure], figure
    for figure in ("last", "few", "short"):
        temporaries = [part["temporaries"][figure] for part in parts]
        assert sum(temporaries) == profiled["whole"]["temporaries"][figure]
    assert profiled["whole"]["allocations"] == profiled["totals"]["allocations"]
    assert profiled["whole"]["live_at_peak_bytes"] == profiled["totals"]["peak_live_bytes"]
    assert sum(map(sum, profiled["heat_map"]["objects"])) == profiled["totals"]["allocations"]
    assert sum(map(sum, profiled["heat_map"]["bytes"])) == profiled["totals"]["bytes"]
    assert sum(map(sum, profiled["thread_matrix"]["objects"])) == profiled["totals"]["allocations"]
    assert (
        sum(part["dvluc"]["density"]["operations"] for part in profiled["subsystems"])
        == (profiled["dvluc"]["density"]["operations"])
    )
    for figure in ("cost_ns", "value"):
        densities = [part["dvluc"]["density"][figure] for part in profiled["subsystems"]]
        assert sum(densities) == pytest.approx(profiled["dvluc"]["density"][figure], rel=1e-9)
    for part in parts:
        assert sum(part["free_order"].values()) == part["allocations"]
        assert sum(part["size_histogram"].values()) == part["allocations"]


def test_sites_are_the_largest_and_belong_to_a_subsystem(mallard: Mallard, journal: Path) -> None:
    few = json.loads(mallard("profile", "--json", "--sites", "3", journal).stdout)
    assert len(few["sites"]) == 3
    assert few["sites_total"] > 3
    many = json.loads(mallard("profile", "--json", "--sites", "100000", journal).stdout)
    assert many["sites_total"] == len(many["sites"])
    assert [site["context"] for site in many["sites"][:3]] == [site["context"] for site in few["sites"]]
    for number, part in enumerate(many["subsystems"]):
        own = [site["behaviour"] for site in many["sites"] if site["subsystem"] == number]
        assert len(own) == part["sites"]
        assert sum(site["allocations"] for site in own) == part["behaviour"]["allocations"]


def test_the_same_journal_gives_the_same_profile(mallard: Mallard, journal: Path) -> None:
    assert mallard("profile", "--json", journal).stdout == mallard("profile", "--json", journal).stdout


def test_text_journal_by_hand(mallard: Mallard, text_journal: Path) -> None:
    found = json.loads(mallard("profile", "--json", "--few", "1", "--short", "30ns", text_journal).stdout)
    assert found["totals"]["allocations"] == 3
    assert found["whole"]["bytes"] == 220
    assert found["whole"]["max_live_bytes"] == 120
    assert found["whole"]["lifetime_events"] == {
        "min": 2,
        "p50": 2,
        "p90": 3,
        "p99": 3,
        "max": 3,
        "mean": 2.5,
    }
    assert found["whole"]["lifetime_ns"]["max"] == 30
    assert found["whole"]["temporaries"] == {"last": 1, "few": 2, "short": 1}
    assert found["whole"]["free_order"]["never"] == 1
    assert found["whole"]["foreign_frees"] == 1
    assert found["thread_matrix"] == {"threads": [0, 1], "objects": [[1, 1, 0], [0, 0, 1]], "allocating": 2}
    assert found["dvluc"]["density"]["value"] is None, "nothing was timed"
    assert found["verdict"]["headline"].startswith("Nothing to gain: the program allocates 3 times")


@pytest.mark.parametrize("by", ["subtree", "module", "thread", "annotation"])
def test_each_division_covers_the_program(mallard: Mallard, journal: Path, by: str) -> None:
    found = json.loads(mallard("profile", "--json", "--by", by, journal).stdout)
    assert found["by"] == by
    parts = found["subsystems"]
    assert sum(part["behaviour"]["allocations"] for part in parts) == found["totals"]["allocations"]
    assert len({part["name"] for part in parts}) == len(parts)
    densities = [part["dvluc"]["density"]["value"] for part in parts]
    assert densities == sorted(densities, reverse=True)


@pytest.mark.parametrize("by", ["subtree", "module", "thread", "annotation"])
@pytest.mark.parametrize("most", [1, *(pytest.param(most, marks=pytest.mark.slow) for most in (2, 3, 12))])
def test_subsystems_are_as_many_as_wanted_at_most(journal: Path, by: str, most: int) -> None:
    found = profile(str(journal), Options(by=by, limits=Limits(most=most)))
    assert 1 <= len(found.subsystems) <= most
    assert sum(part.behaviour.allocations for part in found.subsystems) == found.totals.allocations


def test_no_more_subsystems_than_wanted(mallard: Mallard, journal: Path) -> None:
    found = json.loads(mallard("profile", "--json", "--max-subsystems", "1", journal).stdout)
    assert [part["name"] for part in found["subsystems"]] == ["perl"]


@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_the_terminal(
    mallard: Mallard, journal: Path, profiled: dict[str, Any], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = mallard("profile", journal).stdout
    lines = shown.splitlines()
    assert max(map(len, lines)) <= width
    assert "".join(shown.split()).startswith("".join(profiled["verdict"]["headline"].split()))
    heading = next(number for number, line in enumerate(lines) if line.startswith("subsystem "))
    for part, line in zip(profiled["subsystems"], lines[heading + 1 :], strict=False):
        assert line.startswith(part["name"][:15])
        assert f" {part['behaviour']['allocations']:,} " in line
        assert "…" not in line[width // 2 :], "figures are never cut off"


def test_output_goes_to_a_file(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    written = tmp_path / "profile.json"
    shown = mallard("profile", "--json", "-o", written, journal)
    assert (shown.returncode, shown.stdout) == (0, "")
    rebuilt(Profile, json.loads(written.read_text()))


@pytest.mark.parametrize("way", [[], ["--json"]])
def test_terminals_without_unicode_get_what_they_can_show(text_journal: Path, way: list[str]) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [MALLARD, "profile", *way, str(text_journal)]
    shown = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"temporaries" in shown.stdout


def test_what_was_there_stays_if_the_work_fails(mallard: Mallard, tmp_path: Path) -> None:
    written = tmp_path / "profile.txt"
    written.write_text("before")
    assert mallard("profile", tmp_path / "missing", "-o", written).returncode == 2
    assert written.read_text() == "before"
    assert [*tmp_path.iterdir()] == [written]


def test_a_target_that_cannot_be_written_is_refused_before_the_work(mallard: Mallard, tmp_path: Path) -> None:
    refused = mallard("profile", tmp_path / "missing", "-o", tmp_path)
    assert refused.stderr == f"mallard: cannot write {tmp_path}: it is a directory\n"


def test_a_full_device_is_one_line(text_journal: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [MALLARD, "profile", str(text_journal)]
        refused = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr == "mallard: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-o", "/dev/full"], "cannot write /dev/full: No space left on device"),
        (["--by", "moon"], "--by moon: must be one of subtree, module, thread, annotation"),
        (["--short", "5 parsecs"], "--short 5 parsecs: must be a number with ns, us, ms or s behind it"),
        (["-o", "/nowhere/at/all"], "cannot write /nowhere/at/all: No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    mallard: Mallard, text_journal: Path, arguments: list[str], complaint: str
) -> None:
    refused = mallard("profile", text_journal, *arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == f"mallard: {complaint}\n"


def test_only_regions_are_nothing_to_profile() -> None:
    store = make_store([Made(0, 1, region=1)])
    with pytest.raises(MallardError, match="no allocation of the malloc family"):
        profile_of(store, Symbols(store), Options())


def test_progress_only_rises_and_ends_behind_the_second_pass(text_journal: Path) -> None:
    heard: list[float] = []
    profile(str(text_journal), Options(), heard.append)
    assert heard == sorted(heard)
    assert 0.8 <= heard[-1] <= 1


def test_what_is_no_journal_is_refused(mallard: Mallard, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("f 1000 0 10\n")
    for path in (tmp_path / "missing", empty):
        refused = mallard("profile", path)
        assert refused.returncode == 2
        assert refused.stderr.startswith("mallard: ")
        assert refused.stderr.count("\n") == 1


INTERRUPTED = """
import signal, sys
from mallard.analysis import {module} as module
from mallard.cli import main

def interrupted(*arguments):
    {how}
    return real(*arguments)

real, module.{function} = module.{function}, interrupted
sys.argv = ["mallard", "profile", {journal!r}]
main()
"""
AT_ONCE = "signal.raise_signal(signal.SIGINT)"
IN_A_QUERY = "raise RuntimeError('Query interrupted')"  # so DuckDB tells of it


@pytest.mark.parametrize(
    ("module", "function", "how"),
    [
        ("store", "fill", AT_ONCE),
        ("profile", "divide", AT_ONCE),
        ("profile", "count", IN_A_QUERY),
        ("behaviour", "histograms", IN_A_QUERY),
    ],
)
def test_interrupt_ends_without_a_traceback(text_journal: Path, module: str, function: str, how: str) -> None:
    code = INTERRUPTED.format(module=module, function=function, how=how, journal=str(text_journal))
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (130, ""), ended.stderr
    assert "Traceback" not in ended.stderr
