"""What it costs to recognise a context: pairs of contexts.cpp under plans that look at each of its frames.

    own        pool 1          level 1 < level 2 < ... < level N
    other-K    pool 2          level 1 < ... < the other call of level K, for each K up to N
    owner      64 pools, four times as many for chance, by rbx

The plan names its own context first, so that each frame is expected; where it is to be rare, it stands behind
all others, which are expected in its place. A pair's time under a plan is compared with that under the malloc
without one, and that under mimalloc.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from limits import Limit, number
from mallard.compare.mallocs import PLAN_VARIABLE, PRELOAD, chosen
from mallard.compare.plans import build_id_of
from mallard.plan import Context, Frame, Module, Plan, Rule, Witness, image_of

BENCH = Path(__file__).resolve().parents[1]
NAME = "contexts"
COMPILER = ("g++-12", "-std=c++20", "-O2", "-Wl,-z,now,--build-id")

FRAMES = {"1 frame": 1, "2 frames": 2, "4 frames": 4, "8 frames": 8}
OWNER = "owner"
OWNERS = 64
WAYS = (*FRAMES, OWNER)
RARE = ", rare"  # behind the name of a way; timed, not counted

OURS, MIMALLOC, PLANNED = "mallard", "mimalloc", "plan"
Times = Mapping[str, Mapping[str, Sequence[float]]]  # ns a pair, by context and by who allocates

# ns that a plan may add to a pair: for a context, and for each of its frames.
MOST_OF_CONTEXT, MOST_OF_FRAME = 3.0, 0.6
MOST_OF_PAIR = 13 / 12  # of mimalloc's, where the caller decides
METHOD = (
    "ns a pair of malloc(48) and free with 64 blocks alive, net of the loop and of the calls: medians of the"
    " rounds, each a process, in turn. rare: other contexts are expected at each frame. owner: by a word that"
    " only each of 64 owners has."
)


class ContextsError(Exception):
    """The program or one of its plans does not work."""


def run(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> str:
    """Run a command that must succeed and complain of nothing; return what it printed."""
    try:
        ran = subprocess.run(
            command, env=os.environ | (environment or {}), capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise ContextsError(f"{command[0]}: {error.strerror}") from error
    if ran.returncode != 0 or ran.stderr:
        raise ContextsError(ran.stderr.strip() or f"{command[0]}: exit code {ran.returncode}")
    return ran.stdout


def build(folder: Path) -> Path:
    """Compile the program."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / NAME
    source = Path(__file__).with_name(f"{NAME}.cpp")
    run((*COMPILER, f"-I{BENCH}", source, "-o", program))
    return program


def write_image(program: Path, way: str, folder: Path) -> Path:
    """Write a plan's image, so named that the malloc complains if it is of another build."""
    image = folder / f"{NAME}.{way.replace(' ', '-')}.image"
    image.write_bytes(image_of(plan(program, way)))
    return image.absolute()


def plan(program: Path, way: str) -> Plan:
    """Return a plan for one of the program's contexts."""
    told = learned(program)
    if way == OWNER:
        rules = [Rule("pool", (Context(told[OWNER]),), witness=Witness("rbx", OWNERS, 4 * OWNERS))]
    else:
        frames = FRAMES[way.removesuffix(RARE)]
        others = tuple(Context(told[f"other-{level}"]) for level in range(1, frames + 1))
        rules = [Rule("pool", (Context(told["own"][:frames]),)), Rule("pool", others)]
        if way.endswith(RARE):
            rules.reverse()
    return Plan(way, (Module(NAME, build_id_of(str(program)), str(program)),), tuple(rules))


def learned(program: Path) -> dict[str, tuple[Frame, ...]]:
    """Return the program's contexts, as it tells them."""
    told = run((program, "learn"))
    return {name: tuple(map(frame, frames)) for name, *frames in map(str.split, told.splitlines())}


def frame(told: str) -> Frame:
    """Return a frame: "offset@bytes to the next one", the former hexadecimal."""
    offset, step = told.split("@")
    return Frame(NAME, int(offset, 16), int(step))


def routed(program: Path, way: str, environment: Mapping[str, str], folder: Path) -> dict[int, int]:
    """Return how many calls each rule of a plan gets."""
    counters = folder / f"{NAME}.counters"
    counters.unlink(missing_ok=True)
    wanted = {**environment, "MALLARD_MALLOC_PLAN_COUNTERS": str(counters.absolute())}
    run((program, way.removesuffix(RARE), "100"), wanted)
    told = [json.loads(line) for line in counters.read_text().splitlines()] if counters.exists() else []
    return {one["rule"]: one["hits"] for one in told}


def timed(folder: Path, rounds: int, times: dict[str, dict[str, list[float]]]) -> None:
    """Add what pairs take under mimalloc, our malloc, and a plan for their context, in turn."""
    program = build(folder)
    libraries = {one.name: {PRELOAD: one.library} for one in chosen([OURS, MIMALLOC], again=False)[1:]}
    plans = {}
    for way in (*WAYS, f"8 frames{RARE}"):
        plans[way] = libraries[OURS] | {PLAN_VARIABLE: str(write_image(program, way, folder))}
        hits = routed(program, way, plans[way], folder)
        if hits.get(2 if way.endswith(RARE) else 1, 0) == 0:
            raise ContextsError(f"no call is routed by the plan for {way}")
    for turn in range(rounds):
        print(f"contexts: round {turn + 1} of {rounds}", file=sys.stderr)
        for way, planned in plans.items():
            for who, environment in (libraries | {PLANNED: planned}).items():
                taken = float(run((program, way.removesuffix(RARE)), environment))
                times.setdefault(way, {}).setdefault(who, []).append(taken)


def median(times: Times, name: str, who: str) -> float | None:
    """Return the median of a context's pairs."""
    found = times.get(name, {}).get(who)
    return statistics.median(found) if found else None


def added(times: Times, name: str) -> float | None:
    """Return ns that the plan adds to a pair."""
    planned, without = (median(times, name, who) for who in (PLANNED, OURS))
    return None if planned is None or without is None else planned - without


def limits(times: Times) -> Iterator[Limit]:
    """Judge the contexts of frames; what was not measured is unjudged."""
    for name, frames in FRAMES.items():
        most = MOST_OF_CONTEXT + MOST_OF_FRAME * frames
        yield Limit("ns that a plan adds to a pair", most, added(times, name), name)
    first = next(iter(FRAMES))
    planned, theirs = (median(times, first, who) for who in (PLANNED, MIMALLOC))
    ratio = planned / theirs if planned is not None and theirs else None
    yield Limit("a pair under a plan, of mimalloc's", MOST_OF_PAIR, ratio, first)


def show(console: Console, times: Times) -> None:
    """Print a row for each context."""
    table = Table("context", box=None, pad_edge=False)
    for title in (MIMALLOC, OURS, PLANNED, "added"):
        table.add_column(title, justify="right")
    for name in times:
        of_each = (median(times, name, who) for who in (MIMALLOC, OURS, PLANNED))
        table.add_row(name, *(number(ns, ".2f") for ns in (*of_each, added(times, name))))
    console.print(table)
    console.print()
    console.print(Text(METHOD))
