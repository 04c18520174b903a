"""Whether `mallard compare` finds what there is, and no more: a planted difference of 5 %, again and again.

    work, 400 steps a block --malloc--> wrapper of glibc's                      alike
                                        the same, and 20 steps a block beside   planted

Each session is a whole `mallard compare` of a program under glibc, both wrappers, and glibc again. It must
find the planted difference in CPU time, and none under the other wrapper or between glibc and itself. Exit
code 0 when everything ran, 1 with --check when a promise is missed, 2 when something could not be run, 130
when it was interrupted.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from limits import Limit, as_command, judged
from machine import machine_line

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "compare"
MALLARD = Path(sys.executable).parent / "mallard"

# Steps that depend on each other, so that twice as many take twice as long.
STEPS = """
#include <stddef.h>
static inline unsigned long steps(unsigned long x, int count) {
  for (int i = 0; i < count; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}
"""
WORK_STEPS = 400
PLANTED_STEPS = WORK_STEPS // 20
TOGETHER = 1000  # blocks whose planted steps are made at once: a few would be done beside those of the work
WORK = f"""{STEPS}
#include <stdlib.h>
int main(void) {{
  unsigned long x = 1;
  for (int block = 0; block < 100000; ++block) {{
    unsigned long* const p = malloc(64);
    *p = x = steps(x, {WORK_STEPS});
    free(p);
  }}
  return x == 0;
}}
"""
WRAPPER = f"""{STEPS}
void* __libc_malloc(size_t);
static unsigned long x = 1;
void* malloc(size_t size) {{
  static int blocks;
  if (++blocks % {TOGETHER} == 0) x = steps(x, {TOGETHER} * BESIDE);
  return __libc_malloc(size);
}}
"""

METHOD = (
    "found: the ratio of CPU time to glibc's differs from 1 by `mallard compare` itself; for glibc a/a by its"
    " interval alone."
)


class CannotRunError(Exception):
    """Something that is needed did not run."""


@dataclass(frozen=True)
class Found:
    """What one session says of each malloc: its ratio, and whether that is a difference."""

    ratios: dict[str, tuple[float, float, float]]
    differs: dict[str, bool]


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev compare-check",
        description="See whether mallard compare finds a planted difference, and none where there is none.",
    )
    parser.add_argument("--sessions", type=int, default=20, metavar="N", help="comparisons (%(default)s)")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of each (that of mallard compare)")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    wanted = parser.parse_args(given)
    if wanted.sessions < 1:
        parser.error("--sessions: at least 1")
    return wanted


def run(command: Sequence[str | Path], text: str | None = None) -> str:
    """Run a command that must succeed; return what it printed."""
    ran = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise CannotRunError(ran.stderr.strip() or f"{command[0]}: exit code {ran.returncode}")
    return ran.stdout


def build() -> list[str | Path]:
    """Compile the program and both wrappers; return the arguments of mallard compare that name them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    compiler = ("cc", "-O2", "-fno-builtin", "-x", "c", "-")
    run((*compiler, "-o", FOLDER / "work"), WORK)
    for name, steps in (("alike", 0), ("planted", PLANTED_STEPS)):
        run((*compiler, "-shared", "-fPIC", f"-DBESIDE={steps}", "-o", FOLDER / f"{name}.so"), WRAPPER)
    return ["--malloc", FOLDER / "alike.so", "--malloc", FOLDER / "planted.so", "--", FOLDER / "work"]


def found(document: dict[str, Any]) -> Found:
    """Return what a session says."""
    rows = {row["name"]: row for row in document["rows"][1:]}
    of = {name: row["ratios"]["cpu_s"] for name, row in rows.items()}
    return Found(
        {name: (ratio["median"], ratio["low"], ratio["high"]) for name, ratio in of.items()},
        {name: row["differs"]["cpu_s"] for name, row in rows.items()},
    )


def limits(sessions: Sequence[Found]) -> list[Limit]:
    """Judge all sessions; without any, nothing is known."""

    def counted(name: str, differs: bool) -> float | None:
        return sum(one.differs[name] == differs for one in sessions) if sessions else None

    where = f"of {len(sessions)} sessions"
    return [
        Limit("sessions that miss the planted 5 %", len(sessions) // 20, counted("planted.so", False), where),
        Limit("sessions that tell glibc from itself", 0, counted("glibc a/a", True), where),
        Limit("sessions that tell an empty wrapper from glibc", 0, counted("alike.so", True), where),
    ]


def show(console: Console, sessions: Sequence[Found]) -> None:
    """Print a line for each session."""
    names = list(sessions[0].ratios) if sessions else []
    table = Table("session", box=None, pad_edge=False)
    for name in names:
        table.add_column(name, justify="right")
    for number, one in enumerate(sessions, 1):
        cells = (
            f"{median:.3f} {low:.3f}..{high:.3f} {'found' if one.differs[name] else '     '}"
            for name, (median, low, high) in one.ratios.items()
        )
        table.add_row(str(number), *cells)
    console.print(table)
    console.print()
    console.print(Text(METHOD))
    console.print(Text(machine_line()))
    console.print()


def main(given: Sequence[str]) -> int:
    """Compile, compare, print."""
    wanted = arguments(given)
    rounds = [] if wanted.rounds is None else ["--rounds", str(wanted.rounds)]
    sessions: list[Found] = []
    interrupted = False
    try:
        program = build()
        for number in range(wanted.sessions):
            print(f"session {number + 1} of {wanted.sessions}", file=sys.stderr)
            seed = ("--seed", str(number))
            sessions.append(found(json.loads(run((MALLARD, "compare", "--json", *seed, *rounds, *program)))))
    except KeyboardInterrupt:
        interrupted = True
    if wanted.json:
        print(json.dumps([{"ratios": one.ratios, "differs": one.differs} for one in sessions]))
    else:
        show(Console(width=120, highlight=False), sessions)
    return judged(limits(sessions), interrupted, wanted.check, aside=wanted.json)


if __name__ == "__main__":
    as_command("compare-check", main, CannotRunError)
