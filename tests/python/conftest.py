"""The `mallard` command as a user runs it, and one journal of a real program."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import duckdb
import pytest
from csapp_traces import write_all
from playwright.sync_api import Browser
from report_browser import chromium
from report_sample import sample_call_tree, sample_profile, sample_replay

from mallard.analysis.model import CallTree, Profile
from mallard.cli import BECOMING_OTHERS, main
from mallard.report.data import JournalReport
from mallard.report.page import render

Mallard = Callable[..., subprocess.CompletedProcess[str]]
Write = Callable[..., Path]

ROOT = Path(__file__).parent.parent.parent
MALLARD = str(Path(sys.executable).parent / "mallard")

WORK = "my %seen; $seen{$_} = [1 .. $_ % 7] for 1 .. 10000; print scalar(keys %seen), qq(\\n)"


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Leave the user's cache alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def in_this_process(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `mallard` without starting Python anew, which would take longer than most commands."""
    with (
        pytest.MonkeyPatch.context() as patch,
        TemporaryFile("w+", encoding="utf-8") as output,
        TemporaryFile("w+", encoding="utf-8", errors="backslashreplace") as errors,
    ):
        patch.setattr(sys, "argv", ["mallard", *words])
        with redirect_stdout(output), redirect_stderr(errors), pytest.raises(SystemExit) as end:
            main()
        output.seek(0)
        errors.seek(0)
        code = end.value.code
        return subprocess.CompletedProcess(
            words, code if isinstance(code, int) else 0, output.read(), errors.read()
        )


@pytest.fixture(scope="session")
def mallard() -> Mallard:
    """Run `mallard` with arguments; the result holds its output and exit code."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        words = [os.fspath(argument) for argument in arguments]
        if not words or words[0] not in BECOMING_OTHERS:
            return in_this_process(*words)
        return subprocess.run([MALLARD, *words], capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what others recorded: the texts of tests/fixtures, and traces."""
    folder = tmp_path_factory.mktemp("sources")
    for text in (ROOT / "tests" / "fixtures").glob("*.txt.xz"):
        (folder / text.name).symlink_to(text)
    write_all(folder)
    return folder


@pytest.fixture(scope="session")
def witnesses(mallard: Mallard, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal of perl with snapshots."""
    path = tmp_path_factory.mktemp("witnesses") / "perl.mlrd"
    work = ("/usr/bin/perl", "-e", "my @a = map { [$_] } 1 .. 5000")
    assert mallard("record", "--witness", "-o", path, "--", *work).returncode == 0
    return path


@pytest.fixture(scope="session")
def journal(mallard: Mallard, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of a perl program that builds 10000 small lists."""
    path = tmp_path_factory.mktemp("journal") / "perl.mlrd"
    recorded = mallard("record", "-o", path, "--", "/usr/bin/perl", "-e", WORK)
    assert recorded.returncode == 0, recorded.stderr
    assert recorded.stdout == "10000\n"
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium for all tests of the report."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def summary(mallard: Mallard, journal: Path) -> dict[str, Any]:
    """What `mallard info` says of the journal: counted natively, without DuckDB."""
    found: dict[str, Any] = json.loads(mallard("info", "--json", journal).stdout)
    return found


@pytest.fixture(scope="session")
def tables(mallard: Mallard, journal: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal as Parquet files."""
    folder = tmp_path_factory.mktemp("export") / "tables"
    done = mallard("export", journal, "--parquet", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Write the page of made-up results, some of them replaced."""

    def written(
        profile: Profile | None = None,
        tree: CallTree | None = None,
        replay: dict[str, Any] | None = None,
    ) -> Path:
        report = JournalReport(
            profile or sample_profile(), tree or sample_call_tree(), replay or sample_replay(), ""
        )
        path = tmp_path_factory.mktemp("charts") / "report.html"
        path.write_text(render([report], "1.2.3", ["mallard"]), encoding="utf-8")
        return path

    return written


@pytest.fixture(scope="module")
def sample(write: Write) -> Path:
    """The page of the sample as it is."""
    return write()


# Stacks are written by one function, whatever their form.
SLOW_STACKS = [pytest.param(form, marks=pytest.mark.slow) for form in ("--folded", "--speedscope")]


def rows(query: str, folder: Path) -> list[tuple[Any, ...]]:
    """Return the rows of a query over an export; {name} is the file of that table."""
    named = re.sub(r"\{(\w+)\}", lambda name: f"'{folder / name[1]}.parquet'", query)
    return duckdb.execute(named).fetchall()


@contextmanager
def endless_journal(pipe: Path) -> Iterator[None]:
    """Have a named pipe give lines for as long as somebody reads, however often it is opened."""
    os.mkfifo(pipe)
    script = 'exec yes "a 8 10 1 1" 1<> "$0"'
    with subprocess.Popen(["/bin/sh", "-c", script, str(pipe)]) as lines:
        yield
        lines.kill()


def wait_until_read(process: int, pipe: Path) -> None:
    """Wait until a process has the pipe open, and a moment more."""
    while not any(is_of(pipe, link) for link in Path(f"/proc/{process}/fd").iterdir()):
        time.sleep(0.01)
    time.sleep(0.5)


def is_of(pipe: Path, link: Path) -> bool:
    """Return whether a descriptor is open, and of this pipe."""
    try:
        return link.samefile(pipe)
    except OSError:
        return False
