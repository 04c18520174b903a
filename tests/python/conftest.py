"""The `mallard` command as a user runs it, and one journal of a real program."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from report_browser import chromium

Mallard = Callable[..., subprocess.CompletedProcess[str]]

WORK = "my %seen; $seen{$_} = [1 .. $_ % 7] for 1 .. 20000; print scalar(keys %seen), qq(\\n)"


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Leave the user's cache alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def mallard() -> Mallard:
    """Run `mallard` with arguments; the result holds its output and exit code."""
    command = Path(sys.executable).parent / "mallard"

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([command, *arguments], capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="session")
def journal(mallard: Mallard, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of a perl program that builds 20000 small lists."""
    path = tmp_path_factory.mktemp("journal") / "perl.mlrd"
    recorded = mallard("record", "-o", path, "--", "/usr/bin/perl", "-e", WORK)
    assert recorded.returncode == 0, recorded.stderr
    assert recorded.stdout == "20000\n"
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium for all tests of the report."""
    with chromium() as running:
        yield running
