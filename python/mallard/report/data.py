"""From a journal to what the page shows of it, made small enough to be a page.

    Profile, CallTree, replay --culled--> JSON

The browser sees the members of Profile and CallTree as model.py names them, and the replay as it was
written. What is stored differently is put back by page/main.js: frames of stacks are numbers of `frames`,
since stacks of one program are alike; columns that change little from row to row are steps. Times of single
operations keep four digits.
"""

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from mallard.analysis.call_tree import call_tree, inclusive
from mallard.analysis.model import CallTree, Frame, Profile
from mallard.analysis.profile import READ, Options, profile_of
from mallard.analysis.progress import progress_bar
from mallard.analysis.store import Store
from mallard.analysis.symbols import Symbols
from mallard.analysis.verdict import judged
from mallard.figures import shown
from mallard.processes import processes, summary_of
from mallard.report.replay import of_blocks, replay_of

# A node of the flame graph that is less than this part of every metric cannot be seen.
SMALLEST_SHARE = 0.0005
MOST_NODES = 20_000
SMALLER = "(smaller)"

# Of a row of a replay.
TIMES = ("alloc_ns", "free_ns", "realloc_ns", "calloc_ns")
STEPPED = {"operations": ("event",), "curve": ("event", "live", "granted", "held_min", "held_max")}


@dataclass(frozen=True, slots=True)
class JournalReport:
    """One journal as the page shows it: call tree culled, `replay` the JSON of mallard-replay or None."""

    profile: Profile
    call_tree: CallTree
    replay: dict[str, Any] | None
    replay_hint: str  # what the page says where there is no replay
    started_unix_ns: int | None = None


def as_json(report: JournalReport) -> str:
    """Return what the browser gets of one journal."""
    frames: dict[Frame, int] = {}
    profile = asdict(replace(report.profile, sites=[]))
    profile["sites"] = [
        asdict(replace(site, stack=[]))
        | {"stack": [frames.setdefault(frame, len(frames)) for frame in site.stack]}
        for site in report.profile.sites
    ]
    whole = {
        "profile": profile,
        "frames": [asdict(frame) for frame in frames],
        "call_tree": asdict(report.call_tree),
        "journal": shlex.quote(shown(report.profile.journal)),
        "replay": None if report.replay is None else small(report.replay),
        "replay_hint": report.replay_hint,
    }
    return json.dumps(whole, separators=(",", ":"), allow_nan=False)


def small(replay: Mapping[str, Any]) -> dict[str, Any]:
    """Return a replay as the page stores it: every point of it, in less room."""
    return {**replay, "rows": [small_row(row) for row in replay["rows"]]}


def small_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return one row with times rounded, and columns as steps."""
    made = {**row, **{name: rounded(row[name]) for name in TIMES if name in row}}
    for name, columns in STEPPED.items():
        table = row.get(name)
        if table:
            made[name] = {**table, **{column: steps(table[column]) for column in columns}}
    if row.get("operations"):
        made["operations"]["ns"] = rounded(row["operations"]["ns"])
    return made


def steps(values: Iterable[int | None]) -> list[int | None]:
    """Return each value less the one before it, the first less 0; None stays, and is no value to the next."""
    found: list[int | None] = []
    before = 0
    for value in values:
        found.append(None if value is None else value - before)
        before = before if value is None else value
    return found


def rounded(times: Any) -> Any:
    """Return times with four significant digits, whatever they are in."""
    if isinstance(times, dict):
        return {name: rounded(value) for name, value in times.items()}
    if isinstance(times, list):
        return [rounded(value) for value in times]
    if not isinstance(times, float):
        return times
    short = float(f"{times:.4g}")
    return int(short) if short.is_integer() else short


def largest_shares(tree: CallTree) -> list[float]:
    """Return of each node its largest part of any metric."""
    largest = np.zeros(len(tree.parent))
    for own in tree.metrics.values():
        values = inclusive(tree.parent, own)
        if values[0]:
            np.maximum(largest, np.array(values) / values[0], out=largest)
    shares: list[float] = largest.tolist()
    return shares


def culled(tree: CallTree, share: float = SMALLEST_SHARE, most: int = MOST_NODES) -> CallTree:
    """Return the tree without nodes too small to see; what they held is in a "(smaller)" beside them.

    Sums of every node stay what they were.
    """
    size = largest_shares(tree)
    limit = max(share, sorted(size, reverse=True)[most] if len(size) > most else 0.0)

    new = [0] * len(tree.parent)  # node of the result that a node became or went into
    parent, name, module = [tree.parent[0]], [tree.name[0]], [tree.module[0]]
    names = tree.names
    metrics = {metric: [values[0]] for metric, values in tree.metrics.items()}
    kept = [True] * len(tree.parent)
    smaller: dict[int, int] = {}  # the "(smaller)" of a node of the result
    for node in range(1, len(tree.parent)):
        above = tree.parent[node]
        kept[node] = kept[above] and size[node] > limit
        if not kept[node] and not kept[above]:
            new[node] = new[above]
        elif not kept[node] and new[above] in smaller:
            new[node] = smaller[new[above]]
        else:
            new[node] = len(parent)
            parent.append(new[above])
            name.append(tree.name[node])
            module.append(tree.module[node])
            for values in metrics.values():
                values.append(0)
            if not kept[node]:
                if names is tree.names:
                    names = [*names, SMALLER]
                smaller[new[above]] = new[node]
                name[-1] = len(names) - 1
        for metric, values in metrics.items():
            values[new[node]] += tree.metrics[metric][node]
    return with_used_names(CallTree(parent, name, names, module, tree.modules, metrics))


def with_used_names(tree: CallTree) -> CallTree:
    """Return the tree with the names that occur in it, and no others."""
    numbers: dict[int, int] = {}
    name = [numbers.setdefault(number, len(numbers)) for number in tree.name]
    return replace(tree, name=name, names=[tree.names[number] for number in numbers])


def of_journal(journal: str, options: Options, replay: str) -> JournalReport:
    """Return all that the page shows of one journal; `replay` is what report/replay.py takes."""
    with progress_bar(f"report {journal}") as progress:
        store = Store.read(journal, lambda share: progress(READ * share))
        symbols = Symbols(store)
        profile = profile_of(store, symbols, options, progress)
        tree = culled(call_tree(store, symbols))
        started = store.totals["start_unix_ns"]
        store.sql.close()
    replayed, hint = replay_of(journal, profile.totals.events, replay)
    if replayed is not None and of_blocks(replayed):
        profile = judged(profile, replayed["rows"])
    return JournalReport(profile, tree, replayed, hint, started or None)


def with_children(journals: list[str]) -> list[str]:
    """Return the journals, each followed by those of its child processes and theirs."""
    found = [one.journal for journal in journals for one in processes(journal, summary_of(journal))]
    return list(dict.fromkeys(found))
