"""The page of programs that were tried: what it says, and which figure each limit is about."""

from dataclasses import replace
from typing import Any

import pytest

from trial import DEBUG, EXPORTED, Trial
from tried_page import limits, page

FINE = Trial("node", "nodejs 18", "JSON", DEBUG, 2_000_000, 1, True, True, 0.97, 0.99, 12.0, ())
STRIPPED = replace(FINE, program="git", symbols=EXPORTED, named=0.08, named_with_symbols=None)


def held(*trials: Trial) -> list[bool | None]:
    """Judge them."""
    return [limit.held for limit in limits(trials)]


def test_all_are_held_and_stripped_programs_need_no_names() -> None:
    assert held(FINE, STRIPPED) == [True, True, True, True]


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({"same": False}, 0),
        ({"strict": False}, 1),
        ({"named_with_symbols": 0.94}, 2),
        ({"named_with_symbols": None}, 2),
        ({"profile_seconds": 20.1}, 3),
        ({"profile_seconds": 10.1, "events": 20}, 3),
    ],
)
def test_each_limit_can_be_missed_alone(changed: dict[str, Any], missed: int) -> None:
    judged = held(FINE, replace(FINE, program="vim", **changed))
    assert [place for place, kept in enumerate(judged) if not kept] == [missed]


def test_nothing_tried_holds_nothing_about_names_and_times() -> None:
    assert held()[2:] == [None, None]


def test_page_has_a_row_a_program_and_what_the_recorder_said() -> None:
    text = page([FINE, replace(STRIPPED, same=False, said=["mallard-record: a line"])], {"cores": 2})
    assert (
        "| node | nodejs 18 | JSON | debug symbols | 1 | 2,000,000 | yes | yes | 97.0 % | 99.0 % | 6.0 |\n"
        in text
    )
    assert (
        "| git | nodejs 18 | JSON | exported names | 1 | 2,000,000 | NO | yes | 8.0 % | - | 6.0 |\n" in text
    )
    assert "- git: mallard-record: a line\n" in text
    assert text.endswith("Measured on cores: 2.\n")
