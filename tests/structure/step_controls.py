"""Controls of `./dev test` itself: what fails in a step must fail the whole, and be counted.

step_controls.py

Plants a tree with the steps of tests/steps.sh and tools that only pass or fail, and runs single steps there:
all that passes is counted; one tool that fails is one failure, makes the exit code 1, and is run again the
next time. A runner of tests fails if its exit code, its counts or its silence say so.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What ./dev has in front of the steps: its folder, its options, and the helpers that steps use.
HEAD, SOURCED, _ = (ROOT / "dev").read_text(encoding="utf-8").partition("\n. tests/steps.sh\n")

PASSES, FAILS = "#!/bin/sh\nexit 0\n", "#!/bin/sh\necho planted\nexit 1\n"
RULES = [path for path in (ROOT / "tests/structure").glob("*.py") if "__main__" in path.read_text("utf-8")]
LINTERS = ["clang-format", "mypy", "ruff", "shellcheck"]


class StepControls(unittest.TestCase):
    """Steps in a planted tree."""

    def setUp(self) -> None:
        """Plant a tree in which everything passes."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for copied in ("tests/steps.sh", "cmake/check.sh"):
            (self.root / copied).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / copied, self.root / copied)
        self.tools = {f"structure: {rule.name}": f"tests/structure/{rule.name}" for rule in RULES}
        self.tools |= {f"form: {linter}": f".venv/bin/{linter}" for linter in LINTERS}
        for tool in self.tools.values():
            self.plant(tool, PASSES)
        self.plant("python3", '#!/bin/sh\nexec "$@"\n')  # runs the planted rules
        self.plant("some.cpp", "")
        subprocess.run(["git", "init", "--quiet"], cwd=self.root, check=True)

    def plant(self, path: str, text: str) -> None:
        """Write a file that can be run."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)

    def run_step(self, step: str) -> tuple[int, str]:
        """Run a step; return the exit code of the whole, and its last line. The last 70 are `end`."""
        self.plant("dev", f"{HEAD}{SOURCED}options= compilers=\nPATH=.:$PATH\n{step}\nconclude\n")
        done = subprocess.run(["./dev"], cwd=self.root, capture_output=True, text=True, check=False)
        lines = (done.stdout or done.stderr).splitlines()
        self.end = "\n".join(lines[-70:])
        return done.returncode, lines[-1]

    def test_a_test_is_found_in_the_program_it_is_part_of(self) -> None:
        """By its own name, else by the nearest folder above that is a program."""
        for test, found in (
            ("tests/heap/pool_test.cpp", "heap"),
            ("tests/heap/best_fit/coalesce_test.cpp", "heap"),
            ("tests/unwind/walk_test.cpp", "unwind"),
            ("tests/recorder/kill_test.cpp", "kill"),
            ("tests/gone/gone_test.cpp", ""),
        ):
            named = f"checks='heap\nkill\nunwind'\n[ \"$(check_of {test})\" = '{found}' ]"
            assert self.run_step(f"{named} && count found 1 0")[1] == "1 passed, 0 failed", test

    def test_one_failure_fails_the_whole(self) -> None:
        """Each linter, and each rule that needs no compiler, failing alone."""
        for step, tools in (
            ("structure", "structure"),
            ("structure_controls", "structure"),
            ("form", "form"),
        ):
            command = f"once {step} test_{step} ."
            code, sound = self.run_step(command)
            count = int(sound.split()[0])
            assert (code, sound) == (0, f"{count} passed, 0 failed")
            failing = [tool for name, tool in self.tools.items() if name.startswith(f"{tools}: ")]
            noticed = 0  # failures of all tools, each failing alone
            for tool in failing:
                self.plant(tool, FAILS)
                first, again = self.run_step(command), self.run_step(command)
                assert first == again, (tool, first, again)
                code, line = first
                passed, failed = int(line.split()[0]), int(line.split()[2])
                assert passed + failed == count, (tool, line)
                assert (code == 1) == (failed > 0), (tool, code, line)
                noticed += failed
                self.plant(tool, PASSES)
            assert noticed == count, f"{noticed} of {count} checks of {step} are noticed when they fail"
            assert self.run_step(command) == (0, sound)

    def test_rules_and_mutations_have_their_controls_with_them(self) -> None:
        """A step that is named runs what shows that it can fail, too."""
        self.plant("tests/mutation/run.py", "#!/bin/sh\necho 3 passed, 0 failed\n")
        for rule in (
            "mutation/mutation_controls.py",
            "must_not_compile/check.py",
            "must_not_compile/check_controls.py",
        ):
            self.plant(f"tests/{rule}", PASSES)
        for step, control in (
            ("mutations", "tests/mutation/mutation_controls.py"),
            ("structure", "tests/structure/step_controls.py"),
        ):
            command = f": & tools=$!\ntest_named {step}"
            code, sound = self.run_step(command)
            count = int(sound.split()[0])
            assert (code, sound) == (0, f"{count} passed, 0 failed")
            self.plant(control, FAILS)
            assert self.run_step(command) == (1, f"{count - 1} passed, 1 failed"), step
            self.plant(control, PASSES)

    def test_a_runner_fails_by_its_code_its_counts_or_its_silence(self) -> None:
        """The last line of a runner is its count."""
        for body, code, count in {
            ("echo 3 passed, 0 failed", 0, "3 passed, 0 failed"),
            ("echo 3 passed, 2 failed; exit 1", 1, "3 passed, 2 failed"),
            ("echo 3 passed; exit 1", 1, "3 passed, 1 failed"),
            ("echo 3 passed, 2 errors in 4 s; exit 1", 1, "3 passed, 2 failed"),
            ("exit 0", 1, "0 passed, 1 failed"),
        }:
            self.plant("runner", f"#!/bin/sh\n{body}\n")
            assert self.run_step("suite runner ./runner") == (code, count), body

    def test_what_failed_comes_once_more_at_the_end(self) -> None:
        """The cases and what they expected, out of a long log; how it ends, where it names none."""
        details = "for i in $(seq 90); do echo E  detail $i; done"
        for body, shown in {
            (
                "yes | head -n 90; echo a.cpp:1: Failure; echo 1 is 2; yes no | head -n 90",
                "a.cpp:1: Failure\n1 is 2",
            ),
            ("echo '[  FAILED  ] a.b'; yes | head -n 90", "[  FAILED  ] a.b"),
            (f"{details}; echo FAILED tests/a.py::b", "FAILED tests/a.py::b"),
            (
                "echo FAIL: a; echo AssertionError: b; echo 'FAILED (failures=1)'",
                "FAIL: a\nAssertionError: b",
            ),
            ("echo SURVIVED a; for i in $(seq 90); do echo killed $i; done", "SURVIVED a"),
            (
                "echo FAILED: checks/a; echo ==1==ERROR: AddressSanitizer; yes | head -n 90",
                "==1==ERROR: Address",
            ),
            ("yes | head -n 90; echo Killed", "Killed"),
        }:
            self.plant("runner", f"#!/bin/sh\n{body}\nexit 1\n")
            self.run_step("suite runner ./runner; yes no | head -n 90")
            assert shown in self.end.partition("== failed:")[2], (body, self.end)
        for step, tool in ("structure", "tests/structure/name_once.py"), ("form", ".venv/bin/mypy"):
            self.plant(tool, FAILS)
            self.run_step(f"test_{step}")
            assert "planted" in self.end.partition("== failed:")[2], (step, self.end)

    def test_two_tests_do_not_share_a_folder(self) -> None:
        """The second says so and ends; what the first starts does not keep others out."""
        assert self.run_step("alone sh -c '! [ -e /proc/self/fd/9 ]' && count planted 1 0")[0] == 0
        with (self.root / "build/lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert self.run_step("alone count planted 1 0") == (
                1,
                "dev: another ./dev test runs in this folder",
            )
        assert self.run_step("alone count planted 1 0") == (0, "1 passed, 0 failed")

    def test_a_program_that_a_test_ends_has_failed(self) -> None:
        """Its exit code may be 0; a program that is none of GoogleTest's need not say how many passed."""
        began, ended = "[==========] Running 2 tests.", "[  PASSED  ] 2 tests."
        for said, code in (began, 1), (f"{began}\n{ended}", 0), ("any", 0):
            self.plant("program", f"#!/bin/sh\nprintf '%s\\n' '{said}'\n")
            report = "passed" if code == 0 else "failed"
            assert self.run_step(f"cmake/check.sh r ./program; count {report} $(cases r.{report})")[0] == code
            assert (self.root / f"r.{report}").exists(), said

    def test_a_check_that_breaks_is_a_failure(self) -> None:
        """Reports as GoogleTest and other checks leave them."""
        self.plant("one.passed", "[==========] 4 tests from 2 test suites ran.\n[  PASSED  ] 4 tests.\n")
        self.plant("two.failed", "[       OK ] a.b (1 ms)\nSegmentation fault\n")
        self.plant("three.passed", "whatever it says\n")
        assert self.run_step("count planted $(cases *.passed)") == (0, "5 passed, 0 failed")
        assert self.run_step("count planted $(cases *.passed two.failed)") == (1, "6 passed, 1 failed")


if __name__ == "__main__":
    assert SOURCED, "./dev does not read tests/steps.sh"
    sys.exit(0 if unittest.main(exit=False).result.wasSuccessful() else 1)
