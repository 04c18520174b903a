"""What is said of truth programs is judged as it is: right, wrong, near the best, kept by a trial or not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advise_check import advice_table
from advise_judged import (
    Applied,
    applied_limits,
    change_of,
    judged,
    limits,
    subsystem_of,
)
from marked_page import markdown
from truth_runs import Bench, CannotRunError, patched, run
from truths import SOURCES, TRUTHS, Truth

KINDS = Truth("kinds", "apart.cpp", ("registry::add",), frozenset({"pool", "multipool"}), "one size each")
CONTROL = Truth("compute", "plain.c", ("solve",), frozenset(), "nothing is allocated")


def candidate(strategy: str, cpu: float | None, **changed: Any) -> dict[str, Any]:
    """A candidate of `mallard advise --json`."""
    interval = None if cpu is None else {"median": cpu, "low": cpu - 0.01, "high": cpu + 0.01}
    return {"strategy": strategy, "measured": True, "cpu": interval, "change": None} | changed


def subsystem(name: str, pick: str, *candidates: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """A subsystem of it."""
    found = {"name": name, "blocks": 1000, "site": None, "pick": pick, "candidates": list(candidates)}
    return found | changed


POOLS = (candidate("pool", -0.20), candidate("multipool", -0.19), candidate("region", 0.05))


def advice(*subsystems: dict[str, Any], kind: str = "plan", peak: float | None = 0.02) -> dict[str, Any]:
    """A whole document."""
    verdict = {"kind": kind, "headline": "the headline", "cpu": {"median": -0.12}, "peak": peak}
    return {"verdict": verdict, "subsystems": list(subsystems), "remarks": []}


def test_right_pick_is_right_and_near_the_best() -> None:
    one = judged(KINDS, advice(subsystem("registry::add", "multipool", *POOLS)), 3.0)
    assert one.is_right
    assert (one.pick, one.best, one.seconds) == ("multipool", "pool", 3.0)
    assert one.over_best == pytest.approx(0.81 / 0.80)
    assert one.is_near


def test_wrong_entry_of_the_table_fails() -> None:
    wrong = replace(KINDS, right=frozenset({"stack"}))
    one = judged(wrong, advice(subsystem("registry::add", "pool", *POOLS)))
    assert not one.is_right
    assert one.why_not == "pool, not stack"
    assert [limit.held for limit in limits([one], 0)] == [False, None, True]
    assert next(limits([one], 1)).held


def test_right_pick_that_is_far_from_the_best_is_told() -> None:
    found = advice(subsystem("registry::add", "pool", candidate("pool", -0.2), candidate("reap", -0.3)))
    one = judged(KINDS, found)
    assert one.is_right
    assert not one.is_near
    assert [limit.held for limit in limits([one], 0)] == [True, None, False]
    assert list(limits([one] + [replace(one, best_cpu=-0.2)] * 9, 0))[2].held


def test_leaving_a_subsystem_alone_is_a_candidate_too() -> None:
    one = judged(KINDS, advice(subsystem("registry::add", "pool", candidate("pool", 0.5))))
    assert (one.best, one.best_cpu) == ("leave", 0.0)
    assert not one.is_near


def test_the_first_of_two_candidates_of_a_strategy_is_the_pick() -> None:
    found = subsystem("registry::add", "pool", candidate("pool", -0.1), candidate("pool", -0.2))
    one = judged(KINDS, advice(found))
    assert (one.cpu, one.best_cpu) == (-0.1, -0.2)


def test_refused_and_estimated_candidates_are_not_the_best() -> None:
    others = (
        candidate("monotonic", -0.5, refused="too much memory"),
        candidate("reserve", -0.5, measured=False),
    )
    one = judged(KINDS, advice(subsystem("registry::add", "pool", *POOLS, *others)))
    assert one.best == "pool"


def test_nothing_measured_is_not_near() -> None:
    one = judged(KINDS, advice(subsystem("registry::add", "pool", candidate("pool", None))))
    assert one.is_near is None
    assert [limit.held for limit in limits([one], 0)] == [True, None, None]


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (advice(subsystem("elsewhere", "pool", *POOLS)), "no subsystem has registry::add"),
        (advice(subsystem("registry::add", "pool", *POOLS), kind="nothing"), "pool, but the verdict is"),
        (advice(subsystem("registry::add", "pool", *POOLS), peak=0.3), "pool, with 1.30 of the peak"),
        (advice(subsystem("registry::add", "leave", *POOLS)), "leave, not multipool or pool"),
        (advice(subsystem("registry::add", "leave", *POOLS), kind="malloc"), "malloc, not multipool or pool"),
    ],
)
def test_right_strategy_in_the_wrong_place_is_wrong(found: dict[str, Any], why: str) -> None:
    one = judged(KINDS, found)
    assert not one.is_right
    assert one.why_not.startswith(why)


def test_what_was_not_measured_is_told_beside_a_wrong_pick() -> None:
    found = advice(subsystem("registry::add", "leave")) | {
        "remarks": ["the budget had no time for 4 replays"]
    }
    assert judged(KINDS, found).why_not.endswith("(the budget had no time for 4 replays)")


def test_another_malloc_is_right_where_the_table_says_so() -> None:
    mixed = replace(KINDS, right=frozenset({"malloc"}))
    one = judged(mixed, advice(subsystem("registry::add", "leave", *POOLS[1:]), kind="malloc"))
    assert (one.is_right, one.pick, one.cpu, one.best) == (True, "malloc", -0.12, "multipool")


def test_control_is_right_only_with_nothing() -> None:
    assert judged(CONTROL, advice(subsystem("rest", "leave"), kind="nothing")).is_right
    told = judged(CONTROL, advice(subsystem("solve", "pool"), kind="source"))
    assert (told.is_right, told.pick) == (False, "pool")
    assert [limit.held for limit in limits([told], 0)] == [None, False, None]


def test_the_largest_subsystem_that_names_a_function_counts() -> None:
    small = subsystem("registry::add", "pool", blocks=5)
    large = subsystem("places", "reap", site={"function": "(anonymous namespace)::registry<2ul>::add(int)"})
    other = subsystem("registry::address", "stack", blocks=10**6)
    assert subsystem_of(KINDS, [small, large, other]) is large
    assert subsystem_of(KINDS, [other]) is None


def test_a_table_says_what_was_judged() -> None:
    one = judged(KINDS, advice(subsystem("registry::add", "multipool", *POOLS)), 12.3)
    text = markdown(*advice_table([one]), list(limits([one], 0)), "method")
    assert (
        "| kinds | multipool or pool | multipool | right | -19.0 % | pool | -20.0 % | 1.01 | 12 |\n" in text
    )
    assert "- held    programs with another strategy than is right: 0, at most 0 (of 1 programs)\n" in text


# --- changes of the source ---

DIFF = """--- a/somewhere/growth.cpp
+++ b/somewhere/growth.cpp
@@ -1,2 +1,3 @@
 one
