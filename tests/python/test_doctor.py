"""`mallard doctor`: what it recommends, how it fits into a budget, what it keeps if something goes wrong."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from errno import ENOSPC
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import MALLARD, Mallard

from mallard import MallardError
from mallard.advise.doctor_findings import document
from mallard.advise.doctor_stages import PLAN_MAX_RSS, Doctor, Order
from mallard.advise.trial_in_budget import (
    SHAPES,
    Room,
    TrialInBudget,
    mean_of,
    runs_of,
    with_room,
)
from mallard.analysis.progress import Progress
from mallard.compare import launch
from mallard.compare.choice import LEAST
from mallard.compare.halving import Goal, Trial
from mallard.compare.launch import Program, Taken
from mallard.compare.mallocs import AGAIN, BASE, Malloc
from mallard.compare.rounds import Row, Schedule, Session
from mallard.compare.trial_outcome import tried
from mallard.plan import Plan
from mallard.plan.planner import Options, Planner

MACHINE = {"cpu": "", "cores": 2, "memory": 1, "kernel": "", "c_library": "", "transparent_huge_pages": ""}
MALLOCS = ("mallard", "jemalloc", "tcmalloc", "mimalloc", "tbbmalloc", "glibc-notrim")
PLANS = ("plan-a", "plan-b", "plan-c", "plan-d")
PERL = "/usr/bin/perl"
WORK = "my %seen; $seen{$_} = [1 .. $_ % 7] for 1 .. 10000; print scalar(keys %seen), qq(\\n)"

Advised = tuple[dict[str, Any], list[tuple[str, Plan]]]


def taken(cpu: float, rss: float = 1e6, output: str = "same", figure: float | None = None) -> Taken:
    """Return a start that takes so much."""
    return Taken(cpu, cpu, rss, 100, 0, 1, 2, figure, 0, output, "")


def interval(middle: float) -> dict[str, float]:
    return {"median": middle, "low": middle - 0.02, "high": middle + 0.02}


def rows_of(*names: str) -> list[Row]:
    """Return glibc, these, the control if there are plans, and glibc again."""
    made = [
        Malloc(name, settings={"ROW": name}, plan=f"{name}.toml" if name in PLANS else "") for name in names
    ]
    control = [Malloc("blind", settings={"ROW": "blind"}, control=True)] if set(names) & set(PLANS) else []
    first, last = (
        Malloc(name, settings={"ROW": name}, repeated=name != BASE) for name in (BASE, BASE + AGAIN)
    )
    return [Row(one) for one in (first, *made, *control, last)]


# --- what fits into a budget ---


@pytest.mark.parametrize("runs", [60, 100, 200, 1000])
@pytest.mark.parametrize("names", [PLANS[:1], MALLOCS, (*PLANS, *MALLOCS)])
@pytest.mark.parametrize("without", [(), ("blind",), PLANS])
def test_stages_have_no_more_runs_than_there_may_be(
    monkeypatch: pytest.MonkeyPatch, names: Sequence[str], runs: int, without: Sequence[str]
) -> None:
    rows = rows_of(*names)
    for row in rows:
        row.reason = "left out in the untimed round" if row.malloc.name in without else ""
    trial = trial_of(monkeypatch, {"plan-b": 0.7}, rows, runs=runs)
    last, left = trial.parts[-1], runs - sum(len(row.runs) for row in rows)
    assert left >= 0
    assert LEAST <= trial.stages[-1].rounds <= 15
    plans_left = any(row.malloc.plan for row in trial.going_on())
    # Beside plans a stage has a row less than it may have, where the best malloc is among the best.
    slack = sum(stage.rounds for stage in trial.stages) if plans_left else 0
    assert trial.stages[-1].rounds == 15 or left < len(last.rows) + slack


def trial_of(
    monkeypatch: pytest.MonkeyPatch,
    start: Callable[[str], Taken] | Mapping[str, float],
    rows: list[Row],
    **settings: Any,
) -> TrialInBudget:
    """Return a trial of made-up starts of rows by their names, or by what each costs."""
    costs = start if isinstance(start, Mapping) else {}
    made = start if callable(start) else lambda row: taken(costs.get(row, 1.0))
    monkeypatch.setattr("mallard.compare.rounds.run", lambda _, seen: made(seen["ROW"]))
    monkeypatch.setattr(Session, "look_into", lambda _self, _progress: None)
    schedule = Schedule(rounds=0, least=0, seconds=1e6)
    trial = TrialInBudget(Program(("work",), "work", Path()), schedule, rows, **settings)
    trial.measure(lambda _share, _what, _seconds: None)
    return trial


def test_sixty_runs_find_the_best_of_ten_and_run_each_of_them_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {"plan-b": 0.7, "mimalloc": 0.8, "blind": 0.9}
    trial = trial_of(monkeypatch, costs, rows_of(*PLANS, *MALLOCS), runs=60)
    assert sum(len(row.runs) for row in trial.rows) <= 60
    assert all(len(row.runs) >= 2 for row in trial.rows)
    found = tried(trial, MACHINE)
    assert (found.choice.use, set(found.choice.over)) == ("plan-b", {BASE, "mimalloc", "blind"})


@pytest.mark.parametrize("seconds", [56, 60, 75, 1000])
def test_stages_have_no_more_runs_than_there_is_time_for(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    rows = rows_of(*PLANS, *MALLOCS)  # each took a second in the untimed round
    monkeypatch.setattr(Trial, "take_turns", lambda *_: None)
    schedule = Schedule(rounds=0, least=0, seconds=seconds)
    trial = TrialInBudget(Program(("work",), "work", Path()), schedule, rows, runs=60)
    trial.take_turns(lambda _share, _what, _seconds: None, len(rows))
    assert runs_of(trial.stages, rows) <= min(60, seconds - len(rows))
    assert trial.stages[-1].rounds >= LEAST


def test_the_starts_of_a_round_alternate(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, started = rows_of("mimalloc", "jemalloc"), list[str]()

    def noted(row: str) -> Taken:
        started.append(row)
        return taken(0.5 if row == "jemalloc" else 1.0)

    trial = trial_of(monkeypatch, noted, rows, runs=24, start_cpu=1)
    assert trial.repetitions == 4
    turns = [sorted(started[at : at + len(rows)]) for at in range(0, len(started), len(rows))]
    assert turns == [sorted(row.malloc.name for row in rows)] * len(turns)


def test_one_unlucky_round_does_not_hide_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three others are better than the best malloc in the first round."""
    unlucky = {"mimalloc": 0.95}
    costs = {"mimalloc": 0.6} | dict.fromkeys(("jemalloc", "tcmalloc", "tbbmalloc"), 0.9)

    def start(row: str) -> Taken:
        return taken(unlucky.pop(row, 0.0) or costs.get(row, 1.0))

    trial = trial_of(monkeypatch, start, rows_of(*MALLOCS), runs=60, start_cpu=4)
    assert tried(trial, MACHINE).choice.use == "mimalloc"


