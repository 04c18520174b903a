"""`mallard try`: what is measured how often, what is worth using, and what never is."""

import json
import random
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import exp, inf
from pathlib import Path
from typing import Any

import pytest
from conftest import Mallard

from mallard.compare.choice import NOTHING, bootstrapped
from mallard.compare.halving import Goal, Trial
from mallard.compare.launch import Program, RunError, Taken
from mallard.compare.mallocs import AGAIN, BASE, IN_HUGE_PAGES, PLAN_VARIABLE, Malloc, chosen
from mallard.compare.plans import NOTE, blind, build_id_of, ids_among, planned
from mallard.compare.rounds import Image, Processes, Row, Schedule, Session, why_not
from mallard.compare.trial_outcome import Tried, as_document, tried, way_to_use
from mallard.plan import Context, Frame, Module, Plan, Rule, plan_text
from mallard.plan.plan_image import HEADER
from try_check import FASTER, Told, limits

MACHINE = {"cpu": "", "cores": 2, "memory": 1, "kernel": "", "c_library": "", "transparent_huge_pages": ""}
SESSIONS = 20
TWIN = BASE + AGAIN
MALLOCS = ("mallard", "jemalloc", "tcmalloc", "mimalloc", "tbbmalloc")
PERL = "/usr/bin/perl"

Cost = Callable[[str, int], Taken]  # what a run of a row takes; the number counts its runs


def taken(cpu: float, rss: float = 1e6, figure: float | None = None, output: str = "same") -> Taken:
    """Return a run that takes so much."""
    return Taken(cpu, cpu, rss, 100, 0, 1, 2, figure, 0, output, "")


def fixed(costs: Mapping[str, float]) -> Cost:
    """Return runs that always take the same: 1, or what is given."""
    return lambda name, _: taken(costs.get(name, 1.0))


def disturbed(seed: int, costs: Mapping[str, float]) -> Cost:
    """Return runs with 2 % of noise, of which every twentieth takes about a tenth more."""
    noise = random.Random(seed)

    def cost(name: str, _: int) -> Taken:
        hit = abs(noise.gauss(0, 0.1)) if noise.random() < 0.05 else 0.0
        return taken(costs.get(name, 1.0) * exp(noise.gauss(0, 0.02)) * (1 + hit))

    return cost


def malloc(name: str) -> Malloc:
    """Return a malloc, plan or control by its name, which its runs see in their environment."""
    plan = f"{name}.toml" if name.startswith("plan") else ""
    most = 1.25 if plan else inf
    settings = {"ROW": name}
    return Malloc(name, "", settings, name == TWIN, plan, most, control=name == "blind")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Trial]:
    """Return a trial of made-up runs."""

    def run(cost: Cost, *names: str, **settings: Any) -> Trial:
        counts: dict[str, int] = {}

        def one(_program: Program, environment: dict[str, str]) -> Taken:
            name = environment["ROW"]
            counts[name] = counts.get(name, -1) + 1
            return cost(name, counts[name])

        unusable = settings.pop("unusable", ())
        monkeypatch.setattr("mallard.compare.rounds.run", one)
        monkeypatch.setattr(Session, "look_into", lambda _self, _progress: None)
        rows = [
            Row(malloc(name), reason="it cannot be loaded" if name in unusable else "")
            for name in (BASE, *names, TWIN)
        ]
        schedule = Schedule(rounds=0, least=0, seconds=settings.pop("seconds", float("inf")))
        trial = Trial(Program(("work", "it"), "work", Path()), schedule, rows, **settings)
        trial.measure(lambda _share, _what, _seconds: None)
        return trial

    return run


@pytest.fixture
def said(measured: Callable[..., Trial]) -> Callable[..., Tried]:
    """Return the result of a trial of made-up runs."""
    return lambda *given, **settings: tried(measured(*given, **settings), MACHINE)


def verdict(of: Tried) -> dict[str, Any]:
    """Return the verdict as a machine reads it."""
    found: dict[str, Any] = as_document(of)["verdict"]
    return found


