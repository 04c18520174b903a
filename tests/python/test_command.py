"""The `mallard` command itself: help, its manual page, what it loads, what it says when it is misused."""

import errno
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import duckdb
import pytest
from conftest import MALLARD, Mallard

from mallard.cli import COMMANDS, NATIVE, loaded

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


def test_version_names_what_it_was_built_with(mallard: Mallard) -> None:
    release, built, running = mallard("--version").stdout.splitlines()
    assert release == f"mallard {version('mallard')}"
    assert re.fullmatch(
        r"built with (GNU|Clang) [\d.]+ -.*, libdw [\d.]+, zstd [\d.]+, liblzma [\d.]+", built
    )
    assert re.fullmatch(r"running with Python [\d.]+, duckdb \S+, numpy \S+, typer \S+", running)


def completed(*words: str) -> list[str]:
    """What a shell gets to choose from for the last word, as bash asks."""
    line = {"_MALLARD_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(["mallard", *words])}
    environment = {**os.environ, **line, "COMP_CWORD": str(len(words))}
    asked = subprocess.run([MALLARD], env=environment, capture_output=True, text=True, check=False)
    assert asked.stderr == ""
    return asked.stdout.split()


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (["pro"], {"profile"}),
        (["profile", "--sit"], {"--sites"}),
        pytest.param(["replay", "--str"], {"--strategy"}, marks=pytest.mark.heaps),
        (["record", "-o", "x.mlrd", "--st"], {"--stack"}),
        (["record", "-o", "x.mlrd", "--", "perl", "--st"], set()),
    ],
)
def test_a_shell_completes_subcommands_and_their_options(words: list[str], choices: set[str]) -> None:
    assert set(completed(*words)) == choices


def test_the_script_for_a_shell_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = ["/bin/bash", "-c", f"{MALLARD} --show-completion; true"]
    shown = subprocess.run(shell, capture_output=True, text=True, check=True)
    assert "complete -o default -F _mallard_completion mallard" in shown.stdout


@pytest.mark.parametrize("command", ["record", pytest.param("replay", marks=pytest.mark.heaps)])
def test_usage_is_as_the_user_calls_it(mallard: Mallard, command: str) -> None:
    assert f"\nUsage: mallard {command} [OPTIONS] " in mallard(command, "--help").stdout


def test_a_recorded_program_is_ended_by_a_closed_pipe(mallard: Mallard, tmp_path: Path) -> None:
    piped = ["/bin/sh", "-c", "yes | head -n 1"]
    recorded = mallard("record", "-o", tmp_path / "yes.mlrd", "--", *piped)
    assert recorded.stdout == "y\n"
    assert "yes" not in recorded.stderr.replace("yes.mlrd", "")


def test_a_terminal_is_told_what_to_do_with_the_journal(tmp_path: Path) -> None:
    terminal, end = os.openpty()
    command = [MALLARD, "record", "-o", "x.mlrd", "--", "/usr/bin/perl", "-e", ""]
    subprocess.run(command, stderr=end, cwd=tmp_path, check=True)
    os.close(end)
    said = b""
    with suppress(OSError):  # nobody has the other end any more
        while True:
            said += os.read(terminal, 4096)
    assert said.endswith(b"mallard-record: to see what was allocated: mallard profile x.mlrd\r\n")
    os.close(terminal)


