"""`mallard import`: what others recorded, read like a journal of our own."""

import json
import lzma
import shutil
import signal
import subprocess
import time
from pathlib import Path
from resource import RLIMIT_FSIZE, setrlimit
from typing import Any

import pytest
from conftest import MALLARD, Mallard, endless_journal

TEXTS = ["cc1plus.txt.xz", "sqlite3.txt.xz"]
TRACES = ["short.rep", "growing.rep", "random.rep"]


def slow_but(*quick: str) -> list[Any]:
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in TEXTS + TRACES]


SOME_SLOW = slow_but("sqlite3.txt.xz", "random.rep")
MOST_SLOW = slow_but("random.rep")

COUNTED = (
    "events",
    "events_by_kind",
    "threads",
    "contexts",
    "duration",
    "bytes",
    "peak_live_bytes",
    "peak_live_objects",
    "unmatched_frees",
    "complete",
)


def form_of(name: str) -> str:
    return "csapp" if name.endswith(".rep") else "text"


@pytest.mark.parametrize("name", SOME_SLOW)
def test_info_of_the_import_is_that_of_the_source(
    mallard: Mallard, tmp_path: Path, name: str, sources: Path
) -> None:
    path = tmp_path / "imported.mlrd"
    done = mallard("import", "--from", form_of(name), sources / name, "-o", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    source = json.loads(mallard("info", "--json", sources / name).stdout)
    imported = json.loads(mallard("info", "--json", path).stdout)
    assert {what: imported[what] for what in COUNTED} == {what: source[what] for what in COUNTED}
    assert imported["complete"]
    assert imported["facts"]["imported_from"] == name


@pytest.mark.slow
@pytest.mark.heaps
@pytest.mark.parametrize("name", TRACES)
def test_replay_of_the_import_is_that_of_the_trace(
    mallard: Mallard, tmp_path: Path, name: str, sources: Path
) -> None:
    path = tmp_path / "imported.mlrd"
    assert mallard("import", "--from", "csapp", sources / name, "-o", path).returncode == 0
    facts = []
    for journal in (sources / name, path):
        replayed = mallard("replay", journal, "--strategy", "none", "--warm-time", "0", "--json")
        assert replayed.returncode == 0, replayed.stderr
        facts.append(json.loads(replayed.stdout)["journal"])
    for given in facts:
        given.pop("file")
        given.pop("read_cpu_seconds", None)
    assert facts[0] == facts[1]


@pytest.mark.parametrize("name", MOST_SLOW)
def test_profile_of_the_import_is_that_of_the_source(
    mallard: Mallard, tmp_path: Path, name: str, sources: Path
) -> None:
    path = tmp_path / "imported.mlrd"
    assert mallard("import", "--from", form_of(name), sources / name, "-o", path).returncode == 0
    profiles = []
    for journal in (sources / name, path):
        profiled = mallard("profile", "--json", journal)
        assert profiled.returncode == 0, profiled.stderr
        found = json.loads(profiled.stdout.replace(str(journal), "JOURNAL").replace(journal.name, "JOURNAL"))
        found["machine"].pop("imported_from", None)
        profiles.append(found)
    assert profiles[0] == profiles[1]


def test_a_profile_says_what_of_a_trace_is_made_up(mallard: Mallard, sources: Path) -> None:
    profiled = mallard("profile", "--json", sources / "random.rep")
    found = json.loads(profiled.stdout)
    assert [line.split(" are made up, ")[0] for line in found["warnings"]] == [
        "times",
        "addresses, and with them held bytes,",
    ]
    assert profiled.stderr.count(" made up, as the journal's source has none: ") == 2
    dimensions = found["dvluc"]
    assert dimensions["density"]["value"] is None
    assert dimensions["contention"]["value"] is None
    assert dimensions["locality"]["lines"] is None
    assert dimensions["locality"]["pages"] is None
    text = json.loads(mallard("profile", "--json", sources / "sqlite3.txt.xz").stdout)
    assert text["warnings"] == []
    assert text["dvluc"]["locality"]["lines"] > 0


def test_traces_have_what_their_headers_say(mallard: Mallard, sources: Path) -> None:
    for name in TRACES:
        summary = json.loads(mallard("info", "--json", sources / name).stdout)
        assert summary["events"] == int((sources / name).read_text().split()[2])
        assert summary["facts"]["clock"].startswith("none")
        assert summary["facts"]["addresses"].startswith("none")


def test_threads_and_times_of_text_are_kept(mallard: Mallard, tmp_path: Path) -> None:
    text = tmp_path / "doom.txt"
    text.write_text("a 24 0A5F 4711 100\na 8 00B0 815 110\nf 0a5f 815 250\n")
    path = tmp_path / "doom.mlrd"
    assert mallard("import", "--from", "text", text, "-o", path).returncode == 0
    again = mallard("export", path, "--text")
    assert again.stdout == "a 24 a5f 4711 100\na 8 b0 815 110\nf a5f 815 250\n"


def test_packed_traces_are_unpacked(mallard: Mallard, tmp_path: Path, sources: Path) -> None:
    packed = tmp_path / "short.rep.xz"
    packed.write_bytes(lzma.compress((sources / "short.rep").read_bytes()))
    path = tmp_path / "short.mlrd"
    assert mallard("import", "--from", "csapp", packed, "-o", path).returncode == 0
    assert json.loads(mallard("info", "--json", path).stdout)["events"] == 12


def test_an_existing_journal_is_replaced(mallard: Mallard, tmp_path: Path, sources: Path) -> None:
    path = tmp_path / "short.mlrd"
    path.write_text("what was there")
    assert mallard("import", "--from", "csapp", sources / "short.rep", "-o", path).returncode == 0
    assert mallard("info", "--strict", path).returncode == 0
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("form", "contents", "reason"),
    [
        ("csapp", "1\n1\n2\n1\na 0 8\nquack\n", "line 6: expected 'a <id> <bytes>'"),
        ("csapp", "a 8 10 1 1\n", "line 1: expected a number"),
        ("text", "a 8 10 1 1\nf 10\n", "line 2: expected 'a <size>"),
        ("text", "", "it is empty"),
    ],
)
def test_nonsense_is_one_line_and_leaves_what_was_there(
    mallard: Mallard, tmp_path: Path, form: str, contents: str, reason: str
) -> None:
    source = tmp_path / "source"
    source.write_text(contents)
    path = tmp_path / "journal.mlrd"
    path.write_text("what was there")
    refused = mallard("import", "--from", form, source, "-o", path)
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith(f"mallard: cannot import {source}: {reason}")
    assert refused.stderr.count("\n") == 1
    assert path.read_text() == "what was there"
    assert sorted(tmp_path.iterdir()) == [path, source]


