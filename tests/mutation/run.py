"""Mutation controls: break a heap on purpose and demand that its model test fails.

    run.py --compiler COMPILER [--jobs N] [HEAP | HEAP/NAME]...     all mutations, if none is named
    run.py --compiler COMPILER --changed --sample 8                 of what changed, and of one heap in 8

mutations.py says how a mutation is written. A broken copy of a file stands in front of all others, and the
model test alone is compiled against it, without debug checks, so that it is the suite that sees the damage.
Where there is a src/HEAP/, its sources are compiled with the test, and may be broken as well
(file: HEAP/...).

Mutations of a heap that change the body of a function are compiled together: an environment variable chooses
one of them (switches.py). Each of the others is compiled by itself. The test is first compiled with nothing
but the properties that are to see its mutations; what those let pass is held against the whole test.
Mutations that name a test of their own are compiled with it in the same way, and held against all of it.

Each mutation must compile, and whatever sees one must pass unbroken. A mutation has rotted if its text is not
found exactly once, or if its test, model or property is gone; --changed tells that of all mutations, also of
those that it does not run. Exit code 1 if anything survives or is rotten; the last line counts.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock

import mutations
import switches
from mutations import ROOT, ROOTS, ControlError, Mutation, Section

FLAGS = ["-std=c++20", "-O0", "-DMALLARD_CHECKS=0", "-pthread"]
HELD = re.compile(r"(?<=const bool held =).*?(?=;)", re.DOTALL)  # model && model && ..., each with its name
MODEL = re.compile(r'has_every_property<(?P<type>.*)>\(\s*"(?P<name>\w+)"\)', re.DOTALL)
BYTES = 8 << 30  # address space: a heap that runs wild must not take the machine along
PATIENCE = 900  # seconds by the clock, for what waits forever; with other work beside it a test takes many
HANGING = 3  # seconds of CPU, for what may run forever; an unbroken model takes one or two

# What every model test includes, and hardly a mutation touches, is compiled once.
SUITE = ROOT / "tests/model/every_property.hpp"
PREFIX = f"""\
{switches.DECLARATION}
#include <functional>
#include <mutex>

