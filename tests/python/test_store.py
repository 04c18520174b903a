"""A journal as a table of objects, and what stands beside it."""

import gc
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest

from mallard import MallardError, _native
from mallard.analysis import store as store_module
from mallard.analysis.store import Columns, Store

NO_EVENT = 2**64 - 1

# Two threads; one block is freed by the other, one free matches nothing, one block lives on.
TEXT = """\
a 100 1000 7 10
a 24 2000 7 20
f 1000 8 30
f 3000 8 35
a 64 1000 8 40
f 1000 8 50
"""


@pytest.fixture
def text_journal(tmp_path: Path) -> Path:
    path = tmp_path / "run.txt"
    path.write_text(TEXT)
    return path


def many_blocks(path: Path, blocks: int) -> Path:
    path.write_text("".join(f"a {n % 977} {16 * n + 16:x} {n % 3} {n}\n" for n in range(blocks)))
    return path


def batches(objects: _native.ObjectStream) -> list[Columns]:
    """Return those that hold anything."""
    return [columns for columns in iter(objects.next, None) if len(columns["allocation"])]


def test_objects_are_rows_and_what_did_not_happen_is_null(text_journal: Path) -> None:
    store = Store.read(str(text_journal))
    rows = store.rows(
        "SELECT allocation, free, previous, allocation_time, free_time, address, size, thread, free_thread"
        " FROM objects ORDER BY allocation"
    )
    assert rows == [
        (0, 2, None, 10, 30, 0x1000, 100, 0, 1),
        (1, None, None, 20, None, 0x2000, 24, 0, None),
        (4, 5, None, 40, 50, 0x1000, 64, 1, 1),
    ]


def test_the_table_has_the_columns_of_a_batch(text_journal: Path) -> None:
    store = Store.read(str(text_journal))
    (columns,) = batches(_native.ObjectStream(str(text_journal)))
    described = store.sql.execute("DESCRIBE objects").fetchall()
    assert [row[0] for row in described] == list(columns)
    assert store.rows("SELECT size_class, kind, free_kind, origin FROM objects WHERE allocation = 0") == [
        (_native.largest_of_size_classes().index(112), 10, 29, 0)
    ]


def test_blocks_of_regions_are_left_out_of_the_heap(text_journal: Path) -> None:
    store = Store.read(str(text_journal))
    store.sql.execute("UPDATE objects SET region = 1 WHERE allocation = 1")
    assert store.rows("SELECT allocation FROM heap ORDER BY allocation") == [(0,), (4,)]


def test_totals_are_of_the_whole_program(text_journal: Path) -> None:
    totals = Store.read(str(text_journal)).totals
    assert totals["events_by_kind"] == {"allocate": 3, "deallocate": 3}
    expected = {
        "events": 6, "allocations": 3, "bytes": 188, "unmatched_frees": 1, "inversions": 0, "failed": 0,
        "peak_live_bytes": 124, "peak_live_objects": 2, "peak_event": 1, "peak_time": 20, "end_time": 50,
        "end_live_bytes": 24, "end_live_objects": 1, "complete": True, "warnings": [],
    }  # fmt: skip
    assert {name: totals[name] for name in expected} == expected
    live = totals["over_time"]["live_bytes"]
    assert (live[9], live[10], live[30], live[31], live[40]) == (0, 100, 124, 24, 88)
    assert totals["over_time"]["held_bytes"].max() == 8192


