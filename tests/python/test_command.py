"""The `mallard` command itself: help, what it loads, what it says when it is misused."""

import subprocess
import sys
from importlib.metadata import version

import pytest
from conftest import Mallard


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_names_every_subcommand(mallard: Mallard, arguments: list[str]) -> None:
    shown = mallard(*arguments)
    assert shown.returncode == 0
    for subcommand in ("record", "replay", "info", "strategies"):
        assert f"\n  {subcommand} " in shown.stdout


@pytest.mark.parametrize("subcommand", ["record", "replay", "info", "strategies"])
def test_every_subcommand_has_help(mallard: Mallard, subcommand: str) -> None:
    shown = mallard(subcommand, "--help")
    assert shown.returncode == 0
    assert "--help" in shown.stdout


def test_version(mallard: Mallard) -> None:
    assert mallard("--version").stdout == f"mallard {version('mallard')}\n"


def test_unknown_subcommand(mallard: Mallard) -> None:
    refused = mallard("quack")
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr == "mallard: No such command 'quack'.\n"


def test_exit_code_of_the_recorded_program_is_kept(
    mallard: Mallard, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("journal") / "exit.mlrd"
    assert mallard("record", "-o", path, "--", "/usr/bin/perl", "-e", "exit 3").returncode == 3
    assert path.exists()


@pytest.mark.parametrize("heavy", ["rich", "mallard._native"])
def test_help_loads_nothing_heavy(heavy: str) -> None:
    program = f"import sys, mallard.cli; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
