"""Mutation controls: break a heap on purpose and demand that its model test fails.

    run.py --compiler COMPILER [--jobs N] [HEAP | HEAP/NAME]...     all heaps, if none is named
    run.py --compiler COMPILER --prepare FOLDER         compiles what all runs share, for --prepared FOLDER

HEAP.mutations here has the name of a model test (tests/*/HEAP_model_test.cpp) and holds its mutations:

    === given_back_but_held                             (the mutation's name)
    file: mallard/layer/chunk_list.hpp
    why: a chunk that is given back stays in what is held
    model: multipool_over_os_pages                      (which of the test's models sees it; else the first)
    promise: release_leaves_the_heap_as_new             (which promise of the suite does; else random traces)
    test: thread/returned_batches_test.cpp              (which test sees it, where the model test cannot)
    ends: timeout                                       (only where the broken heap may run forever)
    --- find
    exact text, once in the file
    --- replace
    what stands there instead; an empty line before the next mutation is no part of it

A broken copy of that one file stands in front of all others, and the model test alone is compiled against
them, without debug checks, so that it is the suite that sees the damage. Where there is a src/NAME/, its
sources are compiled with the test, and may be broken as well (file: NAME/...). First the test is compiled
with one promise of its model, which takes a fraction of all of them; what that lets pass is held against the
whole model, and that, too, against the whole test.
Each mutation must compile, and whatever sees one must pass unbroken: the models that are named, and the
whole test where it was needed; a text that is not found exactly once has rotted. Exit code 1 if anything
survives or is rotten.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

FLAGS = ["-std=c++20", "-O0", "-DMALLARD_CHECKS=0", "-pthread"]
ROOTS = (ROOT / "include", ROOT / "src")
HELD = re.compile(r"(?<=const bool held =).*?(?=;)", re.DOTALL)  # model && model && ..., each with its name
ALL_PROMISES = re.compile(r"keeps_every_promise<(.*)>\(", re.DOTALL)
BYTES = 8 << 30  # address space: a heap that runs wild must not take the machine along
PATIENCE = 900  # seconds by the clock, for what waits for ever; with other work beside it a test takes many
HANGING = 3  # seconds of CPU, for what may run for ever; an unbroken model takes one or two

MOST_SEE = "random_traces_over_an_exact_source"

# What every model test includes, and hardly a mutation touches, is compiled once.
SUITE = "model/every_promise.hpp"
PREFIX = f"""\
#include <functional>
#include <mutex>

