"""The `mallard` command itself: help, what it loads, what it says when it is misused."""

from importlib.metadata import version

import pytest
from conftest import Mallard

from mallard.cli import COMMANDS, loaded


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_names_every_subcommand(mallard: Mallard, arguments: list[str]) -> None:
    shown = mallard(*arguments)
    assert shown.returncode == 0
    for subcommand in COMMANDS:
        assert f"\n  {subcommand} " in shown.stdout


@pytest.mark.parametrize("subcommand", COMMANDS)
def test_every_subcommand_has_help(mallard: Mallard, subcommand: str) -> None:
    shown = mallard(subcommand, "--help")
    assert shown.returncode == 0
    assert "--help" in shown.stdout


@pytest.mark.parametrize(("subcommand", "summary"), COMMANDS.items())
def test_subcommand_is_listed_as_it_tells_of_itself(subcommand: str, summary: str) -> None:
    function, _ = loaded(subcommand)
    assert (function.__doc__ or "").splitlines()[0] == summary


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
