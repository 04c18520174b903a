"""`mallard profile` of a program with eight planted subsystems: it finds them, and each figure is true."""

import copy
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import Mallard
from planted import BY_DENSITY, OBJECTS, Found, Planted, Truth, differences, matches, mismatches

TARGET = Path(__file__).resolve().parents[1] / "profile/targets/planted.cpp"


@pytest.fixture(scope="module")
def recorded(mallard: Mallard, tmp_path_factory: pytest.TempPathFactory) -> tuple[Truth, Found]:
    """What the program says that it did, and the profile of that very run."""
    folder = tmp_path_factory.mktemp("planted")
    program, told, journal = folder / "planted", folder / "truth.json", folder / "planted.mlrd"
    subprocess.run(["g++", "-std=c++20", "-O2", "-g", "-pthread", TARGET, "-o", program], check=True)
    for _ in range(5):
        done = mallard("record", "-o", journal, "--", program, told)
        assert done.returncode == 0, done.stderr
        profiled = mallard("profile", "--json", "--sites", "1000", journal)
        assert profiled.returncode == 0, profiled.stderr
        truth, profile = Truth.read(told), json.loads(profiled.stdout)
        if not list(differences(profile, truth)):
            break  # else a timed call may have lost the processor, which counts as its time
    return truth, profile


def test_program_does_what_it_is_said_to_do(recorded: tuple[Truth, Found]) -> None:
    truth, profile = recorded
    assert {name: len(truth.of(name)) for name in truth.functions} == OBJECTS
    operations = {s: sum(2 if o.end == "freed" else 1 for o in truth.of(s)) for s in BY_DENSITY}
    for more, fewer in pairwise(BY_DENSITY):
        assert operations[more] > operations[fewer], "the planted order of D"
    assert sum(operations.values()) <= profile["totals"]["events"] <= sum(operations.values()) + 100


def test_each_planted_subsystem_is_found_as_one(recorded: tuple[Truth, Found]) -> None:
    truth, profile = recorded
    assert list(mismatches(profile, truth)) == []


def test_every_figure_is_the_planted_one(recorded: tuple[Truth, Found]) -> None:
    truth, profile = recorded
    assert list(differences(profile, truth)) == []


# --- controls: what is not as planted is reported -----------------------------------------------------


def with_first(truth: Truth, subsystem: str, change: Callable[[Planted], Planted]) -> Truth:
    """Return the truth with one object of a subsystem changed: neither the first nor the last."""
    number = [i for i, o in enumerate(truth.objects) if o.subsystem == subsystem][20]
    return replace(truth, objects=[change(o) if i == number else o for i, o in enumerate(truth.objects)])


@pytest.mark.parametrize(
    ("subsystem", "change", "told"),
    [
        ("collector", lambda o: replace(o, size=o.size + 1), "behaviour.bytes is"),
        ("cache", lambda o: replace(o, size=o.size + 100), "dvluc.variation.value is"),
        ("parser", lambda o: replace(o, size=480), "dvluc.utilization.value is"),
        ("answers", lambda o: replace(o, end="never"), "behaviour.max_live_objects is"),
        ("parser", lambda o: replace(o, end="never"), "behaviour.free_order is"),
        ("exchange", lambda o: replace(o, free=replace(o.free, thread=0)), "behaviour.freeing_threads is"),
        (
            "contest",
            lambda o: replace(o, allocation=replace(o.allocation, thread=0)),
            "behaviour.allocating_threads is",
        ),
        ("buffers", lambda o: replace(o, in_place=not o.in_place), "behaviour.reallocations.in_place is"),
        ("configuration", lambda o: replace(o, subsystem="cache"), "behaviour.allocations is"),
    ],
)
def test_one_object_that_is_not_as_planted_is_noticed(
    recorded: tuple[Truth, Found], subsystem: str, change: Callable[[Planted], Planted], told: str
) -> None:
    truth, profile = recorded
    found = list(differences(profile, with_first(truth, subsystem, change), [subsystem]))
    assert any(line.startswith(f"{subsystem}: {told}") for line in found)


def test_two_frees_in_another_order_are_noticed(recorded: tuple[Truth, Found]) -> None:
    # The longest life and the next: as many events in all, and other ones at the end.
    truth, profile = recorded
    last, before = sorted(truth.of("cache"), key=lambda o: o.lifetime_events)[:-3:-1]
    swapped = {
        last.allocation: replace(last, free=before.free),
        before.allocation: replace(before, free=last.free),
    }
    other = replace(truth, objects=[swapped.get(o.allocation, o) for o in truth.objects])
    found = list(differences(profile, other, ["cache"]))
    assert any(line.startswith("cache: behaviour.lifetime_events is") for line in found)


def test_clock_that_is_three_percent_off_is_noticed(recorded: tuple[Truth, Found]) -> None:
    # The program reads its clock before and after each event, and may be off the processor in between:
    # the shift is counted from the longest life that its readings allow.
    truth, profile = recorded

    def slower(o: Planted) -> Planted:
        shortest, longest = o.lifetime_ns
        late = longest * 103 // 100 - shortest
        free = replace(o.free, before=o.free.before + late, after=o.free.after + late)
        return replace(o, free=free)

    slow = replace(truth, objects=[slower(o) for o in truth.objects])
    found = list(differences(profile, slow))
    for name in ("parser", "collector", "answers", "cache", "buffers", "exchange", "contest"):
        assert any(line.startswith(f"{name}: lifetime_ns.mean is") for line in found)


@pytest.mark.parametrize(
    ("dimension", "first", "second"), [("density", "cache", "answers"), ("contention", "contest", "exchange")]
)
def test_other_order_is_noticed(
    recorded: tuple[Truth, Found], dimension: str, first: str, second: str
) -> None:
    truth, profile = recorded
    other = copy.deepcopy(profile)
    matched = matches(profile, truth)
    one, two = (other["subsystems"][min(matched[name])]["dvluc"] for name in (first, second))
    one[dimension], two[dimension] = two[dimension], one[dimension]
    assert any(f"{second}, " in line and "order" in line for line in differences(other, truth, [second]))


def test_subsystems_that_are_merged_split_or_beside_the_planted_are_noticed(
    recorded: tuple[Truth, Found],
) -> None:
    truth, profile = recorded
    matched = {name: min(found) for name, found in matches(profile, truth).items()}

    merged = copy.deepcopy(profile)
    for site in merged["sites"]:
        if site["subsystem"] == matched["cache"]:
            site["subsystem"] = matched["parser"]
    assert any(line.startswith("cache, parser are one subsystem") for line in mismatches(merged, truth))

    split = copy.deepcopy(profile)
    next(site for site in split["sites"] if site["subsystem"] == matched["parser"])["subsystem"] = 1000
    split["subsystems"] += [{}] * 1000
    assert "parser is 2 subsystems" in mismatches(split, truth)

    beside = copy.deepcopy(profile)
    further = copy.deepcopy(beside["subsystems"][matched["contest"]])
    beside["subsystems"].append(further)
    assert any("nobody planted" in line for line in mismatches(beside, truth))
