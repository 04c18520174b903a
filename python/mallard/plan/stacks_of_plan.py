"""The stacks of a journal as a plan names them, and as few frames of each as tell the rules apart.

    contexts of the journal                  in the plan
    malloc_wrapper < parse < main   1        malloc_wrapper < parse   1
    malloc_wrapper < parse < test   1        malloc_wrapper < print   2
    malloc_wrapper < print < main   2        malloc_wrapper           1   all other callers: the most frequent

A frame further out can be looked at only if the recorder knows how far its slot on the stack is away. Frames
of code that is in no file, or in one without a build id, cannot be named, nor what is outwards of them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mallard import MallardError
from mallard.analysis.module_map import NO_MODULE, locate
from mallard.analysis.store import Store
from mallard.analysis.symbols import files_of
from mallard.figures import shown
from mallard.plan.plan_model import MOST_FRAMES, Frame, Module

Passing: TypeAlias = list[tuple[int, int]]  # contexts, each with a node of its stack

DEEPEST = MOST_FRAMES // 2  # frames that the planner looks at


@dataclass(frozen=True, slots=True)
class Told:
    """A context as the plan names it."""

    frames: tuple[Frame, ...]
    rule: int
    example: int  # the context of the journal that allocates most among those that it is for


class Stacks:
    """The frames of all contexts of one journal."""

    def __init__(self, store: Store) -> None:
        """Find each frame's module and offset."""
        module, address = locate(store)
        file_of, files = files_of(store)
        self.modules = modules_of(store, files)
        by_build = {one.build_id: number for number, one in enumerate(self.modules)}
        known = np.array([*(by_build.get(build_id, NO_MODULE) for _, build_id in files), NO_MODULE])
        number = known[np.where(module == NO_MODULE, len(files), file_of[module])]
        scope = store.contexts["name"] > 0
        self.outer = outwards(store.contexts["parent"], scope)
        self.first = np.where(scope, self.outer, np.arange(len(scope)))  # the innermost frame of each context
        number[0] = NO_MODULE
        self.module = number
        self.offset = address + np.uint64(1)  # of the return address, not of the call
        self.step = store.contexts["stack_offset"]
        pairs = np.stack([number.astype(np.uint64), self.offset])
        self.place = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)  # the same for equal frames
        self.goes_on = (self.step > 0) & (self.step % 8 == 0) & (number[self.outer] != NO_MODULE)

    def is_known(self, context: int) -> bool:
        """Tell whether a plan can name the caller of malloc."""
        return bool(self.module[self.first[context]] != NO_MODULE)

    def inner(self, context: int, last: int) -> tuple[int, ...]:
        """Return the places from the innermost frame to that of the context `last`, which called it."""
        places, node = [], int(self.first[context])
        while node > last:
            places.append(int(self.place[node]))
            node = int(self.outer[node])
        return (*places, int(self.place[node]))

    def frames(self, context: int) -> Iterator[Frame]:
        """Yield the frames of a context, innermost first; those of code in no file have no module."""
        node = int(self.first[context])
        while node:
            yield self.frame(node, int(self.step[node]))
            node = int(self.outer[node])

    def frame(self, node: int, step: int) -> Frame:
        """Return one frame."""
        module = int(self.module[node])
        name = self.modules[module].name if module != NO_MODULE else ""
        return Frame(name, int(self.offset[node]), step)

    def told_apart(
        self,
        rule_of: Mapping[int, int],
        weight: NDArray[np.float64],
        least: Mapping[int, int] = MappingProxyType({}),
    ) -> tuple[list[Told], float]:
        """Name contexts in as few frames as tell their rules apart; rule 0 is the default heap.

        A rule in `least` needs that number of frames: a region, out to where it ends. Returns what
        contexts are named by, and the weight of those whom that gives another rule, since frames that
        differ cannot be looked at. O(frames looked at).
        """
        found: list[Told] = []
        mistaken = 0.0
        all_of_them = [(context, int(self.first[context])) for context in rule_of]
        waiting: list[tuple[tuple[Frame, ...], int, Passing]] = [((), 0, all_of_them)]
        while waiting:
            inner, otherwise, passing = waiting.pop()
            depth = 1 + len(inner)
            so_far = {
                context: rule if least.get(rule := rule_of[context], 1) <= depth else 0
                for context, _ in passing
            }
            by_place: defaultdict[int, Passing] = defaultdict(list)
            for context, node in passing:
                by_place[int(self.place[node])].append((context, node))
            for same in by_place.values():
                votes = votes_of(so_far, weight, [context for context, _ in same])
                wanted = max(least.get(rule_of[context], 1) for context, _ in same)
                is_open = depth < wanted or (len(votes) > 1 and depth < DEEPEST)
                step, further = self.further(same, weight) if is_open else (0, [])
                gone = {context for context, _ in further}
                ending = [context for context, _ in same if context not in gone]
                deciding = votes_of(so_far, weight, ending) if ending and further else votes
                rule = max(deciding, key=lambda one: deciding[one])
                mistaken += sum(weight[context] for context in ending if rule_of[context] != rule)
                node = same[0][1]
                if rule != otherwise or any(so_far[context] != rule for context in gone):
                    example = max((c for c, _ in same if so_far[c] == rule), key=lambda c: weight[c])
                    found.append(Told((*inner, self.frame(node, 0)), rule, example))
                if further:
                    waiting.append(((*inner, self.frame(node, step)), rule, further))
        return found, float(mistaken)

    def further(self, same: Passing, weight: NDArray[np.float64]) -> tuple[int, Passing]:
        """Return the bytes to the next frames, and those contexts that have them there, with these frames."""
        steps: defaultdict[int, float] = defaultdict(float)
        for context, node in same:
            if self.goes_on[node]:
                steps[int(self.step[node])] += float(weight[context])
        if not steps:
            return 0, []
        step = max(steps, key=lambda one: steps[one])
        on = [(c, int(self.outer[n])) for c, n in same if self.goes_on[n] and self.step[n] == step]
        return step, on


