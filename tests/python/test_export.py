"""`mallard export`: the text form, tables that DuckDB reads, and what can go wrong with any form."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from resource import RLIMIT_FSIZE, setrlimit
from typing import Any

import duckdb
import pytest
from conftest import MALLARD, ROOT, SLOW_STACKS, Mallard, endless_journal, rows, wait_until_read

from mallard import _native

ONE_FORM = "export takes exactly one of --parquet DIR, --folded, --speedscope and --text"

REGIONS = """
#include <mallard/annotate.h>
#include <stdlib.h>
int main(void) {
  free(malloc(8));
  static int pool, place[3];
  mallard_region_create(&pool, 0);
  for (int i = 0; i < 3; ++i) mallard_region_allocate(&pool, &place[i], 8 + i);
  mallard_region_destroy(&pool);
  return 0;
}
"""


def test_text_is_the_journal_again(
    mallard: Mallard, journal: Path, tmp_path: Path, summary: dict[str, Any]
) -> None:
    path = tmp_path / "perl.txt"
    done = mallard("export", journal, "--text", "-o", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert mallard("export", journal, "--text").stdout == path.read_text()
    again = json.loads(mallard("info", "--json", path).stdout)
    for what in ("bytes", "peak_live_bytes", "peak_live_objects", "threads", "unmatched_frees"):
        assert again[what] == summary[what]


def test_text_tells_what_it_leaves_out(mallard: Mallard, tmp_path: Path) -> None:
    source = tmp_path / "regions.c"
    source.write_text(REGIONS)
    program, path = tmp_path / "regions", tmp_path / "regions.mlrd"
    subprocess.run(["/usr/bin/cc", "-I", ROOT / "include", source, "-o", program, "-ldl"], check=True)
    assert mallard("record", "-o", path, "--", program).returncode == 0
    done = mallard("export", path, "--text")
    assert done.returncode == 0
    assert done.stderr == (
        f"mallard: warning: {path}: 5 events of regions are left out: the text form has no place for them\n"
    )
    assert mallard("export", path, "--parquet", tmp_path / "tables").returncode == 0
    assert rows("SELECT region, objects, bytes FROM {regions}", tmp_path / "tables") == [(1, 3, 27)]
    assert rows("SELECT count(*), sum(size) FROM {objects} WHERE region = 1", tmp_path / "tables") == [
        (3, 27)
    ]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], ONE_FORM),
        (
            ["--text", "--folded"],
            "export takes exactly one of --parquet DIR, --folded, --speedscope and --text",
        ),
        (["--text", "--metric", "calls"], "--metric is for --folded and --speedscope"),
        (["--parquet", "x", "--metric", "calls"], "--metric is for --folded and --speedscope"),
        (["--parquet", "x", "-o", "y"], "--parquet DIR names the output already: omit -o"),
        (["--folded", "--metric", "calls", "--metric", "bytes"], "--folded takes one --metric"),
    ],
)
def test_options_that_do_not_go_together(
    mallard: Mallard, journal: Path, options: list[str], reason: str
) -> None:
    refused = mallard("export", journal, *options)
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", f"mallard: {reason}\n")


@pytest.mark.parametrize(
    "command",
    [
        ["export", "--text"],
        ["export", "--folded"],
        ["profile"],
        ["report"],
        pytest.param(["replay"], marks=pytest.mark.heaps),
    ],
)
def test_no_command_writes_over_the_journal_that_it_reads(
    mallard: Mallard, journal: Path, tmp_path: Path, command: list[str]
) -> None:
    kept, link = tmp_path / "kept.mlrd", tmp_path / "link.mlrd"
    kept.write_bytes(journal.read_bytes())
    link.symlink_to(kept)
    refused = mallard(*command, kept, "-o", link)
    assert refused.returncode == 2
    assert refused.stderr.endswith(f": {link} is what is read: name another file with -o\n")
    assert refused.stderr.count("\n") == 1
    assert kept.read_bytes() == journal.read_bytes()


@pytest.mark.parametrize("form", ["--folded", "--speedscope", "--text", "--parquet"])
def test_what_is_no_journal_leaves_nothing(mallard: Mallard, tmp_path: Path, form: str) -> None:
    noise = tmp_path / "noise"
    noise.write_bytes(bytes(range(256)))
    where = [tmp_path / "out"] if form == "--parquet" else ["-o", tmp_path / "out"]
    refused = mallard("export", noise, form, *where)
    assert refused.returncode == 2
    assert refused.stderr == f"mallard: cannot read {noise}: it is not a journal\n"
    assert list(tmp_path.iterdir()) == [noise]


@pytest.mark.parametrize("form", ["--parquet", "--text", *SLOW_STACKS])
def test_a_file_that_becomes_too_large_leaves_nothing(journal: Path, tmp_path: Path, form: str) -> None:
    path = tmp_path / "out"
    where = [str(path)] if form == "--parquet" else ["-o", str(path)]
    refused = subprocess.run(
        [MALLARD, "export", str(journal), form, *where],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: setrlimit(RLIMIT_FSIZE, (4096, 4096)),
    )
    assert (refused.returncode, refused.stderr) == (2, f"mallard: cannot write {path}: File too large\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["--text", *SLOW_STACKS])
def test_full_disks_and_closed_pipes(mallard: Mallard, journal: Path, form: str) -> None:
    command = [MALLARD, "export", str(journal), form]
    with Path("/dev/full").open("w") as full:
        refused = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr == "mallard: cannot write to standard output: No space left on device\n"
    reading, writing = os.pipe()
    os.close(reading)
    closed = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (closed.returncode, closed.stderr) == (128 + signal.SIGPIPE, "")


def test_a_cut_off_journal_is_exported_and_told(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.mlrd"
    cut.write_bytes(journal.read_bytes()[: -(journal.stat().st_size // 3)])
    for form in (["--text"], ["--folded"], ["--parquet", str(tmp_path / "tables")]):
        done = mallard("export", cut, *form)
        assert done.returncode == 0
        assert (done.stdout == "") == (form[0] == "--parquet")
        assert f"mallard: warning: {cut}: the journal has no end: " in done.stderr


def test_a_journal_cut_off_before_its_first_allocation_is_named_and_told(
    mallard: Mallard, journal: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.mlrd"
    cut.write_bytes(journal.read_bytes()[:100])
    refused = mallard("export", cut, "--folded")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"mallard: {cut} holds no allocation; ")
    assert refused.stderr.endswith("the journal has no end: its recording was cut off\n")


@pytest.mark.parametrize("form", ["--text", SLOW_STACKS[0]])
def test_ctrl_c_leaves_nothing_half(tmp_path: Path, form: str) -> None:
    endless = tmp_path / "endless"
    path = tmp_path / "out"
    path.write_text("what was there")
    command = [MALLARD, "export", str(endless), form, "-o", str(path)]
    with endless_journal(endless):
        exporting = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        wait_until_read(exporting.pid, endless)
        exporting.send_signal(signal.SIGINT)
        exporting.wait()
    assert exporting.wait() == 130
    assert exporting.communicate()[1] == "mallard: interrupted\n"
    assert path.read_text() == "what was there"
    assert sorted(tmp_path.iterdir()) == [endless, path]


PIPE_SIZE = 4096


def waits(exporting: subprocess.Popen[bytes], reading: int) -> bool:
    """Tell whether the process has written and sleeps; it must still be there."""
    assert exporting.poll() is None
    held = int.from_bytes(fcntl.ioctl(reading, termios.FIONREAD, bytes(4)), sys.byteorder)
    state = Path(f"/proc/{exporting.pid}/stat").read_text().rpartition(") ")[2][0]
    return held > PIPE_SIZE // 2 and state == "S"


@pytest.mark.parametrize("form", ["--text", *SLOW_STACKS])
def test_ctrl_c_ends_a_wait_for_the_reader(journal: Path, form: str) -> None:
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
    command = [MALLARD, "export", str(journal), form]
    exporting = subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    try:
        while not waits(exporting, reading):
            time.sleep(0.01)
        exporting.send_signal(signal.SIGINT)
        complaint = exporting.communicate(timeout=60)[1]
    finally:
        exporting.kill()
        os.close(reading)
    assert (exporting.returncode, complaint) == (130, b"mallard: interrupted\n")


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
