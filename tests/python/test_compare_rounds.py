"""What `mallard compare` makes of rounds: intervals, and a verdict that finds what there is, and no more."""

import random
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from math import exp
from pathlib import Path

import pytest

from compare_check import Found, limits
from mallard.compare.intervals import enough_rounds, lead, middle, ratio
from mallard.compare.launch import Program, Taken
from mallard.compare.mallocs import AGAIN, BASE, Malloc
from mallard.compare.outcome import Outcome, as_json, outcome
from mallard.compare.rounds import Row, Schedule, Session

MACHINE = {"cpu": "", "cores": 2, "memory": 1, "kernel": "", "c_library": "", "transparent_huge_pages": ""}
SESSIONS = 20
ROUNDS = 25


def taken(cpu: float, rss: float = 1e6, figure: float | None = None, output: str = "same") -> Taken:
    """Return a run that takes so much."""
    return Taken(cpu, cpu, rss, 100, 0, 1, 2, figure, 0, output, "")


def session(rounds: Mapping[str, list[Taken]], higher_is_better: bool = True) -> Outcome:
    """Return the result of rounds, by malloc; `again` is glibc once more."""
    rows = [
        Row(Malloc(name.replace("again", BASE + AGAIN), repeated=name == "again"), runs=dict(enumerate(runs)))
        for name, runs in rounds.items()
    ]
    schedule = Schedule(rounds=ROUNDS, least=5, seconds=0)
    pattern = re.compile("") if rows[0].runs[0].figure is not None else None
    program = Program(("work",), "work", Path(), figure=pattern)
    return outcome(Session(program, schedule, rows), MACHINE, higher_is_better)


def disturbed(noise: random.Random, rounds: int, **cost: float) -> dict[str, list[Taken]]:
    """Return rounds on a machine that is not idle.

    It is slower for some rounds, by 3 % and more; each run has 2 % of noise of its own, and every twentieth
    takes about a tenth more.
    """
    runs: dict[str, list[Taken]] = {name: [] for name in cost}
    slow = 0.0
    for _ in range(rounds):
        slow = 0.8 * slow + noise.gauss(0, 0.03)
        for name, factor in cost.items():
            hit = abs(noise.gauss(0, 0.1)) if noise.random() < 0.05 else 0.0
            runs[name].append(taken(factor * exp(slow + noise.gauss(0, 0.02)) * (1 + hit)))
    return runs