def votes_of(
    rule_of: Mapping[int, int], weight: NDArray[np.float64], contexts: list[int]
) -> dict[int, float]:
    """Return what each rule's contexts weigh, of some."""
    votes: defaultdict[int, float] = defaultdict(float)
    for context in contexts:
        votes[rule_of[context]] += float(weight[context])
    return votes


def outwards(parent: NDArray[np.uint32], scope: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the next frame outwards of each context; 0: there is none. Scopes are no frames."""
    above = parent.tolist()
    if scope.any():
        for node in range(1, len(above)):
            if scope[above[node]]:
                above[node] = above[above[node]]
    return np.array(above, np.int64)


def modules_of(store: Store, files: list[tuple[str, str]]) -> list[Module]:
    """Return the files that have a build id, the program first; short names are unique."""
    program = store.totals["program"]
    name = Path(program).name
    own = next((f for f in files if f[0] == program), None)
    own = own or next((f for f in files if Path(f[0]).name == name), None)
    if own is None:
        raise MallardError(f"{store.path} does not say which file the program is: no plan can name it")
    if not own[1]:
        raise MallardError(
            f"{shown(own[0])} has no build id: link it with -Wl,--build-id and record it again"
        )
    found: dict[str, Module] = {}
    used: Counter[str] = Counter()
    for path, build_id in [own, *files]:
        if not build_id or build_id in found:
            continue
        short = module_name(path)
        used[short] += 1
        text = short if used[short] == 1 else f"{short} ({used[short]})"
        found[build_id] = Module(text, build_id, shown(path))
    return list(found.values())


def module_name(path: str) -> str:
    """Return what frames call a file; a plan's reader takes no name with other letters."""
    kept = "".join(c if c.isprintable() and c != "<" else "_" for c in shown(Path(path).name))
    return kept.strip() or "module"
