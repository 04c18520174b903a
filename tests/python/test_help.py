"""`mallard --help` stays cheap: what only commands at work need is not loaded for it."""

import subprocess
import sys

import pytest

from mallard.cli import COMMANDS, NATIVE

HEAVY = {"duckdb", "numpy", "plotly", "rich", "mallard._native"}


def loaded(*arguments: str) -> set[str]:
    """Return every module that `mallard` loads for these arguments."""
    command = [sys.executable, "-X", "importtime", "-m", "mallard", *arguments]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    times = [line for line in shown.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in times}


@pytest.mark.parametrize("arguments", [["--help"], []])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    modules = loaded(*arguments)
    assert "typer" in modules, "modules are told"
    assert modules & HEAVY == set()


def test_help_of_each_command_loads_nothing_heavy() -> None:
    for command in set(COMMANDS) - {*NATIVE, "bench"}:
        assert loaded(command, "--help") & HEAVY == set(), command


@pytest.mark.heaps
def test_command_at_work_loads_what_it_needs() -> None:
    assert "rich" in loaded("strategies")