def test_the_better_a_candidate_is_the_more_rounds_it_gets(measured: Callable[..., Trial]) -> None:
    costs = {name: 1 - number / 10 for number, name in enumerate(MALLOCS)}
    trial = measured(fixed(costs), *MALLOCS)
    assert {row.malloc.name: len(row.runs) for row in trial.rows} == {
        BASE: 25, "mallard": 3, "jemalloc": 3, "tcmalloc": 10, "mimalloc": 25, "tbbmalloc": 25, TWIN: 25,
    }  # fmt: skip


def test_a_plan_is_measured_with_what_it_has_to_beat(measured: Callable[..., Trial]) -> None:
    plans = ("plan a", "plan b", "plan c")
    trial = measured(
        fixed({"plan a": 0.5, "plan b": 0.6, "plan c": 0.7, "mimalloc": 0.8}), *plans, "blind", *MALLOCS
    )
    rounds = {row.malloc.name: len(row.runs) for row in trial.rows}
    assert [rounds[name] for name in (*plans, "mimalloc", "blind")] == [25, 25, 10, 25, 25]
    without = measured(fixed({"plan a": 2, "mimalloc": 0.8}), "plan a", "blind", *MALLOCS)
    assert {row.malloc.name: len(row.runs) for row in without.rows}["blind"] == 3


def test_few_candidates_are_only_in_the_last_stage(measured: Callable[..., Trial]) -> None:
    trial = measured(fixed({}), "mimalloc", "tcmalloc")
    assert [len(row.runs) for row in trial.rows] == [15, 15, 15, 15]


def test_five_per_cent_are_found_and_nothing_where_nothing_is(said: Callable[..., Tried]) -> None:
    planted = [said(disturbed(seed, {"tcmalloc": 0.95}), *MALLOCS).choice.use for seed in range(SESSIONS)]
    assert planted.count("tcmalloc") >= 19
    nothing = [said(disturbed(seed, {}), "plan", "blind", *MALLOCS).choice.use for seed in range(SESSIONS)]
    assert nothing == [NOTHING] * SESSIONS


def test_the_rounds_that_choose_are_not_those_that_judge(said: Callable[..., Tried]) -> None:
    def lucky_at_first(name: str, number: int) -> Taken:
        return taken(0.8 if name == "mimalloc" and number < 10 else 1.0)

    found = said(lucky_at_first, *MALLOCS)
    assert (found.choice.best, found.choice.use) != ("mimalloc", "mimalloc")
    assert found.choice.use == NOTHING
    row = {line.name: line for line in found.lines}["mimalloc"]
    assert row.rounds["cpu_s"] == [1.0] * 15
    assert row.says == "no difference"


def test_a_plan_that_beats_all_else_is_what_to_use(said: Callable[..., Tried]) -> None:
    found = said(fixed({"plan": 0.5, "blind": 0.9, "mimalloc": 0.8}), "plan", "blind", *MALLOCS)
    told = verdict(found)
    assert (told["kind"], told["use"], told["rounds"]) == ("faster", "plan", 15)
    assert told["change"] == pytest.approx(-0.5)
    assert told["interval"] == pytest.approx([-0.5, -0.5])
    assert told["over"]["mimalloc"]["median"] == pytest.approx(0.625)
    assert told["over"].keys() >= {BASE, "mimalloc", "blind"}
    assert found.verdict[0].startswith(
        "Use plan (plan.toml): CPU time is 0.500 (0.500 to 0.500) of glibc's, "
    )
    assert "To use it: mallard run --plan plan.toml -- work it" in found.verdict


@pytest.mark.parametrize(("simpler", "use"), [("mimalloc", "mimalloc"), ("blind", NOTHING)])
def test_a_plan_no_better_than_what_is_simpler_is_not_used(
    said: Callable[..., Tried], simpler: str, use: str
) -> None:
    found = said(fixed({"plan": 0.795, simpler: 0.8}), "plan", "blind", *MALLOCS)
    assert found.choice.use == use
    text = " ".join(found.verdict)
    assert (
        "No plan is better" in text if use != NOTHING else f"no better than {simpler}'s beyond noise" in text
    )


def test_a_malloc_is_used_by_what_puts_it_in_force(said: Callable[..., Tried]) -> None:
    found = said(fixed({"mimalloc": 0.8}), *MALLOCS)
    assert found.choice.use == "mimalloc"
    assert "To use it: ROW=mimalloc work it" in found.verdict
    assert (
        "Beside glibc: elapsed time 0.80, max RSS 1.00 and minor faults 1.00 times as much." in found.verdict
    )


