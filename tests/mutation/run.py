"""Mutation controls: break a heap on purpose and demand that its model test fails.

    run.py --compiler COMPILER [--jobs N] [PATH...]     PATH: a .mutation file or a folder of them

A folder here has the name of a model test (tests/model/NAME_model_test.cpp). A mutation is a text file:

    file: mallard/layer/chunk_list.hpp
    why: a chunk that is given back stays in what is held
    ends: timeout                                       (only where the broken heap may run forever)
    --- find
    exact text, once in the file
    --- replace
    what stands there instead

The headers are copied, broken, and the model test alone is compiled against them, without debug checks,
so that it is the suite that sees the damage. Each mutation must compile and each model test must pass
unbroken; a text that is not found exactly once has rotted. Exit code 1 if anything survives or is rotten.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

FLAGS = ["-std=c++20", "-O0", "-DMALLARD_CHECKS=0", "-pthread"]
BYTES = 8 << 30  # address space: a heap that runs wild must not take the machine along
# A machine with other work takes longer by the clock than a test takes of its processors.
PATIENCE = 5

# What every model test includes and no mutation touches, compiled once.
PREFIX = "\n".join(
    f"#include <{name}>"
    for name in (
        "gtest/gtest.h",
        "algorithm",
        "array",
        "functional",
        "map",
        "memory_resource",
        "mutex",
        "thread",
    )
)


class ControlError(Exception):
    """A control that proves nothing: rotten, or it does not compile."""


@dataclass(frozen=True)
class Mutation:
    """One deliberate breakage."""

    path: Path
    file: str
    why: str
    may_hang: bool
    find: str
    replace: str

    @property
    def name(self) -> str:
        """As printed: HEAP/NAME."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @classmethod
    def read(cls, path: Path) -> Mutation:
        """Parses the text form."""
        head, separator, rest = path.read_text(encoding="utf-8").partition("--- find\n")
        find, second, replace = rest.partition("--- replace\n")
        if not separator or not second:
            raise ControlError("has no '--- find' followed by '--- replace'")
        lines = [line.partition(": ") for line in head.splitlines() if line.strip()]
        fields = {key: value.strip() for key, _, value in lines}
        if not {"file", "why"} <= fields.keys() <= {"file", "why", "ends"}:
            raise ControlError("needs 'file:' and 'why:', and may have 'ends:'")
        if fields.get("ends", "timeout") != "timeout":
            raise ControlError("'ends:' can only say timeout")
        return cls(
            path, fields["file"], fields["why"], "ends" in fields, find.rstrip("\n"), replace.rstrip("\n")
        )

    def apply(self, include: Path) -> None:
        """Breaks the copy of the headers."""
        target = include / self.file
        if not target.is_file():
            raise ControlError(f"rotten: there is no {self.file}")
        text = target.read_text(encoding="utf-8")
        if text.count(self.find) != 1:
            raise ControlError(f"rotten: its text is found {text.count(self.find)} times in {self.file}")
        target.write_text(text.replace(self.find, self.replace), encoding="utf-8")


class Workshop:
    """A folder to compile and run model tests in."""

    def __init__(self, folder: Path, compiler: str, seconds: int) -> None:
        self.folder = folder
        self.seconds = seconds
        self.compiler = compiler
        self.prefix = folder / "prefix.hpp"
        self.prefix.write_text(PREFIX + "\n", encoding="utf-8")
        self.compile(["-x", "c++-header", str(self.prefix), "-o", f"{self.prefix}.gch"])

    def compile(self, arguments: list[str]) -> None:
        """Runs the compiler."""
        done = subprocess.run(
            [self.compiler, *FLAGS, *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ControlError("does not compile:\n" + done.stderr)

    def outcome(self, heap: str, mutation: Mutation | None) -> str:
        """How the model test of a heap ends: 'passes', 'timeout', 'a failed assertion' or 'a crash'."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            include = Path(folder, "include")
            shutil.copytree(ROOT / "include", include)
            if mutation is not None:
                mutation.apply(include)
            program = f"{folder}/model_test"
            test = ROOT / f"tests/model/{heap}_model_test.cpp"
            self.compile([
                "-include", str(self.prefix), "-I", str(include), "-I", str(ROOT / "tests"), str(test),
                "-o", program, "-lgtest", "-lgtest_main",
            ])  # fmt: skip
            may_hang = mutation is not None and mutation.may_hang
            return self.run(program, self.seconds if may_hang else PATIENCE * self.seconds)

    def run(self, program: str, seconds: int) -> str:
        """Runs a model test up to its first failure; `seconds` by the clock are for what waits for ever."""
        limits = [f"--as={BYTES}", f"--cpu={self.seconds}", "--core=0"]
        try:
            done = subprocess.run(
                ["prlimit", *limits, program, "--gtest_brief=1", "--gtest_fail_fast"],
                capture_output=True, text=True, errors="replace", check=False, timeout=seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "timeout"
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "timeout"
        if done.returncode == 0:
            return "passes"
        return "a failed assertion" if "Failure\n" in done.stdout else "a crash"


def judge(workshop: Workshop, heap: str, path: Path | None) -> tuple[bool, str]:
    """Whether one control is as it must be, and the line that says so."""
    started = time.monotonic()
    name = f"{heap}, unbroken" if path is None else f"{heap}/{path.stem}"
    try:
        mutation = None if path is None else Mutation.read(path)
        outcome = workshop.outcome(heap, mutation)
    except ControlError as error:
        return False, f"ERROR     {name}: {error}"
    took = f"[{time.monotonic() - started:.1f} s]"
    if mutation is None:
        return outcome == "passes", f"{'ok' if outcome == 'passes' else 'FAILED':9} {name}: {outcome} {took}"
    if outcome == "passes":
        return False, f"SURVIVED  {name}: {mutation.why} {took}"
    if outcome == "timeout" and not mutation.may_hang:
        return False, f"TIMEOUT   {name}: {mutation.why}; not declared as 'ends: timeout' {took}"
    return True, f"killed    {name} by {outcome}: {mutation.why} {took}"


def collect(paths: list[Path]) -> dict[str, list[Path]]:
    """The mutations to run, by heap."""
    files = [f for path in paths for f in (sorted(path.rglob("*.mutation")) if path.is_dir() else [path])]
    heaps: dict[str, list[Path]] = {}
    for file in files:
        heaps.setdefault(file.resolve().parent.name, []).append(file)
    return heaps


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compiler", default="c++", help="a g++ or clang++")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutations at the same time")
    parser.add_argument("--seconds", type=int, default=60, help="CPU time of a model test, which takes a few")
    parser.add_argument("paths", nargs="*", type=Path, default=[HERE], metavar="PATH")
    arguments = parser.parse_args()
    for path in arguments.paths:
        if not path.exists():
            print(f"run.py: cannot read {path}: there is no such file or folder", file=sys.stderr)
            return 2
    heaps = collect(arguments.paths)
    if not heaps:
        print("run.py: no mutation found", file=sys.stderr)
        return 2
    controls = [(heap, path) for heap, files in heaps.items() for path in (None, *files)]
    sound = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        workshop = Workshop(Path(folder), arguments.compiler, arguments.seconds)
        for good, line in pool.map(lambda control: judge(workshop, *control), controls):
            print(line, flush=True)
            sound += good
    mutations = len(controls) - len(heaps)
    print(f"{sound} of {len(controls)} as they must be: {mutations} mutations, {len(heaps)} unbroken heaps")
    return 0 if sound == len(controls) else 1


if __name__ == "__main__":
    sys.exit(main())
