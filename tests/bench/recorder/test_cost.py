"""`./dev cost` as it is called: its exit codes and how it refuses."""

import subprocess
import sys
from pathlib import Path

import pytest

from cost import ROOT, exit_code, info_tool

COST = Path(__file__).resolve().parents[3] / "bench/recorder/cost.py"


@pytest.mark.parametrize(
    ("interrupted", "failed", "check", "held", "code"),
    [
        (False, False, False, [True, True], 0),
        (False, False, False, [True, False], 0),
        (False, False, True, [True, True], 0),
        (False, False, True, [True, False], 1),
        (False, False, True, [True, None], 1),
        (False, True, True, [True, False], 2),
        (True, True, True, [True, False], 130),
    ],
)
def test_exit_code(interrupted: bool, failed: bool, check: bool, held: list[bool | None], code: int) -> None:
    assert exit_code(interrupted, failed, check, held) == code


@pytest.mark.parametrize(
    "arguments", [["--recorder", "/absent/mallard-record"], ["--rounds", "0"], ["--program", "emacs"]]
)
def test_refusal_names_what_is_wrong_and_measures_nothing(arguments: list[str]) -> None:
    refused = subprocess.run(
        [sys.executable, COST, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert arguments[1] in refused.stderr.splitlines()[-1]


def test_journals_are_read_by_the_mallard_beside_their_recorder(tmp_path: Path) -> None:
    beside = tmp_path / "mallard"
    beside.touch(mode=0o755)
    assert info_tool(str(tmp_path / "mallard-record")) == str(beside)
    beside.unlink()
    assert info_tool(str(tmp_path / "mallard-record")) == str(Path(ROOT / ".venv/bin/mallard").resolve())
