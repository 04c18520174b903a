"""`mallard compare` as a user runs it: real programs under real mallocs, and programs that it must refuse."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import MALLARD, Mallard
from playwright.sync_api import Browser
from report_browser import opened

from mallard import _native
from mallard.compare.launch import Program, launched
from mallard.compare.mallocs import libraries

FIGURES = (
    "cpu_s",
    "elapsed_s",
    "max_rss_bytes",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
)
PERL = ("/usr/bin/perl", "-e", "my %seen; $seen{$_} = [1 .. $_ % 7] for 1 .. 2000; print scalar(keys %seen)")
QUICK = ("--rounds", "5", "--malloc", "jemalloc")
MIB = 1 << 20

TOUCH = """
#include <stdlib.h>
#include <string.h>
int main(int argc, char** argv) {
  const size_t bytes = (size_t)atoi(argv[argc - 1]) << 20;
  char* const block = malloc(bytes + 1);
  memset(block, 1, bytes + 1);
  return block[bytes / 2] != 1;
}
"""
OWN_MALLOC = """
#include <stddef.h>
static char memory[1 << 22];
static size_t used;
void* malloc(size_t size) { used = (used + 15) & ~(size_t)15; used += size; return memory + used - size; }
void free(void* block) { (void)block; }
void* calloc(size_t count, size_t size) { return malloc(count * size); }
void* realloc(void* block, size_t size) { (void)block; return malloc(size); }
int main(void) { return malloc(1) == 0; }
"""
PLUGIN = "#include <stdlib.h>\nvoid work(void) { free(malloc(10)); }\n"
DEEPBIND = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  void* const plugin = dlopen(argv[argc - 1], RTLD_NOW | RTLD_DEEPBIND);
  if (plugin == NULL) return 1;
  ((void (*)(void))dlsym(plugin, "work"))();
  free(malloc(1));
  return 0;
}
"""
NO_MEMORY = """
#include <stddef.h>
void* malloc(size_t size) { (void)size; return NULL; }
void* calloc(size_t count, size_t size) { (void)count; (void)size; return NULL; }
void* realloc(void* block, size_t size) { (void)block; (void)size; return NULL; }
void free(void* block) { (void)block; }
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small programs and libraries in C."""
    folder = tmp_path_factory.mktemp("programs")
    shared = ("-shared", "-fPIC", "-fno-builtin")
    for name, text, flags in (
        ("touch", TOUCH, ()),
        ("touch-static", TOUCH, ("-static",)),
        ("touch-je", TOUCH, ("-Wl,--no-as-needed", "-l:libjemalloc.so.2")),
        ("own-malloc", OWN_MALLOC, ("-fno-builtin",)),
        ("deepbind", DEEPBIND, ()),
        ("plugin.so", PLUGIN, shared),
        ("no-memory.so", NO_MEMORY, shared),
    ):
        command = ("cc", "-O1", "-x", "c", "-", "-o", folder / name, *flags)
        subprocess.run(command, input=text, text=True, check=True)
    return folder


