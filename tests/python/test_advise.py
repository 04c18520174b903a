"""`mallard advise`: what it picks by a replay's figures, what it estimates, and what it would change.

Replays are played by a stand-in, whose figures depend on the row alone: what is tested is what becomes of
them.
"""

import json
import mmap
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Mallard

from mallard import MallardError
from mallard.advise import Options, advised, advisor, as_document, huge_pages, measure, start_up, stretches
from mallard.advise.advice_model import Candidate
from mallard.advise.judging import NO_CHANGE, Judge, pick
from mallard.advise.looks import Looking
from mallard.advise.measure import Measured, Passes, Replays
from mallard.advise.parts import BEYOND, Part, Program, filled
from mallard.advise.stretches import Blocks
from mallard.compare.intervals import Interval
from mallard.plan import read_plan
from mallard.plan.planner import Planner

INCLUDE = Path(__file__).parents[2] / "include"

# Parts: nodes that end with the function that makes them; objects of one class that end at random; a vector
# that grows; vectors of one or two elements; work without blocks.
PROGRAM = """
#include <cstdint>
#include <cstdio>
#include <list>
#include <memory>
#include <random>
#include <vector>

struct order {
  long value[6];
};

__attribute__((noinline)) std::unique_ptr<order> make_order(long value) {
  return std::unique_ptr<order>(new order{{value}});
}

__attribute__((noinline)) long collect(long count) {
  std::vector<long> samples;
  for (long i = 0; i < count; ++i)
    samples.push_back(i);
  return samples.back();
}

struct record {
  std::vector<std::uint32_t> tags;
};

__attribute__((noinline)) void tag(record& one, unsigned random) {
  one.tags.push_back(random);
  if (random % 3 == 0) one.tags.push_back(random);
}

int main(int count, char**) {
  std::mt19937 chance(1);
  long sum = 0;
  if (count == 1) {
    std::vector<std::unique_ptr<order>> orders(500);
    for (int i = 0; i < 20000; ++i) orders[chance() % orders.size()] = make_order(i);
    for (int i = 0; i < 500; ++i) sum += collect(100 + chance() % 20);
    std::vector<record> records(300);
    for (int i = 0; i < 8000; ++i) {
      record fresh;
      tag(fresh, chance());
      records[chance() % records.size()] = std::move(fresh);
    }
  } else {
    for (long i = 0; i < 100000000; ++i) asm volatile("" : "+r"(sum));
  }
  std::printf("%ld\\n", sum);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program above, beside its source."""
    folder = tmp_path_factory.mktemp("advise")
    (folder / "parts.cpp").write_text(PROGRAM)
    build = ("g++", "-std=c++20", "-O1", "-g", "-Wl,--build-id", folder / "parts.cpp", "-o", folder / "parts")
    subprocess.run(build, check=True)
    return folder / "parts"


@pytest.fixture(scope="module")
def journal(mallard: Mallard, program: Path) -> Path:
    """Its journal."""
    path = program.with_suffix(".mlrd")
    assert mallard("record", "-o", path, "--", program).returncode == 0
    return path


class StandIn:
    """Replays with figures by row: ns a block less than glibc, and bytes more."""

    def __init__(self, gains: dict[str, float], memory: Mapping[str, int | None], noise: float = 1.0) -> None:
        """Take the figures; rows that are not named change nothing."""
        self.gains, self.memory, self.noise = gains, memory, noise
        self.calls: list[tuple[str, ...]] = []
        self.words: list[Sequence[str]] = []
        self.routes: list[np.ndarray[Any, Any]] = []
        self.interrupt_after = 1 << 30
        self.rounds = 11
        self.disturbed: dict[str, list[float]] = {}  # ns a block that first runs of a row take beyond others
        self.noise_of: dict[str, float] = {}  # of a replay that has a row of that name
        self.first: dict[str, float] = {}  # ns an operation more than glibc, in the first pass

    def run(self, replays: Replays, words: Sequence[str]) -> dict[str, Any] | None:
        """Answer in the place of mallard-replay."""
        if len(self.calls) == self.interrupt_after:
            replays.interrupted = True
            return None
        names = tuple(word.partition("=")[2] for word in words if word.startswith("--strategy="))
        route = np.fromfile(words[2], "<u4")
        self.calls.append(names)
        self.words.append(words)
        self.routes.append(route)
        noise = next((self.noise_of[name] for name in names if name in self.noise_of), self.noise)
        blocks = int(((route > 0) & (route != measure.LEFT_OUT)).sum())

        def row(name: str, change: float = 0.0, memory: int | None = 0) -> dict[str, Any]:
            each = [0.0, 1.0, -1.0] * self.rounds if name == "glibc a/a" else [0.0] * self.rounds
            for number, more in enumerate(self.disturbed.get(name, [])):
                each[number] += more / noise
            warm = [20.0 + (change + noise * of) / 2 for of in each[: self.rounds]]  # two operations a block
            return {
                "strategy": name,
                "status": "ok",
                "ns_per_event": 20.0,
                "rounds_ns": warm,
                "cold_rounds_ns": [of + 10.0 + self.first.get(name, 0.0) for of in warm],
                "change_max_held": memory,
                "held_after": 1000 + (memory or 0),
            }

        found = [
            row(name, self.gains.get(name, -0.1), self.memory.get(name, 0))
            for name in names
            if name != "glibc"
        ]
        rows = [row("none"), row("glibc"), *found, row("glibc a/a", self.gains.get("glibc a/a", 0.0))]
        operations = {"operations": 2 * blocks, "never_freed": 0}
        return {
            "rows": rows,
            "journal": operations,
            "part": {"events": 2 * blocks, "blocks": blocks, "heaps": int(route.max())},
        }


def standing_in(patch: pytest.MonkeyPatch, stand_in: StandIn) -> StandIn:
    """Let replays be played, of a program that takes as long as they do; all mallocs start alike."""
    patch.setattr(advisor, "start_ns", lambda *_: {})
    patch.setattr(Program, "call_ns", 20.0)
    patch.setattr(Program, "busy_ns", 5e6)
    patch.setattr(measure.Replays, "run", lambda replays, words, *limits: stand_in.run(replays, words))
    return stand_in


def without_whole_replays(patch: pytest.MonkeyPatch) -> None:
    """Leave no replay the time for the whole journal, but for one that is of its memory."""
    patch.setattr(Replays, "fits", lambda *_: 0)
    patch.setattr(Replays, "takes", lambda of, blocks, *_: 1e6 if blocks >= len(of.blocks) else 1.0)
    patch.setattr(stretches, "LIVES", 0)


def advice(mallard: Mallard, journal: Path, *options: str) -> dict[str, Any]:
    """Return what --json says."""
    ran = mallard("advise", journal, "--json", *options)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def part(found: dict[str, Any], function: str) -> dict[str, Any]:
    """Return the subsystem whose site is in a function."""
    (one,) = [one for one in found["subsystems"] if one["site"]["function"].startswith(function)]
    return dict(one)


