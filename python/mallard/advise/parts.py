"""The program's parts, with all that is needed to judge a strategy for one.

    journal --planner--> store, symbols, contexts that a plan can name
            --profile--> subsystems with D V L U C         the cut of `mallard profile`
            --witness--> whose instance each block is      where it was recorded

A part is one subsystem: its objects as columns, by rising allocation, and its largest site, where a change
of the source would be made.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mallard import MallardError, figures
from mallard.advise.advice_model import Owners
from mallard.advise.free_order import far_apart, in_order
from mallard.advise.growth import Chains
from mallard.advise.stretches import Blocks, Row
from mallard.analysis.findings import LOOSE_BYTES
from mallard.analysis.function_names import own_name
from mallard.analysis.model import Frame, Profile, Subsystem
from mallard.analysis.partition import Limits
from mallard.analysis.profile import Options as ProfileOptions
from mallard.analysis.profile import profile_of
from mallard.analysis.progress import Progress
from mallard.analysis.store import Store
from mallard.analysis.strategies import FEW, is_rest
from mallard.analysis.subsystems import divide
from mallard.analysis.symbols import Symbols
from mallard.plan.plan_model import LARGEST, MOST_POOLS_OF_A_RULE, WORDS, Witness, pools_for
from mallard.plan.planner import Planner
from mallard.plan.pool_candidates import Told
from mallard.plan.process_memory import memory_of
from mallard.plan.scopes import ending_functions

NEVER = 2**64 - 1  # the free of what is never freed
BEYOND = 2**62  # the same, signed
SPARSE = 0.1  # of the pages on which a part lies, that its blocks fill: nearly each is on one of its own
ORDERED = 0.2  # more of consecutive frees are of one kind: kinds are worth keeping apart
NEARLY_ALL = 0.9  # of the blocks: their function names the part
LEAST_OWNED = 0.5  # of the blocks of a part, that have a witness, for instances to be a candidate
GROWS = re.compile(r"(?:std|boost::container|absl|eastl)::(?:\w+::)*(?:vector|basic_string|string|deque)\b")

MOST_SITES = 32  # that are listed

READ, PROFILED, WITNESSED = 0.4, 0.8, 1.0  # how far the reading is


@dataclass(frozen=True, slots=True)
class Objects:
    """The blocks of a part, a row each, by rising allocation."""

    allocation: Row
    free: Row  # NEVER where there is none
    size: Row
    thread: Row
    context: Row
    previous: Row  # the allocation of the block that it was reallocated from, or -1
    stayed: Row  # whether it was reallocated in its place


class Part:
    """One subsystem."""

    def __init__(self, program: "Program", number: int, subsystem: Subsystem) -> None:
        """Take the group of that number in the division."""
        self.program, self.number, self.subsystem = program, number, subsystem

    @cached_property
    def name(self) -> str:
        """What it is called: the program itself, where no part was cut out, by the function of its blocks."""
        blocks: Counter[str] = Counter()
        for context, count in zip(*np.unique(self.objects.context, return_counts=True), strict=True):
            blocks[self.program.symbols.site_name(int(context))] += int(count)
        name, count = blocks.most_common(1)[0]
        whole = self.subsystem.path or count < NEARLY_ALL * len(self.objects.context)
        return self.subsystem.name if whole else name

    @cached_property
    def objects(self) -> Objects:
        """Its blocks."""
        store = self.program.store
        with self.program.division.grouping.objects(store) as objects:
            columns = store.sql.execute(
                f"SELECT allocation, coalesce(free, {NEVER})::UBIGINT AS free, size, thread, context, "
                "coalesce(previous, -1)::BIGINT AS previous, origin = 1 AS stayed "
                f"FROM {objects} WHERE grp = {self.number} ORDER BY allocation"
            ).fetchnumpy()
        return Objects(**{name: np.asarray(column) for name, column in columns.items()})

    @cached_property
    def contexts(self) -> tuple[int, ...]:
        """Its contexts, the one that allocates most first."""
        contexts, counts = np.unique(self.objects.context, return_counts=True)
        return tuple(contexts[np.argsort(-counts, kind="stable")].tolist())

    @cached_property
    def threads(self) -> int:
        """How many threads allocate or free its blocks, a hundredth of them at least."""
        found = self.subsystem.behaviour
        least = found.allocations / 100
        return len(
            {c.thread for c in (*found.allocating_threads, *found.freeing_threads) if c.objects >= least}
        )

    @cached_property
    def is_small(self) -> bool:
        """Whether a plan can give nearly all of its blocks a heap."""
        return bool((self.objects.size <= LARGEST).mean() >= NEARLY_ALL)

    @property
    def site(self) -> Frame | None:
        """The function that asks for most of its blocks, with the line where it does."""
        return next(iter(self.sites), None)

    @cached_property
    def sites(self) -> dict[Frame, int]:
        """The calls that ask for its blocks, and for how many; most first."""
        symbols, context = self.program.symbols, self.objects.context
        _, first, counts = np.unique(self.program.site_of[context], return_index=True, return_counts=True)
        found: Counter[Frame] = Counter()
        for one in np.argsort(-counts, kind="stable")[:MOST_SITES].tolist():
            of = int(context[first[one]])
            if stack := symbols.frames(of):
                found[stack[symbols.site_frame(of)]] += int(counts[one])
        return dict(found.most_common())

    @cached_property
    def site_of(self) -> Row:
        """Which site each block is of, by number."""
        tree, nodes = self.program.symbols.tree, self.program.symbols.site_nodes
        return tree.function[nodes[self.objects.context]]

    @cached_property
    def growths(self) -> list[tuple[Frame, Chains, bool]]:
        """The sites whose blocks grow: where, their chains, and whether a container's name says so, too."""
        found = []
        of, symbols = self.objects, self.program.symbols
        for site in np.unique(self.site_of).tolist():
            mine = np.flatnonzero(self.site_of == site)
            if len(mine) < FEW:
                continue
            contexts, counts = np.unique(of.context[mine], return_counts=True)
            context = int(contexts[np.argmax(counts)])
            frames = symbols.frames(context)
            if not frames:  # without stacks nobody knows where
                continue
            chains = Chains.of(
                *(
                    column[mine]
                    for column in (of.allocation, of.free, of.size, of.thread, of.previous, of.stayed)
                )
            )
            place = symbols.site_frame(context)
            named = any(GROWS.search(frame.function) for frame in frames[:place])
            found.append((frames[place], chains, named))
        return found

    @cached_property
    def ends(self) -> list[tuple[str, float]]:
        """Functions in whose activations its blocks end, and the share that does, best first."""
        return ending_functions(self.program.store, self.program.symbols, self.contexts)

    @cached_property
    def owner(self) -> tuple[Owners, Row] | None:
        """Its instances, and the number of each block's, from 1 on; None if it has no witness.

        A snapshot identifies a block's owner; what lies between two of one owner in the order of frees
        belongs to it as well.
        """
        told = {
            context: self.program.told[context] for context in self.contexts if context in self.program.told
        }
        planner = self.program.planner
        if planner is None or not told:
            return None
        of = self.objects
        has = np.isin(of.context, list(told))
        if has.mean() < LEAST_OWNED:
            return None
        value = np.zeros(len(of.context), np.uint64)
        events, words = planner.snapshots["event"], planner.snapshots["words"]
        place = np.searchsorted(of.allocation, events)
        mine = of.allocation[np.minimum(place, len(of.allocation) - 1)] == events
        rows, at = np.flatnonzero(mine), place[mine]
        columns = np.array([WORDS.index(told[c].place) if c in told else 0 for c in of.context[at].tolist()])
        value[at] = words[rows, columns]
        value[~has] = 0
        known = value != 0
        if not known.any():
            return None
        seen = float(known[has].mean())
        value = filled(value, np.lexsort((of.allocation, of.free)), known)
        value[~has] = 0
        distinct, number = np.unique(value, return_inverse=True)
        number = number + (0 if distinct[0] == 0 else 1)
        best = max(told.values(), key=lambda one: one.instances)
        number = np.where(number == 0, 0, (number - 1) % MOST_POOLS_OF_A_RULE + 1)
        return Owners(best.place, best.instances, best.gain, seen), number

    @cached_property
    def apart(self) -> dict[str, str]:
        """What speaks for heaps that keep its blocks together, by strategy: what a replay does not show.

        Blocks that are freed kind by kind are also used that way. If kinds are mixed in memory, the next one
        is on another page.
        """
        found: dict[str, str] = {}
        behaviour, pages = self.subsystem.behaviour, self.subsystem.dvluc.locality.pages
        live = behaviour.max_live_bytes
        if live < LOOSE_BYTES * (pages or 1):
            return found
        if pages is not None and pages <= SPARSE:
            found["pool"] = f"its blocks fill {figures.share(pages)} of the pages that they lie on"
        gains, far = self.program.orders
        site, counts = np.unique(self.program.site_of[self.objects.context], return_counts=True)
        gain, is_far = (float(np.average(of[site], weights=counts)) >= ORDERED for of in (gains, far))
        if gain and is_far:
            more = figures.share(float(np.average(gains[site], weights=counts)))
            found["pool"] = f"{more} more of consecutive frees are of one site than by chance"
        of = self.objects
        order = np.lexsort((of.allocation, of.free))[: int((of.free != NEVER).sum())]
        is_far = far_apart(of.size, order) >= ORDERED
        if is_far and self.owner:
            found["instances"] = f"they hold {figures.size(live)} at once"
        return found

    @cached_property
    def witnesses(self) -> list[tuple[Witness | None, tuple[int, ...]]]:
        """Its contexts by the witness that tells their instances apart."""
        by_place: defaultdict[str, list[int]] = defaultdict(list)
        for context in self.contexts:
            told = self.program.told.get(context)
            by_place[told.place if told else ""].append(context)
        found: list[tuple[Witness | None, tuple[int, ...]]] = []
        for place, contexts in by_place.items():
            if not place:
                found.append((None, tuple(contexts)))
                continue
            instances = max(self.program.told[context].instances for context in contexts)
            found.append((Witness(place, instances, pools_for(instances)), tuple(contexts)))
        return found


