"""Files whose names are not UTF-8: read like any other, shown with U+FFFD for what is no text."""

import json
import os
import subprocess
from pathlib import Path

import duckdb
import pytest
from conftest import MALLARD, Mallard

SHOWN = "caf\N{REPLACEMENT CHARACTER}"
ODD = os.fsdecode(b"caf\xe9")
SOURCE = """
#include <stdlib.h>
__attribute__((noinline)) void* make(int size) { void* made = malloc(size); return made; }
int main(void) { for (int i = 0; i < 100; ++i) free(make(8 + i)); return 0; }
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of such a program, below such a name."""
    folder = tmp_path_factory.mktemp("names")
    program, path = folder / ODD, folder / f"{ODD}.mlrd"
    (folder / "source.c").write_text(SOURCE)
    subprocess.run(["/usr/bin/cc", "-g", folder / "source.c", "-o", program], check=True)
    record: list[str | Path] = [MALLARD, "record", "-o", path, "--", program]
    subprocess.run(record, check=True, capture_output=True)
    return path


def output(*arguments: str | Path) -> str:
    """Run `mallard`, and return what it writes, which is UTF-8; stderr is empty."""
    done = subprocess.run([MALLARD, *arguments], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_profile(odd: Path) -> None:
    found = json.loads(output("profile", "--json", odd))
    assert found["journal"].endswith(f"/{SHOWN}.mlrd")
    assert found["program"].endswith(f"/{SHOWN}")
    (site,) = [site for site in found["sites"] if site["name"] == "make"]
    assert [frame["module"] for frame in site["stack"]][:2] == [SHOWN, SHOWN]
    output("profile", odd)
    assert any(
        one["name"] == SHOWN
        for one in json.loads(output("profile", "--json", "--by", "module", odd))["subsystems"]
    )


@pytest.mark.heaps
def test_info_and_report(odd: Path, tmp_path: Path) -> None:
    assert f"/{SHOWN}" in output("info", odd)
    assert json.loads(output("info", "--json", odd))["journal"].endswith(f"/{SHOWN}.mlrd")
    replay = tmp_path / "replay.json"
    replay.write_text(output("replay", odd, "--strategy", "none", "--warm-time", "0", "--json"))
    for wanted in ("never", replay):
        output("report", odd, "--replay", wanted, "-o", tmp_path / "page.html")
        assert f"{SHOWN}.mlrd" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_exports(odd: Path, tmp_path: Path) -> None:
    assert "main;make " in output("export", odd, "--folded")
    frames = json.loads(output("export", odd, "--speedscope"))["shared"]["frames"]
    assert {"name": "make", "file": SHOWN} in frames
    assert output("export", odd, "--text").count("\n") > 100
    output("export", odd, "--parquet", tmp_path / "tables")
    modules = tmp_path / "tables" / "modules.parquet"
    named = f"SELECT count(*) FROM '{modules}' WHERE path LIKE '%/{SHOWN}'"
    assert duckdb.execute(named).fetchone() == (1,)


def test_import(tmp_path: Path) -> None:
    text, path = tmp_path / f"{ODD}.txt", tmp_path / f"{ODD}.mlrd"
    text.write_text("a 8 10 1 1\n")
    assert output("import", "--from", "text", text, "-o", path) == ""
    assert output("export", path, "--text") == "a 8 10 1 1\n"


@pytest.mark.parametrize(
    ("encoding", "name"), [("utf-8", SHOWN), pytest.param("ascii", "caf?", marks=pytest.mark.slow)]
)
def test_doctor(tmp_path: Path, encoding: str, name: str) -> None:
    done = subprocess.run(
        [MALLARD, "doctor", "-o", tmp_path / ODD, "--malloc", "glibc", "--", "/bin/true"],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert f": {tmp_path}/{name}/true.mlrd\n" in done.stdout.decode(encoding)


def test_a_file_that_is_gone_is_named(mallard: Mallard, tmp_path: Path) -> None:
    gone = tmp_path / f"{ODD}.mlrd"
    refused = mallard("profile", gone)
    assert refused.returncode == 2
    assert refused.stderr == f"mallard: cannot read {tmp_path}/caf\\udce9.mlrd: No such file or directory\n"