def test_the_fastest_beyond_noise_is_picked_and_written_as_a_plan(
    mallard: Mallard, journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"segment_heap": -30.0, "pool": -20.0, "mimalloc": -9.0}, {}))
    found = advice(mallard, journal, "-o", str(tmp_path / "plan.toml"))
    orders = part(found, "make_order")
    assert orders["pick"] == "pool"
    best = orders["candidates"][0]
    assert (best["runs_as"], best["measured"], best["ns_per_block"]["median"]) == ("plan", True, -30.0)
    assert best["cpu"]["low"] < best["cpu"]["median"] < 0
    assert "48 bytes" in best["reason"]
    assert best["wrong_if"]
    assert orders["candidates"][-1]["strategy"] == "leave"
    assert read_plan(tmp_path / "plan.toml").title in [one["name"] for one in found["plans"]]
    assert found["mallocs"][0]["name"] == "mimalloc"
    assert len({route.size for route in stand_in.routes}) == 1
    blocks = [int((route > 0).sum()) for route in stand_in.routes]
    assert blocks[0] < max(blocks), "neighbours go to glibc"


def test_a_part_is_left_alone_where_nothing_beats_noise(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({"segment_heap": -30.0, "mimalloc": -30.0}, {}, noise=50.0))
    found = advice(mallard, journal)
    assert part(found, "make_order")["pick"] == "leave"
    assert found["verdict"]["kind"] in ("source", "nothing"), "what is estimated has no noise"
    monkeypatch.setattr("mallard.advise.judging.estimates", lambda part: ())
    found = advice(mallard, journal)
    assert {one["pick"] for one in found["subsystems"]} == {"leave"}
    assert found["verdict"]["kind"] == "nothing"
    assert found["verdict"]["headline"].startswith("Nothing to gain: keep what you have.")
    told = mallard("advise", journal).stdout
    assert "Leave it alone: nothing beats glibc beyond noise." in told
    assert "Nothing was measured" not in told


@pytest.mark.parametrize(
    ("gain", "disturbed", "picked"),
    [
        (-30.0, {"segment_heap": [1e4]}, "pool"),
        (-30.0, {"glibc": [-1e4]}, "pool"),
        (-30.0, {"segment_heap": [1e4] * 3}, "leave"),
        (5.0, {"segment_heap": [-1e4] * 3}, "leave"),
    ],
)
def test_a_disturbed_run_neither_hides_a_candidate_nor_makes_one(
    mallard: Mallard,
    journal: Path,
    monkeypatch: pytest.MonkeyPatch,
    gain: float,
    disturbed: dict[str, list[float]],
    picked: str,
) -> None:
    monkeypatch.setattr("mallard.advise.judging.estimates", lambda part: ())
    standing_in(monkeypatch, StandIn({"segment_heap": gain}, {})).disturbed = disturbed
    assert part(advice(mallard, journal), "make_order")["pick"] == picked


def test_what_is_no_faster_than_the_faster_row_of_glibc_is_left_alone(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mallard.advise.judging.estimates", lambda part: ())
    standing_in(monkeypatch, StandIn({"glibc a/a": 100.0}, {}))
    found = advice(mallard, journal)
    orders = part(found, "make_order")
    assert orders["pick"] == "leave"
    assert all(one["ns_per_block"]["median"] < -40 for one in orders["candidates"] if one["row"])
    assert not any(one["is_clear"] for one in orders["candidates"])
    assert found["verdict"]["kind"] == "nothing"


def test_what_takes_too_much_memory_is_refused(
    mallard: Mallard, journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({"multipool": -30.0, "pool": -20.0}, {"multipool": 1 << 30}))
    found = advice(mallard, journal)
    orders = part(found, "make_order")
    refused = next(one for one in orders["candidates"] if one["row"] == "multipool")
    assert "--max-rss 1.25" in refused["refused"]
    assert (orders["pick"], orders["candidates"][0]["row"]) == ("pool", "pool")
    assert orders["candidates"][0]["runs_as"] == "source"


@pytest.mark.parametrize(("memory", "told"), [(None, "unknown"), (0, "+0.0 %")])
def test_a_malloc_whose_memory_is_unknown_is_named_with_that(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, memory: int | None, told: str
) -> None:
    standing_in(monkeypatch, StandIn({"mimalloc": -30.0}, {"mimalloc": memory}))
    monkeypatch.setattr(Replays, "held", lambda *_: {})
    monkeypatch.setattr("mallard.advise.judging.estimates", lambda part: ())
    verdict = advice(mallard, journal)["verdict"]
    assert (verdict["kind"], verdict["peak"]) == ("malloc", memory)
    assert verdict["headline"].startswith("Try another malloc, mimalloc: ")
    assert verdict["headline"].endswith(f" expected, peak {told}.")


def test_pools_of_a_plan_take_what_the_plan_takes(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({"segment_heap": -30.0, "pool": -20.0}, {"segment_heap": 1 << 30}))
    orders = part(advice(mallard, journal), "make_order")
    best = orders["candidates"][0]
    assert (best["row"], best["refused"]) == ("segment_heap", None)
    assert best["peak_bytes"] < 1 << 20, "pools hand on what is empty, which those of a replay do not"
    monkeypatch.setattr("mallard.plan.planner.Planner.of", refuse_a_plan)
    refused = part(advice(mallard, journal), "make_order")
    assert (refused["pick"], refused["candidates"][0]["row"]) == ("pool", "pool")
    pool = next(one for one in refused["candidates"] if one["row"] == "segment_heap")
    assert pool["peak_bytes"] == 1 << 30


def refuse_a_plan(*_: object) -> None:
    raise MallardError("no plan stays below the limit")


def test_the_noise_of_one_replay_is_not_that_of_others(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"segment_heap": -30.0, "multipool": -90.0}, {}))
    stand_in.noise_of = {"multipool": 100.0}
    monkeypatch.setattr(Replays, "again", lambda *_: None)  # with twice the rounds, it would be clear
    orders = part(advice(mallard, journal), "make_order")
    assert (orders["pick"], orders["candidates"][0]["row"]) == ("pool", "segment_heap")


def test_a_second_look_that_is_cut_short_takes_nothing_back(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"segment_heap": -30.0}, {}))
    monkeypatch.setattr(Replays, "fits", lambda replays, *_: 1000 if replays.planned else 1 << 20)
    monkeypatch.setattr(Replays, "takes", lambda of, blocks, *_: 1e6 if blocks >= len(of.blocks) else 0.01)
    monkeypatch.setattr(stretches, "LIVES", 0)
    again = Replays.again
    looks: list[Any] = []

    def cut_short(*words: Any) -> Any:
        stand_in.rounds = 6
        looks.append(again(*words))
        return looks[-1]

    monkeypatch.setattr(Replays, "again", cut_short)
    assert part(advice(mallard, journal), "make_order")["pick"] == "pool"
    assert looks
    assert not any(looks)


def test_what_may_pay_is_looked_at_again(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"segment_heap": -30.0}, {}, noise=100.0))
    monkeypatch.setattr(Replays, "fits", lambda replays, *_: 1000 if replays.planned else 1 << 20)
    monkeypatch.setattr(Replays, "takes", lambda of, blocks, *_: 1e6 if blocks >= len(of.blocks) else 0.01)
    monkeypatch.setattr(stretches, "LIVES", 0)
    again = Replays.again

    def quietly(*words: Any) -> Any:
        stand_in.noise = 1.0
        return again(*words)

    monkeypatch.setattr(Replays, "again", quietly)
    orders = part(advice(mallard, journal), "make_order")
    assert (orders["pick"], orders["candidates"][0]["row"]) == ("pool", "segment_heap"), (
        "its own noise counts"
    )


