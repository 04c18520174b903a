"""The `mallard` command itself: help, what it loads, what it says when it is misused."""

import subprocess
import sys
from importlib.metadata import version

import pytest
from conftest import Mallard

from mallard.cli import COMMANDS, loaded

OWN = [name for name in COMMANDS if name != "bench"]  # which is a package of its own


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_names_every_subcommand(mallard: Mallard, arguments: list[str]) -> None:
    shown = mallard(*arguments)
    assert shown.returncode == 0
    for subcommand in COMMANDS:
        assert f"\n  {subcommand} " in shown.stdout


@pytest.mark.parametrize(
    "subcommand", [pytest.param(name, marks=pytest.mark.heaps) if name == "replay" else name for name in OWN]
)
def test_every_subcommand_has_help(mallard: Mallard, subcommand: str) -> None:
    shown = mallard(subcommand, "--help")
    assert shown.returncode == 0
    assert "--help" in shown.stdout


@pytest.mark.parametrize("arguments", [[], *([name] for name in OWN)])
def test_h_is_short_for_help(mallard: Mallard, arguments: list[str]) -> None:
    assert mallard(*arguments, "-h").stdout == mallard(*arguments, "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["profile", "--sites", "-1", "x"], "Invalid value for '--sites'"),
        (["import", "x"], "--from"),
        (["export", "x", "--folded", "--metric", "weight"], "Invalid value for '--metric'"),
    ],
)
def test_wrong_use_is_one_line_without_other_advice(
    mallard: Mallard, arguments: list[str], reason: str
) -> None:
    refused = mallard(*arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("mallard: ")
    assert reason in refused.stderr
    assert "write `--" not in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize("subcommand", OWN)
def test_subcommand_is_listed_as_it_tells_of_itself(subcommand: str) -> None:
    function, _ = loaded(subcommand)
    assert (function.__doc__ or "").splitlines()[0] == COMMANDS[subcommand]


@pytest.mark.parametrize("arguments", [[], ["--help"], ["density", "--quick"]])
def test_bench_where_it_is_not_installed(arguments: list[str]) -> None:
    without = "import sys; sys.modules['mallard_bench'] = None; from mallard.cli import main; main()"
    command = [sys.executable, "-c", without, "bench", *arguments]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("mallard: bench is not installed: ")
    assert refused.stderr.count("\n") == 1


def test_version(mallard: Mallard) -> None:
    assert mallard("--version").stdout == f"mallard {version('mallard')}\n"


def test_unknown_subcommand(mallard: Mallard) -> None:
    refused = mallard("quack")
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert refused.stderr == "mallard: No such command 'quack'.\n"


def test_subcommand_that_is_nearly_one(mallard: Mallard) -> None:
    assert "Did you mean 'profile'?" in mallard("profil").stderr


def test_exit_code_of_the_recorded_program_is_kept(
    mallard: Mallard, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("journal") / "exit.mlrd"
    assert mallard("record", "-o", path, "--", "/usr/bin/perl", "-e", "exit 3").returncode == 3
    assert path.exists()