def compared(mallard: Mallard, *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    """Return the JSON of a comparison."""
    ran = mallard("compare", "--json", *arguments)
    assert ran.returncode == code, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def row(found: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the row of a malloc."""
    return {one["name"]: one for one in found["rows"]}[name]  # type: ignore[no-any-return]


def names(found: dict[str, Any]) -> list[str]:
    """Return the names of all rows."""
    return [one["name"] for one in found["rows"]]


def refused(mallard: Mallard, *arguments: str | Path) -> str:
    """Return the line that refuses a command."""
    ran = mallard("compare", *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("mallard: ")
    assert ran.stderr.count("\n") == 1
    return ran.stderr.removeprefix("mallard: ").rstrip()


def is_running(process: int) -> bool:
    """Return whether a process is there, and not merely its remains."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes() != b""
    except OSError:
        return False


def assert_ended(process: int) -> None:
    """Wait for the end of a process that was asked to end; the kernel takes its time for it."""
    patience = time.monotonic() + 60
    while is_running(process) and time.monotonic() < patience:
        time.sleep(0.01)
    assert not is_running(process)


def test_every_malloc_has_a_row_with_every_figure(mallard: Mallard) -> None:
    found = compared(mallard, *QUICK, "--", *PERL)
    assert names(found) == ["glibc", "jemalloc", "glibc a/a"]
    for one in found["rows"]:
        for name in FIGURES:
            assert one[name]["low"] <= one[name]["median"] <= one[name]["high"], name
            assert len(one["rounds"][name]) == 5
        assert one["figure"] is None
        assert one["same_output"] is True
        assert one["cpu_s"]["median"] > 0
    assert row(found, "jemalloc")["loaded"].endswith("/libjemalloc.so.2")
    assert row(found, "glibc")["loaded"].endswith("/libc.so.6")
    assert row(found, "jemalloc")["ratios"]["max_rss_bytes"]["median"] > 0
    assert found["a_a"] == row(found, "glibc a/a")["ratios"]
    assert found["machine"]["cores"] >= 1
    assert found["verdict"][-1].startswith("A/A: glibc measured a second time takes ")
    assert (found["left_out"], found["interrupted"]) == ([], False)


def test_table_tells_what_was_loaded_and_file_has_the_json(mallard: Mallard, tmp_path: Path) -> None:
    file = tmp_path / "compare.json"
    ran = mallard("compare", *QUICK, "-o", file, "--", *PERL)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0].split()[:4] == ["malloc", "CPU", "x", "glibc"]
    assert [line.split("  ")[0] for line in lines[1:4]] == ["glibc", "jemalloc", "glibc a/a"]
    assert "libjemalloc.so.2" in ran.stdout
    assert names(json.loads(file.read_text())) == ["glibc", "jemalloc", "glibc a/a"]


def test_default_is_every_malloc_that_is_installed(mallard: Mallard) -> None:
    found = compared(mallard, "--rounds", "5", "--no-aa", "--", "/bin/true")
    expected = {"glibc-notrim", "jemalloc", "tcmalloc", "mimalloc", "tbbmalloc", "glibc-arenas"}
    assert names(found)[0] == "glibc"
    assert expected < set(names(found))
    assert found["a_a"] is None


def test_settings_of_glibc_are_those_of_the_replay(mallard: Mallard) -> None:
    found = compared(mallard, "--rounds", "5", "--malloc", "glibc-notrim", "--", "/bin/true")
    known = {one["name"]: one["tunables"] for one in _native.mallocs()}
    assert row(found, "glibc-notrim")["environment"] == {
        "GLIBC_TUNABLES": known["glibc-notrim"].removeprefix("GLIBC_TUNABLES=")
    }


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("touch-static", "it is statically linked, so nothing can be loaded into it"),
        ("own-malloc", "own-malloc defines malloc itself, and nothing preloaded takes its place"),
    ],
)
def test_program_out_of_reach_is_refused(mallard: Mallard, programs: Path, program: str, reason: str) -> None:
    said = refused(mallard, *QUICK, "--", programs / program, "1")
    assert said.startswith("cannot compare mallocs under ")
    assert said.endswith(reason)


def test_program_that_a_script_becomes_is_what_counts(mallard: Mallard, programs: Path) -> None:
    said = refused(mallard, *QUICK, "--", "sh", "-c", f"{programs}/touch 1; exec {programs}/own-malloc")
    assert said.startswith("cannot compare mallocs under sh: own-malloc defines malloc itself")
    found = compared(mallard, *QUICK, "--", "sh", "-c", f"{programs}/own-malloc; exec {programs}/touch 1")
    assert names(found) == ["glibc", "jemalloc", "glibc a/a"]
    assert "under jemalloc, own-malloc calls a malloc of its own" in found["notes"]


def test_object_that_looks_elsewhere_leaves_a_malloc_out(mallard: Mallard, programs: Path) -> None:
    found = compared(mallard, *QUICK, "--", programs / "deepbind", programs / "plugin.so", code=1)
    assert names(found) == ["glibc", "glibc a/a"]
    reason = "plugin.so calls the malloc of libc.so.6: it was opened with RTLD_DEEPBIND"
    assert found["left_out"] == [{"name": "jemalloc", "reason": reason}]


def test_library_that_is_no_malloc_is_left_out(mallard: Mallard, programs: Path) -> None:
    found = compared(mallard, "--rounds", "5", "--malloc", programs / "plugin.so", "--", "/bin/true", code=1)
    assert names(found) == ["glibc", "glibc a/a"]
    assert (
        found["left_out"][0]["reason"] == "plugin.so is loaded, but the program calls the malloc of libc.so.6"
    )