@pytest.mark.parametrize("plan", [0.7, 1.2])
def test_the_control_is_in_stages_that_decide_beside_a_plan(
    monkeypatch: pytest.MonkeyPatch, plan: float
) -> None:
    costs = {"plan-a": plan, "mimalloc": 0.8, "jemalloc": 0.9}
    trial = trial_of(monkeypatch, costs, rows_of("plan-a", *MALLOCS), runs=60)
    control = next(row for row in trial.rows if row.malloc.control)
    found = tried(trial, MACHINE)
    assert found.left_out == {}
    if plan < 1:
        assert (min(control.runs), found.choice.use) == (trial.parts[-1].first, "plan-a")
    else:
        assert (control.runs, found.choice.use) == ({}, "mimalloc")


def interrupted_after(starts: int, costs: Mapping[str, float]) -> Callable[[str], Taken]:
    """Return starts of which the one after so many is cut off by Ctrl-C."""
    left = iter(range(starts))

    def start(row: str) -> Taken:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return taken(costs.get(row, 1.0))

    return start


@pytest.mark.parametrize(("had", "use"), [(1, None), (2, "mimalloc")])
def test_a_round_that_ctrl_c_cuts_off_counts_with_half_of_its_starts(
    monkeypatch: pytest.MonkeyPatch, had: int, use: str | None
) -> None:
    rows = rows_of("mimalloc")
    start = interrupted_after(3 * (4 * (LEAST - 1) + had), {"mimalloc": 0.5})
    trial = trial_of(monkeypatch, start, rows, runs=60, start_cpu=1)
    assert (trial.interrupted, trial.repetitions) == (True, 4)
    assert tried(trial, MACHINE).choice.use == use