def test_a_program_in_another_folder_is_used_there(measured: Callable[..., Trial], tmp_path: Path) -> None:
    trial = measured(fixed({}), "plan", "mimalloc", "blind")
    ways = []
    for folder in (Path().absolute(), tmp_path):
        trial.program = replace(trial.program, folder=folder)
        ways += [way_to_use(row, trial) for row in trial.rows if row.malloc.name in ("plan", "mimalloc")]
    assert ways == [
        "mallard run --plan plan.toml -- work it",
        "ROW=mimalloc work it",
        f"cd {tmp_path} && mallard run --plan {Path('plan.toml').absolute()} -- work it",
        f"cd {tmp_path} && ROW=mimalloc work it",
    ]


def test_our_malloc_is_used_by_a_command(measured: Callable[..., Trial]) -> None:
    trial = measured(fixed({}), "mallard", IN_HUGE_PAGES)
    ways = {row.malloc.name: way_to_use(row, trial) for row in trial.rows}
    assert ways["mallard"] == "mallard run -- work it"
    assert ways[IN_HUGE_PAGES] == "mallard run --huge-pages -- work it"


def test_difference_that_glibc_has_from_itself_is_none(said: Callable[..., Tried]) -> None:
    found = said(fixed({"mimalloc": 0.97, TWIN: 1.1}), *MALLOCS)
    assert (found.choice.kind, found.choice.use) == ("no difference", NOTHING)
    assert found.verdict[0].startswith("Nothing to gain: keep glibc.")


def test_candidates_that_are_all_worse_are_slower(said: Callable[..., Tried]) -> None:
    found = said(fixed(dict.fromkeys(MALLOCS, 1.2)), *MALLOCS)
    assert (found.choice.kind, found.choice.use) == ("slower", NOTHING)


@pytest.mark.parametrize(("upwards", "use"), [(True, "mimalloc"), (False, "mallard")])
def test_own_figure_decides_where_there_is_one(said: Callable[..., Tried], upwards: bool, use: str) -> None:
    figures = {"mimalloc": 120.0, "mallard": 80.0}

    def figured(name: str, _: int) -> Taken:
        return taken(1, figure=figures.get(name, 100.0))

    found = said(figured, *MALLOCS, goal=Goal("figure", upwards))
    assert (verdict(found)["use"], verdict(found)["figure"]) == (use, "figure")


def test_figure_that_may_be_zero_gives_no_verdict(said: Callable[..., Tried]) -> None:
    def figured(name: str, number: int) -> Taken:
        return taken(1, figure=0.0 if name == BASE and number == 20 else 100.0)

    found = said(figured, *MALLOCS, goal=Goal("figure", upwards=True))
    assert (found.choice.kind, found.choice.use) == ("unknown", None)
    assert found.verdict == [
        "No verdict: the program's own figure is not above 0 under glibc in every round."
    ]


def test_what_prints_something_else_or_crashes_is_out(said: Callable[..., Tried]) -> None:
    def odd(name: str, number: int) -> Taken:
        if name == "tcmalloc" and number == 1:
            raise RunError("it was ended by signal 11 (Segmentation fault)")
        return taken(
            0.5 if name in ("mimalloc", "tcmalloc") else 1, output="other" if name == "mimalloc" else ""
        )

    found = said(odd, *MALLOCS)
    assert found.left_out == {
        "mimalloc": "the program prints something else than under glibc",
        "tcmalloc": "it was ended by signal 11 (Segmentation fault)",
    }
    assert found.choice.use == NOTHING


@pytest.mark.parametrize("unusable", [MALLOCS, ()])
def test_where_no_candidate_is_left_there_is_nothing_to_gain(
    said: Callable[..., Tried], unusable: tuple[str, ...]
) -> None:
    def failing(name: str, _: int) -> Taken:
        if name in MALLOCS:
            raise RunError("it exited with 1")
        return taken(1)

    found = said(failing, *MALLOCS, unusable=unusable)
    assert found.left_out.keys() == set(MALLOCS)
    assert found.verdict == ["Nothing to gain: keep glibc. No candidate is left."]
    assert (found.choice.use, [line.name for line in found.lines]) == (NOTHING, [BASE, TWIN])
    assert {len(line.rounds["cpu_s"]) for line in found.lines} == {1}, "which more rounds would not change"
    json.dumps(as_document(found))