#include "{SUITE}"
"""


class ControlError(Exception):
    """A control that proves nothing: rotten, or it does not compile."""


@dataclass(frozen=True)
class Section:
    """One mutation as it is written."""

    heap: str
    name: str
    text: str


@dataclass(frozen=True)
class Mutation:
    """One deliberate breakage."""

    heap: str
    name: str
    file: str
    why: str
    model: str | None
    promise: str
    test: str | None
    may_hang: bool
    find: str
    replace: str

    @classmethod
    def read(cls, section: Section) -> Mutation:
        """Parses the text form."""
        head, separator, rest = section.text.partition("--- find\n")
        find, second, replace = rest.partition("--- replace\n")
        if not separator or not second:
            raise ControlError("has no '--- find' followed by '--- replace'")
        lines = [line.partition(": ") for line in head.splitlines() if line.strip()]
        fields = {key: value.strip() for key, _, value in lines}
        if not {"file", "why"} <= fields.keys() <= {"file", "why", "model", "promise", "test", "ends"}:
            raise ControlError("needs 'file:' and 'why:'; may have 'model:', 'promise:', 'test:' and 'ends:'")
        if fields.get("ends", "timeout") != "timeout":
            raise ControlError("'ends:' can only say timeout")
        return cls(
            section.heap, section.name, fields["file"], fields["why"], fields.get("model"),
            fields.get("promise", MOST_SEE), fields.get("test"), "ends" in fields,
            find.rstrip("\n"), replace.rstrip("\n"),
        )  # fmt: skip

    def broken(self) -> str:
        """Return the text of its file, broken."""
        target = next((found for root in ROOTS if (found := root / self.file).is_file()), None)
        if target is None:
            raise ControlError(f"rotten: there is no {self.file}")
        text = target.read_text(encoding="utf-8")
        if text.count(self.find) != 1:
            raise ControlError(f"rotten: its text is found {text.count(self.find)} times in {self.file}")
        return text.replace(self.find, self.replace)


def test_of(heap: str, mutation: Mutation | None) -> str:
    """Return the text of the test that sees a mutation: its own, or the model test of the heap."""
    (path,) = ROOT.glob(f"tests/*/{heap}_model_test.cpp")
    if mutation is not None and mutation.test is not None:
        path = ROOT / "tests" / mutation.test
        if not path.is_file():
            raise ControlError(f"rotten: there is no tests/{mutation.test}")
    return path.read_text(encoding="utf-8")


def model_of(test: str, mutation: Mutation) -> str:
    """Return what holds the model that sees a mutation to its promises, in the text of a model test."""
    held = HELD.search(test)
    for model in held[0].split("&&") if held is not None else ():
        if mutation.model is None or f'"{mutation.model}"' in model:
            return model
    raise ControlError(f"rotten: there is no model {mutation.model}")


def held_to(test: str, promises: str) -> str:
    """Return the text of a model test that holds its heaps to these promises alone."""
    return HELD.sub(lambda _: promises, test)


def stages(test: str, mutation: Mutation) -> Iterator[str]:
    """Yield what a broken heap is held against, one after the other: a promise, a model, the test."""
    if mutation.test is not None:
        yield test
        return
    model = model_of(test, mutation)
    yield held_to(test, ALL_PROMISES.sub(rf"register_promises<\1, {mutation.promise}>(", model))
    yield held_to(test, model)
    yield test


def unbroken(test: str, mutations: list[Section]) -> str:
    """Return the text of a model test with every model that one of the mutations is held against."""
    models = {}
    for section in mutations:
        with suppress(ControlError):  # told where the mutation itself is judged
            models[model_of(test, Mutation.read(section))] = True
    return held_to(test, "&&".join(models)) if models else test


class Workshop:
    """A folder to compile and run model tests in; `prepared` has what is compiled once."""

    def __init__(self, folder: Path, prepared: Path, compiler: str, seconds: int) -> None:
        self.folder = folder
        self.seconds = seconds
        self.compiler = compiler
        self.prefix = prepared / "prefix.hpp"
        self.contents = prepared / "prefix.d"

    def prepare(self) -> None:
        """Compile what all tests include."""
        self.prefix.write_text(PREFIX, encoding="utf-8")
        output = ["-o", f"{self.prefix}.gch", "-MMD", "-MF", str(self.contents)]
        self.compile(["-x", "c++-header", f"-I{ROOT}/include", f"-I{ROOT}/tests", str(self.prefix), *output])

    def compile(self, arguments: list[str]) -> None:
        """Run the compiler."""
        done = subprocess.run(
            [self.compiler, *FLAGS, *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ControlError("does not compile:\n" + done.stderr)

    def outcome(self, heap: str, texts: Iterable[str], mutation: Mutation | None) -> tuple[str, str]:
        """Return how the first of these texts of a model test ends that does not pass, and that text.

        'a failed assertion', 'a crash' or 'timeout'; 'passes' if all of them do.
        """
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            changed = Path(folder, "changed")
            prefix = ["-include", str(self.prefix)]
            if mutation is not None:
                copy = changed / mutation.file
                copy.parent.mkdir(parents=True)
                copy.write_text(mutation.broken(), encoding="utf-8")
                if f"{ROOT}/include/{mutation.file}" in self.contents.read_text(encoding="utf-8").split():
                    prefix = []
            own = [p.relative_to(ROOT / "src") for p in sorted((ROOT / "src" / heap).rglob("*.cpp"))]
            sources = [str(here if (here := changed / p).exists() else ROOT / "src" / p) for p in own]
            includes = [f"-I{root}" for root in (changed, *ROOTS, ROOT / "tests")]
            program, source = Path(folder, "model_test"), Path(folder, "model_test.cpp")
            may_hang = mutation is not None and mutation.may_hang
            outcome, text = "passes", ""
            for text in texts:
                source.write_text(text, encoding="utf-8")
                self.compile([
                    *prefix, *includes, str(source), *sources, "-o", str(program), "-lgtest", "-lgtest_main",
                ])  # fmt: skip
                outcome = self.run(program, min(self.seconds, HANGING) if may_hang else self.seconds)
                if outcome != "passes":
                    break
            return outcome, text

    def run(self, program: Path, seconds: int) -> str:
        """Runs a model test up to its first failure, for `seconds` of CPU."""
        limits = [f"--as={BYTES}", f"--cpu={seconds}", "--core=0"]
        try:
            done = subprocess.run(
                ["prlimit", *limits, program, "--gtest_brief=1", "--gtest_fail_fast"],
                capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "timeout"
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "timeout"
        if done.returncode == 0:
            return "passes"
        return "a failed assertion" if "Failure\n" in done.stdout else "a crash"


def judge(
    workshop: Workshop, heap: str, section: Section | None, all_of_heap: list[Section]
) -> tuple[bool, str]:
    """Whether one control is as it must be, and the line that says so."""
    started = time.monotonic()
    name = f"{heap}, unbroken" if section is None else f"{heap}/{section.name}"
    try:
        mutation = None if section is None else Mutation.read(section)
        test = test_of(heap, mutation)
        texts = [unbroken(test, all_of_heap)] if mutation is None else stages(test, mutation)
        outcome, seen_by = workshop.outcome(heap, texts, mutation)
        if seen_by == test and mutation is not None and outcome != "passes":
            alone = workshop.outcome(heap, [test], None)[0]
            if alone != "passes":
                raise ControlError(f"its test does not pass unbroken: {alone}")
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


def sections(file: Path) -> list[Section]:
    """The mutations of a heap."""
    _, *texts = re.split(r"^=== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [Section(file.stem, name, text) for name, _, text in (t.partition("\n") for t in texts)]


def collect(folder: Path, wanted: list[str]) -> dict[str, list[Section]]:
    """The mutations to run, by heap: those of the heaps and the HEAP/NAMEs that are wanted; else all."""
    heaps = {file.stem: sections(file) for file in sorted(folder.glob("*.mutations"))}
    known = {
        *heaps,
        *(f"{heap}/{section.name}" for heap, all_of_heap in heaps.items() for section in all_of_heap),
    }
    for name in wanted:
        if name not in known:
            raise LookupError(f"there is no {name}")
    chosen = {
        heap: [s for s in all_of_heap if not wanted or {heap, f"{heap}/{s.name}"} & {*wanted}]
        for heap, all_of_heap in heaps.items()
    }
    return {heap: some for heap, some in chosen.items() if some}


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compiler", default="c++", help="a g++ or clang++")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutations at the same time")
    parser.add_argument("--seconds", type=int, default=60, help="CPU time of a model test, which takes a few")
    shared = parser.add_mutually_exclusive_group()
    shared.add_argument("--prepare", type=Path, metavar="FOLDER", help="compile what runs share, and no more")
    shared.add_argument("--prepared", type=Path, metavar="FOLDER", help="where --prepare has put that")
    parser.add_argument("--of", type=Path, default=HERE, metavar="FOLDER", help="where the .mutations are")
    parser.add_argument("wanted", nargs="*", metavar="HEAP | HEAP/NAME")
    arguments = parser.parse_args()
    if arguments.prepare is not None:
        arguments.prepare.mkdir(exist_ok=True)
        Workshop(arguments.prepare, arguments.prepare, arguments.compiler, arguments.seconds).prepare()
        return 0
    try:
        heaps = collect(arguments.of, arguments.wanted)
    except LookupError as unknown:
        print(f"run.py: {unknown}", file=sys.stderr)
        return 2
    if not heaps:
        print("run.py: no mutation found", file=sys.stderr)
        return 2
    controls = [(heap, s, some) for heap, some in heaps.items() for s in (None, *some)]
    sound = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.jobs) as pool:
        prepared = arguments.prepared or Path(folder)
        workshop = Workshop(Path(folder), prepared, arguments.compiler, arguments.seconds)
        if arguments.prepared is None:
            workshop.prepare()
        for good, line in pool.map(lambda control: judge(workshop, *control), controls):
            print(line, flush=True)
            sound += good
    mutations = len(controls) - len(heaps)
    print(f"{sound} of {len(controls)} as they must be: {mutations} mutations, {len(heaps)} unbroken heaps")
    return 0 if sound == len(controls) else 1


if __name__ == "__main__":
    sys.exit(main())
