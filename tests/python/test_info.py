"""`mallard info` on journals and on what is none."""

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import MALLARD, Mallard


def test_json_describes_the_recorded_program(mallard: Mallard, journal: Path) -> None:
    summary = json.loads(mallard("info", "--json", journal).stdout)
    assert summary["program"].startswith("/usr/bin/perl")
    assert summary["arguments"][1] == "-e"
    assert summary["events"] == sum(summary["events_by_kind"].values())
    assert summary["events_by_kind"]["malloc"] >= 10_000, "a list is at least its elements"
    assert summary["threads"] == 1
    assert summary["complete"]
    assert summary["file_bytes"] == journal.stat().st_size


def test_json_says_what_recording_cost(mallard: Mallard, journal: Path) -> None:
    summary = json.loads(mallard("info", "--json", journal).stdout)
    assert summary["cpu_ns"] > 0
    assert 0 < summary["recording_ns"] <= summary["cpu_ns"]
    assert summary["stalls"] >= 0
    assert (summary["stalls"] == 0) == (summary["stalled_ns"] == 0)
    assert summary["children"] == []
    assert 1 <= summary["stack_depth_median"] <= 64


def test_json_has_the_columns_of_table_3(mallard: Mallard, journal: Path) -> None:
    summary = json.loads(mallard("info", "--json", journal).stdout)
    allocations = ("alloc", "aligned", "new", "posix")
    most = sum(n for kind, n in summary["events_by_kind"].items() if any(b in kind for b in allocations))
    assert 10_000 <= summary["objects"] <= most
    assert summary["mean_object_bytes"] == summary["bytes"] / summary["objects"]
    assert summary["bytes_over_peak"] == summary["bytes"] / summary["peak_live_bytes"] >= 1
    assert 0 < summary["memory_share"] <= 1
    assert summary["regions"] is None
    shown = mallard("info", journal).stdout
    assert f"{summary['objects']:,}, {summary['mean_object_bytes']:,.1f} bytes each" in shown
    assert f"{summary['bytes_over_peak']:,.1f} times those at peak" in shown
    assert f"{summary['memory_share']:.1%} of the program's CPU time" in shown


# Asks the recorder for its functions, as mallard/annotate.h does: a region of 100 blocks of which one is
# freed and one inside another, which ends with it.
REGIONS = """
import ctypes as c
table = (c.c_void_p * 8).in_dll(c.CDLL(None), "mallard_record_annotations")
CREATE, ALLOCATE, FREE, CLEAR, DESTROY = range(1, 6)
def note(what, *values):
    c.CFUNCTYPE(None, *[c.c_size_t] * len(values))(table[what])(*values)
note(CREATE, 16, 0)
note(CREATE, 32, 16)
for i in range(100):
    note(ALLOCATE, 16, 4096 + 64 * i, 48)
note(ALLOCATE, 32, 4096, 200)
note(FREE, 16, 4096)
note(CLEAR, 16)
note(ALLOCATE, 16, 4096, 5000)
note(DESTROY, 16)
"""


def test_regions_have_figures_of_their_own(mallard: Mallard, tmp_path: Path) -> None:
    path = tmp_path / "regions.mlrd"
    assert mallard("record", "-o", path, "--", sys.executable, "-c", REGIONS).returncode == 0
    regions = json.loads(mallard("info", "--json", path).stdout)["regions"]
    assert regions == {
        "regions": 2,
        "objects": 102,
        "bytes": 10_000,
        "peak_live_bytes": 5_000,
        "peak_live_objects": 101,
        "mean_object_bytes": 10_000 / 102,
        "bytes_over_peak": 2.0,
    }
    shown = mallard("info", path).stdout
    assert "10,000 bytes, 2.0 times those at peak" in shown
    assert "2, and in them:" in shown


def test_snapshots_are_counted_where_they_were_asked_for(
    mallard: Mallard, journal: Path, witnesses: Path
) -> None:
    assert json.loads(mallard("info", "--json", journal).stdout)["snapshots"] == 0
    assert "snapshots" not in mallard("info", journal).stdout
    count = json.loads(mallard("info", "--json", witnesses).stdout)["snapshots"]
    assert count > 5000
    assert f"{count:,}, of the callers' registers and stacks" in mallard("info", witnesses).stdout


def test_children_are_told_with_their_journals(mallard: Mallard, tmp_path: Path) -> None:
    path = tmp_path / "family.mlrd"
    fork = "my @a = (1 .. 1000); for (1 .. 2) { fork or exit }; 1 while wait > 0"
    assert mallard("record", "-o", path, "--", "/usr/bin/perl", "-e", fork).returncode == 0
    summary = json.loads(mallard("info", "--json", path).stdout)
    assert len(summary["children"]) == 2
    for child in summary["children"]:
        own = json.loads(mallard("info", "--json", tmp_path / child["journal"]).stdout)
        assert own["process"] == child["process"]
        assert own["parent_process"] == summary["process"]


FAMILY = """
my @a = (1 .. 1000);
if (!fork) { my @b = (1 .. 2000); fork or exec '/bin/ls', '/'; wait; exit }
wait;
"""


