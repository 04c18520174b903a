"""How a program that was tried is judged: which allocations have a name, which files have symbols."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from programs import Program
from trial import DEBUG, EXPORTED, TABLE, Tools, TrialError, is_worth_telling, named_share, run, symbols_of


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
