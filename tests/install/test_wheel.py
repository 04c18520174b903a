"""The wheel in an environment of its own: the command and the native tools come out of it."""

import json
import subprocess
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.heaps]

SOURCE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; what the wheel depends on is borrowed from the checkout's own."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run(["/usr/bin/python3", "-m", "venv", place], check=True)
    (wheel,) = (SOURCE / "build/wheel").glob("mallard-*.whl")
    subprocess.run(
        [
            place / "bin/pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-index",
            wheel,
        ],
        check=True,
    )
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


def said(program: Path, *arguments: str) -> str:
    """What a program prints, run away from the checkout and its environment."""
    result = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=True, cwd="/", env={"PATH": "/bin"}
    )
    return result.stdout


def test_command_and_tools_are_inside(environment: Path) -> None:
    home = said(environment / "bin/python", "-c", "import mallard; print(mallard.__file__)")
    assert home.startswith(str(environment))
    listing = json.loads(said(environment / "bin/mallard", "strategies", "--json"))
    assert "multipool" in {strategy["strategy"] for strategy in listing}


def test_manual_page_is_where_man_looks(environment: Path) -> None:
    page = (environment / "share/man/man1/mallard.1").read_text()
    assert '.SS "mallard record"' in page


def test_benchmarks_of_papers_are_no_part_of_it(environment: Path) -> None:
    (wheel,) = (SOURCE / "build/wheel").glob("mallard-*.whl")
    assert [name for name in ZipFile(wheel).namelist() if "bench" in name] == ["mallard/commands/bench.py"]


def test_native_tools_stand_beside_the_command(environment: Path, tmp_path: Path) -> None:
    journal = str(tmp_path / "perl.mlrd")
    recorded = said(environment / "bin/mallard-record", "-o", journal, "--", "/usr/bin/perl", "-e", "print 7")
    assert recorded == "7"
    table = said(environment / "bin/mallard-replay", journal, "--check-only", "--json")
    assert all(row["status"] in ("ok", "skipped") for row in json.loads(table)["rows"])


def test_recorder_finds_what_it_loads(environment: Path, tmp_path: Path) -> None:
    mallard, journal = environment / "bin/mallard", str(tmp_path / "perl.mlrd")
    assert said(mallard, "record", "-o", journal, "--", "/usr/bin/perl", "-e", "print 7") == "7"
    assert json.loads(said(mallard, "info", "--json", journal))["events"] > 0


def test_mallocs_are_found_that_programs_run_under(environment: Path) -> None:
    for options in ([], ["--checked"]):
        assert said(environment / "bin/mallard", "run", *options, "/usr/bin/perl", "-e", "print 7") == "7"
