"""How a program that was tried is judged, what its page says, and which figure each limit is about."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from programs import Program
from trial import (
    DEBUG,
    EXPORTED,
    TABLE,
    Tools,
    Trial,
    TrialError,
    is_worth_telling,
    named_share,
    run,
    symbols_of,
)
from tried import limits, page


def site(function: str, module: str, allocations: int) -> dict[str, Any]:
    """A site as `mallard profile --json` has it, below a wrapper."""
    frames = [{"function": "xmalloc", "module": "libx.so"}, {"function": function, "module": module}]
    return {"stack": frames, "frame": 1, "behaviour": {"allocations": allocations}}


SITES = [site("parse", "app", 60), site("app+0x1230", "app", 20), site("libz.so+0x10", "libz.so", 20)]


def test_allocations_count_and_not_sites() -> None:
    assert named_share(SITES, lambda _: True) == 0.6
    assert named_share(SITES, lambda module: module == "app") == 0.75
    assert named_share(SITES, lambda module: module == "absent") is None


def test_symbols_are_found_in_the_file(tmp_path: Path) -> None:
    source = tmp_path / "app.c"
    source.write_text("int main(void) { return 0; }")
    for flags, kind in ((["-g"], DEBUG), ([], TABLE), (["-s"], EXPORTED)):
        subprocess.run(["cc", *flags, "-Wl,--build-id", "-o", tmp_path / "app", source], check=True)
        assert symbols_of(str(tmp_path / "app"), "") == kind


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("mallard-record: a.mlrd: 24 events, 512 bytes", False),
        ("mallard-record: a.mlrd.d: 9 events of children in 2 journals", False),
        ("mallard-record: /bin/busybox was not recorded, nor what it started: static", True),
        ("the program's own line", False),
    ],
)
def test_lines_of_the_recorder_are_told_but_for_the_closing_ones(line: str, told: bool) -> None:
    assert is_worth_telling(line) == told


def tools(folder: Path) -> Tools:
    """Nothing is recorded here."""
    (folder / "journals").mkdir()
    return Tools("mallard", "mallard-record", folder, folder)


def test_server_and_its_clients_run_beside_each_other(tmp_path: Path) -> None:
    server = "import os, time\nwhile not os.path.exists('asked'): time.sleep(0.01)\nprint('served')"
    program = Program("server", sys.executable, "", ("-c", server), prepare="rm -f asked", driver=": > asked")
    assert run(program, tools(tmp_path), ()).stdout == "served\n"


@pytest.mark.parametrize(
    "program",
    [
        Program("true", "/bin/true", "", (), prepare="echo no such thing >&2; exit 1"),
        Program("true", "/bin/true", "", (), driver="echo no such thing >&2; exit 1"),
    ],
)
def test_failure_around_the_program_is_told(tmp_path: Path, program: Program) -> None:
    with pytest.raises(TrialError, match="no such thing"):
        run(program, tools(tmp_path), ())


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