def with_rivals(
    patch: pytest.MonkeyPatch, change: Callable[[StandIn, int], None] = lambda *_: None, rounds: int = 11
) -> list[list[str]]:
    """Let second replays take back the gain of one of two ways to divide a part; return their rows.

    `change` is called before each of them, with its number.
    """
    stand_in = standing_in(patch, StandIn({"segment_heap": -50.0, "multipool": -80.0}, {}))
    stand_in.rounds = rounds
    again = Replays.again
    seconds: list[list[str]] = []

    def changed(replays: Replays, *words: Any) -> Any:
        stand_in.gains["multipool"] = -30.0
        change(stand_in, len(seconds))
        seconds.append(words[1])
        return again(replays, *words)

    patch.setattr(Replays, "again", changed)
    return seconds


ONE_TURN, BOTH = 3.0**-11, 3.0**-22  # that the best wins all rounds by chance


@pytest.mark.parametrize(
    ("last", "best", "doubt"),
    [(4, "segment_heap", BOTH), (3, "segment_heap", ONE_TURN), (1, "multipool", ONE_TURN)],
)
def test_ways_to_divide_a_part_are_measured_turn_by_turn_before_one_is_picked(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, last: int, best: str, doubt: float
) -> None:
    def ends(stand_in: StandIn, number: int) -> None:
        if number == last:
            stand_in.interrupt_after = len(stand_in.calls)

    seconds = with_rivals(monkeypatch, ends)
    monkeypatch.setattr(measure, "MOST_ROUNDS", measure.ROUNDS)
    orders = part(advice(mallard, journal, "--top", "1"), "make_order")
    assert seconds == ([["multipool"], ["segment_heap"]] * 2)[: last + 1]
    assert orders["candidates"][0]["row"] == best, "none has new figures before all have"
    assert orders["candidates"][0]["doubt"] == pytest.approx(doubt)


@pytest.mark.parametrize("number", [0, 1])
def test_a_turn_of_fewer_rounds_tells_nothing(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def shortens(stand_in: StandIn, at: int) -> None:
        stand_in.rounds = 8 if at == number else 21

    with_rivals(monkeypatch, shortens)
    monkeypatch.setattr(Looking, "look_turn_by_turn", one_turn(Looking.look_turn_by_turn))
    orders = part(advice(mallard, journal, "--top", "1"), "make_order")
    assert orders["candidates"][0]["row"] == "multipool"


def one_turn(look: Callable[..., None]) -> Callable[..., None]:
    """Return what looks for one turn only."""
    return lambda looking, one, rivals, turns: look(looking, one, rivals, turns[:1])


@pytest.mark.parametrize(
    ("share", "rounds", "turns"),
    [(1 / 8, 11, 2), (1 / 8, 21, 2), (1 / 4, 11, 1), (1 / 4, 21, 0), (1 / 2, 11, 0)],  # fewer tell nothing
)
def test_there_are_as_many_turns_as_have_time(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, share: float, rounds: int, turns: int
) -> None:
    """A replay of eleven rounds takes that share of the time."""
    seconds = with_rivals(monkeypatch, rounds=rounds)
    takes = Replays.takes
    looks = Looking.look_longer

    def look_longer(*words: Any) -> None:
        each = 0.99 * share / 11
        monkeypatch.setattr(
            Replays, "takes", lambda of, _blocks, _rows, rounds=11, *_: each * rounds * of.left
        )
        looks(*words)
        monkeypatch.setattr(Replays, "takes", takes)

    monkeypatch.setattr(Looking, "look_longer", look_longer)
    advice(mallard, journal, "--top", "1")
    assert seconds == [["multipool"], ["segment_heap"]] * turns


def test_a_way_that_gains_much_less_is_no_rival(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = with_rivals(monkeypatch)
    standing_in(monkeypatch, StandIn({"segment_heap": -39.0, "multipool": -80.0}, {}))
    advice(mallard, journal, "--top", "1")
    assert seconds == [], "its replay was of the whole journal: a second one tells no more"


def test_turns_are_one_measurement() -> None:
    def row(*ns: float, peak: int | None = None) -> Measured:
        own, base = (Passes(np.array(of), np.zeros(len(of))) for of in (ns, [100.0] * len(ns)))
        return Measured(own, (base, base), peak, peak)

    first, later = row(10, 20, 30, peak=7), row(40, 50)
    both = first.then(later)
    assert (both.ns_per_block.median, both.rounds) == (-70, 5)
    assert both.lead().doubt < first.lead().doubt
    assert [both.peak_bytes, later.then(first).peak_bytes] == [7, 7]
    assert [later.with_memory(first).peak_bytes, first.with_memory(row(40, peak=8)).peak_bytes] == [7, 7]


@pytest.mark.parametrize("peak", [None, 0])
def test_what_runs_as_a_plan_needs_a_plan_within_the_limit(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, peak: int | None
) -> None:
    gains = {"segment_heap": -30.0, "multipool": -20.0}
    standing_in(monkeypatch, StandIn(gains, {"segment_heap": peak}))
    monkeypatch.setattr(Replays, "held", lambda *_: {})
    monkeypatch.setattr("mallard.plan.planner.Planner.of", refuse_a_plan)
    orders = part(advice(mallard, journal), "make_order")
    assert (orders["pick"], orders["candidates"][0]["row"]) == ("multipool", "multipool")
    refused = next(one for one in orders["candidates"] if one["row"] == "segment_heap")
    assert refused["refused"] == "no plan stays below the limit"
    assert orders["candidates"][-2] == refused, "behind what can be had"


@pytest.mark.parametrize("in_stretches", [False, True])
def test_what_no_plan_can_do_is_a_change_of_the_source(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, in_stretches: bool
) -> None:
    standing_in(monkeypatch, StandIn({"region": -90.0, "multipool": -20.0}, {}))
    if in_stretches:
        without_whole_replays(monkeypatch)
    monkeypatch.setattr("mallard.plan.planner.Planner.of", refuse_a_plan)
    best = part(advice(mallard, journal), "collect")["candidates"][0]
    assert (best["row"], best["runs_as"], best["refused"]) == ("region", "source", None)
    assert best["reason"].endswith("; in the source, as there is no plan (no plan stays below the limit)")
    assert "region" in best["change"]["type"]


def test_memory_that_decides_nothing_is_not_looked_at(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"segment_heap": -90.0, "multipool": -80.0}, {}))
    without_whole_replays(monkeypatch)
    monkeypatch.setattr("mallard.plan.planner.Planner.of", refuse_a_plan)
    assert part(advice(mallard, journal), "collect")["pick"] == "multipool"
    held = [
        names for names, words in zip(stand_in.calls, stand_in.words, strict=True) if "--held-only" in words
    ]
    assert any("multipool" in names for names in held)
    assert not any("segment_heap" in names for names in held), "pools of a plan are none of the source"


