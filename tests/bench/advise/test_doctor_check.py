"""What the doctor says of programs is judged as it is: predicted, tried, confirmed or missed."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import advise_check
import doctor_check
from doctor_check import doctor_table, patients
from doctor_judged import doctor_limits, doctored
from marked_page import NoMarksError, marks, write_table


def trial_row(name: str, kind: str, cpu: float, **changed: Any) -> dict[str, Any]:
    """A row of `mallard try --json`."""
    ratio = {"median": cpu, "low": cpu - 0.02, "high": cpu + 0.02}
    return {
        "name": name,
        "kind": kind,
        "same_output": True,
        "ratios": {"cpu_s": ratio},
        "rounds": {"cpu_s": [cpu] * 6},
        "verdict": None,
    } | changed


def document(
    predicted: float | None = -0.3, peak: float | None = 10e6, use: str | None = "plan"
) -> dict[str, Any]:
    """What `mallard doctor --json` says."""
    prediction = {
        "name": "plan",
        "predicted_cpu": predicted,
        "tried_cpu": -0.28,
        "interval": [-0.3, -0.26],
        "predicted_peak_bytes": peak,
        "tried_peak_bytes": 10.5e6,
    }
    rows = [
        trial_row("glibc", "baseline", 1.0),
        trial_row("plan", "plan", 0.72),
        trial_row("mimalloc", "malloc", 0.8),
        trial_row("jemalloc", "malloc", 0.5, verdict="dropped"),  # by three rounds
        trial_row("glibc a/a", "twin", 1.01),
    ]
    return {
        "predictions": [prediction],
        "trial": {"rows": rows, "left_out": []},
        "verdict": {"kind": "plan", "use": use, "headline": "Use this plan: -28 % CPU"},
    }


def doctor_held(found: dict[str, Any]) -> list[bool | None]:
    """Return which promises are."""
    return [limit.held for limit in doctor_limits([doctored("kinds", found, 600.0)])]


def test_predictions_that_a_trial_confirms_are_held() -> None:
    assert doctor_held(document()) == [True] * 6


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({"predicted": 0.1}, [0, 1]),
        ({"predicted": -0.4}, [1]),
        ({"peak": 9e6}, [2]),
    ],
)
def test_each_prediction_can_be_missed_alone(changed: dict[str, Any], missed: list[int]) -> None:
    assert [place for place, held in enumerate(doctor_held(document(**changed))) if not held] == missed


def test_recommendation_that_is_slower_than_a_malloc_is_missed() -> None:
    found = document()
    found["trial"]["rows"][2] = trial_row("mimalloc", "malloc", 0.70)
    assert doctor_held(found) == [True, True, True, False, True, True]


@pytest.mark.parametrize("where", ["row", "left out"])
def test_other_output_is_missed(where: str) -> None:
    found = document()
    if where == "row":
        found["trial"]["rows"][1]["same_output"] = False
    else:
        found["trial"]["left_out"] = [
            {"name": "plan", "reason": "the program prints something else under it"}
        ]
    assert doctor_held(found) == [True, True, True, True, False, True]


def test_a_doctor_who_takes_too_long_is_missed() -> None:
    late = doctored("kinds", document(), 721.0)
    assert [limit.held for limit in doctor_limits([late])] == [True] * 5 + [False]


def test_changes_within_noise_and_without_prediction_prove_nothing() -> None:
    assert doctor_held(document(predicted=None, peak=None, use=None)) == [None, None, None, None, True, True]
    noisy = document(predicted=0.1)
    noisy["trial"]["rows"][4] = trial_row("glibc a/a", "twin", 1.3)
    assert doctor_held(noisy)[:2] == [None, None]
    assert [limit.held for limit in doctor_limits([])] == [None] * 6


def test_noise_is_that_of_as_many_rounds() -> None:
    """One round of glibc beside glibc differs by more than the median of six."""
    short = document(predicted=0.1)
    rows = short["trial"]["rows"]
    rows[4]["rounds"]["cpu_s"] = [1.0, 1.3, 1.0, 1.0, 1.3, 1.0]
    assert doctor_held(short)[:2] == [False, False]
    for rounds, told in (3, False), (2, False), (1, None):
        rows[1] |= {"verdict": "dropped", "rounds": {"cpu_s": [0.72] * rounds}}
        assert doctor_held(short)[:2] == [told, told], rounds


def test_the_doctors_table_names_misses_and_no_gain() -> None:
    missed = doctored("kinds", document(predicted=0.1))
    nothing = doctored("compute", {"trial": None, "predictions": [], "verdict": document()["verdict"]})
    rows = doctor_table([missed, nothing])[1]
    assert rows[0][0] == "kinds"
    assert rows[0][-1] == "MISS: the other way"
    assert rows[1][-1] == "no prediction was tried"


def test_a_page_keeps_what_stands_around_the_table(tmp_path: Path) -> None:
    begin, end = marks("./dev x --table")
    page = tmp_path / "advice.md"
    write_table(page, "./dev x --table", "new\n")
    assert page.read_text() == "new\n"
    page.write_text(f"before\n{begin}\nold\n{end}\nbehind\n")
    write_table(page, "./dev x --table", "new\n")
    assert page.read_text() == f"before\n{begin}\nnew\n{end}\nbehind\n"
    page.write_text("a page without marks\n")
    with pytest.raises(NoMarksError, match="around what is to be written"):
        write_table(page, "./dev x --table", "new\n")
    assert page.read_text() == "a page without marks\n"


def test_every_program_is_named_once() -> None:
    names = [one.name for one in patients("small")]
    assert len(set(names)) == len(names)
    assert {"jq", "xsltproc", "python3", "example 01", "json_orders", "kinds"} <= set(names)


@pytest.mark.parametrize("main", [advise_check.main, doctor_check.main])
def test_a_page_without_marks_is_refused_before_anything_runs(
    main: Callable[[Sequence[str]], int], tmp_path: Path
) -> None:
    page = tmp_path / "advice.md"
    page.write_text("a page without marks\n")
    with pytest.raises(NoMarksError):
        main(["kinds", "--mallard", "/none", "--table", str(page)])
