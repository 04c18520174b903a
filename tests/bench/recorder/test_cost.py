"""`./dev cost` as it is called: how it refuses, and whom it asks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cost import ROOT, info_tool

COST = Path(__file__).resolve().parents[3] / "bench/recorder/cost.py"


@pytest.mark.parametrize(
    "arguments", [["--recorder", "/absent/mallard-record"], ["--rounds", "0"], ["--program", "emacs"]]
)
def test_refusal_names_what_is_wrong_and_measures_nothing(arguments: list[str]) -> None:
    refused = subprocess.run(
        [sys.executable, COST, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(ROOT / "bench/shared")},
    )
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert arguments[1] in refused.stderr.splitlines()[-1]


def test_journals_are_read_by_the_mallard_beside_their_recorder(tmp_path: Path) -> None:
    beside = tmp_path / "mallard"
    beside.touch(mode=0o755)
    assert info_tool(str(tmp_path / "mallard-record")) == str(beside)
    beside.unlink()
    assert info_tool(str(tmp_path / "mallard-record")) == str(
        Path(sys.executable).with_name("mallard").resolve()
    )