def test_places_that_cannot_be_written(mallard: Mallard, tmp_path: Path, sources: Path) -> None:
    source = tmp_path / "short.rep"
    shutil.copy(sources / "short.rep", source)
    going_on = tmp_path / "run.mlrd"
    Path(f"{going_on}.spool").touch()
    for output, reason in {
        tmp_path: "it is a directory",
        tmp_path / "absent" / "x.mlrd": "No such file or directory",
        source: "is what is read: name another file with -o",
        going_on: "belongs to a recording that was cut off or is still running",
    }.items():
        refused = mallard("import", "--from", "csapp", source, "-o", output)
        assert refused.returncode == 2
        assert reason in refused.stderr
        assert refused.stderr.count("\n") == 1
    assert source.read_text() == (sources / "short.rep").read_text()


def test_a_file_that_cannot_grow_is_the_one_that_is_named(tmp_path: Path, sources: Path) -> None:
    path = tmp_path / "journal.mlrd"
    refused = subprocess.run(
        [MALLARD, "import", "--from", "text", str(sources / "sqlite3.txt.xz"), "-o", str(path)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: setrlimit(RLIMIT_FSIZE, (4096, 4096)),
    )
    assert (refused.returncode, refused.stderr) == (2, f"mallard: cannot write {path}: File too large\n")
    assert list(tmp_path.iterdir()) == []


def test_what_is_odd_is_told_and_what_is_cut_off_stays_so(mallard: Mallard, tmp_path: Path) -> None:
    source = tmp_path / "odd.rep"
    source.write_text("1\n1\n9\n1\na 0 8\nf -1\nf 7\n")
    path = tmp_path / "odd.mlrd"
    done = mallard("import", "--from", "csapp", source, "-o", path)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f"mallard: warning: {source}: the header tells of 9 operations, and there are 3",
        f"mallard: warning: {source}: 1 frees of a null pointer are left out",
        f"mallard: warning: {source}: 1 frees of ids that name no block are left out",
    ]
    assert mallard("info", "--strict", path).returncode == 2


def test_ctrl_c_leaves_nothing_half(tmp_path: Path) -> None:
    source = tmp_path / "endless"
    path = tmp_path / "journal.mlrd"
    command = [MALLARD, "import", "--from", "text", str(source), "-o", str(path)]
    with endless_journal(source):
        importing = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while not list(tmp_path.glob("journal.mlrd.*")):
            time.sleep(0.01)
        importing.send_signal(signal.SIGINT)
        importing.wait()
    assert importing.wait() == 130
    assert importing.communicate()[1] == "mallard: interrupted\n"
    assert list(tmp_path.iterdir()) == [source]