@pytest.mark.parametrize(
    ("rounds", "lost", "doubt"),
    [
        (1, 0, 1 / 3),
        (7, 0, 3**-7),
        (9, 1, 10 / 3**9),
        (9, 2, 55 / 3**9),
        (11, 2, 78 / 3**11),
        (21, 9, 0.00081),
        (9, 18, 1.0),
    ],
)
def test_chance_wins_few_rounds_against_two_others(rounds: int, lost: int, doubt: float) -> None:
    slow = [float(13 + 7 * number) for number in range(rounds)]  # whole rounds differ more than rows
    both = [list(slow), list(slow)]
    for number in range(lost):
        both[number % 2][number // 2] -= 1000.0
    found = lead([of - 1 for of in slow], both)
    assert found.doubt == pytest.approx(doubt, rel=0.01)
    assert lead(slow, [slow, slow]).doubt == 1, "what is equal wins nothing"


def test_a_lead_is_that_before_the_nearest() -> None:
    steady, slower = [10.0] * 11, [14.0] * 11
    assert lead([9.0] * 10, [steady, slower]).median == -1
    assert lead([9.0] * 10, [slower, steady]).median == -1
    assert lead([12.0] * 11, [slower, steady]).median == 2


def test_of_rows_that_are_alike_few_are_told_apart() -> None:
    noise = random.Random(7)
    doubts = [lead(*row_and_two_like_it(noise, rounds=11)).doubt for _ in range(5000)]
    for limit in (0.2, 0.05, 0.01):
        assert sum(one <= limit for one in doubts) <= 1.2 * limit * len(doubts)
    assert sum(one <= 0.2 for one in doubts) >= 0.1 * len(doubts)


def row_and_two_like_it(noise: random.Random, rounds: int) -> tuple[list[float], list[list[float]]]:
    """Return rows whose rounds are disturbed at random."""
    row, *others = ([noise.lognormvariate(0, 1) for _ in range(rounds)] for _ in range(3))
    return row, others


@pytest.mark.parametrize(
    ("rounds", "low", "high"),
    [(1, 0, 0), (5, 0, 4), (6, 0, 5), (9, 1, 7), (10, 1, 8), (20, 5, 14), (25, 7, 17), (2000, 955, 1044)],
)
def test_interval_is_between_the_rounds_that_a_table_of_the_sign_test_names(
    rounds: int, low: int, high: int
) -> None:
    found = middle(range(rounds))
    assert (found.median, found.low, found.high) == ((rounds - 1) / 2, low, high)


def test_what_slows_a_whole_round_is_not_in_the_ratio() -> None:
    slowed = [1.0, 1.3, 2.0, 1.1, 1.0, 1.7, 1.2, 1.0, 1.4, 1.0]
    found = ratio([0.9 * one for one in slowed], slowed)
    assert found is not None
    assert (found.low, found.median, found.high) == pytest.approx((0.9, 0.9, 0.9))


def test_one_disturbed_round_does_not_move_the_ratio() -> None:
    found = ratio([0.9] * 19 + [90.0], [1.0] * 20)
    assert found is not None
    assert (found.low, found.high) == (0.9, 0.9)


def test_nothing_is_a_ratio_of_zero() -> None:
    assert ratio([1, 2], [0, 1]) is None
    assert ratio([], []) is None
    assert ratio([0, 0], [1, 1]) is not None


def test_more_ratios_need_more_rounds() -> None:
    rising = [1.0 + 0.01 * number for number in range(30)]
    alone, among_many = ratio(rising, [1.0] * 30), ratio(rising, [1.0] * 30, ratios=20)
    assert alone is not None
    assert among_many is not None
    assert among_many.low < alone.low < alone.high < among_many.high
    assert (enough_rounds(1), enough_rounds(9)) == (8, 11)


def test_five_per_cent_are_found_and_nothing_where_nothing_is() -> None:
    noise = random.Random(8)
    planted = alike = same = 0
    for _ in range(SESSIONS):
        found = as_json(session(disturbed(noise, ROUNDS, glibc=1, alike=1, planted=1.05, again=1)))
        differs = {row["name"]: row["differs"]["cpu_s"] for row in found["rows"]}
        planted += differs["planted"]
        alike += differs["alike"]
        same += differs["glibc a/a"]
    assert planted >= 19
    assert (alike, same) == (0, 0)


def test_verdict_names_what_differs() -> None:
    found = session(
        {
            "glibc": [taken(1.0, rss=100)] * ROUNDS,
            "fast": [taken(0.9, rss=100)] * ROUNDS,
            "slow": [taken(1.2, rss=150)] * ROUNDS,
            "near": [taken(1.005, rss=100)] * ROUNDS,
            "again": [taken(1.0, rss=100)] * ROUNDS,
        }
    )
    assert found.verdict == [
        "fast is the best in CPU time: 0.90 of glibc's and 1.00 of its max RSS.",
        "CPU time: less than glibc's with fast (0.900, 0.900 to 0.900); more than glibc's with slow "
        "(1.200, 1.200 to 1.200); no difference beyond noise with near.",
        "Max RSS: more than glibc's with slow (1.500, 1.500 to 1.500); no difference beyond noise with fast "
        "and near.",
        "A/A: glibc measured a second time takes 1.000, 1.000 to 1.000, of its own CPU time; differences of "
        "that size mean nothing.",
    ]


def test_difference_that_glibc_has_from_itself_is_none() -> None:
    steady = {
        name: [taken(cost)] * ROUNDS for name, cost in (("glibc", 1.0), ("fast", 0.97), ("again", 1.04))
    }
    found = session(steady)
    assert found.verdict[0] == "Nothing to gain: no malloc is better than glibc in CPU time, beyond noise."
    assert found.verdict[1] == "CPU time: no difference beyond noise."
    assert "which is not 1: the machine is not quiet" in found.verdict[-1]


@pytest.mark.parametrize(("higher", "best"), [(True, "many"), (False, "few")])
def test_best_by_its_own_figure_depends_on_which_way_is_good(higher: bool, best: str) -> None:
    runs = {"glibc": [taken(1, figure=10)] * ROUNDS, "few": [taken(1, figure=9)] * ROUNDS}
    first, second, *_ = session(runs | {"many": [taken(1, figure=12)] * ROUNDS}, higher).verdict
    assert first.startswith(f"{best} is the best in the program's own figure: ")
    assert second.startswith("The program's own figure: lower than glibc's with few (0.900, ")


def test_figure_without_a_ratio_is_not_said_to_be_alike() -> None:
    runs = {"glibc": [taken(1, figure=0)] * ROUNDS, "other": [taken(1, figure=100)] * ROUNDS}
    first, second, *_ = session(runs).verdict
    assert first == "No verdict: the program's own figure is not above 0 under glibc in every round."
    assert second == (
        "The program's own figure: no ratio, since it is not above 0 under glibc in every round; higher is "
        "better."
    )


def test_figure_that_falls_to_nothing_differs() -> None:
    runs = {"glibc": [taken(1, figure=100)] * ROUNDS, "none": [taken(1, figure=0)] * ROUNDS}
    first, *_ = session(runs | {"again": [taken(1, figure=101)] * ROUNDS}, higher_is_better=False).verdict
    assert first.startswith("none is the best in the program's own figure: 0.00 of glibc's")


def test_outputs_are_compared_only_where_glibc_repeats_its_own() -> None:
    found = session(
        {"glibc": [taken(1)] * 5, "other": [taken(1, output="other")] * 5, "again": [taken(1)] * 5}
    )
    assert [line.same_output for line in found.lines] == [True, False, True]
    assert not found.complete
    wavering = [taken(1, output=str(number)) for number in range(5)]
    found = session({"glibc": wavering, "other": [taken(1, output="other")] * 5})
    assert [line.same_output for line in found.lines] == [None, None]
    assert found.complete


def test_rounds_that_only_one_has_are_in_no_ratio() -> None:
    found = session({"glibc": [taken(1), taken(2), taken(50)], "other": [taken(2), taken(4)]})
    of = found.lines[1].ratios["cpu_s"]
    assert of is not None
    assert (of.low, of.high) == (2, 2)


def test_ctrl_c_that_python_drops_ends_the_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = iter(range(ROUNDS))

    def dropped_in_the_third(_program: Program, _environment: dict[str, str]) -> Taken:
        if next(runs) == 2:
            with suppress(KeyboardInterrupt):  # as where a destructor is at work
                signal.raise_signal(signal.SIGINT)
        return taken(1)

    monkeypatch.setattr("mallard.compare.rounds.run", dropped_in_the_third)
    monkeypatch.setattr(Session, "look_into", lambda _self, _progress: None)
    schedule = Schedule(rounds=ROUNDS, least=5, seconds=float("inf"))
    measured = Session(Program(("work",), "work", Path()), schedule, [Row(Malloc(BASE))])
    measured.measure(lambda _share, _what, _seconds: None)
    assert (measured.interrupted, len(measured.base.runs)) == (True, 3)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("missed", "same", "alike", "held"),
    [
        (0, 0, 0, [True, True, True]),
        (1, 0, 0, [True, True, True]),
        (2, 0, 0, [False, True, True]),
        (0, 1, 0, [True, False, True]),
        (0, 0, 1, [True, True, False]),
    ],
)
def test_check_bears_one_planted_difference_that_is_missed(
    missed: int, same: int, alike: int, held: list[bool]
) -> None:
    sessions = [
        Found({}, {"planted.so": at >= missed, "glibc a/a": at < same, "alike.so": at < alike})
        for at in range(SESSIONS)
    ]
    assert [limit.held for limit in limits(sessions)] == held
    assert [limit.held for limit in limits([])] == [None, None, None]