def test_the_whole_tree_of_processes_is_listed(mallard: Mallard, tmp_path: Path) -> None:
    path = tmp_path / "family.mlrd"
    assert mallard("record", "-o", path, "--", "/usr/bin/perl", "-e", FAMILY).returncode == 0
    told = mallard("info", "--json", path)
    listed = json.loads(told.stdout)["processes"]
    assert [(one["depth"], Path(one["program"]).name) for one in listed] == [
        (1, "perl"),
        (2, "perl"),
        (3, "ls"),
    ]
    for one in listed:
        own = json.loads(mallard("info", "--json", one["journal"]).stdout)
        assert (own["events"], own["bytes"]) == (one["events"], one["bytes"])
    assert mallard("info", "--strict", path).returncode == 0
    shown = mallard("info", path).stdout
    assert "3 child journals" in shown
    assert f"{listed[2]['events']:,}" in shown

    path.rename(moved := tmp_path / "moved.mlrd")
    Path(f"{path}.d").rename(f"{moved}.d")
    assert len(json.loads(mallard("info", "--json", moved).stdout)["processes"]) == 3

    Path(listed[2]["journal"].replace("family", "moved")).write_bytes(b"")
    assert mallard("info", "--strict", moved).returncode == 2


def test_a_folder_of_children_says_what_to_name(mallard: Mallard, tmp_path: Path) -> None:
    path = tmp_path / "family.mlrd"
    assert mallard("record", "-o", path, "--", "/usr/bin/perl", "-e", FAMILY).returncode == 0
    for command in ("info", "profile"):
        refused = mallard(command, f"{path}.d")
        assert refused.returncode == 2
        assert refused.stderr.count("\n") == 1
        assert f"`mallard info {path}` lists them" in refused.stderr


def test_a_child_that_was_not_recorded_is_told_and_not_strict(mallard: Mallard, tmp_path: Path) -> None:
    path = tmp_path / "limited.mlrd"
    program = ["sh", "-c", "ulimit -f 8; perl -e 1; :"]
    assert mallard("record", "-o", path, "--", *program).returncode == 0
    told = mallard("info", "--strict", path)
    assert told.returncode == 2
    assert "not recorded" in told.stdout
    assert "limit on the size of files" in " ".join(told.stdout.split())
    (program_told,) = json.loads(mallard("info", "--json", path).stdout)["unrecorded"]
    assert program_told["processes"] == 1
    assert program_told["program"].endswith("perl")


def test_table_shows_the_same_count(mallard: Mallard, journal: Path) -> None:
    events = json.loads(mallard("info", "--json", journal).stdout)["events"]
    shown = mallard("info", journal)
    assert shown.returncode == 0
    assert f"{events:,}" in shown.stdout
    assert "/usr/bin/perl" in shown.stdout


def test_file_that_is_no_journal(mallard: Mallard, tmp_path: Path) -> None:
    noise = tmp_path / "noise"
    noise.write_bytes(bytes(range(256)))
    refused = mallard("info", noise)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith("mallard: ")
    assert str(noise) in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_missing_file(mallard: Mallard, tmp_path: Path) -> None:
    refused = mallard("info", tmp_path / "absent")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1


def test_cut_off_journal_is_one_warning(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.mlrd"
    cut.write_bytes(journal.read_bytes()[: -(journal.stat().st_size // 3)])
    for options in ([], ["--json"]):
        shown = mallard("info", *options, cut)
        assert shown.returncode == 0
        assert shown.stderr.startswith(f"mallard: warning: {cut}: ")
    strict = mallard("info", "--strict", cut)
    assert strict.returncode == 2
    assert "perl" in strict.stdout
    assert mallard("info", "--strict", journal).returncode == 0


def test_killed_recording_is_recovered(mallard: Mallard, tmp_path: Path) -> None:
    path = tmp_path / "killed.mlrd"
    endless = 'push @a, "x" x ($_ % 500) for 1 .. 5000; print qq(ready\\n); sleep 100'
    program = ["/usr/bin/perl", "-e", f"$| = 1; {endless}"]
    command = [MALLARD, "record", "-o", str(path), "--", *program]
    recorder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert recorder.stdout is not None
    assert recorder.stdout.readline() == "ready\n"
    children = Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()

    going_on = mallard("info", "--json", path)
    assert going_on.returncode == 0
    assert "the recording is going on: " in going_on.stderr

    ends = [os.pidfd_open(int(child)) for child in children]
    os.kill(recorder.pid, signal.SIGKILL)
    for end in ends:
        with suppress(ProcessLookupError):  # one of them ends with the recorder
            signal.pidfd_send_signal(end, signal.SIGKILL)
    recorder.wait()
    for end in ends:
        select.select([end], [], [])  # its lock goes after its output, so the end of that is too early
        os.close(end)
    assert recorder.stdout.read() == ""
    recorder.stdout.close()
    for given in (path, Path(f"{path}.spool")):
        shown = mallard("info", "--json", given)
        assert shown.returncode == 0
        assert shown.stderr.count("\n") == 1
        assert "the recording was cut off: " in shown.stderr
        summary = json.loads(shown.stdout)
        assert summary["events"] >= 5000
        assert not summary["complete"]
        assert mallard("info", "--strict", given).returncode == 2


@pytest.mark.parametrize("command", ["info", pytest.param("replay", marks=pytest.mark.heaps)])
def test_what_is_no_journal_is_one_line(mallard: Mallard, tmp_path: Path, command: str) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    garbage = tmp_path / "garbage.spool"
    garbage.write_bytes(b"\x02MLSPOOL" + bytes(100))
    for path in (empty, garbage, tmp_path):
        refused = mallard(command, path)
        assert refused.returncode == 2
        assert refused.stdout == ""
        assert refused.stderr.count("\n") == 1
        assert str(path) in refused.stderr
