"""What plans bring to programs whose memory is shuffled, and what they take where phases follow one another.

    mallard record --witness  ->  mallard plan  ->  mallard try      each case by these three commands

    6, 60, 600   subsystems of one class each: only their addresses tell them apart (shuffled_subsystems.cpp)
    kinds        six subsystems of six classes: their code does
    python       CPython on malloc: reads JSON, keeps and changes a search tree of what it says
    phases       eight sites, each of which has nearly all of the memory in its phase (phases.cpp)

    contexts     what it costs that contexts of one to eight frames are recognised (contexts.py)

Exit code 0 when everything ran, 1 with --check when a promise is missed, 2 when something could not be run,
130 when it was interrupted; the table then has what was measured.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

import contexts
from compare_check import MALLARD, CannotRunError, run
from limits import Limit, as_command, judged, number
from machine import machine_line
from mallard import MallardError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "route"
FLAGS = ("-std=c++20", "-O2", "-g")

TREE = """
import json, random
chance = random.Random(1)
text = json.dumps([{"name": f"name {i * 7919 % 100003}", "marks": [i, i / 3]} for i in range(40000)])
def insert(root, row):
    node, name = root, row["name"]
    while node[0] != name:
        side = 1 if name < node[0] else 2
        if node[side] is None:
            node[side] = [name, None, None, row]
        node = node[side]
    node[3] = row
def total(root):
    found, waiting = 0, [root]
    while waiting:
        node = waiting.pop()
        found += len(node[3]["name"]) + len(node[3]["marks"])
        waiting += [child for child in node[1:3] if child is not None]
    return found
root, found = None, 0
for turn in range(4):
    rows = json.loads(text)
    chance.shuffle(rows)
    root = root or [rows[0]["name"], None, None, rows[0]]
    for row in rows:
        insert(root, row)
    found += sum(total(root) for _ in range(4))