def test_outputs_that_glibc_does_not_repeat_are_not_compared(said: Callable[..., Tried]) -> None:
    found = said(lambda name, number: taken(1, output=f"{name} {number}"), *MALLOCS)
    assert found.left_out == {}
    assert any("differs from run to run" in note for note in found.notes)


def test_what_takes_too_much_memory_is_out(said: Callable[..., Tried]) -> None:
    def large(name: str, _: int) -> Taken:
        return taken(0.5 if name == "mimalloc" else 1, rss=1.5e6 if name == "mimalloc" else 1e6)

    assert said(large, *MALLOCS).choice.use == "mimalloc"
    found = said(large, *MALLOCS, most_rss=1.25)
    assert found.left_out == {"mimalloc": "it takes 1.50 of glibc's max RSS (--max-rss)"}
    assert found.choice.use == NOTHING


@pytest.mark.parametrize(
    ("costs", "is_told"), [({"plan": 0.5}, True), ({"mimalloc": 0.5}, False), ({}, False)]
)
def test_a_plan_whose_control_is_left_out_is_told(
    said: Callable[..., Tried], costs: dict[str, float], is_told: bool
) -> None:
    found = said(fixed(costs), "plan", "mimalloc", "blind", unusable=("blind",))
    told = ["plan was not compared with its heap without routing: blind was left out"]
    assert found.notes == (told if is_told else [])


@pytest.mark.parametrize(("rss", "output"), [(1e6, "other"), (1.5e6, "same")])
@pytest.mark.parametrize("by", [KeyboardInterrupt(), RunError("it is gone"), None])
def test_what_differs_is_out_in_rounds_that_are_cut_short(
    said: Callable[..., Tried],
    monkeypatch: pytest.MonkeyPatch,
    by: BaseException | None,
    rss: float,
    output: str,
) -> None:
    clock = [0.0]
    monkeypatch.setattr("mallard.compare.halving.monotonic", lambda: clock[0])

    def cut_short(name: str, number: int) -> Taken:
        clock[0] += 1
        if by and name == BASE and number == 8:
            raise by
        return taken(0.5, rss, output=output) if name == "mimalloc" else taken(1)

    seconds = float("inf") if by else 25
    found = said(cut_short, "mimalloc", "mallard", most_rss=1.25, seconds=seconds)
    assert found.left_out.keys() == {"mimalloc"}
    assert (found.choice.use, found.choice.best, found.choice.kind) == (NOTHING, "mallard", "no difference")


def test_a_plan_beyond_its_own_limit_is_told(said: Callable[..., Tried]) -> None:
    def costs(name: str, _: int) -> Taken:
        return taken(0.8 if name == "plan" else 1.0, 1.3e6 if name in ("plan", "mimalloc") else 1e6)

    found = said(costs, "plan", "mimalloc", "blind")
    assert found.choice.use == "plan"
    assert found.notes == ["plan takes 1.30 of glibc's max RSS, and its plan was made for at most 1.25"]


def interrupted(costs: Mapping[str, float], runs: int, by: signal.Signals = signal.SIGINT) -> Cost:
    """Return runs of which glibc's last one is met by a Ctrl-C, or another signal."""

    def cost(name: str, number: int) -> Taken:
        if name == BASE and number == runs:
            signal.raise_signal(by)
        return taken(costs.get(name, 1.0))

    return cost


def test_a_signal_to_end_leaves_what_ctrl_c_leaves(said: Callable[..., Tried]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    found = said(interrupted({"mimalloc": 0.8}, 22, signal.SIGTERM), *MALLOCS)
    assert (found.interrupted, found.choice.use, found.choice.rounds) == (True, "mimalloc", 12)
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("runs", "use", "rounds"), [(2, None, 0), (14, "mimalloc", 7), (22, "mimalloc", 12)])
def test_ctrl_c_leaves_a_verdict_on_what_is_measured(
    said: Callable[..., Tried], runs: int, use: str | None, rounds: int
) -> None:
    found = said(interrupted({"mimalloc": 0.8}, runs), *MALLOCS)
    assert found.interrupted
    assert (found.choice.use, found.choice.rounds) == (use, rounds)
    if use is None:
        assert found.verdict == ["No verdict yet: it takes 6 rounds of one stage."]
    assert {line.name for line in found.lines} == {BASE, *MALLOCS, TWIN}
    json.dumps(as_document(found))


