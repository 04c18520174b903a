"""The manual page of the command, as the wheel installs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MALLARD, Mallard

from mallard.cli import COMMANDS, NATIVE

pytestmark = pytest.mark.heaps

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


def test_every_command_has_its_section(page: str) -> None:
    assert list(sections(page)) == list(COMMANDS)
    assert page.startswith('.TH MALLARD 1 "" "mallard 1.2.3" "User Commands"\n.SH NAME\nmallard \\- ')


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
