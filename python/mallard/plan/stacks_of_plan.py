"""The stacks of a journal as a plan names them, and as few frames of each as tell the rules apart.

    contexts of the journal                  in the plan
    malloc_wrapper < parse < main   1        malloc_wrapper < parse   1
    malloc_wrapper < parse < test   1        malloc_wrapper < print   2
    malloc_wrapper < print < main   2        malloc_wrapper           1   all other callers: the most frequent

Frames that only a few blocks need are left out. The callers that most blocks have are listed as well, for
the malloc to compare first. A frame further out can be looked at only if the recorder knows how far its slot
on the stack is away. Frames of code that is in no file, or in one without a build id, cannot be named, nor
what is outwards of them.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
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
from mallard.plan.plan_image import Entry, Node, Place, trie_of
from mallard.plan.plan_model import MOST_FRAMES, Frame, Module, Plan

Passing: TypeAlias = list[tuple[int, int]]  # contexts, each with a node of its stack

DEEPEST = MOST_FRAMES // 2  # frames that the planner looks at
MOST_STACKS = 256  # of one site, for whose sake it looks further out
# How many of the blocks with the same frames so far may have another rule than most and yet not be told
# apart, as all the others would pay for a look further out; and how many of its blocks a rule may lose so.
TOLERATED = 0.0005
MOST_LOST = 0.01
LEAST_EXPECTED = 0.001  # of all blocks; a node that fewer pass gets no expected caller


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

    def seen(self, parts: Sequence[Sequence[int]]) -> dict[int, int]:
        """Return a number for each context of a site: equal where the frames are that a plan looks at.

        `parts`: the contexts of each subsystem. It looks further out where several of them have the same
        frames, while few stacks come of that: functions that call each other have ever more, and a plan would
        have to name them all. O(contexts * DEEPEST).
        """
        contexts = [context for part in parts for context in part]
        part = np.repeat(np.arange(len(parts)), [len(one) for one in parts])
        node = self.first[contexts]
        number = np.unique(self.place[node], return_inverse=True)[1]
        for _ in range(DEEPEST - 1):
            least, most = np.full(len(node), len(parts)), np.zeros(len(node), np.int64)
            np.minimum.at(least, number, part)
            np.maximum.at(most, number, part)
            is_open = (least < most)[number]
            further = np.where(is_open & self.goes_on[node], self.outer[node], 0)
            if not further.any():
                break
            step = np.where(further, self.step[node], 0).astype(np.int64)
            stacks = np.stack([number, step, np.where(further, self.place[further], 0)])
            found = np.unique(stacks, axis=1, return_inverse=True)[1].reshape(-1)
            if len(np.unique(found[is_open])) > MOST_STACKS:
                break
            node, number = np.where(further, further, node), found
        return dict(zip(contexts, number.tolist(), strict=True))

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

    def places(self, context: int, modules: Mapping[str, int]) -> Iterator[Place]:
        """Yield the frames of a context as a plan with these modules has them; others have the module -1."""
        for frame in self.frames(context):
            yield modules.get(frame.module, -1), frame.offset

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
        exact: Container[int] = (),
    ) -> tuple[list[Told], float]:
        """Name contexts in as few frames as tell their rules apart; rule 0 is the default heap.

        A rule in `least` needs that number of frames: a region, out to where it ends. One in `exact` gets
        no blocks of others, and loses none, for being few. Returns what contexts are named by, and the
        weight of those whom that gives another rule: frames that differ cannot be looked at, or too few
        blocks would need it. O(frames looked at).
        """
        of_rule = votes_of(rule_of, weight, list(rule_of))
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
                is_open = depth < wanted or (depth < DEEPEST and not are_as_one(votes, of_rule, exact))
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

    def expected(self, plan: Plan, weight: Mapping[int, int]) -> list[tuple[tuple[Frame, ...], int]]:
        """Return the path to the most frequent caller at each node of a plan's trie that many blocks pass.

        A path goes on along the most frequent callers, and comes with the context that has most of its
        blocks; the most frequent come first. `weight`: the small blocks of contexts. O(frames looked at).
        """
        nodes = trie_of(plan)
        callers, frames_to, examples = self.passing(nodes, plan, weight)
        least = LEAST_EXPECTED * sum(weight.values())
        found: list[tuple[tuple[Frame, ...], int]] = []
        done: set[int] = set()
        for node in sorted(callers, key=lambda one: (-callers[one].total(), one)):
            if callers[node].total() < least:
                break
            frames, further, example = frames_to[node], node, 0
            while further in callers and further not in done:
                done.add(further)
                place = max(callers[further], key=lambda one: callers[further][one])
                entry = nodes[further].entries.get(place, Entry())
                frames = (*frames, Frame(plan.modules[place[0]].name, place[1], entry.step))
                example = examples[further, place]
                further = entry.child
            if example and len(frames) > 1:
                found.append((frames, example))
        return found

    def passing(
        self, nodes: Sequence[Node], plan: Plan, weight: Mapping[int, int]
    ) -> tuple[dict[int, Counter[Place]], dict[int, tuple[Frame, ...]], dict[tuple[int, Place], int]]:
        """Walk contexts through the nodes of a plan's trie, as the malloc does.

        Returns for each node how many blocks have which caller there, of those that a plan can name; the
        frames that lead to it; and by node and caller the context with most blocks.
        """
        modules = plan.module_numbers
        callers: defaultdict[int, Counter[Place]] = defaultdict(Counter)
        frames_to: dict[int, tuple[Frame, ...]] = {0: ()}
        examples: dict[tuple[int, Place], int] = {}
        for context in sorted(weight, key=lambda one: -weight[one]):
            node = 0
            for frame in self.frames(context):
                place = modules.get(frame.module, -1), frame.offset
                if place[0] < 0:
                    break
                callers[node][place] += weight[context]
                examples.setdefault((node, place), context)
                entry = nodes[node].entries.get(place, Entry())
                if entry.child == 0 or entry.step != frame.step:
                    break
                frames_to.setdefault(entry.child, (*frames_to[node], frame))
                node = entry.child
        return callers, frames_to, examples

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


def are_as_one(votes: Mapping[int, float], of_rule: Mapping[int, float], exact: Container[int]) -> bool:
    """Tell whether all but a few of some blocks have one rule, by what each rule has of them and of all."""
    if len(votes) == 1:
        return True
    *fewer, _ = sorted(votes, key=lambda rule: votes[rule])
    return (
        not any(rule in exact for rule in votes)
        and sum(votes[rule] for rule in fewer) <= TOLERATED * sum(votes.values())
        and all(votes[rule] <= MOST_LOST * of_rule[rule] for rule in fewer)
    )


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
