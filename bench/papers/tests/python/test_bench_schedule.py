"""Which groups `mallard bench` measures at each level, how long it says that takes, and its smallest run."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mallard import MallardError
from mallard_bench import expected
from mallard_bench.bench_run import Pace, duration
from mallard_bench.options import Benchmark, Group, Level, Options
from mallard_bench.papers import OF_ALLOCATORS, paper_of
from mallard_bench.schedules import probes, schedule

TURNS = {  # of the processes of a round
    Benchmark.DENSITY: 34,
    Benchmark.LOCALITY: 11,
    Benchmark.UTILIZATION: 21,
    Benchmark.CONTENTION: 24,
    Benchmark.EXPANSION: 20,
    Benchmark.SHRINK: 14,
    Benchmark.BURST: 15,
    Benchmark.POOLS: 36,
}


def groups(level: Level, benchmark: Benchmark = Benchmark.DENSITY, **narrowed: list[int]) -> list[Group]:
    return schedule(Options(benchmark, level, narrowed, [], 5, 0, None, TURNS[benchmark]))


def cells(found: list[Group]) -> set[tuple[int | str, int | str]]:
    return {(group.settings["structure"], group.settings["size"]) for group in found}


def test_the_default_is_every_structure_of_every_size() -> None:
    assert cells(groups(Level.DEFAULT)) == {(ds, size) for ds in range(1, 13) for size in range(6, 17)}


def test_most_of_the_default_are_large_containers_of_containers_of_strings() -> None:
    """Each takes 5 to 25 minutes, and small ones seconds: the user must be told so at the start."""
    found = groups(Level.DEFAULT)
    large = [
        g.seconds for g in found if g.settings["structure"] in (6, 8, 10, 12) and int(g.settings["size"]) > 14
    ]
    assert min(large) > 300
    assert max(large) < 1500
    assert sum(large) > 0.5 * sum(group.seconds for group in found)


def test_full_writes_as_many_leaves_as_the_paper() -> None:
    assert cells(groups(Level.FULL)) == cells(groups(Level.DEFAULT))
    assert {group.settings["leaves"] for group in groups(Level.FULL)} == {27}


def test_quick_is_small_sizes_and_a_large_one_of_what_holds_leaves() -> None:
    small = {(ds, size) for ds in range(1, 13) for size in (6, 10)}
    assert cells(groups(Level.QUICK)) == small | {(ds, 14) for ds in range(1, 5)}


def test_smoke_is_every_structure_once() -> None:
    assert cells(groups(Level.SMOKE)) == {(ds, 6) for ds in range(1, 13)}


def test_levels_are_narrowed_by_what_is_asked_for() -> None:
    assert cells(groups(Level.QUICK, structure=[3, 7], size=[8])) == {(3, 8), (7, 8)}
    assert groups(Level.QUICK, structure=[3], leaves=[22])[0].settings["leaves"] == 22


def settings(found: list[Group], *names: str) -> list[tuple[int | str, ...]]:
    return [tuple(group.settings[name] for name in names) for group in found]


def test_locality_is_tables_15_to_21() -> None:
    whole = groups(Level.FULL, Benchmark.LOCALITY)
    assert settings(whole, "table", "global", "subsystem") == [
        *(("factors", 7, subsystem) for subsystem in range(8)),
        *(("splits", 21, subsystem) for subsystem in range(22)),
        *(("splits", 25, subsystem) for subsystem in range(26)),
    ]
    assert whole[-1].settings["accesses"] == 2560 * 2**25
    few = groups(Level.DEFAULT, Benchmark.LOCALITY, **{"global": [18, 12], "subsystem": [4, 12]})
    assert settings(few, "global", "subsystem") == [(18, 4), (18, 12), (12, 4), (12, 12)]
    usual = groups(Level.DEFAULT, Benchmark.LOCALITY, subsystem=[12, 23])
    assert settings(usual, "global", "subsystem") == [(21, 12), (25, 12), (25, 23)]


@pytest.mark.parametrize(
    ("asked", "longest"),
    [
        ({"global": [18, 10], "subsystem": [4, 12]}, 10),
        ({"global": [10], "subsystem": [12]}, 10),
        ({"subsystem": [12]}, 10),
    ],
)
def test_lists_that_are_longer_than_all_are_refused(asked: dict[str, list[int]], longest: int) -> None:
    reason = f"--subsystem 12: a list of 2^12 links is longer than all, which are 2^{longest}"
    with pytest.raises(MallardError, match=re.escape(reason)):
        groups(Level.SMOKE, Benchmark.LOCALITY, **asked)


def test_utilization_is_the_papers_lines() -> None:
    lines = settings(groups(Level.DEFAULT, Benchmark.UTILIZATION), "total", "active", "block")
    assert sorted(lines) == sorted(expected.utilization().rows)
    asked = groups(Level.QUICK, Benchmark.UTILIZATION, total=[24], active=[16, 18], block=[8])
    assert settings(asked, "total", "active", "block") == [(24, 16, 8), (24, 18, 8)]


def test_contention_is_the_papers_lines() -> None:
    lines = settings(groups(Level.DEFAULT, Benchmark.CONTENTION), "iterations", "block", "threads")
    assert sorted(lines) == sorted(expected.contention().rows)
    asked = groups(Level.QUICK, Benchmark.CONTENTION, block=[6], threads=[3])
    assert settings(asked, "iterations", "block", "threads") == [(15, 6, 3)]


def test_what_no_group_has_is_refused() -> None:
    with pytest.raises(MallardError, match="nothing to measure"):
        groups(Level.DEFAULT, Benchmark.UTILIZATION, block=[3])


@pytest.mark.parametrize("benchmark", Benchmark)
def test_higher_levels_take_longer(benchmark: Benchmark) -> None:
    seconds = [sum(group.seconds for group in groups(level, benchmark)) for level in Level]
    assert seconds == sorted(seconds)
    assert seconds[0] < 30
    probing = sum(
        group.seconds
        for group in probes(Options(benchmark, Level.FULL, {}, [], 1, 0, None, TURNS[benchmark]))
    )
    assert probing < 10


@pytest.mark.parametrize("benchmark", Benchmark)
def test_quick_takes_about_ten_minutes_at_most(benchmark: Benchmark) -> None:
    assert sum(group.seconds for group in groups(Level.QUICK, benchmark)) < 600


def test_time_left_is_what_was_expected_corrected_by_what_is_known() -> None:
    pace = Pace([10, 20, 30])
    assert pace.seconds_left() == 60
    pace.probed(1, 3)
    assert pace.seconds_left() == 180
    pace.done(10, 20, skipped=False)
    assert pace.seconds_left() == 100
    assert pace.seconds_left(running_for=30) == 70
    pace.done(20, 0.1, skipped=True)
    assert pace.seconds_left() == 60
    assert pace.seconds_left(running_for=90) == 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (89, "89 s"), (240, "4 min"), (5000, "83 min"), (7500, "2 h 5 min"), (864000, "10 days")],
)
def test_durations_are_said_as_people_do(seconds: float, text: str) -> None:
    assert duration(seconds) == text


OURS = {**dict.fromkeys(OF_ALLOCATORS, "V2"), Benchmark.POOLS: "pool.V2"}  # else AS7
MALLARD = Path(sys.executable).parent / "mallard"


@pytest.mark.parametrize("benchmark", Benchmark)
def test_smoke(benchmark: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [MALLARD, "bench", benchmark, "--smoke"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    header, *documents = [
        json.loads(line) for line in (tmp_path / f"mallard-bench-{benchmark}.jsonl").read_text().splitlines()
    ]
    assert len(documents) == header["groups"]
    rows = [row for document in documents for row in document["rows"]]
    without = [row["label"] for row in rows if row["status"] != "ok"]
    assert without == (["boost.fast_pool.null"] if benchmark == Benchmark.POOLS else [])  # not for threads
    ours = OURS.get(Benchmark(benchmark), "AS7")
    assert {paper_of(benchmark).base, ours} <= {row["label"] for row in rows}
    assert ours in done.stdout