print(found)
"""


@dataclass(frozen=True)
class Case:
    """A program, and what is promised of its plan."""

    name: str
    command: tuple[str, ...]
    of_glibc: float | None = None  # at most, of CPU time
    of_best: float | None = None  # at most, of CPU time under the best of the other mallocs
    has_access: bool = False  # prints what its last phase takes; with `of_glibc`, that is judged
    most_rss: float | None = None  # of glibc's


SUBSYSTEMS, PHASES = "shuffled_subsystems", "phases"
BY_INSTANCE = 0.5
CASES = [
    Case("6", (f"./{SUBSYSTEMS}", "6", "600000", "20"), has_access=True, most_rss=1.15),
    Case("60", (f"./{SUBSYSTEMS}", "60", "600000", "20"), BY_INSTANCE, has_access=True, most_rss=1.15),
    Case("600", (f"./{SUBSYSTEMS}", "600", "600000", "20"), BY_INSTANCE, has_access=True, most_rss=1.15),
    Case("kinds", (f"./{SUBSYSTEMS}", "6", "600000", "20", "--kinds"), of_best=1 / 1.5, has_access=True),
    Case("python", ("/usr/bin/python3", "-c", TREE), of_best=1 / 1.3),
    Case("phases", (f"./{PHASES}",), most_rss=1.25),
]
ACCESS = r"access ([0-9.]+)"
# Of the access phase under the best of the other mallocs: where the data fit into the last cache, and else.
ACCESS_WITHIN, ACCESS_BEYOND = 1 / 2, 1 / 1.3
MOST_OFF = 0.1  # of the measured peak

PLAN, BLIND, GLIBC, OURS = "plan", "blind", "glibc", "mallard"
RIVALS = (GLIBC, "jemalloc", "tcmalloc", "mimalloc")  # without one of them nobody knows which is best
METHOD = (
    "CPU, max RSS: of the whole program, medians over the rounds of `mallard try`. best: of the mallocs that"
    " are not ours. access: the phase that walks through all elements."
)


@dataclass(frozen=True)
class Found:
    """What a case took: by the name of a candidate, seconds and bytes."""

    case: Case
    pools: int
    predicted: int
    cpu: dict[str, float]
    access: dict[str, float]
    max_rss: dict[str, float]
    use: str | None  # what `mallard try` says

    def over_best(self, figures: dict[str, float]) -> float | None:
        """Return the plan's figure as a part of the best of other mallocs."""
        if not {PLAN, *RIVALS} <= figures.keys():
            return None
        return figures[PLAN] / min(
            figure for name, figure in figures.items() if name not in (PLAN, BLIND, OURS)
        )

    def over_glibc(self, figures: dict[str, float]) -> float | None:
        """Return the plan's figure as a part of glibc's."""
        return figures[PLAN] / figures[GLIBC] if PLAN in figures and GLIBC in figures else None

    @property
    def prediction(self) -> float | None:
        """Return the predicted peak as a part of the measured one."""
        return self.predicted / self.max_rss[PLAN] if PLAN in self.max_rss else None


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev route", description="Tell what plans bring to programs whose memory is shuffled."
    )
    names = [*(case.name for case in CASES), contexts.NAME]
    parser.add_argument("--case", choices=names, action="append", default=[], help="only this; repeatable")
    parser.add_argument(
        "--rounds", type=int, default=7, metavar="N", help="of each trial, at least 6 (%(default)s)"
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    wanted = parser.parse_args(given)
    if wanted.rounds < 6:
        parser.error("--rounds: at least 6, with fewer there is no verdict")
    return wanted


def build() -> None:
    """Compile the programs."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in (SUBSYSTEMS, PHASES):
        run(("g++-12", *FLAGS, "-o", FOLDER / name, Path(__file__).with_name(f"{name}.cpp")))


def told(*words: str, codes: Sequence[int] = (0,)) -> str:
    """Return what `mallard` prints; its own progress is shown."""
    ran = subprocess.run(
        (str(MALLARD), *words),
        cwd=FOLDER,
        env=os.environ | {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if ran.returncode == 130:
        raise KeyboardInterrupt
    if ran.returncode not in codes:
        raise CannotRunError(f"mallard {words[0]}: exit code {ran.returncode}")
    return ran.stdout


def measured(case: Case, rounds: int) -> Found:
    """Record a case, plan it, try the plan."""
    journal, plan = f"{case.name}.mlrd", f"{case.name}.toml"
    told("record", "--witness", "-o", journal, "--", *case.command)
    planned = json.loads(told("plan", journal, "-o", plan, "--json"))
    figure = ("--figure", ACCESS, "--better", "lower") if case.has_access else ()
    trial = ("try", "--json", "--rounds", str(rounds), *figure, plan)
    tried = json.loads(told(*trial, "--", *case.command, codes=(0, 3)))
    if tried["stopped"]:
        raise CannotRunError(f"mallard try: {tried['stopped']}")
    return found(case, planned, tried)


def found(case: Case, planned: dict[str, Any], tried: dict[str, Any]) -> Found:
    """Return what a plan and its trial say."""
    rows = [row for row in tried["rows"] if not row["repeated"]]

    def medians(figure: str) -> dict[str, float]:
        return {row["name"]: row[figure]["median"] for row in rows}

    return Found(
        case,
        planned["pools"],
        planned["predicted_peak_bytes"],
        medians("cpu_s"),
        medians("figure") if case.has_access else {},
        medians("max_rss_bytes"),
        tried["verdict"]["use"],
    )


def limits(all_found: Sequence[Found], last_cache: int) -> Iterator[Limit]:
    """Judge each case; what was not measured is unjudged."""
    for one in all_found:
        case, rss = one.case, one.max_rss.get(GLIBC, 0.0)
        if case.of_glibc is not None:
            yield Limit(
                "CPU time under the plan, of glibc's", case.of_glibc, one.over_glibc(one.cpu), case.name
            )
        if case.of_best is not None:
            yield Limit("CPU time, of the best malloc's", case.of_best, one.over_best(one.cpu), case.name)
        if case.of_glibc is not None and case.has_access:
            is_beyond = 0 < last_cache < rss
            most = ACCESS_BEYOND if is_beyond else ACCESS_WITHIN
            yield Limit("access phase, of the best malloc's", most, one.over_best(one.access), case.name)
        if case.most_rss is not None:
            yield Limit("max RSS, of glibc's", case.most_rss, one.over_glibc(one.max_rss), case.name)
        off = None if one.prediction is None else abs(one.prediction - 1)
        yield Limit("predicted peak is off by", MOST_OFF, off, case.name)


def last_cache_bytes() -> int:
    """Return the size of the last-level cache; 0 if the system does not tell it."""
    told = [each.read_text() for each in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max((int(size.strip().removesuffix("K")) << 10 for size in told), default=0)


def show(console: Console, all_found: Sequence[Found], times: contexts.Times) -> None:
    """Print a table of programs, and one of contexts."""
    if all_found:
        show_cases(console, all_found)
    if times:
        contexts.show(console, times)
    console.print(Text(f"{machine_line()}; last-level cache {last_cache_bytes() >> 20} MiB"))
    console.print()


def show_cases(console: Console, all_found: Sequence[Found]) -> None:
    """Print a row for each program."""
    table = Table("case", box=None, pad_edge=False)
    for title in (
        "pools",
        "CPU",
        "x glibc",
        "x best",
        "x blind",
        "access x best",
        "RSS x glibc",
        "predicted",
        "use",
    ):
        table.add_column(title, justify="right")
    for one in all_found:
        blind = one.cpu[PLAN] / one.cpu[BLIND] if PLAN in one.cpu and BLIND in one.cpu else None
        ratios = (
            *(one.over_glibc(one.cpu), one.over_best(one.cpu), blind, one.over_best(one.access)),
            *(one.over_glibc(one.max_rss), one.prediction),
        )
        seconds = f"{number(one.cpu.get(PLAN), '.2f')} s"
        cells = (number(ratio, ".2f") for ratio in ratios)
        table.add_row(one.case.name, str(one.pools), seconds, *cells, one.use or "?")
    console.print(table)
    console.print()
    console.print(Text(METHOD))


def main(given: Sequence[str]) -> int:
    """Compile, measure, print."""
    wanted = arguments(given)
    asked = wanted.case or [*(case.name for case in CASES), contexts.NAME]
    all_found: list[Found] = []
    times: dict[str, dict[str, list[float]]] = {}
    interrupted = False
    try:
        build()
        for case in CASES:
            if case.name in asked:
                print(f"case {case.name}", file=sys.stderr)
                all_found.append(measured(case, wanted.rounds))
        if contexts.NAME in asked:
            contexts.timed(FOLDER, wanted.rounds, times)
    except KeyboardInterrupt:
        interrupted = True
    promised = list(limits(all_found, last_cache_bytes()))
    promised += contexts.limits(times) if contexts.NAME in asked else []
    if wanted.json:
        cases = [{**vars(one), "case": one.case.name} for one in all_found]
        print(json.dumps({"cases": cases, "contexts": times}))
    else:
        show(Console(width=120, highlight=False), all_found, times)
    return judged(promised, interrupted, wanted.check, aside=wanted.json)


if __name__ == "__main__":
    as_command("route", main, CannotRunError, contexts.ContextsError, MallardError)