@pytest.mark.parametrize("arguments", [pytest.param(["strategies"], marks=pytest.mark.heaps), ["--help"]])
def test_nobody_reads_on(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([MALLARD, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError("std::bad_alloc"), "out of memory: std::bad_alloc"),
        (OSError(errno.ENOSPC, "No space left on device"), "[Errno 28] No space left on device"),
        (duckdb.OutOfMemoryException("no block\nis free"), "no block is free"),
    ],
)
def test_what_the_system_refuses_is_one_line(
    mallard: Mallard, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr("mallard.advise.advised", refuse)
    refused = mallard("advise", "any.mlrd")
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", f"mallard: {reason}\n")


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


def test_run_starts_a_program_under_mallards_malloc(mallard: Mallard) -> None:
    maps = mallard("run", "cat", "/proc/self/maps")
    assert maps.returncode == 0
    assert "/libmallard-malloc.so" in maps.stdout
    assert "/libmallard-malloc.so" not in Path("/proc/self/maps").read_text()


def test_run_passes_on_the_programs_options_and_its_exit_code(mallard: Mallard) -> None:
    ended = mallard(
        "run", "--decay", "0", "sh", "-c", "echo $MALLARD_MALLOC_DECAY_MS $1; exit 7", "sh", "--stats"
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "0 --stats\n", "")


def test_run_tells_what_is_in_use_at_the_end(mallard: Mallard) -> None:
    assert mallard("run", "--stats", "--", "true").stderr.startswith("mallard-malloc: ")


def test_run_says_what_it_cannot_run(mallard: Mallard) -> None:
    refused = mallard("run", "/no/such/program")
    assert (refused.returncode, refused.stderr) == (
        2,
        "mallard: cannot run /no/such/program: No such file or directory\n",
    )


PLAN_OF_ANOTHER_SHELL = """\
format = 1
[program]
path = "/opt/sh"
build_id = "00ff"
[[module]]
name = "sh"
build_id = "00ff"
[[rule]]
strategy = "pool"
contexts = ["sh+0x1000"]
"""


def test_run_compiles_a_plan_and_keeps_it_for_children(
    mallard: Mallard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN_OF_ANOTHER_SHELL)
    ended = mallard("run", "--plan", plan, "sh", "-c", "/bin/echo $MALLARD_MALLOC_PLAN")
    image = Path(ended.stdout.strip())
    assert image.read_bytes().startswith(b"\x89MLP")
    said = f"mallard-malloc: {image} is of another build of the program; no call is routed\n"
    assert (ended.returncode, ended.stderr) == (0, said)
    assert mallard("run", "--plan", image, "echo", "$MALLARD_MALLOC_PLAN").returncode == 0


def test_run_says_which_program_a_plan_is_for_and_what_has_changed_since(
    mallard: Mallard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    plan = tmp_path / "plan.toml"
    mapped = Path("/proc/self/maps").read_text().split()
    path = next(word for word in mapped if word.endswith("/libc.so.6"))
    c_library = f'[[module]]\nname = "libc.so.6"\nbuild_id = "00fe"\npath = "{path}"\n'
    plan.write_text(PLAN_OF_ANOTHER_SHELL.replace("[[rule]]", f"{c_library}[[rule]]"))
    ended = mallard("run", "--plan", plan, "env", "X=1", "echo", "there")
    of_another = f"mallard: {plan} is for sh: no call of another program is routed\n"
    changed = f"mallard: {plan} is for other builds of libc.so.6: no call of theirs is routed\n"
    assert (ended.stdout, ended.stderr) == ("there\n", of_another + changed)


def test_run_refuses_a_plan_that_is_none(mallard: Mallard, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    assert mallard("run", "--plan", plan, "true").returncode == 2
    plan.write_text("format = 7\n")
    refused = mallard("run", "--plan", plan, "true")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1


def test_run_refuses_options_that_do_not_go_together(mallard: Mallard) -> None:
    for options in (
        ["--plan", "x", "--checked"],
        ["--counters", "x", "--checked"],
        ["--counters", "x"],
        ["--leaks"],
    ):
        refused = mallard("run", *options, "true")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr


HEAVY = {"duckdb", "matplotlib", "numpy", "plotly", "rich", "mallard._native"}


def loaded_for(*arguments: str) -> set[str]:
    """Return every module that `mallard` loads for these arguments."""
    command = [sys.executable, "-X", "importtime", "-m", "mallard", *arguments]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    times = [line for line in shown.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in times}


@pytest.mark.parametrize("arguments", [["--help"], []])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    modules = loaded_for(*arguments)
    assert "typer" in modules, "modules are listed"
    assert modules & HEAVY == set()


def test_help_of_each_command_loads_nothing_heavy() -> None:
    for command in set(COMMANDS) - {*NATIVE, "bench"}:
        assert loaded_for(command, "--help") & HEAVY == set(), command


@pytest.mark.heaps
def test_command_at_work_loads_what_it_needs() -> None:
    assert "rich" in loaded_for("strategies")


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