def test_events_that_are_lost_keep_their_numbers(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.mlrd", tmp_path / "cut.mlrd"
    _native.import_journal(str(many_blocks(tmp_path / "run.txt", 300_000)), "text", str(whole))
    content = bytearray(whole.read_bytes())
    content[len(content) // 2] ^= 1
    cut.write_bytes(content)
    totals = Store.read(str(cut)).totals
    assert totals["events"] < 300_000
    assert totals["event_numbers"] == Store.read(str(whole)).totals["event_numbers"] == 300_000


def test_a_recorded_program_has_what_its_summary_says(journal: Path) -> None:
    store = Store.read(str(journal))
    summary = json.loads(_native.summary_json(str(journal)))
    for name in ("events", "events_by_kind", "unmatched_frees", "peak_live_bytes", "peak_live_objects",
                 "program", "arguments", "process", "cpu_ns", "facts", "figures"):  # fmt: skip
        assert store.totals[name] == summary[name], name
    assert store.rows("SELECT sum(size)::BIGINT, count(*) FROM heap") == [
        (summary["bytes"], store.totals["allocations"])
    ]
    assert store.totals["end_time"] == pytest.approx(summary["duration"] * 1e9, rel=1e-3)
    assert len(store.contexts["parent"]) == summary["contexts"] + 1
    assert (store.contexts["parent"][1:] < np.arange(1, len(store.contexts["parent"]))).all()
    assert len(store.threads) == summary["threads"]
    assert len(store.modules) == len(summary["modules"])
    perl = next(module for module in store.modules if module["path"].endswith("/perl"))
    assert perl["build_id"]
    assert perl["begin"] < perl["end"]
    assert store.names == [""]


@pytest.mark.slow
def test_progress_rises_to_the_end(tmp_path: Path) -> None:
    heard: list[float] = []
    Store.read(str(many_blocks(tmp_path / "many.txt", 600_000)), heard.append)
    assert len(heard) >= 3  # batches
    assert heard == sorted(heard)
    assert heard[-1] == 1


def test_batches_without_objects_move_the_progress_alone(
    text_journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = _native.ObjectStream

    class Slow:
        """Returns two batches that are empty before each one that is not."""

        def __init__(self, path: str) -> None:
            self._from = stream(path)
            found = batches(self._from)
            none = {"allocation": np.zeros(0, np.uint64)}
            self._batches = iter([none, none, *found, none, none, None])

        def next(self) -> Columns | None:
            return next(self._batches)

        def __getattr__(self, name: str) -> object:
            return getattr(self._from, name)

    monkeypatch.setattr(_native, "ObjectStream", Slow)
    heard: list[float] = []
    store = Store.read(str(text_journal), heard.append)
    assert store.rows("SELECT allocation FROM objects ORDER BY allocation") == [(0,), (1,), (4,)]
    assert heard == [1] * 5
    text_journal.write_text("f 1000 8 30\n")
    with pytest.raises(MallardError, match="holds no allocation"):
        Store.read(str(text_journal))


def test_columns_outlive_what_they_came_from(tmp_path: Path) -> None:
    path = many_blocks(tmp_path / "many.txt", 1000)
    objects = _native.ObjectStream(str(path))
    (columns,) = batches(objects)
    del objects
    gc.collect()
    assert columns["size"].tolist() == [n % 977 for n in range(1000)]
    assert columns["free"].tolist() == [NO_EVENT] * 1000
    assert {name: column.dtype for name, column in columns.items() if column.dtype != np.uint64} == {
        "allocation_ns": np.float32, "free_ns": np.float32, "context": np.uint32, "free_context": np.uint32,
        "thread": np.uint32, "free_thread": np.uint32, "region": np.uint32, "kind": np.uint8,
        "free_kind": np.uint8, "origin": np.uint8, "size_class": np.uint8,
    }  # fmt: skip


def test_what_does_not_fit_goes_to_temporary_files_that_are_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = many_blocks(tmp_path / "many.txt", 600_000)
    folder = tmp_path / "overflow"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(store_module, "MEMORY_LIMIT", "40MB")
    monkeypatch.chdir(folder)
    store = Store.read(str(path))
    assert [entry for entry in folder.rglob("*") if entry.is_file()]
    assert store.rows("SELECT count(*), sum(size)::BIGINT FROM heap") == [
        (600_000, sum(n % 977 for n in range(600_000)))
    ]
    store.sql.close()
    assert not list(folder.iterdir())


def test_what_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "no.journal"
    with pytest.raises(MallardError, match=r"^cannot read \S+/no\.journal: No such file or directory$"):
        Store.read(str(path))
    path.write_bytes(b"\x7fELF")
    with pytest.raises(MallardError, match=r"^cannot read \S+/no\.journal: it is not a journal$"):
        Store.read(str(path))
    path.write_text("a 1 2 3 4\nnonsense\n")
    with pytest.raises(MallardError, match=r"^cannot read \S+/no\.journal: line 2: expected"):
        Store.read(str(path))


def test_a_journal_without_allocations_says_so(tmp_path: Path) -> None:
    path = tmp_path / "frees.txt"
    path.write_text("f 10 1 1\n")
    with pytest.raises(MallardError, match=r"^\S+/frees\.txt holds no allocation$"):
        Store.read(str(path))