def test_malloc_under_which_the_program_fails_is_left_out(mallard: Mallard, programs: Path) -> None:
    found = compared(
        mallard, "--rounds", "5", "--malloc", programs / "no-memory.so", "--", programs / "touch", "1", code=1
    )
    assert names(found) == ["glibc", "glibc a/a"]
    assert found["left_out"][0]["reason"].startswith("it was ended by signal 11 (Segmentation fault)")


def test_program_that_brings_a_malloc_is_compared_with_that(mallard: Mallard, programs: Path) -> None:
    found = compared(
        mallard, "--rounds", "5", "--malloc", "tcmalloc", "--malloc", "glibc-notrim", "--",
        programs / "touch-je", "1", code=1,
    )  # fmt: skip
    assert names(found) == ["libjemalloc.so.2", "tcmalloc", "libjemalloc.so.2 a/a"]
    assert found["left_out"][0]["name"] == "glibc-notrim"
    assert any("touch-je is linked with libjemalloc.so.2" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ("--malloc", "hoard", "--", "/bin/true"),
            "--malloc hoard: not known; a library's file or one of glibc,",
        ),
        (("--malloc", "./none.so", "--", "/bin/true"), "--malloc ./none.so: no such library"),
        (("--malloc", "LD_PRELOAD=x glibc", "--", "/bin/true"), "name the library in place of LD_PRELOAD"),
        (("--", "./none"), "cannot run ./none: not found"),
        (("--cwd", "/none", "--", "true"), "--cwd /none: no such folder"),
        (("--stdin", "/none", "--", "true"), "--stdin /none: no such file"),
        (("--figure", "(", "--", "true"), "--figure (: "),
        (("--rounds", "4", "--", "true"), "Invalid value for '--rounds'"),
        (("--setup", "echo no room; exit 3", "--", "true"), "exited with 3: no room"),
        (("--cleanup", "exit 4", "--", "true"), "--cleanup 'exit 4' exited with 4"),
        (("--figure", "[0-9]+", "--", "true"), "--figure finds nothing in what it prints"),
        (("--figure", ".+", "--", "echo", "-nan"), "--figure finds '-nan', which is no number"),
        (("--timeout", "0.2", "--", "sleep", "60"), "it was not done after 0.2 s"),
        (("--", "sh", "-c", "echo lost >&2; exit 3"), "it exited with 3: lost; --output ignore measures it"),
        ((), "Missing argument"),
    ],
)
def test_wrong_use_is_one_line(mallard: Mallard, arguments: tuple[str, ...], reason: str) -> None:
    assert reason in refused(mallard, *arguments)


def test_failing_program_is_measured_where_nobody_minds(mallard: Mallard) -> None:
    found = compared(mallard, *QUICK, "--output", "ignore", "--", "sh", "-c", "exit 3")
    assert names(found) == ["glibc", "jemalloc", "glibc a/a"]
    assert row(found, "jemalloc")["same_output"] is None
    killed = compared(mallard, *QUICK, "--output", "ignore", "--", "sh", "-c", "kill -TERM $$")
    assert names(killed) == ["glibc", "jemalloc", "glibc a/a"]
    only = "case $LD_PRELOAD in *jemalloc*) kill -TERM $$; esac"
    found = compared(mallard, *QUICK, "--output", "ignore", "--", "sh", "-c", only, code=1)
    assert names(found) == ["glibc", "glibc a/a"]


def test_output_that_differs_is_told(mallard: Mallard) -> None:
    command = ("--", "sh", "-c", 'echo "$LD_PRELOAD"')
    found = compared(mallard, *QUICK, *command, code=1)
    assert row(found, "jemalloc")["same_output"] is False
    assert "under jemalloc the program prints something else than under glibc" in found["notes"]
    compared(mallard, *QUICK, "--output", "ignore", *command)


def test_output_that_always_differs_is_not_compared(mallard: Mallard) -> None:
    found = compared(mallard, *QUICK, "--", "sh", "-c", "echo $$")
    assert row(found, "jemalloc")["same_output"] is None
    assert any("differs from run to run under glibc" in note for note in found["notes"])


