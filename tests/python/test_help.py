"""`mallard --help`, which loads nothing that only commands at work need, and the manual page of the wheel."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MALLARD, Mallard

from mallard.cli import COMMANDS, NATIVE

HEAVY = {"duckdb", "matplotlib", "numpy", "plotly", "rich", "mallard._native"}


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


GENERATOR = Path(__file__).parents[2] / "cmake/man_page.py"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of the page."""
    output = tmp_path_factory.mktemp("man") / "mallard.1"
    tools: list[str | Path] = [Path(MALLARD).with_name(f"mallard-{command}") for command in NATIVE]
    subprocess.run([sys.executable, GENERATOR, output, "1.2.3", *tools], check=True)
    return output.read_text()


def sections(page: str) -> dict[str, str]:
    """The parts of the page by command."""
    parts = re.split(r'(?m)^\.SS "mallard (\w+)"\n', page.partition(".SH EXIT STATUS")[0])
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.heaps
def test_every_command_has_its_section(page: str) -> None:
    assert list(sections(page)) == list(COMMANDS)
    assert page.startswith('.TH MALLARD 1 "" "mallard 1.2.3" "User Commands"\n.SH NAME\nmallard \\- ')


@pytest.mark.heaps
@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "bench"])
def test_every_option_is_an_entry_with_its_text(mallard: Mallard, page: str, command: str) -> None:
    section = sections(page)[command]
    entries = re.findall(r"(?m)^\.TP\n\.B (.*)\n(?!\.)", section)
    options = re.findall(r"(?m)^  (-[\w,-]*(?: --[\w-]+|,--[\w-]+)?)", mallard(command, "--help").stdout)
    assert len(options) >= 2
    for option in options:
        escaped = option.replace("-", "\\-")
        assert any(entry.split(" ")[0] == escaped.split(" ")[0] for entry in entries), option
    assert re.search(rf"(?m)^\.B mallard {command} ", section)
