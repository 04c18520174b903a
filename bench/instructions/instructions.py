"""Instructions of the heaps' operations, counted by callgrind: deterministic where a clock is not.

Builds one program, runs it once under callgrind and prints what each operation takes, net of the loop around
it, lets mallard-replay count what the journals of the fixtures take, and says whether what is promised about
them is held. Exit code 0 when everything ran, 1 with --check when a promise is missed or a row is more than
5 % from the golden file, 2 when something could not be run.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.table import Table

import contexts
import pages
from bounds import limits
from callgrind import (
    COMPILER,
    JOURNALS,
    MALLOC,
    SCENARIO,
    CountError,
    count,
    count_in,
    of_mallocs,
    replayed,
)
from limits import Limit, exit_code, verdict
from rows import BaselineError, Counted, GoldenError, Key, accept, accepted, changes, name, net

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "instructions"
GOLDEN = Path(__file__).with_name("golden.txt")
PAGES = pages.PAGES
WIDTH = 120
PAGES_APART = 20  # another colour for each header of a slab

HOW_TO_ACCEPT = "if that is meant to be: ./dev instructions --accept, and say why where you commit it"

# Of the tables: a line for each way to do a thing, a column for each number of live blocks.
TITLES = {
    "pair": "an allocation and a deallocation of 48 bytes, by random replacement in L live blocks",
    "malloc pair": "malloc and free of a block, by random replacement in L live blocks; mallard is preloaded",
    "routed pair": "malloc(48) and free under a plan: by the frames that it looks at; owner: by a register",
    "life": "a heap's life: construct, one pair of 48 bytes, destroy",
    "bumping": "an allocation of 48 bytes while nothing was freed since the last clear",
    "life, empty": "a heap constructed and destroyed, of which nothing is asked",
    "life, eight blocks": "the same with eight allocations of 48 bytes",
    "clear, eight blocks": "eight allocations of 48 bytes and a clear",
    "life, system calls": "1 if such lives call the system, once they were led before",
    "large free": "a free above the largest class, with L such blocks live",
    **{SCENARIO.format(name): f"an allocation and a deallocation of a recorded {name}" for name in JOURNALS},
    "full chunks": "an allocation of 48 bytes with L blocks live and all chunks but one full",
}


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev instructions", description="Count the instructions of each heap's operations."
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON, too")
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument(
        "--check",
        action="store_true",
        help="exit with 1 if a limit is not held or a row is more than 5 %% from the golden file",
    )
    wanted.add_argument(
        "--accept", action="store_true", help="write the golden file and the tables of the pages anew"
    )
    wanted.add_argument(
        "--placements",
        type=int,
        metavar="N",
        help="count with the heaps' memory at N places, and print the rows that depend on it",
    )
    return parser.parse_args(given)


def of_plans(folder: Path) -> Iterator[list[Counted]]:
    """Yield what contexts.cpp counts of malloc and free under plans, of each of its contexts."""
    program = contexts.build(folder)
    for way in contexts.WAYS:
        image = contexts.write_image(program, way, folder)
        yield count_in(folder, program, way, preload=MALLOC, MALLARD_MALLOC_PLAN=str(image))


def tables(figures: Mapping[Key, float]) -> Iterator[tuple[str, Table]]:
    """Yield each scenario with its title, in the order they were counted."""
    for scenario in dict.fromkeys(key.scenario for key in figures):
        rows = {key: figure for key, figure in figures.items() if key.scenario == scenario}
        yield f"{scenario}: {TITLES[scenario]}", table(scenario, rows)


def table(scenario: str, figures: Mapping[Key, float]) -> Table:
    """Return the rows of one scenario."""
    made = Table(box=None, header_style="bold")
    made.add_column("who")
    made.add_column("way")
    counts = sorted({key.live for key in figures})
    for live in counts:
        made.add_column(f"L={live}" if len(counts) > 1 else "each", justify="right")
    for who, way in dict.fromkeys((key.allocator, key.way) for key in figures):
        found = (figures.get(Key(scenario, who, way, live)) for live in counts)
        made.add_row(who, way, *("-" if figure is None else f"{figure:,.1f}" for figure in found))
    return made


def show(figures: Mapping[Key, float], judged: Sequence[Limit]) -> None:
    """Print the tables, the method and the verdicts."""
    console = Console(width=WIDTH, highlight=False)
    for title, made in tables(figures):
        console.print(title)
        console.print(made)
        console.print()
    console.print(f"counted by callgrind, the loop around nothing subtracted; built by {' '.join(COMPILER)}")
    console.print(
        "replays: the whole journal, once warm, by mallard-replay as it is installed, net of its baseline"
    )
    console.print("what the kernel does is not counted\n")
    for limit in judged:
        print(verdict(limit))


def whole(figures: Mapping[Key, float], judged: Sequence[Limit]) -> dict[str, object]:
    """Return everything as JSON has it."""
    rows = [{**vars(key), "figure": figure} for key, figure in figures.items()]
    promised = [{**vars(limit), "held": limit.held} for limit in judged]
    return {"benchmark": "instructions", "method": " ".join(COMPILER), "rows": rows, "limits": promised}


def at_placements(places: int) -> None:
    """Print the least and the most of each row that depends on where heaps have their memory."""
    figures = [net(count(FOLDER, PAGES_APART * place)) for place in range(places)]
    for key in figures[0]:
        found = [at_one[key] for at_one in figures]
        if min(found) != max(found):
            print(f"{name(key)}: {min(found):.1f} to {max(found):.1f}")


def main(given: Sequence[str]) -> int:
    """Build, count, print, judge."""
    wanted = arguments(given)
    if wanted.placements is not None:
        at_placements(wanted.placements)
        return 0
    figures = net(count(FOLDER))
    for counted in chain(of_mallocs(FOLDER), of_plans(FOLDER)):
        figures |= net(counted)
    of_all = {**figures, **replayed()}
    judged = list(limits(of_all))
    show(of_all, judged)
    if wanted.json is not None:
        wanted.json.write_text(json.dumps(whole(of_all, judged), indent=2) + "\n", encoding="utf-8")
    if wanted.accept:
        accept(GOLDEN, figures)
        pages.refresh(accepted(GOLDEN), PAGES)
        return 0
    changed = list(changes(accepted(GOLDEN), figures))
    for change in changed:
        print(f"CHANGED {change}")
    if changed:
        print(HOW_TO_ACCEPT)
    return exit_code(False, False, wanted.check, [*(limit.held for limit in judged), not changed])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (CountError, BaselineError, GoldenError, contexts.ContextsError, OSError) as reason:
        print(f"instructions: {reason}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