def filled(value: Row, order: Row, known: Row) -> Row:
    """Give what is not known the value of the nearest before it in that order, or behind it at the start."""
    at = np.where(known[order], np.arange(len(order)), -1)
    nearest = np.maximum.accumulate(at)
    nearest[nearest < 0] = int(np.argmax(known[order]))
    found = value.copy()
    found[order] = value[order][nearest]
    return found


class Program:
    """One journal, read, and divided as `mallard profile` does it."""

    def __init__(
        self,
        path: str,
        progress: Progress = lambda share: None,
        cpu_seconds: float | None = None,
        peak_rss: float | None = None,
    ) -> None:
        """Read it; a caller that knows what the program takes when it is not recorded says so."""
        self.path, self.cpu_seconds = path, cpu_seconds
        self.remarks: list[str] = []
        self.planner: Planner | None = None
        try:
            self.planner = Planner(path, lambda done: progress(READ * done), peak_rss)
            self.store, self.symbols = self.planner.store, self.planner.symbols
        except MallardError as reason:
            self.store = Store.read(path, lambda done: progress(READ * done))
            self.symbols = Symbols(self.store)
            self.remarks.append(f"no plan: {reason}")
        self.memory = self.planner.memory if self.planner else memory_of(self.store, peak_rss)
        between = PROFILED - READ
        self.profile: Profile = profile_of(
            self.store, self.symbols, ProfileOptions(sites=0), lambda done: progress(READ + between * done)
        )
        self.division = (
            self.planner.candidates.division
            if self.planner
            else divide(self.store, self.symbols, "subtree", Limits())
        )
        self.told = self.tell(lambda done: progress(PROFILED + (WITNESSED - PROFILED) * done))

    def tell(self, progress: Progress) -> dict[int, Told]:
        """Return by context where its instances are told apart."""
        if self.planner is None:
            return {}
        candidates = self.planner.candidates
        found, reason = candidates.witnesses(progress)
        if reason:
            self.remarks.append(reason)
        return {
            context: told
            for number, candidate in enumerate(candidates.all)
            for context in candidate.contexts
            if (told := found.get(candidates.code_path(number, context)))
        }

    @cached_property
    def site_of(self) -> Row:
        """The site of each context, by number: the calls from one place are one."""
        tree, nodes = self.symbols.tree, self.symbols.site_nodes
        calls = tree.place[nodes] * len(tree.functions) + tree.function[nodes]
        number: Row = np.unique(calls, return_inverse=True)[1]
        return number

    @cached_property
    def orders(self) -> tuple[Row, Row]:
        """What the order of all frees says of each site: see in_order."""
        columns = self.store.sql.execute(
            f"SELECT allocation, coalesce(free, {NEVER})::UBIGINT AS free, size, context FROM heap "
            "ORDER BY allocation"
        ).fetchnumpy()
        allocation, free, size, context = (np.asarray(columns[name]) for name in columns)
        freed = np.lexsort((allocation, free))[: int((free != NEVER).sum())]
        sites = self.site_of
        gain, far = in_order(np.append(sites[context], sites.max()), np.append(size, 0), freed)
        return gain, far

    @cached_property
    def blocks(self) -> Blocks:
        """All blocks of the journal that the malloc has given."""
        columns = self.store.sql.execute(
            f"SELECT allocation::BIGINT AS allocation, coalesce(free, {BEYOND})::BIGINT AS free FROM heap "
            "ORDER BY allocation"
        ).fetchnumpy()
        return Blocks(*(np.asarray(columns[name]) for name in ("allocation", "free")))

    def candidates_of(self, contexts: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield the sites of the planner that have some of the contexts, with these."""
        for one in self.planner.candidates.all if self.planner else ():
            if own := tuple(context for context in one.contexts if context in contexts):
                yield one.name, own

    @property
    def busy_ns(self) -> float | None:
        """Return the CPU time that shares are of; None where it is not known."""
        if self.cpu_seconds:
            return 1e9 * self.cpu_seconds
        density = self.profile.dvluc.density
        return density.cost_ns / density.value if density.value and density.cost_ns else None

    @property
    def call_ns(self) -> float | None:
        """Return what an allocation or a free takes in the program; None where that is not known.

        What slows the rest of a recorded program also slows these. A density of 1 is only a bound.
        """
        density, busy = self.profile.dvluc.density, self.busy_ns
        if not (density.value and density.value < 1 and density.operations and busy):
            return None
        return density.value * busy / density.operations

    @property
    def threads(self) -> int:
        """Return how many threads allocate or free."""
        whole = self.profile.whole
        return len({one.thread for one in (*whole.allocating_threads, *whole.freeing_threads)})

    def parts(self, most: int) -> Iterator[Part]:
        """Yield the parts that are worth a look: those with the most CPU time, then with the most blocks."""
        whole = self.profile.subsystems
        told = [one for one in whole if not is_rest(one, self.profile) and one.behaviour.allocations >= FEW]
        for one in (told or whole[:1])[:most]:
            yield Part(self, self.division.names.index(one.name), one)


def name_of(frame: Frame | None) -> str:
    """Return a frame's function in short."""
    return own_name(frame.function) if frame else "the program"
