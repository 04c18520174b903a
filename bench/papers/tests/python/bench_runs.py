"""`mallard bench` with a mallard-bench that measures nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

FAKE = Path(__file__).parent / "fake_mallard_bench.py"
MALLARD = str(Path(sys.executable).parent / "mallard")
RESULTS = "results.jsonl"


class Bench:
    """A folder that `mallard bench` runs in."""

    def __init__(self, folder: Path) -> None:
        """Make the program that takes the place of mallard-bench."""
        self.folder = folder
        self.results = folder / RESULTS
        self.program = folder / "mallard-bench"
        self.program.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
        self.program.chmod(0o755)

    def command(self, benchmark: str, *options: str) -> list[str]:
        """Return the command line of a run; what is given later counts."""
        return [MALLARD, "bench", benchmark, "--native", str(self.program), "-o", RESULTS, *options]

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of a run."""
        mine = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        return {**mine, "FAKE_BENCH": str(self.folder), **more}

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run one to its end."""
        with self.start(*arguments, **environment) as running:
            shown, said = running.communicate()
        return subprocess.CompletedProcess(running.args, running.returncode, shown, said)

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Begin one."""
        return self.begun(self.command(*arguments), environment)

    def table(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Print what is kept."""
        with self.begun([MALLARD, "bench", "table", RESULTS, *options], {}) as running:
            shown, said = running.communicate()
        return subprocess.CompletedProcess(running.args, running.returncode, shown, said)

    def begun(self, command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
        """Start a command in the folder."""
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment(**environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def calls(self) -> list[list[str]]:
        """Return how mallard-bench was called so far."""
        return lines(self.folder / "calls")

    def kept(self) -> list[dict[str, Any]]:
        """Return the groups that are kept."""
        return [document["group"] for document in lines(self.results)[1:]]


def lines(path: Path) -> list[Any]:
    """Return the lines of a file of JSON Lines; none if it is not there."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
