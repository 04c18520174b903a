"""`mallard run --checked`: what is wrong in a program is named by function, file and line."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import MALLARD, Mallard

SOURCE = r"""
#include <stdlib.h>
#include <unistd.h>
static void *made(void) { return malloc(40); }
static void dropped(void *p) { free(p); }
static void deeply(void *p, int depth) { depth ? deeply(p, depth - 1) : free(p); }
void *volatile kept;
int main(int count, char **words) {
  void *p = made();
  dropped(p);
  if (count > 1 && words[1][0] == 'd') dropped(p);
  for (int i = 0; count > 1 && words[1][0] == 'm' && i != 50; ++i) deeply(p, i);
  if (count > 1 && words[1][0] == 'l') kept = made(), kept = NULL;
  if (count > 1 && words[1][0] == 'c') execl("/bin/sh", "sh", "-c", "$0 d; exit 5", words[0], NULL);
  return 3;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a mistake for each letter, and one without."""
    return compiled(tmp_path_factory.mktemp("checked"), "program")


def compiled(folder: Path, name: str, *flags: str) -> Path:
    """Compile the program."""
    source = folder / "mistakes.c"
    source.write_text(SOURCE)
    command = ["gcc", "-g", "-O0", "-fno-builtin", *flags, "-o", str(folder / name), str(source)]
    subprocess.run(command, check=True)
    return folder / name


def line_of(text: str) -> int:
    """The line of the source that a text stands in."""
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line)


def test_stacks_are_named_by_function_file_and_line(mallard: Mallard, program: Path) -> None:
    ended = mallard("run", "--checked", "--", program, "d")
    said = ended.stderr.splitlines()
    assert ended.returncode == 99
    assert re.fullmatch(r"mallard: double free: 40 bytes at 0x[0-9a-f]+", said[0])
    titles = ["    freed again by free:", "    freed before:", "    allocated by malloc or the like:"]
    assert [line for line in said if line.startswith("    ") and line.endswith(":")] == titles
    file = program.with_name("mistakes.c")
    again, before, allocated = (said.index(title) for title in titles)
    dropped = f"      #0 dropped at {file}:{line_of('free(p)')}"
    assert said[again + 1] == said[before + 1] == dropped
    assert said[again + 2] == f"      #1 main at {file}:{line_of('[0] == ' + chr(39) + 'd')}"
    assert said[allocated + 1] == f"      #0 made at {file}:{line_of('malloc(40)')}"
    assert said[-1] == "mallard: 1 error: double free 1"


def test_reports_that_nobody_reads_stop_no_program(program: Path) -> None:
    """Were they to wait in the socket, the program would wait for room there."""
    with subprocess.Popen(
        [MALLARD, "run", "--checked", "--", program, "m"], stderr=subprocess.PIPE
    ) as running:
        assert running.stderr is not None
        running.stderr.close()
        assert running.wait(timeout=100) == 99


def test_a_good_program_keeps_its_exit_code(mallard: Mallard, program: Path) -> None:
    ended = mallard("run", "--checked", "--leaks", "--guard", "2", "--", program)
    assert (ended.returncode, ended.stderr) == (3, "mallard: no errors\n")


def test_the_exit_code_after_errors_is_the_users(mallard: Mallard, program: Path) -> None:
    assert mallard("run", "--checked", "--exit-code", "41", "--", program, "d").returncode == 41
    assert mallard("run", "--checked", "--exit-code", "0", "--", program, "d").returncode == 3
    assert mallard("run", "--checked", "--abort", "--", program, "d").returncode == 128 + 6


def test_leaks_are_told_on_request(mallard: Mallard, program: Path) -> None:
    ended = mallard("run", "--checked", "--leaks", "--", program, "l")
    assert ended.returncode == 99
    assert ended.stderr.startswith("mallard: leak: 40 bytes in 1 block\n")
    assert "#1 main at " in ended.stderr
    assert mallard("run", "--checked", "--", program, "l").returncode == 3


def test_an_error_of_a_child_counts(mallard: Mallard, program: Path) -> None:
    ended = mallard("run", "--checked", "--", program, "c")
    assert ended.returncode == 99
    assert re.search(r"mallard: 1 error in \d processes: double free 1\n$", ended.stderr)


def test_a_program_with_a_malloc_of_its_own_does_not_pass(mallard: Mallard, tmp_path: Path) -> None:
    source = tmp_path / "own.c"
    source.write_text(
        "#include <stddef.h>\nstatic char all[1 << 20]; static size_t at;\n"
        "void *malloc(size_t n) { void *p = all + at; at += (n + 15) / 16 * 16; return p; }\n"
        "void free(void *p) {}\nint main(void) { free(malloc(40)); return 3; }\n"
    )
    subprocess.run(["gcc", "-fno-builtin", "-rdynamic", "-o", tmp_path / "own", source], check=True)
    ended = mallard("run", "--checked", "--", tmp_path / "own")
    assert ended.stderr == f"mallard: {tmp_path}/own was not checked: another malloc is in force in it\n"
    assert ended.returncode == 2


def test_what_cannot_be_checked_is_said(mallard: Mallard, program: Path, tmp_path: Path) -> None:
    ended = mallard("run", "--checked", "--", compiled(tmp_path, "fixed", "-static"))
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"mallard: {tmp_path}/fixed cannot be checked: ")
    unchecked = mallard("run", "--leaks", "--", program)
    assert (unchecked.returncode, unchecked.stdout) == (2, "")
    assert unchecked.stderr == "mallard: --leaks, --guard and --abort are for --checked\n"
