"""What a recorded program's blocks take a heap: counted by mallard-replay over the whole of a journal.

The program is the installed one, not the one built here: what is compared is counted in the same run of it.
It takes a few seconds a journal.
"""

import json
from collections.abc import Iterator
from typing import Any

from callgrind import ROOT, CountError, run
from rows import Key

REPLAY = ROOT / ".venv" / "bin" / "mallard-replay"
FIXTURES = ROOT / "tests" / "fixtures"
JOURNALS = ("sqlite3", "cc1plus")
STRATEGIES = ("best_fit", "boost.dlmalloc")

SCENARIO = "replay of {}"


def replayed() -> dict[Key, float]:
    """Return instructions of an allocation and a deallocation, net of the harness, in each journal."""
    if not REPLAY.exists():
        raise CountError(f"{REPLAY} is not there: it comes with ./dev instructions")
    return {key: figure for name in JOURNALS for key, figure in pairs(name, measured(name))}


def measured(name: str) -> dict[str, Any]:
    """Replay a journal; times are not of interest."""
    chosen = [argument for strategy in STRATEGIES for argument in ("--strategy", strategy)]
    journal = FIXTURES / f"{name}.txt.xz"
    told = run(str(REPLAY), str(journal), *chosen, "--warm-time", "0", "--instructions", "--json")
    found: dict[str, Any] = json.loads(told)
    return found


def pairs(name: str, found: dict[str, Any]) -> Iterator[tuple[Key, float]]:
    """Yield the figures of our strategies: two events are a pair. What was not counted has none."""
    for row in found["rows"]:
        instructions = row["instructions_per_event"]
        if row["strategy"] in STRATEGIES and instructions is not None:
            yield Key(SCENARIO.format(name), row["strategy"], row["binding"], 1), round(2 * instructions, 2)