+and a half
 two
"""


def test_a_change_is_applied_to_a_copy(tmp_path: Path) -> None:
    source = tmp_path / "growth.cpp"
    source.write_text("one\ntwo\n")
    (tmp_path / "copy").mkdir()
    assert patched(source, DIFF, tmp_path / "copy").read_text() == "one\nand a half\ntwo\n"
    assert source.read_text() == "one\ntwo\n"
    with pytest.raises(CannotRunError):
        patched(source, DIFF.replace(" one", " other"), tmp_path / "copy")


def test_the_picks_change_is_taken_before_better_ones() -> None:
    diff = {"diff": DIFF}
    others = (candidate("reserve", -0.3, change=diff), candidate("region", -0.2, change={"diff": None}))
    picked = candidate("pool", -0.1, change=diff)
    assert change_of(KINDS, advice(subsystem("registry::add", "pool", *others, picked))) is picked
    assert change_of(KINDS, advice(subsystem("registry::add", "region", *others))) is others[0]
    assert change_of(KINDS, advice(subsystem("registry::add", "region", others[1]))) is None


def test_changes_that_bring_half_are_held() -> None:
    good = Applied("kinds", "pool", -0.2, -0.1, (-0.12, -0.08))

    def held(*last: Applied) -> list[bool | None]:
        return [limit.held for limit in applied_limits([good] * 5 + list(last))]

    assert held(good) == [True, True, True]
    assert held(replace(good, measured=-0.09)) == [True, False, False]
    assert held(replace(good, measured=0.2)) == [True, False, False]
    assert held(replace(good, measured=None, failure="does not compile")) == [False, True, False]
    together = replace(good, advised=0.03, keeps_together=True)
    assert held(together) == [True, True, True], "the replay does not show what it gains"
    assert held(replace(together, measured=0.01)) == [True, False, False]
    assert held(replace(together, keeps_together=False)) == [True, False, False]
    assert held() == [True, True, False]


# --- the table of truths, and the page ---


def test_truths_are_complete() -> None:
    names = [truth.name for truth in TRUTHS]
    assert len(names) >= 15
    assert len(set(names)) == len(names)
    assert sum(truth.is_control for truth in TRUTHS) >= 2
    for truth in TRUTHS:
        text = (SOURCES / truth.source).read_text(encoding="utf-8")
        assert f'{{"{truth.name}", {truth.name}}}' in text
        for function in truth.functions:
            assert f"{function.rpartition('::')[2]}(" in text, function


@pytest.mark.slow
@pytest.mark.parametrize("source", sorted({truth.source for truth in TRUTHS}))
def test_programs_do_the_same_each_time(source: str, tmp_path: Path) -> None:
    bench = Bench(folder=tmp_path)
    for truth in TRUTHS:
        if truth.source == source:
            printed = run(bench.command(truth))
            assert printed == run(bench.command(truth))
            assert printed.startswith(f"{truth.name} small: ")
    with pytest.raises(CannotRunError, match="with CASE one of "):
        run([tmp_path / "bin" / Path(source).stem, "no such case", "small"])


def test_a_limit_tells_who_misses_it() -> None:
    wrong = judged(
        replace(KINDS, right=frozenset({"stack"})), advice(subsystem("registry::add", "pool", *POOLS))
    )
    first = next(limits([wrong], 0))
    assert (first.figure, first.where) == (1, "kinds")