#include "model/{SUITE.name}"
"""


class Workshop:
    """A folder to compile and run model tests in."""

    def __init__(self, folder: Path, compiler: str, seconds: int) -> None:
        self.folder = folder
        self.seconds = seconds
        self.compiler = compiler
        self.prefix = folder / "prefix.hpp"
        self.precompiled: set[str] = set()

    def precompile(self) -> None:
        """Compile what every model test includes."""
        contents = self.folder / "prefix.d"
        self.prefix.write_text(PREFIX, encoding="utf-8")
        output = ["-o", f"{self.prefix}.gch", "-MMD", "-MF", str(contents)]
        self.compile(["-x", "c++-header", f"-I{ROOT}/include", f"-I{ROOT}/tests", str(self.prefix), *output])
        self.precompiled = set(contents.read_text(encoding="utf-8").split())

    def compile(self, arguments: list[str]) -> None:
        """Run the compiler."""
        done = subprocess.run(
            [self.compiler, *FLAGS, *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise ControlError("does not compile:\n" + done.stderr)

    def program(self, heap: str, text: str, changed: dict[str, str]) -> Path:
        """Compile a text of a heap's model test, with files of the library as they are changed."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        for file, content in changed.items():
            copy = folder / file
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(content, encoding="utf-8")
        prefix = self.prefix
        if self.precompiled & {f"{ROOT}/include/{file}" for file in changed}:
            prefix = folder / "prefix.hpp"
            prefix.write_text(PREFIX, encoding="utf-8")
        source, program = folder / "model_test.cpp", folder / "model_test"
        source.write_text(text, encoding="utf-8")
        own = [p.relative_to(ROOT / "src") for p in sorted((ROOT / "src" / heap).rglob("*.cpp"))]
        sources = [str(here if (here := folder / p).exists() else ROOT / "src" / p) for p in own]
        includes = [f"-I{root}" for root in (folder, *ROOTS, ROOT / "tests")]
        libraries = ["-lgtest", "-lgtest_main"]
        self.compile([
            "-include", str(prefix), *includes, str(source), *sources, "-o", str(program), *libraries,
        ])  # fmt: skip
        return program

    def outcome(self, program: Path, tests: str, number: int, seconds: int) -> str:
        """Runs tests up to their first failure: 'passes', 'a failed assertion', 'a crash' or 'timeout'."""
        limits = [f"--as={BYTES}", f"--cpu={seconds}", "--core=0"]
        options = ["--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={tests}"]
        try:
            done = subprocess.run(
                ["prlimit", *limits, program, *options], env=os.environ | {switches.VARIABLE: str(number)},
                capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "timeout"
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "timeout"
        if done.returncode == 0:
            return "passes"
        return "a failed assertion" if "Failure\n" in done.stdout else "a crash"


@dataclass(frozen=True)
class Verdict:
    """Whether one control is as it must be, and the line that says so."""

    good: bool
    line: str


# What is to be done next; it ends with verdicts, and with more that is to be done, in any order.
Step = Callable[[], tuple[list[Verdict], list["Step"]]]


@dataclass
class Program:
    """A compiled model test, and the numbers that its mutations have in it."""

    path: Path
    numbers: dict[Mutation, int] = field(default_factory=dict)


class ModelTest:
    """The model test of a heap, and the mutations it is to notice: those of its sections that are chosen."""

    def __init__(self, workshop: Workshop, heap: str, sections: list[Section], chosen: list[Section]) -> None:
        self.workshop = workshop
        self.heap = heap
        self.sections = sections
        self.chosen = chosen
        self.text = ""
        self.types: dict[str, str] = {}
        self.mutations: list[Mutation] = []
        self.whole_lock = Lock()
        self.whole_program: Program | ControlError | None = None

    def read(self) -> list[Verdict]:
        """Read the test and all sections; return what has rotted."""
        source = next(ROOT.glob(f"tests/*/{self.heap}_model_test.cpp"), None)
        if source is None:
            return [Verdict(False, f"ERROR     {self.heap}: rotten: there is no {self.heap}_model_test.cpp")]
        self.text = source.read_text(encoding="utf-8")
        held = HELD.search(self.text)
        models = held[0].split("&&") if held is not None else []
        self.types = {found["name"]: found["type"] for model in models if (found := MODEL.search(model))}
        rotten = []
        for section in self.sections:
            try:
                mutation = Mutation.read(section)
                self.seen_by(mutation)
                if section in self.chosen:
                    self.mutations.append(mutation)
            except ControlError as error:
                rotten.append(Verdict(False, f"ERROR     {section.full_name}: {error}"))
        return rotten

    def begin(self) -> tuple[list[Verdict], list[Step]]:
        """Compile what can be compiled together; then come the runs."""
        verdicts = self.read()
        if not self.mutations:
            return verdicts, []
        by_test: dict[Path, list[Mutation]] = {}
        for mutation in self.mutations:
            if mutation.test is not None:
                by_test.setdefault(mutation.test, []).append(mutation)
        steps: list[Step] = [partial(self.judge_by_their_test, *its) for its in by_test.items()]
        try:
            program = self.together(self.held_to(self.by_model()), self.by_model())
        except ControlError as error:
            return [*verdicts, Verdict(False, f"ERROR     {self.heap}, unbroken: {error}")], steps
        steps.append(partial(self.unbroken, program, f"{self.heap}, unbroken"))
        for mutation in self.by_model():
            if mutation in program.numbers:
                steps.append(partial(self.judge, program, mutation))
            else:
                steps.insert(0, partial(self.judge_alone, mutation))
        return verdicts, steps

    def by_model(self) -> list[Mutation]:
        """The mutations that the model test sees."""
        return [mutation for mutation in self.mutations if mutation.test is None]

    def seen_by(self, mutation: Mutation) -> tuple[str, str]:
        """Return the name of the model that sees a mutation, and its type."""
        name = mutation.model or next(iter(self.types), "")
        if name not in self.types:
            raise ControlError(f"rotten: there is no model {mutation.model}")
        if not re.search(rf"\b{mutation.property}\b", SUITE.read_text(encoding="utf-8")):
            raise ControlError(f"rotten: there is no property {mutation.property}")
        return name, self.types[name]

    def held_to(self, some: list[Mutation]) -> str:
        """Return the text of the test with nothing but the properties that are to see these mutations."""
        properties: dict[tuple[str, str], list[str]] = {}
        for mutation in some:
            of_model = properties.setdefault(self.seen_by(mutation), [])
            if mutation.property not in of_model:
                of_model.append(mutation.property)
        held = [f'register_properties<{t}, {", ".join(p)}>("{name}")' for (name, t), p in properties.items()]
        return HELD.sub(lambda _: " " + " && ".join(held), self.text) if held else self.text

    def together(self, text: str, some: list[Mutation]) -> Program:
        """Compile a text of a test with those of some mutations that a run can choose among."""
        chosen = [m for m in some if switches.changed_body(m.sound, m.broken) is not None]
        while True:
            numbers = {mutation: number for number, mutation in enumerate(chosen, 1)}
            files = {
                file: switches.switched(
                    next(m.sound for m in chosen if m.file == file),
                    {numbers[m]: m.broken for m in chosen if m.file == file},
                )
                for file in {m.file for m in chosen}
            }
            try:
                path = self.workshop.program(self.heap, text, {f: s.text for f, s in files.items()})
            except ControlError as error:
                guilty = {n for file, made in files.items() for n in made.blamed(file, str(error))}
                if not chosen:
                    raise
                chosen = [m for m in chosen if numbers[m] not in guilty] if guilty else []
                continue
            return Program(path, numbers)

    def whole(self) -> Program:
        """Return the whole test, compiled when it is first asked for."""
        with self.whole_lock:
            if self.whole_program is None:
                try:
                    self.whole_program = self.together(self.text, self.by_model())
                except ControlError as error:
                    self.whole_program = error
        if isinstance(self.whole_program, ControlError):
            raise self.whole_program
        return self.whole_program

    def unbroken(self, program: Program, name: str) -> tuple[list[Verdict], list[Step]]:
        """Judge a test without mutations."""
        outcome = self.workshop.outcome(program.path, "*", 0, self.workshop.seconds)
        good = outcome == "passes"
        return [Verdict(good, f"{'ok' if good else 'FAILED':9} {name}: {outcome}")], []

    def seconds(self, mutation: Mutation) -> int:
        """How much CPU time a broken test may take."""
        return min(self.workshop.seconds, HANGING) if mutation.may_hang else self.workshop.seconds

    def judge(self, program: Program, mutation: Mutation) -> tuple[list[Verdict], list[Step]]:
        """Judge a mutation that a program has."""
        number, seconds = program.numbers[mutation], self.seconds(mutation)
        test = f"{self.seen_by(mutation)[0]}.{mutation.property}"
        outcome = self.workshop.outcome(program.path, test, number, seconds)
        if outcome == "passes":
            return [], [partial(self.judge_by_all, mutation)]
        return [verdict(mutation, outcome)], []

    def judge_by_all(self, mutation: Mutation) -> tuple[list[Verdict], list[Step]]:
        """Judge a mutation by the whole test."""
        try:
            program = self.whole()
        except ControlError as error:
            return [Verdict(False, f"ERROR     {mutation.name}: {error}")], []
        return self.judge_by_whole(program, self.text, mutation)

    def judge_by_whole(
        self, program: Program, text: str, mutation: Mutation
    ) -> tuple[list[Verdict], list[Step]]:
        """Judge a mutation by all of a test: this program, or, if it does not have it, one of this text."""
        number = program.numbers.get(mutation)
        try:
            path = self.alone(mutation, text) if number is None else program.path
        except ControlError as error:
            return [Verdict(False, f"ERROR     {mutation.name}: {error}")], []
        return [verdict(mutation, self.workshop.outcome(path, "*", number or 0, self.seconds(mutation)))], []

    def judge_by_their_test(self, test: Path, some: list[Mutation]) -> tuple[list[Verdict], list[Step]]:
        """Compile a test with those that it is to see, and see that it passes unbroken; then judge each."""
        text = test.read_text(encoding="utf-8")
        try:
            program = self.together(text, some)
            outcome = self.workshop.outcome(program.path, "*", 0, self.workshop.seconds)
            if outcome != "passes":
                raise ControlError(f"its test does not pass unbroken: {outcome}")
        except ControlError as error:
            return [Verdict(False, f"ERROR     {mutation.name}: {error}") for mutation in some], []
        return [], [partial(self.judge_by_whole, program, text, mutation) for mutation in some]

    def alone(self, mutation: Mutation, text: str) -> Path:
        """Compile a text of the test with one mutation."""
        return self.workshop.program(self.heap, text, {mutation.file: mutation.broken})

    def judge_alone(self, mutation: Mutation) -> tuple[list[Verdict], list[Step]]:
        """Judge a mutation that takes a compilation of its own."""
        try:
            path = self.alone(mutation, self.held_to([mutation]))
        except ControlError as error:
            return [Verdict(False, f"ERROR     {mutation.name}: {error}")], []
        outcome = self.workshop.outcome(path, "*", 0, self.seconds(mutation))
        if outcome == "passes":
            return [], [partial(self.judge_by_all, mutation)]
        return [verdict(mutation, outcome)], []


def verdict(mutation: Mutation, outcome: str) -> Verdict:
    """Whether this is how a test of a broken heap must end."""
    if outcome == "passes":
        return Verdict(False, f"SURVIVED  {mutation.name}: {mutation.why}")
    if outcome == "timeout" and not mutation.may_hang:
        return Verdict(False, f"TIMEOUT   {mutation.name}: {mutation.why}; not declared as 'ends: timeout'")
    return Verdict(True, f"killed    {mutation.name} by {outcome}: {mutation.why}")


def run(steps: list[Step], jobs: int) -> tuple[int, int]:
    """Do all steps, and those that come of them; tell each verdict, and return how many are good and bad."""
    good = bad = 0
    with ThreadPoolExecutor(jobs) as pool:
        pending = {pool.submit(step) for step in steps}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for verdicts, more in (future.result() for future in done):
                pending |= {pool.submit(step) for step in more}
                for judged in verdicts:
                    print(judged.line, flush=True)
                    good, bad = good + judged.good, bad + (not judged.good)
    return good, bad


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compiler", default="c++", help="a g++ or clang++")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at the same time")
    parser.add_argument("--seconds", type=int, default=60, help="CPU time of a model test, which takes a few")
    parser.add_argument(
        "--of", type=Path, default=mutations.HERE, metavar="FOLDER", help="has the .mutations"
    )
    parser.add_argument(
        "--changed", action="store_true", help="those of what changed, and of a sample of heaps"
    )
    parser.add_argument("--sample", type=int, default=8, metavar="N", help="one heap in N, if --changed")
    parser.add_argument("wanted", nargs="*", metavar="HEAP | HEAP/NAME")
    arguments = parser.parse_args()
    try:
        sections = mutations.collect(arguments.of, arguments.wanted)
    except LookupError as unknown:
        print(f"run.py: {unknown}", file=sys.stderr)
        return 2
    if not sections:
        print("run.py: no mutation found", file=sys.stderr)
        return 2
    chosen = sections
    if arguments.changed:
        chosen, told = mutations.changed_and_sample(sections, arguments.sample)
        print(told, flush=True)
    heaps = {s.heap: [other for other in sections if other.heap == s.heap] for s in sections}
    with tempfile.TemporaryDirectory() as folder:
        workshop = Workshop(Path(folder), arguments.compiler, arguments.seconds)
        if chosen:
            workshop.precompile()
        longest_first = sorted(heaps, key=lambda heap: -len(heaps[heap]))
        tests = [ModelTest(workshop, heap, heaps[heap], chosen) for heap in longest_first]
        good, bad = run([test.begin for test in tests], arguments.jobs)
    print(f"{good} passed, {bad} failed")
    return 0 if bad == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