def test_a_plan_has_the_best_that_it_can_do(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({"region": -90.0, "reap": -70.0, "segment_heap": -50.0}, {}))
    whole, asked = Judge.wanted, set[tuple[str, str]]()

    def plan_of(_: Judge, part: Part, one: Candidate) -> tuple[int | None, str]:
        return (0, "") if one.strategy == "pool" else (None, "no plan stays below the limit")

    def noted(judge: Judge, of: Part, one: Candidate) -> Any:
        asked.add((of.name, one.strategy))
        return whole(judge, of, one)

    monkeypatch.setattr(Judge, "plan_of", plan_of)
    monkeypatch.setattr(Judge, "wanted", noted)
    assert part(advice(mallard, journal), "collect")["pick"] == "region"
    assert {strategy for name, strategy in asked if name == "collect"} == {"pool"}


def test_an_interrupted_plan_is_no_refused_one(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({"segment_heap": -30.0}, {}))
    whole, asked = Planner.of, [0]

    def interrupted_once(planner: Planner, *words: Any) -> Any:
        asked[0] += 1
        if asked[0] == 1:
            raise KeyboardInterrupt
        return whole(planner, *words)

    monkeypatch.setattr(Planner, "of", interrupted_once)
    found = advice(mallard, journal)
    assert any("interrupted" in remark for remark in found["remarks"])
    assert part(found, "make_order")["candidates"][0]["row"] == "segment_heap"


def test_without_a_planner_a_heap_is_a_change_of_the_source(
    mallard: Mallard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "blocks.txt"
    text.write_text("".join(f"a 48 {64 * i + 64:x} 1 {i}\n" for i in range(4000)))
    standing_in(monkeypatch, StandIn({"segment_heap": -30.0, "multipool": -20.0}, {}))
    (only,) = advice(mallard, text)["subsystems"]
    assert (only["pick"], only["candidates"][0]["runs_as"]) == ("pool", "source")


def test_a_plan_does_not_touch_what_a_replay_has_twice(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"segment_heap": -90.0}, {"segment_heap": 16 << 20}))

    def change(first: float) -> float:
        stand_in.first = {"segment_heap": first}
        best = part(advice(mallard, journal), "make_order")["candidates"][0]
        assert (best["row"], best["peak_bytes"] < 1 << 20) == ("segment_heap", True)
        return float(best["ns_per_block"]["median"])

    assert change(0.0) == -90, "nothing was paid for it"
    assert change(10.0) == pytest.approx(-90, abs=5), "nearly all that was is taken off"
    assert change(60.0) == pytest.approx(-90, abs=5), "and what loses by it alone is picked"
    assert part(advice(mallard, journal), "make_order")["candidates"][0]["is_clear"]


def test_memory_of_what_is_large_is_known_before_small_parts_are_looked_at(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gains = {"segment_heap": -30.0, "multipool": -40.0}
    stand_in = standing_in(monkeypatch, StandIn(gains, {"multipool": 1 << 30}))
    monkeypatch.setattr("mallard.advise.looks.RELEVANT", 0.5)
    without_whole_replays(monkeypatch)
    found = advice(mallard, journal)
    large = max(found["subsystems"], key=lambda one: int(one["blocks"]))
    assert large["share_of_blocks"] > 0.5
    small = [one for one in found["subsystems"] if one is not large]
    assert small
    for one in found["subsystems"]:
        refused = [c["row"] for c in one["candidates"] if c["refused"]]
        assert "multipool" in refused, "also where a part is small"
    asked = ["--held-only" in words for words in stand_in.words]
    turns = [one for one, before in zip(asked, [None, *asked], strict=False) if one != before]
    assert turns[:3] == [False, True, False]


def test_a_plan_is_preferred_where_it_is_about_as_good() -> None:
    def picked(plan: float, estimate: float | None = None) -> str:
        def one(strategy: str, runs_as: str, middle: float, measured: bool = True) -> Candidate:
            ns = Interval(middle, middle - 1, middle + 1)
            return Candidate(strategy, runs_as, measured, "", "", ns_per_block=ns, is_clear=True)

        found = [one("multipool", "source", -20.0), one("pool", "plan", plan)]
        found += [one("reserve", "source", estimate, measured=False)] if estimate is not None else []
        best = pick(found)
        assert best
        return best.strategy

    assert picked(-19.5) == "pool"
    assert picked(-18.5) == "pool", "noise does not tell them apart"
    assert picked(-17.9) == "multipool"
    assert picked(-19.5, estimate=-30.0) == "reserve"


def test_what_keeps_together_is_picked_unless_it_loses() -> None:
    def picked(apart: float, noise: float, other: float | None = None) -> str | None:
        def one(strategy: str, middle: float, is_clear: bool, apart: str = "") -> Candidate:
            ns = Interval(middle, middle - 1, middle + 1)
            within = Interval(0.0, -noise, noise)
            return Candidate(
                *(strategy, "plan", True, "", ""),
                ns_per_block=ns,
                noise=within,
                apart=apart,
                is_clear=is_clear,
            )

        found = [one("pool", apart, apart < -noise, "its blocks lie apart")]
        found += [one("multipool", other, True)] if other is not None else []
        best = pick(found)
        return best.strategy if best else None

    assert picked(-3.0, 5.0) == "pool"
    assert picked(3.0, 5.0) == "pool", "noise is no loss"
    assert picked(6.5, 5.0) is None
    assert picked(-11.0, 5.0, other=-20.0) == "pool", "it has a half of what others gain"
    assert picked(-9.0, 5.0, other=-20.0) == "multipool"


def test_growing_and_small_vectors_are_estimated_with_their_change(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({"segment_heap": -15.0}, {}))
    found = advice(mallard, journal)
    grown, small = part(found, "collect"), part(found, "tag")
    assert grown["pick"] == "reserve"
    assert grown["candidates"][0]["measured"] is False
    assert "+  samples.reserve(128);" in grown["candidates"][0]["change"]["diff"]
    assert small["pick"] == "small-buffer"
    assert (
        "+  boost::container::small_vector<std::uint32_t, 2> tags;"
        in small["candidates"][0]["change"]["diff"]
    )


def test_a_round_or_two_are_no_measurement(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"segment_heap": -30.0, "mimalloc": -9.0}, {}))
    stand_in.rounds = 2
    found = advice(mallard, journal)
    assert found["mallocs"] == []
    assert not any(one["measured"] for one in part(found, "make_order")["candidates"][:-1])
    told = mallard("advise", journal).stdout
    assert "Nothing was measured here: there is no advice." in told
    assert "Leave it alone" not in told


def test_ctrl_c_keeps_what_is_measured(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"mimalloc": -9.0}, {}))
    stand_in.interrupt_after = 2
    ran = mallard("advise", journal)
    assert ran.returncode == 0
    assert "multipool" in ran.stdout
    assert len(stand_in.calls) == 2
    assert "mallard: interrupted: what was measured before is reported" in ran.stderr


def test_what_was_not_measured_is_no_reason_to_keep_what_there_is(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({}, {}))
    stand_in.interrupt_after = 0
    monkeypatch.setattr("mallard.advise.judging.estimates", lambda part: ())
    ran = mallard("advise", journal)
    assert ran.stdout.startswith("Nothing found that would pay, but not all was measured.")
    assert "Nothing was measured here: there is no advice." in ran.stdout
    assert "beyond noise" not in ran.stdout


