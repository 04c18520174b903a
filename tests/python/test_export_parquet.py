"""`mallard export --parquet`: DuckDB reads what info counts."""

from pathlib import Path
from typing import Any

import duckdb
from conftest import Mallard
from exported import ROOT, rows

from mallard import _native


def test_objects_are_what_info_counts(tables: Path, summary: dict[str, Any]) -> None:
    ((objects, total, alive, threads),) = rows(
        "SELECT count(*), sum(size), count(*) FILTER (free IS NULL), count(DISTINCT thread) FROM {objects}",
        tables,
    )
    kinds = summary["events_by_kind"]
    assert objects == sum(kinds[kind] for kind in ("malloc", "calloc", "realloc"))
    assert total == summary["bytes"]
    assert (
        alive
        == objects
        - kinds["free"]
        - rows("SELECT count(*) FROM {objects} WHERE free_kind = 'realloc'", tables)[0][0]
    )
    assert threads == summary["threads"]
    by_kind = dict(rows("SELECT kind, count(*) FROM {objects} GROUP BY kind", tables))
    assert by_kind == {kind: kinds[kind] for kind in by_kind}


def test_live_bytes_over_the_objects_have_the_peak_of_info(tables: Path, summary: dict[str, Any]) -> None:
    ((peak,),) = rows(
        """
        SELECT max(live) FROM (
            SELECT sum(bytes) OVER (ORDER BY event, bytes) AS live FROM (
                SELECT allocation AS event, size::BIGINT AS bytes FROM {objects}
                UNION ALL
                SELECT free, -size::BIGINT FROM {objects} WHERE free IS NOT NULL))
        """,
        tables,
    )
    assert peak == summary["peak_live_bytes"]


def test_what_objects_refer_to_is_there(tables: Path, summary: dict[str, Any]) -> None:
    for column, table, key in (
        ("context", "contexts", "context"),
        ("free_context", "contexts", "context"),
        ("thread", "threads", "thread"),
        ("free_thread", "threads", "thread"),
        ("previous", "objects", "allocation"),
    ):
        missing = rows(
            f"SELECT count(*) FROM {{objects}} WHERE {column} IS NOT NULL "
            f"AND {column} NOT IN (SELECT {key} FROM {{{table}}})",
            tables,
        )
        assert missing == [(0,)], column
    assert rows("SELECT count(*) - 1, max(context) FROM {contexts}", tables) == [(summary["contexts"],) * 2]
    assert rows("SELECT count(*) FROM {contexts} WHERE context > 0 AND parent >= context", tables) == [(0,)]
    assert rows("SELECT count(*) FROM {modules} WHERE path = '/usr/bin/perl'", tables) == [(1,)]
    ((most,),) = rows("SELECT max(live_bytes) FROM {timeline}", tables)
    assert most == summary["peak_live_bytes"]


def test_frames_name_the_places_of_contexts(tables: Path) -> None:
    assert rows(
        "SELECT count(*) FROM {contexts} c LEFT JOIN {frames} f ON f.context = c.context AND f.depth = 0 "
        "WHERE c.context > 0 AND (f.function IS NULL OR f.function <> c.function)",
        tables,
    ) == [(0,)]
    assert rows("SELECT count(*) > 0 FROM {frames} WHERE module LIKE 'perl%'", tables) == [(True,)]


def test_every_column_is_documented(tables: Path) -> None:
    page = (ROOT / "docs" / "export.md").read_text()
    for path in tables.iterdir():
        for name, *_ in duckdb.execute(f"DESCRIBE FROM '{path}'").fetchall():
            assert f"`{name}`" in page, f"{name} of {path.name}"


def test_snapshots_have_a_row_each_and_belong_to_objects(
    mallard: Mallard, witnesses: Path, tmp_path: Path
) -> None:
    assert mallard("export", witnesses, "--parquet", tmp_path).returncode == 0
    events = set(_native.snapshots(str(witnesses))["event"].tolist())
    assert len(events) > 5000
    assert set(rows("SELECT allocation FROM {snapshots}", tmp_path)) == {(event,) for event in events}
    ((unknown, stacks),) = rows(
        "SELECT count(*) FILTER (o.allocation IS NULL), count(*) FILTER (sp_152 <> 0) "
        "FROM {snapshots} s LEFT JOIN {objects} o USING (allocation)",
        tmp_path,
    )
    assert unknown == 0
    assert stacks > 0


def test_files_are_replaced_all_or_none(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    assert mallard("export", journal, "--parquet", tmp_path).returncode == 0
    (tmp_path / "objects.parquet").write_text("what was there")
    assert mallard("export", journal, "--parquet", tmp_path).returncode == 0
    assert rows("SELECT count(*) > 0 FROM {objects}", tmp_path) == [(True,)]

    (tmp_path / "objects.parquet").write_text("what was there")
    (tmp_path / "threads.parquet").unlink()
    (tmp_path / "threads.parquet").mkdir()
    refused = mallard("export", journal, "--parquet", tmp_path)
    assert refused.returncode == 2
    assert refused.stderr == f"mallard: cannot write {tmp_path / 'threads.parquet'}: it is a directory\n"
    assert (tmp_path / "objects.parquet").read_text() == "what was there"
    assert not list(tmp_path.glob("*.part"))


def test_folder_that_cannot_be(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    for folder in (taken, tmp_path / "no" / "where"):
        refused = mallard("export", journal, "--parquet", folder)
        assert refused.returncode == 2
        assert refused.stderr.startswith(f"mallard: cannot write {folder}: ")
        assert refused.stderr.count("\n") == 1
