"""Where the page's replay comes from: a file that mallard-replay wrote, or mallard-replay itself.

--replay auto      run it, if the journal has at most a million events; up to half a million, as always does
--replay always    run it, with all that is drawn
--replay never     leave it out
--replay FILE      read what `mallard replay --json` printed
"""

import json
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from mallard import MallardError, figures
from mallard.analysis.progress import waiting
from mallard.figures import shown
from mallard.native import tool

AUTOMATIC_EVENTS = 1_000_000
# CPU seconds of warm passes in each process: hundreds of passes of a small journal, one of a large one.
WARM_SECONDS = "0.05"
# What the page draws beside times and footprint: it takes as long again.
DRAWN_EVENTS = 500_000
DRAWN = ("--latency", "--passes", "10", "--curve")
WAYS = ("auto", "always", "never")
# What each row has, measured or not.
MEMBERS = (
    *("strategy", "binding", "status", "reason", "ns_per_event", "spread", "cold_ns_per_event"),
    *("max_held", "fragmentation", "held_after", "page_faults"),
)

Replay = dict[str, Any]


def replay_of(journal: str, events: int, wanted: str) -> tuple[Replay | None, str]:
    """Return the replay of a journal, or None and what the page says instead."""
    if wanted not in WAYS:
        return read(wanted, journal), ""
    if wanted == "never" or (wanted == "auto" and events > AUTOMATIC_EVENTS):
        why = "" if wanted == "never" else f": {figures.count(events)} events take a while"
        return None, f"Not replayed{why}. This adds it: {command(journal)}"
    return run(journal, DRAWN if wanted == "always" or events <= DRAWN_EVENTS else ())


def command(journal: str) -> str:
    """Return the command that makes the report with a replay."""
    return shlex.join(["mallard", "report", shown(journal), "--replay", "always"])


def run(journal: str, options: Sequence[str]) -> tuple[Replay | None, str]:
    """Replay the journal; the page says so if it cannot be replayed."""
    with waiting(f"replaying {journal} with every strategy"):
        run = subprocess.run(
            [tool("mallard-replay"), "--json", "--warm-time", WARM_SECONDS, *options, journal],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    if not run.stdout:
        said = run.stderr.strip() or f"mallard-replay ended with {run.returncode}"
        return None, f"Not replayed. {said}"
    replay: Replay = json.loads(run.stdout)
    return replay, ""


def of_blocks(replay: Mapping[str, Any]) -> bool:
    """Return whether it is of single blocks on one thread: what the verdict stands on."""
    return bool(replay["journal"].get("replayed", "blocks") == "blocks")


def of_threads(replay: Mapping[str, Any]) -> bool:
    """Return whether it is on the recorded threads."""
    return bool(replay["journal"].get("replayed") == "threads")


def read(path: str, journal: str) -> Replay:
    """Return a replay from its file; it must be of this journal."""
    replay = kept_replay(path, f" (--replay {', '.join(WAYS)} or a file)")
    of = Path(replay["journal"]["file"]).name
    if not of_blocks(replay) and not of_threads(replay):
        raise MallardError(
            f"the replay {path} is of regions; the report shows replays of blocks and of threads"
        )
    if replay.get("part"):
        raise MallardError(
            f"the replay {path} is of a part with heaps of its own (--part); the report shows whole journals"
        )
    if of != shown(Path(journal).name):
        raise MallardError(f"{path} replays {of}, not {journal}")
    expect_whole(replay, path)
    return replay


def kept_replay(path: str, others: str = "") -> Replay:
    """Return a replay from its file, whatever it is of; `others` says what else could have been named."""
    try:
        replay = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=refuse)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise MallardError(f"cannot read the replay {path}: {why}{others}") from error
    try:
        known = replay["journal"]["file"] and replay["rows"] and replay["method"] and replay["machine"]
    except (KeyError, TypeError) as error:
        raise MallardError(f"{path} is not what `mallard replay --json` prints") from error
    if not known:
        raise MallardError(f"{path} holds no row: nothing was replayed")
    return dict(replay)


def expect_whole(replay: Replay, path: str) -> None:
    """Refuse a replay whose rows are not what the tool writes now."""
    for row in replay["rows"]:
        if missing := [name for name in MEMBERS if not isinstance(row, dict) or name not in row]:
            raise MallardError(
                f"{path}: a row has no {missing[0]!r}: it is damaged, or another version has written it; "
                "replay again"
            )


def refuse(constant: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads, and JSON does not have."""
    raise ValueError(constant)