def test_a_journal_without_stacks_has_one_part_without_a_site(
    mallard: Mallard, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({}, {}))
    path = tmp_path / "none.mlrd"
    assert mallard("record", "--stack", "none", "-o", path, "--", program).returncode == 0
    (whole,) = advice(mallard, path)["subsystems"]
    assert (whole["site"], whole["pick"]) == (None, "leave")


@pytest.mark.parametrize("output", ["absent/plan.toml", ".", "/proc/plan.toml"])
def test_what_cannot_be_written_is_refused_before_anything_is_measured(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"segment_heap": -30.0}, {}))
    ran = mallard("advise", journal, "-o", output)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"mallard: cannot write {output}: ")
    assert stand_in.calls == []


def test_sigterm_leaves_nothing_behind(
    mallard: Mallard, journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("nobody has heard the signal")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(measure.Replays, "run", ended)
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        ran = mallard("advise", journal)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "mallard: interrupted: what was measured before is reported" in ran.stderr
    assert not list(tmp_path.iterdir())


def test_what_to_type_next_has_the_words_of_the_program(
    mallard: Mallard, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({"segment_heap": -30.0, "pool": -20.0}, {}))
    odd = tmp_path / "its parts"
    shutil.copy(program, odd)
    journal, plan = tmp_path / "odd.mlrd", tmp_path / "a plan.toml"
    assert mallard("record", "-o", journal, "--", odd).returncode == 0
    ran = mallard("advise", journal, "-o", plan)
    command = f"mallard try '{plan}' -- '{odd}'"
    assert "".join(command.split()) in "".join(ran.stdout.split())


def test_without_allocations_there_is_nothing_to_gain_and_nothing_is_replayed(
    mallard: Mallard, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({}, {}))
    path, plan = tmp_path / "work.mlrd", tmp_path / "plan.toml"
    assert mallard("record", "-o", path, "--", program, "work").returncode == 0
    ran = mallard("advise", path, "-o", plan)
    assert ran.returncode == 0
    assert ran.stdout.startswith("Nothing to gain: ")
    assert f"mallard: {plan} is not written: no plan would pay" in ran.stderr
    assert not plan.exists()
    assert stand_in.calls == []


def test_a_replay_that_fails_is_left_out(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"mimalloc": -9.0}, {}))

    def failing(replays: Replays, words: Sequence[str], *_: float) -> dict[str, Any] | None:
        if "--strategy=segment_heap" in words:
            raise MallardError("mallard-replay: no memory")
        return stand_in.run(replays, words)

    monkeypatch.setattr(measure.Replays, "run", failing)
    monkeypatch.setattr("mallard.advise.judging.estimates", lambda part: ())
    found = advice(mallard, journal)
    assert found["remarks"].count("a replay has failed: mallard-replay: no memory") == 1
    assert not any("no time" in remark for remark in found["remarks"])
    assert found["mallocs"][0]["name"] == "mimalloc"