def test_ctrl_c_in_a_last_stage_that_a_plan_has_come_back_to_keeps_the_trial(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The control is in no stage before, since luck has kept the plan out."""
    started = dict.fromkeys((BASE, BASE + AGAIN, "blind", "plan-a", *MALLOCS), 0)

    def start(row: str) -> Taken:
        started[row] += 1
        if started["blind"] == 2:
            raise KeyboardInterrupt
        lucky = row in ("jemalloc", "tcmalloc", "mimalloc", "tbbmalloc") and started[row] <= 3
        return taken(0.8 if lucky else 0.85 if row == "plan-a" else 1.0)

    trial = trial_of(monkeypatch, start, rows_of("plan-a", *MALLOCS), runs=200, start_cpu=4)
    assert trial.interrupted
    assert all(row.malloc.plan == "" for row in trial.parts[-2].rows)
    assert "plan-a" in [line.name for line in tried(trial, MACHINE).lines]


@pytest.mark.parametrize("of_last_stage", [0, 1, 2])
def test_ctrl_c_in_the_last_stage_leaves_the_verdict_to_the_one_before(
    monkeypatch: pytest.MonkeyPatch, of_last_stage: int
) -> None:
    """The stage before has rounds enough with 200 runs; a plan is judged with its control there."""
    names = (*PLANS, *MALLOCS)
    costs = {"plan-b": 0.7, "mimalloc": 0.8, "blind": 0.9}
    whole = trial_of(monkeypatch, costs, rows_of(*names), runs=200, start_cpu=4)
    last = whole.parts[-1]
    before = sum(len([number for number in row.runs if number < last.first]) for row in whole.rows)
    start = interrupted_after(before + of_last_stage * len(last.rows), costs)
    trial = trial_of(monkeypatch, start, rows_of(*names), runs=200, start_cpu=4)
    found = tried(trial, MACHINE)
    assert (found.choice.use, set(found.choice.over)) == ("plan-b", {BASE, "mimalloc", "blind"})


def test_a_short_program_is_started_many_times_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = trial_of(monkeypatch, {}, rows_of("mimalloc"), runs=60, start_cpu=0.2)
    assert trial.repetitions == 20
    assert [len(row.runs) for row in trial.rows] == [15, 15, 15]
    assert trial_of(monkeypatch, {}, rows_of("mimalloc"), runs=60, start_cpu=5).repetitions == 1


def test_two_candidates_are_both_in_the_stage_that_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = trial_of(monkeypatch, {"jemalloc": 0.5}, rows_of("plan-a", "jemalloc"), runs=40)
    assert [len(row.runs) for row in trial.rows] == [8] * 5


def test_a_run_is_the_mean_of_its_starts_and_their_most_memory() -> None:
    of = mean_of([taken(1.0, rss=5e6, figure=10), taken(2.0, rss=7e6, figure=20)], "a run")
    assert (of.cpu_s, of.max_rss_bytes, of.figure, of.output) == (1.5, 7e6, 15, "same")


def test_outputs_that_vary_from_start_to_start_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = iter("ab" * 10_000)

    def wavering(row: str) -> Taken:
        return taken(0.5) if row == "mimalloc" else taken(1.0, output=next(printed))

    trial = trial_of(monkeypatch, wavering, rows_of("mimalloc"), runs=60, start_cpu=0.2)
    found = tried(trial, MACHINE)
    assert (trial.repetitions, found.choice.use, found.left_out) == (20, "mimalloc", {})
    assert any("differs from run to run" in note for note in found.notes)


def test_no_room_leaves_out_what_least_is_expected_of() -> None:
    rows = rows_of("plan-a", "plan-b", "mimalloc", "jemalloc")
    expected = {"plan-a": -0.1, "plan-b": -0.3, "mimalloc": -0.2, "jemalloc": 0.1}

    def kept(seconds: float) -> list[str]:
        return [row.malloc.name for row in with_room(rows, expected, Room(60, seconds, 10.0))]

    everything = [BASE, "plan-a", "plan-b", "mimalloc", "jemalloc", "blind", BASE + AGAIN]
    assert kept(7 * 10 + 10 * runs_of(SHAPES[-1], rows)) == everything
    assert kept(10 * (6 + 5 + 5 * LEAST)) == [BASE, "plan-a", "plan-b", "mimalloc", "blind", BASE + AGAIN]
    assert kept(10 * (5 + 4 + 5 * LEAST)) == [BASE, "plan-b", "mimalloc", "blind", BASE + AGAIN]
    plan = 10 * 4 * (1 + LEAST)  # one untimed run and six rounds
    assert kept(plan) == [BASE, "plan-b", "blind", BASE + AGAIN]
    assert kept(plan - 1) == [BASE, "mimalloc", "jemalloc", BASE + AGAIN]
    assert kept(10 * 3 * (1 + LEAST) - 1) == []


def test_a_malloc_takes_the_place_of_a_plan_that_needs_more_runs() -> None:
    kept = with_room(rows_of("plan-a", "mimalloc"), {}, Room(18, 3600, 1.0))
    assert [row.malloc.name for row in kept] == [BASE, "mimalloc", BASE + AGAIN]


# --- the verdict ---


def doctor_of(trial: TrialInBudget) -> Doctor:
    """Return a doctor who has come as far as this trial."""
    of = Doctor(Order(trial.program, Path("out"), goal=trial.goal), lambda *_: None, lambda _: None)
    of.trial, of.tried = trial, tried(trial, MACHINE)
    return of


def test_a_plan_that_is_faster_and_not_used_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {"plan-a": 0.795, "blind": 0.8}
    found = document(doctor_of(trial_of(monkeypatch, costs, rows_of("plan-a", "mimalloc"), runs=60)))
    assert found["verdict"]["headline"] == (
        "Keep what you have: plan-a, the best candidate, changes CPU time by -20 % (-20 % to -20 %), "
        "but is no better than blind beyond noise"
    )


def test_interval_is_that_of_the_cpu_time_where_another_figure_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def figured(row: str) -> Taken:
        return taken(0.5, figure=40) if row == "mimalloc" else taken(1.0, figure=10)

    goal = Goal("figure", upwards=True)
    trial = trial_of(monkeypatch, figured, rows_of("mimalloc"), runs=60, goal=goal)
    found = document(doctor_of(trial))["verdict"]
    assert found["headline"] == "Use mimalloc: +300 % of its own figure, -50 % CPU, 0 % memory"
    assert (found["cpu_change"], found["interval"]) == (-0.5, [-0.5, -0.5])


# --- the command ---


def advice_by_planner(
    journal: str, _order: Order, _minutes: float, _alone: Taken | None, progress: Progress
) -> Advised:
    """Return what advice says, with the pools of the planner for a plan."""
    plan = Planner(journal, progress).plan(Options("pools", PLAN_MAX_RSS)).plan
    document = {
        "subsystems": [],
        "remarks": [],
        "mallocs": [{"name": "jemalloc", "cpu": interval(-0.1), "ns_per_block": None, "peak_bytes": None}],
        "plans": [
            {"name": "pools", "predicted_peak_bytes": plan.predicted_peak, "cpu": interval(-0.2)},
        ],
    }
    return document, [("pools", plan)]


@pytest.fixture
def advised(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Advised]], None]:
    """Put another adviser in place; runs are single starts, however short."""
    monkeypatch.setattr("mallard.advise.trial_in_budget.RUN_SECONDS", 0.0)
    monkeypatch.setattr("mallard.advise.doctor_stages.SHORTEST", 0.0)

    def replaced(by: Callable[..., Advised]) -> None:
        monkeypatch.setattr("mallard.advise.doctor_stages.advice_of", by)

    return replaced


Replaced = Callable[[Callable[..., Advised]], None]


def known(folder: Path) -> dict[str, Any]:
    """Return the document in a folder, which the page beside it is of."""
    found: dict[str, Any] = json.loads((folder / "doctor.json").read_text())
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert found["verdict"]["headline"].split(":")[0] in page
    return found


def states(found: Mapping[str, Any]) -> dict[str, str]:
    return {one["name"]: one["state"] for one in found["stages"]}


def test_doctor_records_advises_and_tries(mallard: Mallard, advised: Replaced, tmp_path: Path) -> None:
    advised(advice_by_planner)
    folder = tmp_path / "out"
    ran = mallard(
        "doctor", "-o", folder, "--runs", "40", "--malloc", "jemalloc", "--seed", "7", "--json",
        "--", PERL, "-e", WORK,
    )  # fmt: skip
    found = json.loads(ran.stdout)
    assert found == known(folder)
    verdict = found["verdict"]
    assert ran.returncode == {"plan": 0, "malloc": 0, "nothing": 3}[verdict["kind"]], ran.stderr
    assert verdict["confirmed"]
    assert set(states(found).values()) == {"done"}
    assert {row["name"]: row["kind"] for row in found["trial"]["rows"]} == {
        "glibc": "baseline", "jemalloc": "malloc", "plan": "plan", "blind": "control", "glibc a/a": "twin",
    }  # fmt: skip
    assert all(len(found["rounds"][name]) >= LEAST for name in ("plan", "blind", "glibc a/a"))
    predictions = {one["name"]: one for one in found["predictions"]}
    assert {name: one["predicted_cpu"] for name, one in predictions.items()} == {
        "jemalloc": -0.1,
        "plan": -0.2,
    }
    assert predictions["plan"]["predicted_peak_bytes"] > 1 << 20
    advise, again = found["commands"]
    assert advise == f"mallard advise {folder}/perl.mlrd"
    assert again.startswith(f"mallard try {folder}/plan-pools.toml --malloc jemalloc --seed 7 -- {PERL} -e ")
    assert {one.name for one in folder.iterdir()} == {
        "advice.json", "doctor.json", "perl.mlrd", "plan-pools.toml", "report.html",
    }  # fmt: skip


def test_advice_knows_what_the_program_takes_when_it_is_not_recorded(
    mallard: Mallard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []

    def asking(_: str, options: Any, __: object) -> Any:
        asked.append(options)
        raise MallardError("enough is known")

    monkeypatch.setattr("mallard.advise.advised", asking)
    large = 'my $large = "x" x 30_000_000;'
    for order in (PERL, "-e", large), ("/bin/sh", "-c", f"{PERL} -e '{large}'; true"):
        mallard("doctor", "-o", tmp_path, "--runs", "18", "--malloc", "glibc", "--", *order)
    alone, with_a_parent = asked
    assert 30_000_000 < alone.peak_rss < 90_000_000
    assert 0 < alone.cpu_seconds < 10
    assert (with_a_parent.peak_rss, with_a_parent.cpu_seconds) == (None, None), "which of them took it?"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MallardError("no small blocks"), "no small blocks"),
        (MemoryError(), "out of memory"),
        (OSError(ENOSPC, "No space left on device"), "[Errno 28] No space left on device"),
        (duckdb.OutOfMemoryException("no block\nis free"), "no block is free"),
    ],
)
def test_without_advice_mallocs_are_tried(
    mallard: Mallard, advised: Replaced, tmp_path: Path, error: Exception, reason: str
) -> None:
    def refuse(*_: object) -> Advised:
        raise error

    advised(refuse)
    folder = tmp_path / "out"
    ran = mallard("doctor", "-o", folder, "--runs", "18", "--malloc", "jemalloc", "--", PERL, "-e", "print 7")
    assert ran.returncode in (0, 3), ran.stderr
    assert states(known(folder)) | {"advise": "failed"} == states(known(folder))
    assert f"advise   failed: {reason}" in ran.stdout
    assert known(folder)["trial"]["rows"][1]["name"] == "jemalloc"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_keeps_what_is_done(
    mallard: Mallard, advised: Replaced, tmp_path: Path, number: signal.Signals
) -> None:
    def interrupted(*_: object) -> Advised:
        os.kill(os.getpid(), number)
        raise AssertionError("nobody has heard the signal")

    advised(interrupted)
    folder = tmp_path / "out"
    ran = mallard("doctor", "-o", folder, "--", PERL, "-e", WORK)
    assert ran.returncode == 130
    assert "No verdict: interrupted before anything was confirmed." in ran.stdout
    found = known(folder)
    assert states(found) == {
        "run": "done", "record": "done", "profile": "done", "advise": "interrupted", "try": "waiting",
    }  # fmt: skip
    assert Path(found["files"]["journal"]).is_file()


def test_what_an_earlier_run_has_left_is_not_taken_for_this_ones(
    mallard: Mallard, advised: Replaced, tmp_path: Path
) -> None:
    def refuse(*_: object) -> Advised:
        raise MallardError("no small blocks")

    advised(refuse)
    folder = tmp_path / "out"
    folder.mkdir()
    old = [folder / name for name in ("plan-pools.toml", "advice.json", "perl.mlrd", "perl.mlrd.spool")]
    for path in (*old, folder / "plan-mine.toml"):
        path.write_text("old")
    (folder / "doctor.json").write_text(json.dumps({"files": {"plans": ["elsewhere/plan-pools.toml"]}}))
    ran = mallard("doctor", "-o", folder, "--runs", "18", "--malloc", "jemalloc", "--", PERL, "-e", "print 7")
    assert ran.returncode in (0, 3), ran.stderr
    assert {one.name for one in folder.iterdir()} == {
        "doctor.json", "perl.mlrd", "plan-mine.toml", "report.html",
    }  # fmt: skip
    assert (folder / "perl.mlrd").stat().st_size > 100


def test_ctrl_c_while_it_is_recorded_leaves_nothing_of_the_recording(
    mallard: Mallard, advised: Replaced, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    advised(advice_by_planner)
    folder = tmp_path / "out"

    def cut_off(program: Program, environment: dict[str, str]) -> Taken:
        if program.arguments[0] == "mallard-record":
            (folder / "perl.mlrd.spool").write_bytes(b"rings")
            (folder / "perl.mlrd.d").mkdir()
            os.kill(os.getpid(), signal.SIGINT)
        return launch.run(program, environment)

    monkeypatch.setattr("mallard.advise.doctor_stages.run", cut_off)
    ran = mallard("doctor", "-o", folder, "--", PERL, "-e", WORK)
    assert ran.returncode == 130
    assert states(known(folder))["record"] == "interrupted"
    assert {one.name for one in folder.iterdir()} == {"doctor.json", "report.html"}


def test_what_takes_longer_to_read_than_there_is_time_is_left_out(
    mallard: Mallard, advised: Replaced, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    advised(advice_by_planner)
    monkeypatch.setattr("mallard.advise.doctor_stages.PROFILED_NS", 1e9)
    monkeypatch.setattr("mallard.advise.doctor_stages.ADVISED_NS", 1e9)
    folder = tmp_path / "out"
    ran = mallard("doctor", "-o", folder, "--malloc", "jemalloc", "--", PERL, "-e", WORK)
    assert states(known(folder)) == {
        "run": "done", "record": "done", "profile": "left out", "advise": "left out", "try": "done",
    }  # fmt: skip
    assert "events take longer to read than there is time for: --budget gives more" in ran.stdout


def test_the_folder_is_where_the_command_is_and_not_where_the_program_is(
    mallard: Mallard, advised: Replaced, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    advised(advice_by_planner)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in" / "out").mkdir(parents=True)
    given = ("--cwd", "in", "--malloc", "jemalloc", "--runs", "30")
    ran = mallard("doctor", "-o", "out", *given, "--", PERL, "-e", WORK)
    assert ran.returncode in (0, 3), ran.stderr
    assert set(states(known(tmp_path / "out")).values()) == {"done"}
    assert (tmp_path / "out" / "perl.mlrd").is_file()
    assert not any((tmp_path / "in" / "out").iterdir())


def test_what_is_recorded_has_to_print_the_same(mallard: Mallard, advised: Replaced, tmp_path: Path) -> None:
    advised(advice_by_planner)
    folder = tmp_path / "out"
    work = "open F, q(/proc/self/maps); print grep(/mallard-record|jemalloc/, <F>) ? 1 : 0"
    ran = mallard("doctor", "-o", folder, "--runs", "18", "--malloc", "jemalloc", "--", PERL, "-e", work)
    found = known(folder)
    assert states(found) == {
        "run": "done", "record": "failed", "profile": "left out", "advise": "left out", "try": "done",
    }  # fmt: skip
    assert "record   failed: it prints something else while it is recorded" in ran.stdout
    assert [one["name"] for one in found["trial"]["left_out"]] == ["jemalloc"]
    assert (ran.returncode, found["verdict"]["kind"]) == (3, "nothing")


def test_advice_is_for_the_process_with_most_blocks(
    mallard: Mallard, advised: Replaced, tmp_path: Path
) -> None:
    advised(advice_by_planner)
    folder = tmp_path / "out"
    child = "my @a = map { [$_] } 1 .. 3000"
    ran = mallard("doctor", "-o", folder, "--malloc", "glibc", "--", "sh", "-c", f"{PERL} -e '{child}'; true")
    found = known(folder)
    assert "2 processes were recorded, and a plan is for one program: advice is for perl" in ran.stdout
    assert Path(found["files"]["journal"]).parent == folder / "sh.mlrd.d"


def test_what_is_too_short_is_not_judged(
    mallard: Mallard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("mallard.advise.doctor_stages.SHORTEST", 1e6)
    monkeypatch.setattr("mallard.advise.doctor_stages.STAGES", ("run", "try"))
    ran = mallard("doctor", "-o", tmp_path / "out", "--", "/bin/true")
    assert ran.returncode == 1
    assert "No verdict: too short to judge" in ran.stdout
    assert known(tmp_path / "out")["trial"] is None


def test_a_short_program_is_judged_by_its_own_figure(
    mallard: Mallard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("mallard.advise.doctor_stages.SHORTEST", 1e6)
    monkeypatch.setattr("mallard.advise.doctor_stages.STAGES", ("run", "try"))
    monkeypatch.setattr("mallard.advise.trial_in_budget.RUN_SECONDS", 0.0)
    given = ("--malloc", "jemalloc", "--runs", "18", "--figure", "[0-9]+", "--", "/bin/echo", "7")
    ran = mallard("doctor", "-o", tmp_path / "out", *given)
    assert (ran.returncode, known(tmp_path / "out")["verdict"]["kind"]) == (3, "nothing"), ran.stderr


def test_what_has_no_time_for_six_rounds_is_not_tried(
    mallard: Mallard, advised: Replaced, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    advised(advice_by_planner)
    monkeypatch.setattr("mallard.advise.doctor_stages.STAGES", ("run", "try"))
    monkeypatch.setattr(Doctor, "left", 0.0)
    ran = mallard("doctor", "-o", tmp_path / "out", "--malloc", "jemalloc", "--", PERL, "-e", "1")
    assert ran.returncode == 1
    assert "No verdict: there is no room for 6 rounds; --budget and --runs give more" in ran.stdout
    assert known(tmp_path / "out")["trial"] is None


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "no program: write -- before it, as in `mallard doctor"),
        (("--", "./none"), "cannot run ./none: not found"),
        (("--runs", "5", "--", "/bin/true"), "Invalid value for '--runs'"),
        (("--budget", "inf", "--", "/bin/true"), "Invalid value for '--budget'"),
        (("--malloc", "hoard", "--", "/bin/true"), "--malloc hoard: not known"),
        (("--", "sh", "-c", "exit 3"), "it exited with 3; --output ignore measures it"),
        (("--figure", "[0-9]+", "--", "/bin/echo", "none"), "--figure finds nothing in what echo prints"),
        (("-o", "FULL", "--", "/bin/true"), "has other files in it: name another folder with -o"),
    ],
)
def test_wrong_use_is_one_line_and_leaves_nothing(
    mallard: Mallard, tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "FULL").mkdir()
    (tmp_path / "FULL" / "mine").touch()
    words = [str(tmp_path / word) if word == "FULL" else word for word in arguments]
    given = words if "-o" in words else ["-o", str(tmp_path / "out"), *words]
    ran = mallard("doctor", *given)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert reason in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def has_children(process: int) -> bool:
    with suppress(OSError):  # a thread may end between two looks
        return any(of.read_text() for of in Path(f"/proc/{process}/task").glob("*/children"))
    return False


@pytest.mark.slow
def test_ctrl_c_in_the_trial_leaves_a_whole_report(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    work = "my $s = 0; $s += $_ for 1 .. 3000000; print $s"
    options = ["-o", str(folder), "--budget", "0.5", "--malloc", "jemalloc"]
    command = [MALLARD, "doctor", *options, "--", PERL, "-e", work]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        while running.poll() is None:
            document = folder / "doctor.json"
            if document.is_file() and states(json.loads(document.read_text()))["advise"] != "waiting":
                break
            time.sleep(0.05)
        while running.poll() is None and not has_children(running.pid):  # the trial's first
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        said, _ = running.communicate()
    assert running.returncode == 130
    assert "interrupted" in said
    assert states(known(folder))["try"] == "interrupted"
