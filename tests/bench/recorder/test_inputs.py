"""The inputs of `./dev cost` are the same bytes in every run, and what their programs read."""

import json
import sqlite3
from pathlib import Path
from xml.etree import ElementTree

import inputs


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
