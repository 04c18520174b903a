"""`./dev cost` as it is called: how it refuses, whom it asks, and inputs that are the same in every run."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import inputs
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


def made(folder: Path) -> dict[str, bytes]:
    inputs.make(folder, 0.01)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_same_bytes_every_time(tmp_path: Path) -> None:
    first = made(tmp_path / "first")
    assert first == made(tmp_path / "second")
    assert len(first) == 5


def test_inputs_are_well_formed(tmp_path: Path) -> None:
    files = made(tmp_path)
    assert len(json.loads(files[inputs.ORDERS_JSON])) == 240
    assert len(ElementTree.fromstring(files[inputs.CATALOG_XML]).findall("item")) == 600
    roster = files[inputs.ROSTER_SMT2].decode()
    assert roster.count("(") == roster.count(")")
    assert files[inputs.HISTORY].count(b"commit refs/heads/main\n") == 100
    shop = sqlite3.connect(":memory:")
    shop.executescript(files[inputs.SHOP_SQL].decode())
    assert shop.execute("select count(*) from purchase").fetchone() == (500,)
