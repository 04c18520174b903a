"""Whether `mallard try` finds a gain where there is one, and none elsewhere, again and again.

    planted   400 steps a block under glibc, 5 % fewer with faster.so; other candidates are a library that
              changes nothing, and glibc
    twins     the same program; all candidates are glibc, with a variable that nobody reads
    compute   the same steps without a block; all mallocs that are installed are candidates

Each session is a whole `mallard try` of each. The first must say to use faster.so, the others to use
nothing. Exit code 0 when everything ran, 1 with --check when a promise is missed, 2 when something could not
be run, 130 when it was interrupted.
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

from compare_check import FOLDER, MALLARD, STEPS, WORK_STEPS, CannotRunError, run
from limits import Limit, as_command, judged
from machine import machine_line

FASTER = "faster.so"
FEWER = 21  # steps: a twentieth of all that the program does, which is more than steps
NOTHING = "nothing"
TWINS = [f"TWIN={number} glibc" for number in range(4)]
NOTHING_TO_GAIN = 3

PROGRAM = f"""{STEPS}
#include <stdlib.h>
__attribute__((weak)) int fewer(void);
int main(void) {{
  const int count = {WORK_STEPS} - (fewer != NULL ? fewer() : 0);
  unsigned long x = 1;
  for (int block = 0; block < 100000; ++block) {{
    unsigned long* const p = BLOCK;
    *p = x = steps(x, count);
    if (p != &x) free(p);
  }}
  return x == 0;
}}
"""
LIBRARY = """
#include <stddef.h>
void* __libc_malloc(size_t);
void* malloc(size_t size) { return __libc_malloc(size); }
int fewer(void) { return FEWER; }
"""
METHOD = "use: what the verdict of `mallard try` says; beside it the best candidate and its ratio to glibc."


@dataclass(frozen=True)
class Told:
    """What one trial tells."""

    use: str | None
    best: str | None
    change: float | None


Session = dict[str, Told]


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev try-check",
        description="See whether mallard try finds a planted gain, and none where there is none.",
    )
    parser.add_argument("--sessions", type=int, default=20, metavar="N", help="of three trials (%(default)s)")
    parser.add_argument("--rounds", metavar="N,N,N", help="rounds of each (those of mallard try)")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    wanted = parser.parse_args(given)
    if wanted.sessions < 1:
        parser.error("--sessions: at least 1")
    return wanted


def build() -> dict[str, list[str | Path]]:
    """Compile programs and libraries; return the arguments of mallard try for each trial."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    compiler = ("cc", "-O2", "-fno-builtin", "-x", "c", "-")
    for name, block in (("blocks", "malloc(64)"), ("compute", "&x")):
        run((*compiler, f"-DBLOCK={block}", "-o", FOLDER / name), PROGRAM)
    for name, fewer in ((FASTER, FEWER), ("same.so", 0)):
        run((*compiler, "-shared", "-fPIC", f"-DFEWER={fewer}", "-o", FOLDER / name), LIBRARY)
    candidates = {
        "planted": [str(FOLDER / FASTER), str(FOLDER / "same.so"), *TWINS[:2]],
        "twins": TWINS,
        "compute": [],
    }
    return {
        name: [*(word for one in of for word in ("--malloc", one)), "--", FOLDER / program]
        for (name, of), program in zip(candidates.items(), ("blocks", "blocks", "compute"), strict=True)
    }


def tried(options: Sequence[str | Path]) -> Told:
    """Run one trial."""
    ran = subprocess.run((MALLARD, "try", "--json", *options), capture_output=True, text=True, check=False)
    if ran.returncode not in (0, NOTHING_TO_GAIN):
        raise CannotRunError(ran.stderr.strip() or f"mallard try: exit code {ran.returncode}")
    return told(json.loads(ran.stdout))


def told(document: dict[str, Any]) -> Told:
    """Return what a trial says."""
    verdict = document["verdict"]
    return Told(verdict["use"], verdict["best"], verdict["change"])


def limits(sessions: Sequence[Session]) -> list[Limit]:
    """Judge all sessions; without any, nothing is known."""

    def missed(trial: str, wanted: str) -> float | None:
        return sum(one[trial].use != wanted for one in sessions) if sessions else None

    where = f"of {len(sessions)} trials"
    return [
        Limit("trials that miss the planted 5 %", len(sessions) // 20, missed("planted", FASTER), where),
        Limit("trials that tell glibc from itself", 0, missed("twins", NOTHING), where),
        Limit("trials that find a malloc for what allocates nothing", 0, missed("compute", NOTHING), where),
    ]


def show(console: Console, sessions: Sequence[Session]) -> None:
    """Print a line for each session."""
    names = list(sessions[0]) if sessions else []
    table = Table("session", box=None, pad_edge=False)
    for name in names:
        table.add_column(name)
    for number, session in enumerate(sessions, 1):
        table.add_row(str(number), *(cell(session[name]) for name in names))
    console.print(table)
    console.print()
    console.print(Text(METHOD))
    console.print(Text(machine_line()))
    console.print()


def cell(of: Told) -> str:
    """Return a trial's verdict."""
    best = f"{of.best} {1 + of.change:.3f}" if of.best and of.change is not None else "-"
    return f"use {of.use or '?'}" + (f" ({best})" if of.use != of.best else f" {best.split()[-1]}")


def main(given: Sequence[str]) -> int:
    """Compile, try, print."""
    wanted = arguments(given)
    rounds = [] if wanted.rounds is None else ["--rounds", wanted.rounds]
    sessions: list[Session] = []
    interrupted = False
    try:
        trials = build()
        for number in range(wanted.sessions):
            print(f"session {number + 1} of {wanted.sessions}", file=sys.stderr)
            options = ["--seed", str(number), *rounds]
            sessions.append({name: tried([*options, *of]) for name, of in trials.items()})
    except KeyboardInterrupt:
        interrupted = True
    if wanted.json:
        print(json.dumps([{name: vars(of) for name, of in one.items()} for one in sessions]))
    else:
        show(Console(width=120, highlight=False), sessions)
    return judged(limits(sessions), interrupted, wanted.check, aside=wanted.json)


if __name__ == "__main__":
    as_command("try-check", main, CannotRunError)