@pytest.mark.parametrize("runs", range(1, 5))
def test_ctrl_c_in_the_first_round_of_a_stage_is_one_in_the_stage_before(
    said: Callable[..., Tried], runs: int
) -> None:
    left = iter(range(3 * (2 + len(MALLOCS)) + runs))

    def cut_off(_name: str, _number: int) -> Taken:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return taken(1)

    found = said(cut_off, *MALLOCS)
    assert (found.interrupted, found.choice.use) == (True, None)
    assert {len(line.rounds["cpu_s"]) for line in found.lines} == {3}
    json.dumps(as_document(found))


def test_a_control_that_ctrl_c_cuts_off_is_told(said: Callable[..., Tried]) -> None:
    started: list[str] = []

    def cut_off(name: str, _number: int) -> Taken:
        if BASE in started:
            raise KeyboardInterrupt
        started.append(name)
        return taken(1)

    found = said(cut_off, "plan", "blind", *MALLOCS)
    assert "blind" not in started
    assert found.left_out["blind"] == "interrupted before it was measured"


def test_time_that_is_over_ends_all_but_the_first_round(measured: Callable[..., Trial]) -> None:
    trial = measured(fixed({}), *MALLOCS, seconds=0)
    assert {len(row.runs) for row in trial.rows} == {1}
    assert tried(trial, MACHINE).choice.use is None