def test_what_the_replay_cannot_do_is_said(
    mallard: Mallard, journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'mallard-replay: no memory' >&2\nexit 2\n")
    broken.chmod(0o755)
    monkeypatch.setattr(measure, "tool", lambda name: str(broken))
    monkeypatch.setattr("mallard.advise.judging.estimates", lambda part: ())
    ran = mallard("advise", journal)
    assert ran.stdout.startswith("Nothing found that would pay, but not all was measured.")
    assert ran.stderr.splitlines()[-1] == "mallard: a replay has failed: mallard-replay: no memory"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Query interrupted")])
def test_ctrl_c_keeps_the_plans_that_are_made(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    standing_in(monkeypatch, StandIn({"segment_heap": -30.0}, {}))

    def interrupted(*_: object) -> Any:
        raise error

    monkeypatch.setattr(Planner, "plan", interrupted)
    found = advice(mallard, journal)
    assert [one["name"] for one in found["plans"]] == ["picks"]
    assert "interrupted: what was measured before is reported" in found["remarks"]


def test_one_plan_is_made_in_any_case_and_others_if_there_is_time(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({"segment_heap": -30.0}, {}))
    until = monotonic() + 300
    monkeypatch.setattr(advisor, "monotonic", lambda: until + 1)
    document = as_document(advised(str(journal), Options(until=until)))
    assert len(document["plans"]) == 1
    assert "no plan pools: there was no time left for it" in document["remarks"]


def test_pools_of_a_plan_are_expected_to_change_what_its_default_heap_does(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({"segment_heap": -9.0, "mallard": -30.0}, {}))
    found = advice(mallard, journal)
    own = next(one["cpu"]["median"] for one in found["mallocs"] if one["name"] == "mallard")
    plans = {one["name"]: one["cpu"]["median"] for one in found["plans"]}
    assert "picks" in plans
    assert all(own < change < 0.8 * own for change in plans.values()), "routing costs a little"


@pytest.mark.parametrize(("of_slabs", "names"), [(-10.0, ["picks"]), (-90.0, [])])
def test_what_the_default_heap_beats_is_in_no_plan(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, of_slabs: float, names: list[str]
) -> None:
    gains = {"monotonic": -30.0, "region": -30.0, "reap": -30.0, "segment_heap": 5.0}
    standing_in(monkeypatch, StandIn(gains | {"multipool": of_slabs}, {}))
    found = advice(mallard, journal, "--max-rss", "9")
    plans = [one["name"] for one in found["plans"]]
    assert [one for one in plans if one == "picks"] == names


@pytest.mark.parametrize(
    ("gains", "noise", "is_plan"),
    [
        ({"region": -90.0, "multipool": 30.0}, 1.0, True),
        ({"region": -90.0, "multipool": 30.0}, 400.0, False),
        ({"segment_heap": -9.0, "mallard": -30.0}, 100.0, False),
    ],
)
def test_a_plan_gains_beyond_noise(
    mallard: Mallard,
    journal: Path,
    monkeypatch: pytest.MonkeyPatch,
    gains: dict[str, float],
    noise: float,
    is_plan: bool,
) -> None:
    monkeypatch.setattr("mallard.advise.judging.estimates", lambda part: ())
    stand_in = standing_in(monkeypatch, StandIn(gains, {}))
    stand_in.noise_of = {"mallard": noise}
    assert (advice(mallard, journal, "--max-rss", "9")["verdict"]["kind"] == "plan") == is_plan


@pytest.mark.parametrize(
    ("density", "noise", "middle", "width"), [(0.4, 0.01, -0.1, 0.014), (0.004, 0.1, 0.0, 0.004)]
)
def test_a_part_changes_what_it_does_beyond_slabs_as_far_as_that_is_no_noise(
    density: float, noise: float, middle: float, width: float
) -> None:
    def candidate(strategy: str, median: float) -> Any:
        around = Interval(median, median - noise, median + noise)
        return SimpleNamespace(strategy=strategy, cpu=around)

    pool, multipool = candidate("pool", -0.1), candidate("multipool", -0.2)
    part: Any = SimpleNamespace(
        dvluc=SimpleNamespace(density=SimpleNamespace(value=density)), candidates=[pool, multipool]
    )
    for found in (candidate("region", -0.3), candidate("instances", -0.2)):
        change = advisor.beside_slabs(part, found)
        assert change.median == pytest.approx(middle, abs=0.001)
        assert change.median - change.low == pytest.approx(width, rel=0.05), "what is unknown stays so"
    assert advisor.beside_slabs(part, pool) == NO_CHANGE
    part.candidates = []
    assert advisor.beside_slabs(part, candidate("region", -0.3)) == Interval(0, -density, density)


@pytest.mark.parametrize(("busy", "more"), [(5e6, 0.2), (2.5e9, 0.0)])
def test_what_a_malloc_takes_to_start_counts_in_a_short_program(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, busy: float, more: float
) -> None:
    asked: list[Sequence[str]] = []

    def taken(names: Sequence[str], *_: object) -> dict[str, Interval]:
        asked.append(names)
        return {"tcmalloc": Interval(1e6, 9e5, 1.2e6)}

    standing_in(monkeypatch, StandIn({"mimalloc": -30.0, "tcmalloc": -30.0}, {}))
    monkeypatch.setattr(advisor, "start_ns", taken)
    monkeypatch.setattr(Program, "busy_ns", busy)
    found = {one["name"]: one for one in advice(mallard, journal)["mallocs"]}
    change = found["tcmalloc"]["cpu"]["median"] - found["mimalloc"]["cpu"]["median"]
    assert change == pytest.approx(more, abs=1e-6)
    assert found["tcmalloc"]["ns_per_block"] == found["mimalloc"]["ns_per_block"], "of the replay"
    assert found["tcmalloc"]["start_ns"] == ({"median": 1e6, "low": 9e5, "high": 1.2e6} if more else None)
    assert [{"mallard", "mimalloc", "tcmalloc"} <= set(names) for names in asked] == ([True] if more else [])


def test_the_start_of_its_malloc_counts_for_a_plan(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not there was a replay of that malloc."""
    standing_in(monkeypatch, StandIn({"segment_heap": -30.0, "mallard": -20.0}, {}))
    mallocs = Looking.mallocs
    for has_replay in (True, False):
        monkeypatch.setattr(Looking, "mallocs", mallocs if has_replay else lambda *_: [])
        found = []
        for start in (0.0, 1e6):
            monkeypatch.setattr(advisor, "start_ns", lambda *_, ns=start: {"mallard": Interval(ns, ns, ns)})
            found.append(advice(mallard, journal, "--max-rss", "4")["plans"][0]["cpu"]["median"])
        assert found[1] - found[0] == pytest.approx(0.2), "a fifth of 5 ms"


@pytest.mark.parametrize("stopped_by", [MallardError("cannot run true: not found"), KeyboardInterrupt()])
def test_without_starts_there_is_advice(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, stopped_by: BaseException
) -> None:
    def failing(*_: object) -> dict[str, Interval]:
        raise stopped_by

    stand_in = standing_in(monkeypatch, StandIn({"mimalloc": -30.0}, {}))
    monkeypatch.setattr(advisor, "start_ns", failing)
    found = advice(mallard, journal)
    reason = "what other mallocs take to start is not known: cannot run true: not found"
    if isinstance(stopped_by, MallardError):
        assert (found["mallocs"][0]["name"], reason in found["remarks"]) == ("mimalloc", True)
    else:
        assert not stand_in.calls
        assert "interrupted: what was measured before is reported" in found["remarks"]


def test_a_start_is_measured_beside_glibc_by_a_program_that_does_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[tuple[str, str]] = []

    def run(program: Any, environment: Mapping[str, str]) -> Any:
        ran.append((Path(program.file).name, Path(environment.get("LD_PRELOAD", "-")).name))
        late = 0.5 if len(ran) == 5 else 0.0  # one start that something disturbs
        more = 0.002 if "LD_PRELOAD" in environment else 0.0
        return SimpleNamespace(cpu_s=0.001 + late + more, exit_code=0)

    monkeypatch.setattr(start_up, "run", run)
    monkeypatch.setattr(start_up, "tool", str)
    monkeypatch.setattr(start_up, "found", lambda words, _: words[0])
    cxx = [{"path": "/lib/libstdc++.so.6"}]
    for name, seconds, rounds in ("true", 60, 9), ("mallard-replay", 0, 3):
        modules = [] if name == "true" else cxx
        more = start_up.start_ns(["mallard", "glibc-notrim"], modules, seconds)
        assert {name: one.median for name, one in more.items()} == pytest.approx(
            {"mallard": 2e6, "glibc-notrim": 0}
        )
        assert ran == [(name, "-"), (name, "libmallard-malloc.so"), (name, "-")] * rounds
        ran.clear()


@pytest.mark.parametrize(
    "modules", [[], pytest.param([{"path": "/lib/libstdc++.so.6"}], marks=pytest.mark.heaps)]
)
def test_mallocs_can_be_started(modules: list[dict[str, Any]]) -> None:
    """Whatever this machine takes for it."""
    assert set(start_up.start_ns(["mallard"], modules, 60)) == {"mallard"}


def test_a_start_that_fails_is_no_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_up, "found", lambda *_: "/bin/false")
    with pytest.raises(MallardError, match="under glibc, true exited with 1"):
        start_up.start_ns(["mallard"], [], 60)


def test_a_peak_that_is_known_is_what_a_plan_starts_from(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({"segment_heap": -30.0}, {}))
    peaks = {}
    for known in (2_000_000, 2_400_000, 1 << 40):
        (_, plan), *_ = advised(str(journal), Options(budget=1, peak_rss=known)).plans
        peaks[plan.recorded_peak] = plan.predicted_peak - plan.recorded_peak
    assert list(peaks)[:2] == [2_000_000, 2_400_000]
    assert list(peaks)[2] < 50 << 20, "a child took the rest: it was less while it was recorded"
    assert len(set(peaks.values())) == 1, "what a plan adds does not depend on it"
    assert 0 <= peaks[2_000_000] < 1 << 20


def test_memory_is_refused_beside_the_peak_that_is_known(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in(monkeypatch, StandIn({"multipool": -30.0, "pool": -20.0}, {"multipool": 600_000}))
    refused = []
    for known in (2_000_000, 3_000_000):
        found = as_document(advised(str(journal), Options(budget=1, peak_rss=known)))
        candidates = part(found, "make_order")["candidates"]
        refused += [bool(one["refused"]) for one in candidates if one["row"] == "multipool"][:1]
    assert refused == [True, False], "a quarter of it is allowed"


def pages_pay(patch: pytest.MonkeyPatch, more_ns: Callable[[int], float]) -> None:
    """Let plans have huge pages however little they hold, and their first touch take this much more."""
    patch.setattr("mallard.plan.process_memory.WORTH_HUGE_PAGES", 1)
    patch.setattr(huge_pages, "more_ns", more_ns)


@pytest.mark.parametrize("dear", [False, True])
def test_plans_have_huge_pages_unless_their_first_touch_is_dear(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch, dear: bool
) -> None:
    standing_in(monkeypatch, StandIn({"segment_heap": -30.0}, {}))
    answers = iter([1e9 if dear else -0.3])  # a machine is asked once
    pages_pay(monkeypatch, lambda _: next(answers))
    found = advice(mallard, journal, "--max-rss", "4")
    assert {"huge_pages = true" in one["text"] for one in found["plans"]} == {not dear}
    assert any("plans keep to small pages" in one for one in found["remarks"]) == dear
    assert next(answers, None) is None


def test_ctrl_c_while_memory_is_touched_keeps_the_plan(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: int) -> float:
        raise KeyboardInterrupt

    standing_in(monkeypatch, StandIn({"segment_heap": -30.0}, {}))
    pages_pay(monkeypatch, interrupted)
    found = advice(mallard, journal, "--max-rss", "4")
    assert [one["name"] for one in found["plans"]] == ["picks"]
    assert "interrupted: what was measured before is reported" in found["remarks"]


def test_ctrl_c_in_a_replay_leaves_a_plan_in_small_pages(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"segment_heap": -30.0}, {}))
    pages_pay(monkeypatch, lambda _: 0.0)
    once = Looking.look_once

    def interrupted(looking: Looking, order: Any) -> None:
        once(looking, order)
        raise KeyboardInterrupt

    monkeypatch.setattr(Looking, "look_once", interrupted)
    found = advice(mallard, journal, "--max-rss", "4")
    assert stand_in.calls
    assert ["huge_pages = true" in one["text"] for one in found["plans"]] == [False]


def test_memory_is_touched_in_pages_of_both_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine takes for it."""
    monkeypatch.setattr(huge_pages, "REST", 0)
    for pages in (1, 2, 1000):
        huge_pages.touched_ns(pages * mmap.PAGESIZE - 1, mmap.MADV_NORMAL)


def test_huge_pages_are_dear_from_a_hundredth_of_the_cpu_time_on(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {mmap.MADV_HUGEPAGE: 5e6, mmap.MADV_NOHUGEPAGE: 1e6}
    monkeypatch.setattr(huge_pages, "touched_ns", lambda _, kind: costs[kind])
    assert huge_pages.more_ns(1_000_000) == 4
    assert huge_pages.are_dear(1_000_000, 399e6)
    assert not huge_pages.are_dear(1_000_000, 401e6)
    assert not huge_pages.are_dear(1_000_000, None)


def test_a_first_touch_that_cannot_be_measured_is_not_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> int:
        raise OSError

    monkeypatch.setattr(huge_pages, "touched_ns", failing)
    assert huge_pages.more_ns(1_000_000) == 0


def test_a_replay_that_is_ended_before_it_listens_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = tmp_path / "ended"
    ended.write_text("#!/bin/sh\nkill -INT $$\n")
    ended.chmod(0o755)
    monkeypatch.setattr(measure, "tool", lambda name: str(ended))
    replays = replays_of(short_lived(2, 0), tmp_path, 60)
    assert replays.first(np.ones(4, "<u4"), ["pool"]) is None
    assert replays.left_out == 1


def short_lived(many: int, lasting: int) -> Blocks:
    """Return blocks of which some stay from the beginning, and others are freed at once."""
    brief = lasting + 2 * np.arange(many)
    allocation = np.concatenate([np.arange(lasting), brief])
    return Blocks(allocation, np.concatenate([np.full(lasting, BEYOND), brief + 1]))


def replays_of(blocks: Blocks, folder: Path, seconds: float) -> Replays:
    """Return the replays of a journal of these alone."""
    events = int(blocks.allocation[-1]) + 2
    return Replays("a.mlrd", events, blocks, folder, monotonic() + seconds, lambda share: None)


class Played:
    """What replays are asked to do, in the place of mallard-replay; they take no time."""

    def __init__(self, replays: Replays, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take the replays."""
        self.routes: list[np.ndarray[Any, Any]] = []
        self.words: list[Sequence[str]] = []
        monkeypatch.setattr(replays, "run", self.run)

    def run(self, words: Sequence[str], _seconds: float) -> None:
        self.words.append(words)
        self.routes.append(np.fromfile(words[words.index("--part") + 1], "<u4"))

    def option(self, name: str) -> list[float]:
        """Return what an option was in each replay."""
        return [float(words[words.index(name) + 1]) for words in self.words]


def test_time_is_divided_over_the_replays_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plenty = replays_of(short_lived(100_000, 0), tmp_path, 3600)
    played = Played(plenty, monkeypatch)
    plenty.planned = [10, 10]
    assert plenty.share(10) == pytest.approx(3600 * measure.FIRST / 2, rel=1e-3), (
        "some is kept for second ones"
    )
    plenty.first(np.ones(plenty.events, "<u4"), ["pool"])
    assert played.option("--rounds") == played.option("--most-rounds") == [measure.MOST_ROUNDS]
    assert played.option("--warm-time") == [measure.WARM_SECONDS]
    assert plenty.planned == [10]
    assert not plenty.in_stretches
    plenty.slowness = 0.9 * plenty.left / plenty.takes(len(plenty.blocks), 10) * plenty.slowness
    assert plenty.share(10) == pytest.approx(0.9 * plenty.left, rel=1e-3), (
        "unless stretches would be the price"
    )
    plenty.end = monotonic()
    assert plenty.share(10) == 0
    assert plenty.first(np.ones(plenty.events, "<u4"), ["pool"]) is None
    assert plenty.left_out == 2


def test_other_mallocs_have_time_for_the_whole_journal(tmp_path: Path) -> None:
    replays = replays_of(short_lived(1_000_000, 0), tmp_path, 600)
    replays.slowness, replays.planned = 1.0, [9] * 40
    whole = replays.takes(len(replays.blocks), 9)
    assert replays.share(9) < whole < 0.4 * replays.left
    assert replays.share(9, 0.4) == whole
    replays.slowness = 20.0
    assert replays.takes(len(replays.blocks), 9) > 0.4 * replays.left
    assert replays.share(9, 0.4) == pytest.approx(replays.share(9), rel=1e-3), "longer stretches tell no more"


def test_other_mallocs_are_replayed_whole_where_parts_are_in_stretches(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({}, {}))
    monkeypatch.setattr(Replays, "fits", lambda *_: 1000)
    monkeypatch.setattr(Replays, "takes", lambda of, blocks, *_: 100.0 if blocks >= len(of.blocks) else 1.0)
    monkeypatch.setattr(stretches, "LIVES", 0)
    advice(mallard, journal)
    in_stretches = [bool((route == measure.LEFT_OUT).any()) for route in stand_in.routes]
    assert "mallard" in stand_in.calls[1]
    assert in_stretches[:3] == [True, False, True]


def test_a_short_journal_is_not_replayed_longer_than_it_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def warm_seconds(blocks: int) -> list[float]:
        replays = replays_of(short_lived(blocks, 0), tmp_path, 3600)
        played = Played(replays, monkeypatch)
        replays.planned = [10]
        replays.first(np.ones(replays.events, "<u4"), ["pool"])
        return played.option("--warm-time")

    assert warm_seconds(1000) == [measure.LEAST_WARM_SECONDS]
    assert warm_seconds(20_000) == [pytest.approx(measure.ENOUGH_PASSES * 40_000 * 30e-9)]
    assert warm_seconds(100_000) == [measure.WARM_SECONDS]


def test_a_long_journal_is_replayed_in_stretches_that_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = short_lived(3_000_000, 1000)
    replays = replays_of(blocks, tmp_path, 120)
    played = Played(replays, monkeypatch)
    replays.slowness, replays.planned = 1.0, [5] * 20
    seconds = replays.share(5)
    assert 0 < seconds < 120 * measure.FIRST / 20 + 0.1, "a part of the time is kept for second replays"
    monkeypatch.setattr(replays, "share", lambda *_: seconds)
    route = np.zeros(replays.events, "<u4")
    route[blocks.allocation] = 1
    replays.first(route, ["pool", "multipool"])
    (found,) = played.routes
    kept, replays.slowness = int((found == 1).sum()), 1.0
    assert replays.takes(kept, 5) < 1.2 * seconds
    assert measure.LEAST_BLOCKS < kept < 300_000
    assert replays.in_stretches


def test_a_slow_machine_is_asked_for_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = short_lived(3_000_000, 1000)
    replays = replays_of(blocks, tmp_path, 600)
    now = [0.0]
    monkeypatch.setattr(measure, "monotonic", lambda: now[0])
    monkeypatch.setattr(replays, "run", lambda *_: now.__setitem__(0, 1000.0))
    replays.planned, replays.slowness, replays.end = [5] * 20, 1.0, 2000.0
    quick = replays.fits(30, 5)
    replays.first(np.ones(replays.events, "<u4"), ["pool", "multipool"])
    assert replays.slowness == 4.0, "what was ended before it told anything was slow, too"
    assert replays.fits(30, 5) < quick / 3


def test_stretches_have_the_blocks_that_live_in_them_and_no_others() -> None:
    blocks = short_lived(100_000, 1000)
    events = int(blocks.allocation[-1]) + 2
    part = blocks.allocation[1000:]
    cut = blocks.stretches(part, 20_000)
    assert cut
    kept, last = cut
    assert kept[:1000].all(), "what stays fills the heaps"
    assert abs(int(kept.sum()) - 20_000) < 200
    places = np.flatnonzero(kept[1000:])
    assert int((np.diff(places) > 1).sum()) == 7, "eight stretches"
    each = np.histogram(places, 8, (0, 100_000))[0]
    assert each.max() - each.min() <= 2, "as long as each other"
    out = blocks.left_out(kept, last, events)
    replayed = np.flatnonzero(~out)
    assert np.isin(replayed, np.concatenate([blocks.allocation, blocks.free])).all()
    both = ~out[blocks.allocation[1000:]]
    ended = blocks.free[1000:] <= last
    assert (both == ~out[blocks.free[1000:]])[ended].all(), "a block is left out with its free"
    assert blocks.stretches(part, 90_000) is None, "nearly all is all"


def test_what_fills_the_heaps_is_not_most_of_a_replay() -> None:
    blocks = short_lived(100_000, 20_000)
    kept, _ = blocks.stretches(blocks.allocation[20_000:], 1000) or (np.zeros(0), 0)
    assert 1.7 < kept.sum() / 20_000 < 2.1


def test_a_change_is_as_large_as_the_calls_take_long_in_the_program(tmp_path: Path) -> None:
    def changes(call_ns: float | None, first: float = 0.0, untimed: int = 0) -> tuple[float, float, float]:
        stand_in = StandIn({"pool": -6.0}, {})
        stand_in.first = {"pool": first}
        replays = replays_of(short_lived(1000, 0), tmp_path, 60)
        replays.call_ns = call_ns
        route = np.tile(np.array([1, 0], "<u4"), 1000)
        ran = stand_in.run(replays, replays.words(route, ["pool"], False))
        assert ran
        found = replays.read(ran, 1000, 0, untimed)
        assert found
        return found.rows["pool"].ns_per_block.median, found.cost_ns, found.rows["pool"].noise.high

    assert changes(None) == (-6.0, 40.0, 1.0)
    assert changes(50.0) == (-15.0, 100.0, 2.5), "what takes 20 ns in the replay took 50 in the program"
    assert changes(10.0) == changes(None), "a replay takes the least that there is"
    assert changes(1e6) == (-6.0 * measure.MOST_SCALE, 160.0, 4.0), "or it is something else"
    assert changes(50.0, untimed=1000)[0] == -7.5, "half of the operations took all of the time"
    assert changes(50.0, first=2.0)[0] == -11.0, "and 2 ns of each of a block's two operations, once"


def test_the_default_heap_of_plans_is_in_the_longer_replay_of_other_mallocs(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However slow it is: what is expected of plans rests on it."""
    gains = {"mimalloc": -30.0, "tcmalloc": -29.0, "jemalloc": -28.0, "tbbmalloc": -27.0, "mallard": 5.0}
    stand_in = standing_in(monkeypatch, StandIn(gains, {}))
    monkeypatch.setattr(Replays, "fits", lambda replays, *_: 1000 if replays.planned else 1 << 20)
    monkeypatch.setattr(Replays, "takes", lambda of, blocks, *_: 1e6 if blocks >= len(of.blocks) else 0.01)
    monkeypatch.setattr(stretches, "LIVES", 0)
    advice(mallard, journal)
    of_mallocs = [names for names in stand_in.calls if "mimalloc" in names]
    assert of_mallocs[-1] == ("mimalloc", "tcmalloc", "jemalloc", "mallard")


def test_each_part_that_matters_is_replayed_once_before_any_is_again(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({}, {}))
    advice(mallard, journal)
    assert "mallard" in stand_in.calls[1], "other mallocs come second"
    parts = [route > 0 for number, route in enumerate(stand_in.routes) if number != 1]
    first = next(at for at in range(len(parts)) if any((parts[at] & one).any() for one in parts[:at]))
    assert first >= 2
    sizes = [int(one.sum()) for one in parts]
    assert sizes[:first] == sorted(sizes[:first], reverse=True)
    assert sizes[0] in sizes[first:], "then again"


def test_the_memory_of_what_is_picked_is_that_of_the_whole_journal(
    mallard: Mallard, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = standing_in(monkeypatch, StandIn({"multipool": -30.0, "pool": -20.0}, {"multipool": 1 << 30}))
    without_whole_replays(monkeypatch)
    orders = part(advice(mallard, journal), "make_order")
    assert (orders["pick"], orders["candidates"][0]["row"]) == ("pool", "pool"), "the other is refused"
    held = [
        (names, route)
        for names, route, words in zip(stand_in.calls, stand_in.routes, stand_in.words, strict=True)
        if "--held-only" in words
    ]
    assert held
    assert all((route != measure.LEFT_OUT).all() for _, route in held)
    first = stand_in.routes[0]
    assert (first == measure.LEFT_OUT).any(), "times are of stretches"


def test_owners_between_two_of_one_owner_are_inferred() -> None:
    value = np.array([7, 0, 0, 9, 0], np.uint64)
    assert filled(value, np.arange(5), value != 0).tolist() == [7, 7, 7, 9, 9]
    assert filled(value, np.array([4, 0, 1, 2, 3]), value != 0).tolist() == [7, 7, 7, 9, 7]
