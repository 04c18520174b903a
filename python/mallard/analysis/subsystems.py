"""Divides a program into subsystems: by the subtrees of its calls, by modules, threads or annotations.

    contexts --symbols--> tree of functions --collapse, partition, refine--> subsystem of each context

The other divisions need no search: each context or thread names its subsystem itself.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from mallard import figures
from mallard.analysis.function_names import own_name
from mallard.analysis.groups import Grouping
from mallard.analysis.model import Frame
from mallard.analysis.partition import (
    Collapsed,
    Limits,
    Observed,
    collapse,
    partition,
    reduce,
    sums_of_subtrees,
)
from mallard.analysis.refine import Nodes, refine
from mallard.analysis.store import Store
from mallard.analysis.symbols import Symbols

MOST_CALLERS = 3  # in the name of a subsystem
WAYS = ("subtree", "module", "thread", "annotation")

# Functions that say nothing of what a program does below them, and the modules that consist of such.
PASSAGE = re.compile(
    r"_start|main|(__)?clone3?|start_thread|execute_native_thread_routine"
    r"|(void |int )?std::(jthread|thread|function|_Function_handler|__invoke|_Bind).*"
    r"|.*[{<]lambda[^/]*[}>]::operator\(\).*"
)
PASSAGE_MODULES = re.compile(r"(libc|libpthread|libstdc\+\+|ld-linux.*)\.so.*")


@dataclass(frozen=True, slots=True)
class Division:
    """Subsystems, and which one each context or thread belongs to."""

    grouping: Grouping
    names: list[str]
    paths: list[list[Frame]]  # of each root, outermost first; empty where it is no subtree


def divide(store: Store, symbols: Symbols, by: str, limits: Limits) -> Division:
    """Divide the program in one of WAYS."""
    match by:
        case "module":
            modules = {context: site_module(symbols, context) for context in used_contexts(store)}
            return by_name(store, modules, limits.most, "modules")
        case "annotation":
            scopes = {context: innermost_scope(store, context) for context in used_contexts(store)}
            return by_name(store, scopes, limits.most, "scopes")
        case "thread":
            return by_thread(store, limits.most)
    return by_subtree(store, symbols, limits)


def by_subtree(store: Store, symbols: Symbols, limits: Limits) -> Division:
    """Divide the call tree where behaviour changes."""
    calls = symbols.tree
    whole = collapse(calls.parent.tolist(), calls.function.tolist())
    node_of = whole.node_of[calls.innermost]
    observed = observe(store, node_of)
    tree = heavy(whole, observed, limits.least_share)
    node_of, observed = tree.node_of[node_of], observed.at(tree.node_of)
    passage = [True, *(is_passage(*calls.functions[function]) for function in tree.function[1:])]
    wrapper = [False, *((symbols.wraps & ~calls.is_scope)[tree.function[1:]].tolist())]
    parts = partition(tree, observed, limits, wrapper)
    parts = refine(Nodes(tree, observed.shares(len(passage)), passage, wrapper), parts, limits)
    paths = [[Frame(*calls.functions[tree.function[n]]) for n in tree.path(root)] for root in parts.roots]
    rest = program_name(store) if len(paths) == 1 else f"rest of {program_name(store)}"
    grouping = Grouping("context", parts.owner[node_of].astype(np.uint32), len(paths))
    return Division(grouping, [rest, *names_of(paths[1:])], paths)


def heavy(tree: Collapsed, observed: Observed, least_share: float) -> Collapsed:
    """Reduce a tree to nodes whose subtrees have at least a share of all."""
    shares = sums_of_subtrees(tree.parent, observed.shares(len(tree.parent)))
    shares[0] = 1
    return reduce(tree, shares >= least_share)


def is_passage(function: str, module: str) -> bool:
    """Return whether a function says nothing about what the program does below it."""
    return bool(PASSAGE.fullmatch(function) or PASSAGE_MODULES.fullmatch(module))


def names_of(paths: Sequence[Sequence[Frame]]) -> list[str]:
    """Name each subsystem by the function of its root; by callers, too, as many as tell it from others."""
    often = Counter(own_name(path[-1].function) for path in paths)
    found: list[str] = []
    for path in paths:
        name = own_name(path[-1].function)
        outwards = [frame for frame in reversed(path[:-1]) if not is_passage(frame.function, frame.module)]
        callers = [own_name(frame.function) for frame in outwards if not is_unnamed(frame.function)]
        least = 1 if callers and (often[name] > 1 or is_unnamed(path[-1].function)) else 0
        most = min(len(callers), MOST_CALLERS) if least else 0
        ways = [called(name, callers[:number]) for number in range(least, most + 1)]
        found.append(next((way for way in ways if way not in found), unlike(ways[-1], found)))
    return found


def called(name: str, callers: Sequence[str]) -> str:
    """Return the name of a function with its callers, the innermost first."""
    return f"{name} (called by {' from '.join(callers)})" if callers else name


def unlike(name: str, others: Collection[str]) -> str:
    """Return the name, with a number behind it if it is one of the others."""
    candidates = (name if number == 1 else f"{name} ({number})" for number in count(1))
    return next(candidate for candidate in candidates if candidate not in others)


def is_unnamed(function: str) -> bool:
    """Return whether a function is known by its address only."""
    return "+0x" in function


def program_name(store: Store) -> str:
    """Return the name of the program, or of the journal where the program is not known."""
    totals = store.totals
    return figures.program_name(totals["arguments"], totals["program"], store.path)


def used_contexts(store: Store) -> list[int]:
    """Return the contexts that allocated."""
    return [context for (context,) in store.rows("SELECT DISTINCT context FROM heap ORDER BY context")]


def by_name(store: Store, names: Mapping[int, str], most: int, what: str) -> Division:
    """Let all contexts of one name be a subsystem; `names` are those of the used contexts."""
    sizes: Counter[str] = Counter()
    for context, allocations in store.rows("SELECT context, count(*) FROM heap GROUP BY context"):
        sizes[names[context]] += allocations
    kinds = sorted(sizes, key=lambda name: (-sizes[name], name))
    return largest("context", {c: kinds.index(name) for c, name in names.items()}, kinds, most, what)


def largest(key: str, kind_of: Mapping[int, int], names: Sequence[str], most: int, what: str) -> Division:
    """Let each kind of contexts or threads be a subsystem; if there are too many, the last ones share one."""
    shown = len(names) if len(names) <= most else most - 1
    told = list(names[:shown])
    if others := len(names) - shown:
        told.append(unlike(f"{others} other {what}" if shown else f"{others} {what}", told))
    group_of = np.zeros(1 + max(kind_of), np.uint32)
    for place, kind in kind_of.items():
        group_of[place] = min(kind, shown)
    return Division(Grouping(key, group_of, len(told)), told, [[] for _ in told])


def site_module(symbols: Symbols, context: int) -> str:
    """Return the module of the innermost frame that is neither an allocator's nor the C library's."""
    first = ""
    for _, module in symbols.tree.outwards(int(symbols.site_nodes[context])):
        if module and not PASSAGE_MODULES.fullmatch(module):
            return module
        first = first or module
    return first or "unknown"


def innermost_scope(store: Store, context: int) -> str:
    """Return the name of the innermost annotated scope."""
    while context != 0:
        if name := store.names[int(store.contexts["name"][context])]:
            return name
        context = int(store.contexts["parent"][context])
    return "unannotated"


def by_thread(store: Store, most: int) -> Division:
    """Let each allocating thread be a subsystem."""
    rows = store.rows("SELECT thread, count(*) AS n FROM heap GROUP BY thread ORDER BY n DESC, thread")
    names: dict[str, int] = {}
    for thread, _ in rows:
        names[unlike(thread_name(store, thread), names)] = thread
    kind_of = {thread: kind for kind, thread in enumerate(names.values())}
    return largest("thread", kind_of, list(names), most, "threads")


def thread_name(store: Store, thread: int) -> str:
    """Return the name of a thread and the number that tells it from others."""
    known = store.threads[thread] if thread < len(store.threads) else {"name": "", "system_id": 0}
    return f"{known['name'] or 'thread'} ({known['system_id'] or thread})"


# Which kind of behaviour each allocation shows, the bins that tell subsystems apart:
#
#     bin = size, a factor of four each x lifetime in events, a factor of sixteen each x end
#
# Bins are coarse on purpose: 72 and 80 bytes, or 3 and 5 events, are no change that a strategy could use. Of
# ends there are four: freed by the thread that allocated, by another one, given to realloc, never freed.
# 16, 17: realloc and reallocarray (mallard/journal/event.hpp)
KINDS = """
    SELECT context,
        (size_class + 7) // 8 AS sizes,
        CASE WHEN free IS NULL THEN 0 ELSE 1 + floor(log2(free - allocation) / 4)::INTEGER END AS lifetimes,
        CASE WHEN free IS NULL THEN 0 WHEN free_kind IN (16, 17) THEN 1
            WHEN free_thread <> thread THEN 2 ELSE 3 END AS ends,
        count(*) AS objects,
        sum(size)::DOUBLE AS bytes
    FROM heap GROUP BY ALL ORDER BY ALL
"""


def observe(store: Store, node_of: NDArray[np.int64]) -> Observed:
    """Return what each node of a tree shows; `node_of` is that of each context."""
    rows = store.sql.execute(KINDS).fetchnumpy()
    kinds = (rows["sizes"].astype(np.int64) * 64 + rows["lifetimes"]) * 4 + rows["ends"]
    return Observed(
        node=node_of[rows["context"]],
        bin=np.unique(kinds, return_inverse=True)[1],
        objects=rows["objects"].astype(np.float64),
        bytes=rows["bytes"].astype(np.float64),
    )