def test_the_middle_stage_gives_its_time_to_the_last(
    measured: Callable[..., Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr("mallard.compare.halving.monotonic", lambda: clock[0])

    def a_second(name: str, _: int) -> Taken:
        clock[0] += 1
        return taken({"mimalloc": 0.8, "mallard": 0.9}.get(name, 1.0))

    first, last = 3 * (2 + len(MALLOCS)), 15 * (2 + 2)
    trial = measured(a_second, *MALLOCS, seconds=first + last + 10)
    assert {row.malloc.name: len(row.runs) for row in trial.rows} == {
        BASE: 18, "mallard": 18, "jemalloc": 3, "tcmalloc": 3, "mimalloc": 18, "tbbmalloc": 3, TWIN: 18,
    }  # fmt: skip


@pytest.mark.parametrize("rounds", [6, 7, 15])
def test_interval_by_the_bootstrap_holds_the_middle_and_is_narrower_than_all(rounds: int) -> None:
    found = bootstrapped([float(number) for number in range(rounds)], 0.05)
    assert 0 < found.low < found.median < found.high < rounds - 1
    assert found.median == (rounds - 1) / 2
    assert found.low + found.high == pytest.approx(rounds - 1, abs=0.5)


# --- plans ---


def plan(build_id: str) -> Plan:
    """Return a plan of two pools for a build of perl."""
    first, second = ((Context((Frame("perl", address),)),) for address in (0x10, 0x20))
    rules = (Rule("pool", first, pool="a"), Rule("pool", second, pool="b", largest=64))
    return Plan("perl", (Module("perl", build_id, PERL),), rules)


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    """A folder with a plan for perl, and one for another build of it."""
    (tmp_path / "plan.toml").write_text(plan_text(plan(build_id_of(PERL))))
    (tmp_path / "stale.toml").write_text(plan_text(plan("00" * 20)))
    return tmp_path


def test_the_control_has_one_pool_for_all_that_the_plan_routes() -> None:
    (rule,) = blind(plan("00")).rules
    assert [str(context) for context in rule.contexts] == ["perl+0x10", "perl+0x20"]
    assert (rule.strategy, rule.largest) == ("pool", plan("00").rules[0].largest)


def test_the_control_is_of_a_plan_that_fits_and_has_huge_pages_if_such_a_plan_has(plans: Path) -> None:
    for name, build in (("huge", build_id_of(PERL)), ("stale and huge", "00" * 20)):
        (plans / f"{name}.toml").write_text(plan_text(replace(plan(build), huge_pages=True)))
    controls = []
    for others in ([], [plans / "stale.toml"], [plans / "stale and huge.toml"], [plans / "huge.toml"]):
        with planned([*others, plans / "plan.toml"], control=True) as rows:
            (control,) = (row for row in rows if row.control)
            header = HEADER.unpack_from(Path(control.settings[PLAN_VARIABLE]).read_bytes())
            controls.append((control.build, header[14]))
    assert controls == [(build_id_of(PERL), huge) for huge in (0, 0, 0, 1)]


def test_a_plan_in_huge_pages_has_to_beat_the_malloc_in_huge_pages(plans: Path) -> None:
    (plans / "huge.toml").write_text(plan_text(replace(plan(build_id_of(PERL)), huge_pages=True)))
    own = (IN_HUGE_PAGES, {"MALLARD_MALLOC_HUGE_PAGES": "1"})
    for file, texts, has_own in (("huge", [], True), ("plan", [], False), ("huge", ["mallard"], False)):
        with planned([plans / f"{file}.toml"]) as rows:
            found = chosen(texts, True, rows)
        assert (own in [(one.name, one.settings) for one in found]) == has_own
        assert {one.library for one in found if "mallard" in one.name} >= {rows[0].library}


def test_build_id_is_that_of_the_file(tmp_path: Path) -> None:
    assert len(build_id_of(PERL)) == 40
    (tmp_path / "script").write_text("#!/bin/sh\n")
    (tmp_path / "damaged").write_bytes(Path(PERL).read_bytes()[:100])
    for name in ("script", "damaged", "none"):
        assert build_id_of(str(tmp_path / name)) == ""


def test_build_id_stands_behind_notes_whose_parts_are_aligned() -> None:
    other = NOTE.pack(5, 3, 9) + b"MINE\0".ljust(8, b"\0") + b"abc\0"
    assert [*ids_among(other + NOTE.pack(4, 2, 3) + b"GNU\0" + b"\x12\x34\0\0", 4)] == ["1234"]


def test_compare_has_a_row_for_a_plan_and_says_that_one_is_stale(mallard: Mallard, plans: Path) -> None:
    told = (
        "--plan",
        plans / "plan.toml",
        "--plan",
        plans / "stale.toml",
        "--malloc",
        "glibc",
        "--rounds",
        "5",
    )
    ran = mallard("compare", "--json", *told, "--", "sh", "-c", f"{PERL} -e 'print 1'; true")
    assert ran.returncode == 1, ran.stderr
    found = json.loads(ran.stdout)
    assert [row["name"] for row in found["rows"]] == ["glibc", "plan", "glibc a/a"]
    (left_out,) = found["left_out"]
    assert left_out == {
        "name": "stale",
        "reason": f"it is for another build of the program, {'00' * 20}",
    }
    environment = found["rows"][1]["environment"]
    assert environment["LD_PRELOAD"].endswith("/libmallard-malloc.so")
    assert Path(environment["MALLARD_MALLOC_PLAN"]).is_absolute()
    assert not Path(environment["MALLARD_MALLOC_PLAN"]).exists(), "images are gone with what was measured"


def test_a_plan_that_the_malloc_refuses_has_no_row(tmp_path: Path) -> None:
    library = tmp_path / "libmallard-malloc.so"
    library.touch()
    row = Malloc("plan", str(library), {"MALLARD_MALLOC_PLAN": "/tmp/0.image"})
    processes = Processes([Image("1", PERL, str(library))], [], [])
    line = "mallard-malloc: /tmp/0.image is damaged; no call is routed\n"
    errors = [line, line.replace("0.image", "1.image"), "a warning\n"]
    reasons = [why_not(row, processes, "/lib/libc.so.6", text) for text in errors]
    assert reasons == ["mallard-malloc refuses its plan: it is damaged; no call is routed", "", ""]


# --- the command ---


def test_command_tries_a_plan_its_control_and_a_malloc(mallard: Mallard, plans: Path) -> None:
    page = plans / "try.html"
    with (plans / "plan.toml").open("a") as file:
        file.write(f'[[module]]\nname = "libperl"\nbuild_id = "00"\npath = "{PERL}"\n')
    ran = mallard(
        "try", plans / "plan.toml", plans / "stale.toml", "--rounds", "1,6", "--malloc", "jemalloc",
        "--json", "--html", page, "--", PERL, "-e", "print 7", "--", "--json",
    )  # fmt: skip
    found = json.loads(ran.stdout)
    assert ran.returncode == (3 if found["verdict"]["use"] == NOTHING else 0), ran.stderr
    rows = {row["name"]: row for row in found["rows"]}
    assert {name: row["kind"] for name, row in rows.items()} == {
        "glibc": "baseline", "jemalloc": "malloc", "plan": "plan", "blind": "control", "glibc a/a": "twin",
    }  # fmt: skip
    assert rows["plan"]["plan"] == str(plans / "plan.toml")
    for row in rows.values():
        for name in ("cpu_s", "elapsed_s", "max_rss_bytes", "minor_faults"):
            assert row[name]["low"] <= row[name]["median"] <= row[name]["high"]
            assert len(row["rounds"][name]) == 6
    assert [one["name"] for one in found["left_out"]] == ["stale"]
    (changed,) = (note for note in found["notes"] if "other builds" in note)
    assert changed == "plan is for other builds of libperl: no call of theirs is routed"
    assert found["program"] == [PERL, "-e", "print 7", "--", "--json"]
    assert found["verdict"]["sentences"][0].startswith(("Use ", "Nothing to gain: keep glibc."))
    assert found["verdict"]["sentences"][0] in page.read_text(encoding="utf-8")


def test_table_has_the_verdict_of_each_candidate(mallard: Mallard) -> None:
    ran = mallard("try", "--rounds", "6", "--malloc", "jemalloc", "--", "/bin/true")
    assert ran.returncode in (0, 3), ran.stderr
    heading, *lines = ran.stdout.splitlines()
    assert heading.split()[:4] == ["malloc", "rounds", "verdict", "CPU"]
    assert lines[1].startswith("jemalloc")
    assert any(word in lines[1] for word in ("faster", "slower", "no difference"))


def test_no_candidate_is_called_as_a_verdict(mallard: Mallard, plans: Path) -> None:
    (plans / "plan.toml").rename(plans / "nothing.toml")
    ran = mallard("try", plans / "nothing.toml", plans / "stale.toml", "--", PERL, "-e", "1")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "mallard: a plan or library is called nothing, as a verdict is: rename it\n"


def test_no_memory_is_a_limit_that_nothing_keeps(mallard: Mallard) -> None:
    ran = mallard("try", "--malloc", "mallard", "--max-rss", "0", "--rounds", "6", "--", "/bin/true")
    assert ran.returncode == 3
    assert "Nothing to gain: keep glibc. No candidate is left." in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "no program: write -- before it"),
        (("/bin/true",), "no program: write -- before it"),
        (("--", "./none"), "cannot run ./none: not found"),
        (("none.toml", "--", "/bin/true"), "cannot read none.toml: No such file"),
        (("--rounds", "3,7,5", "--", "/bin/true"), "a stage takes at least 1 round, and the last at least 6"),
        (("--rounds", "many", "--", "/bin/true"), "write up to three numbers"),
        (("--rounds", "9" * 5000, "--", "/bin/true"), "write up to three numbers"),
        (("--malloc", "hoard", "--", "/bin/true"), "--malloc hoard: not known"),
        (("--budget", "-1", "--", "/bin/true"), "Invalid value for '--budget'"),
        (("--", "sh", "-c", "exit 3"), "it exited with 3; --output ignore measures it"),
    ],
)
def test_wrong_use_is_one_line(mallard: Mallard, arguments: tuple[str, ...], reason: str) -> None:
    ran = mallard("try", *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert reason in ran.stderr
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("missed", "twins", "compute", "held"),
    [
        (0, 0, 0, [True, True, True]),
        (1, 0, 0, [True, True, True]),
        (2, 0, 0, [False, True, True]),
        (0, 1, 0, [True, False, True]),
        (0, 0, 1, [True, True, False]),
    ],
)
def test_check_bears_one_planted_gain_that_is_missed(
    missed: int, twins: int, compute: int, held: list[bool]
) -> None:
    def told(use: str) -> Told:
        return Told(use, use, 0.0)

    sessions = [
        {
            "planted": told(NOTHING if at < missed else FASTER),
            "twins": told("glibc" if at < twins else NOTHING),
            "compute": told("mimalloc" if at < compute else NOTHING),
        }
        for at in range(SESSIONS)
    ]
    assert [limit.held for limit in limits(sessions)] == held
    assert [limit.held for limit in limits([])] == [None, None, None]