def test_max_rss_is_the_programs_own(mallard: Mallard, programs: Path) -> None:
    own = b"1" * (200 * MIB)  # this process, which is what starts the launcher
    quick = ("--rounds", "5", "--malloc", "glibc", "--no-aa", "--")
    small = row(compared(mallard, *quick, programs / "touch", "0"), "glibc")["max_rss_bytes"]["median"]
    large = row(compared(mallard, *quick, programs / "touch", "50"), "glibc")["max_rss_bytes"]["median"]
    assert small < 10 * MIB < len(own)
    batches = MIB * max(1, (os.cpu_count() or 1) // 64)  # each processor counts in its own
    assert 50 * MIB - batches < large - small < 50 * MIB + batches


def test_children_are_measured_with_the_program(mallard: Mallard, programs: Path) -> None:
    found = compared(mallard, *QUICK, "--", "sh", "-c", f"{programs}/touch 50; true")
    assert row(found, "glibc")["max_rss_bytes"]["low"] >= 50 * MIB


def test_stdin_folder_and_own_figure(mallard: Mallard, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("one\ntwo\nthree\n")
    (tmp_path / "count").write_text("#!/bin/sh\nwc -l; wc -l < words\n")
    (tmp_path / "count").chmod(0o755)
    arguments = ("--stdin", tmp_path / "words", "--cwd", tmp_path, "--better", "lower")
    found = compared(mallard, *QUICK, *arguments, "--figure", "^([0-9]+)$", "--", "./count")
    assert row(found, "jemalloc")["figure"] == {"median": 3, "low": 3, "high": 3}
    assert found["verdict"][1] == "The program's own figure: no difference beyond noise; lower is better."
    first = compared(mallard, *QUICK, *arguments, "--figure", r"(?s)^(\d+).*\n", "--", "./count")
    assert row(first, "glibc")["figure"]["median"] == 3, "standard input was read from its start in each run"


def test_setup_and_cleanup_surround_every_run(mallard: Mallard, tmp_path: Path) -> None:
    around = ("--setup", "test ! -e here && touch here && echo >> runs", "--cleanup", "rm here")
    compared(mallard, *QUICK, "--warmup", "2", "--cwd", tmp_path, *around, "--", "cat", "here")
    rows, rounds = 3, 2 + 5
    assert len((tmp_path / "runs").read_text()) == rows * rounds
    assert not (tmp_path / "here").exists()


def test_variables_before_a_name_reach_the_program(mallard: Mallard) -> None:
    tuned = (
        "--rounds",
        "5",
        "--malloc",
        "SIZE=7 glibc",
        "--no-aa",
        "--figure",
        "[0-9]+",
        "--output",
        "ignore",
    )
    found = compared(mallard, *tuned, "--", "sh", "-c", "echo ${SIZE:-3}")
    assert names(found) == ["glibc", "SIZE=7 glibc"]
    assert [one["figure"]["median"] for one in found["rows"]] == [3, 7]
    assert row(found, "SIZE=7 glibc")["differs"]["figure"] is True


def test_settings_of_the_shell_do_not_reach_the_program(
    mallard: Mallard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    found = compared(mallard, *QUICK, "--figure", "[0-9]+", "--", "sh", "-c", "echo ${MALLOC_ARENA_MAX:-9}")
    assert row(found, "glibc")["figure"]["median"] == 9
    assert "the program does not see your environment's MALLOC_ARENA_MAX" in found["notes"]


def test_pools_inside_a_program_are_told(mallard: Mallard, monkeypatch: pytest.MonkeyPatch) -> None:
    command = (*QUICK, "--", "/usr/bin/python3", "-S", "-c", "")
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    (note,) = [note for note in compared(mallard, *command)["notes"] if "pools" in note]
    assert note.endswith(
        "takes small objects from Python's own pools; PYTHONMALLOC=malloc sends them to malloc"
    )
    monkeypatch.setenv("PYTHONMALLOC", "malloc")
    assert not [note for note in compared(mallard, *command)["notes"] if "pools" in note]


def test_too_few_rounds_are_told(mallard: Mallard) -> None:
    found = compared(mallard, *QUICK, "--", "/bin/true")
    assert any(note.startswith("5 rounds are too few to be sure of 2 ratios") for note in found["notes"])


def test_time_that_is_over_ends_the_rounds_after_five(mallard: Mallard) -> None:
    found = compared(mallard, "--malloc", "jemalloc", "--time", "0", "--", "/bin/true")
    assert len(row(found, "glibc")["rounds"]["cpu_s"]) == 5


def test_ctrl_c_keeps_what_is_measured(tmp_path: Path) -> None:
    counted = tmp_path / "runs"
    command = (MALLARD, "compare", "--json", "--rounds", "100000", "--malloc", "jemalloc", "--no-aa")
    running = subprocess.Popen(
        (*command, "--setup", f"echo >> {counted}", "--", "/bin/true"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while running.poll() is None and not (counted.exists() and counted.stat().st_size > 8):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate()
    assert running.returncode == 128 + signal.SIGINT, errors
    found = json.loads(output)
    assert found["interrupted"] is True
    assert all(len(one["rounds"]["cpu_s"]) >= 1 for one in found["rows"])
    assert b"these rounds are measured" in errors


# Once a Ctrl-C came when the program was at work already, and nobody knew its launcher yet.
def test_ctrl_c_while_the_program_is_started_ends_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    launchers = []

    def interrupted(*given: Any, **options: Any) -> subprocess.Popen[bytes]:
        launchers.append(popen(*given, **options))
        while not (started.exists() and started.read_text().endswith("\n")):
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)
        return launchers[0]

    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", interrupted)
    script = f"sleep 600 & echo $! > {started}; wait"
    with pytest.raises(KeyboardInterrupt):
        launched(Program(("sh", "-c", script), "/bin/sh", tmp_path), {})
    assert launchers[0].poll() is not None
    assert_ended(int(started.read_text()))


def test_program_and_its_children_end_with_the_command(tmp_path: Path) -> None:
    started = tmp_path / "started"
    script = f"sleep 600 & echo $! > {started}; wait"
    running = subprocess.Popen((MALLARD, "compare", *QUICK, "--", "sh", "-c", script), stderr=subprocess.PIPE)
    while running.poll() is None and not (started.exists() and started.read_text().endswith("\n")):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate()
    assert (running.returncode, errors) == (130, b"mallard: interrupted\n")
    assert_ended(int(started.read_text()))


def test_failure_in_a_later_round_keeps_those_before(mallard: Mallard, tmp_path: Path) -> None:
    setup = ("--cwd", tmp_path, "--setup", "echo >> runs; test $(wc -l < runs) -lt 12")
    found = compared(
        mallard, "--rounds", "9", "--malloc", "jemalloc", "--no-aa", *setup, "--", "/bin/true", code=1
    )
    assert found["stopped"].startswith("--setup ")
    assert sum(len(one["rounds"]["cpu_s"]) for one in found["rows"]) == 11 - 2
    assert any(note.startswith("no further rounds: --setup") for note in found["notes"])


def test_files_are_written_though_nobody_reads_what_is_printed(tmp_path: Path) -> None:
    saved, page = tmp_path / "compare.json", tmp_path / "compare.html"
    reading, writing = os.pipe()
    os.close(reading)
    command: list[str | Path] = [MALLARD, "compare", *QUICK, "-o", saved, "--html", page, "--", "/bin/true"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")
    assert len(json.loads(saved.read_text())["rows"]) == 3
    assert page.stat().st_size > 1000


def test_page_names_what_is_no_text(mallard: Mallard, tmp_path: Path) -> None:
    library = tmp_path / os.fsdecode(b"lib\xff.so")
    library.symlink_to(libraries(["libjemalloc.so.2"])["libjemalloc.so.2"])
    page = tmp_path / "page.html"
    once = ("--rounds", "5", "--no-aa", "--malloc", str(library), "--html", page)
    compared(mallard, *once, "--", "/bin/true")
    assert ">lib?.so</" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_page_has_a_chart_for_each_figure(mallard: Mallard, browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "compare.html"
    ran = mallard("compare", *QUICK, "--html", file, "--", *PERL)
    assert ran.returncode == 0, ran.stderr
    with opened(browser, file) as page:
        assert page.locator("h1").inner_text() == "perl"
        for name in ("cpu_s", "elapsed_s", "max_rss_bytes", "minor_faults", "involuntary_switches"):
            chart = page.locator(f'[data-figure="{name}"] .js-plotly-plot')
            assert chart.evaluate("plot => plot.data[0].y") == ["glibc", "jemalloc", "glibc a/a"], name
            assert chart.locator(".barlayer .point").count() == 3
        assert page.locator("#mallocs tbody tr").count() == 3
        assert "A/A: glibc measured a second time" in page.locator("#verdict").inner_text()
    with opened(browser, file, java_script_enabled=False) as page:
        assert page.locator("#mallocs tbody tr").count() == 3
