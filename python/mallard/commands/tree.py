"""The call tree for a terminal: what each function and its callees have of a metric.

    100.0 %  12.0 MiB  program > main
     83.2 %  9.98 MiB  ├─ parse > read_value        a callee that has nearly all stands behind its caller
     60.1 %  7.21 MiB  │  ├─ make_node
     16.7 %  2.00 MiB  └─ write

Callees below a threshold are left out. What they have together has a line if that is not below it, and so has
what a function with callees allocates itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from mallard import figures
from mallard.analysis.call_tree import inclusive
from mallard.analysis.function_names import short_name
from mallard.analysis.model import CallTree

# The metrics of a call tree: how their figures are written, and what they count.
METRICS = {
    "calls": (figures.count, "allocations"),
    "bytes": (figures.size, "allocated in all"),
    "live_at_peak": (figures.size, "alive at the peak"),
    "leaked": (figures.size, "alive at exit"),
    "temporaries": (figures.count, "blocks freed before their thread's next allocation"),
}
NEARLY_ALL = 0.01  # of what a caller has, at most, may be missing of a callee that stands behind it
LONGEST_SHARE = len("100.0 %")
LEAST_NAME = 24  # columns that a name has, however deep it is
BRANCH, LAST, THROUGH, GAP = "├─ ", "└─ ", "│  ", "   "
CALLS, MORE = " > ", "…"
PLAIN = str.maketrans({"├": "|", "└": "`", "─": "-", "│": "|", "…": "~"})


@dataclass(frozen=True, slots=True)
class Line:
    """A function with its callees; several names are a chain of calls."""

    value: int
    guide: str
    names: list[str]
    is_rest: bool = False  # of a function whose callees have lines


def render_tree(tree: CallTree, metric: str, threshold: float, console: Console) -> None:
    """Print what has at least that share (0..1) of the whole metric."""
    sums = inclusive(tree.parent, tree.metrics[metric])
    write, counts = METRICS[metric]
    console.print(Text(f"{write(sums[0])} {counts}", style="bold"))
    if sums[0] == 0:
        return
    shown = list(lines(tree, metric, sums, max(threshold * sums[0], 1)))
    width = max(len(write(line.value)) for line in shown)
    for line in shown:
        share, value = figures.share(line.value / sums[0]), write(line.value)
        text = Text(f"{share:>{LONGEST_SHARE}}  {value:>{width}}  ", style="dim" if line.is_rest else "")
        room = max(console.width - text.cell_len, 1)
        guide = deep(line.guide, room - LEAST_NAME)
        text.append(guide, style="dim")
        text.append(chain(line.names, room - cell_len(guide)), style="dim" if line.is_rest else "bold")
        console.print(drawable(text, console), no_wrap=True, overflow="crop", highlight=False)
    console.print(
        Text(f"Callees with less than {figures.share(threshold)} are left out (--threshold).", style="dim")
    )


def lines(tree: CallTree, metric: str, sums: Sequence[int], least: float) -> Iterator[Line]:
    """Yield the lines from the program on, the largest callee first; `sums` are inclusive."""
    callees: list[list[int]] = [[] for _ in sums]
    for node in range(1, len(sums)):
        if sums[node] >= least:
            callees[tree.parent[node]].append(node)
    for of_one in callees:
        of_one.sort(key=lambda node: -sums[node])
    own = tree.metrics[metric]
    waiting: list[tuple[int | Line, str, str]] = [(0, "", "")]  # what comes, its guide, that of what is below
    while waiting:
        first, guide, deeper = waiting.pop()
        if isinstance(first, Line):
            yield replace(first, guide=guide)
            continue
        node, names = first, [name_of(tree, first)]
        least_of_all = sums[first] - min(least - 1, NEARLY_ALL * sums[first])
        while len(callees[node]) == 1 and sums[callees[node][0]] >= least_of_all:
            (node,) = callees[node]
            names.append(name_of(tree, node))
        yield Line(sums[first], guide, names)
        below: list[int | Line] = [*callees[node]]
        if below:
            smaller = sums[node] - own[node] - sum(sums[callee] for callee in callees[node])
            rest = {"(itself)": own[node], "(the rest)": smaller}
            below += [Line(value, "", [name], is_rest=True) for name, value in rest.items() if value >= least]
        for place, callee in reversed(list(enumerate(below, 1))):
            last = place == len(below)
            waiting.append((callee, deeper + (LAST if last else BRANCH), deeper + (GAP if last else THROUGH)))


def name_of(tree: CallTree, node: int) -> str:
    """Return a function's name in short."""
    return short_name(tree.names[tree.name[node]]) or "unknown"


def deep(guide: str, room: int) -> str:
    """Return a guide that leaves names their place: of one too long, the innermost levels."""
    if len(guide) <= max(room, 0):
        return guide
    levels = max(room - len(MORE), 0) // len(BRANCH)
    return MORE + guide[len(guide) - levels * len(BRANCH) :] if levels else MORE


def chain(names: Sequence[str], room: int) -> str:
    """Return a chain of calls that fits into `room` columns; its first and last function stay longest."""
    most = max(room // len(CALLS), 2)  # names that can have room
    for kept in range(min(len(names), most), 1, -1):
        ends = [*names[: kept // 2], MORE, *names[kept // 2 - kept :]]
        whole = CALLS.join(names if kept == len(names) else ends)
        if cell_len(whole) <= room:
            return whole
    whole = f"{MORE}{CALLS}{names[-1]}" if len(names) > 1 else names[0]
    if cell_len(whole) <= room:
        return whole
    return set_cell_size(whole, room - 1).rstrip() + MORE if room > 1 else MORE


def drawable(text: Text, console: Console) -> Text:
    """Return the text with lines of ASCII where the terminal has no others."""
    if console.encoding.lower().startswith("utf"):
        return text
    text.plain = text.plain.translate(PLAIN)
    return text
