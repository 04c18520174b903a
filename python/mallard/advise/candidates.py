"""Which strategies are tried for a part, and why: rules from D V L U C to rows of a replay.

    behaviour --a rule each--> Proposal: strategy, the heaps that blocks are divided over, rows of a replay
                                                                |
    one          one heap for all blocks of the part            |   whole heaps, regions
    sites        a heap for each site                           |   pools of a plan
    kinds        a heap for each site and size                  |   pools in the source
    owners       a heap for each instance of an owner           |   instances

Rules are generous, since a replay decides: they leave out what cannot work, and keep what a reader would
expect to see. What they say about a part is what `mallard profile` says (analysis/strategies.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mallard import figures
from mallard.advise.advice_model import PLAN, SOURCE
from mallard.advise.growth import Saving
from mallard.advise.parts import Part, name_of
from mallard.advise.stretches import Row
from mallard.analysis.model import Frame
from mallard.analysis.strategies import one_size, way_of
from mallard.plan.plan_model import LARGEST

ONE, SITES, KINDS, OWNERS = "one", "sites", "kinds", "owners"

SOME = 0.2  # of the blocks behave in a way: a strategy for it is tried
ENDS = 0.9  # of the blocks end before a function returns: it can end a region
LEAST_UTILIZATION = 0.02  # for monotonic memory to be tried
MOST_HEAPS = 4096
ROUNDED = 16  # bytes: sizes that one pool serves


@dataclass(frozen=True, slots=True)
class Proposal:
    """A strategy to be measured for one part."""

    strategy: str
    runs_as: str
    route: str
    row: str  # of the replay
    reason: str
    wrong_if: str
    until: str | None = None
    apart: str = ""  # what speaks for keeping blocks together, beside what is measured


@dataclass(frozen=True, slots=True)
class Estimate:
    """A change of the source that no replay can try."""

    strategy: str
    site: Frame
    saving: Saving
    reason: str
    wrong_if: str


def proposals(part: Part, spare: float) -> Iterator[Proposal]:
    """Yield what is to be measured for a part; `spare` is how many bytes the peak may grow by."""
    if part.threads > 1:
        yield from of_threads(part)
        return
    yield from pools(part)
    yield from general(part)
    yield from scoped(part, spare)
    yield from stacks(part)
    yield from instances(part)


def does(part: Part) -> str:
    """Say in a sentence what a part does."""
    found, freed = part.subsystem.behaviour, part.subsystem.behaviour.free_order
    whole = found.allocations
    told = way_of(part.subsystem)
    ways = {
        "one by one": freed.one_by_one,
        "youngest first": freed.lifo,
        "together": freed.together,
        "by realloc": freed.reallocated,
        "never": freed.never,
    }
    way = max(ways, key=lambda name: ways[name])
    size = one_size(part.subsystem)
    sizes = f"of {size:,} bytes" if size else f"of {found.sizes.min:,.0f} to {found.sizes.max:,.0f} bytes"
    does = told[0] if told else f"frees {figures.share(ways[way] / whole)} of its blocks {way}"
    return f"{does}: {whole:,} blocks {sizes}, at most {found.max_live_objects:,} alive at once"


def variation(part: Part) -> str:
    """Say how sizes vary."""
    found = part.subsystem.dvluc.variation
    if size := one_size(part.subsystem):
        return f"V = {figures.unit(found.value)}: nearly all blocks are of {size:,} bytes"
    return f"V = {figures.unit(found.value)}: {found.classes} size classes"


def pools(part: Part) -> Iterator[Proposal]:
    """Pools suit blocks of few sizes, however long they live."""
    found = part.subsystem.behaviour
    if found.sizes.p50 > LARGEST:
        return
    wrong_if = (
        "another input allocates other sizes here, or a peak is followed by a long quiet time: pools keep it"
    )
    yield Proposal(
        "pool",
        PLAN,
        SITES,
        "segment_heap",
        f"{variation(part)}; a heap of its own keeps them side by side{walked(part, 'pool')}",
        "others' blocks are used between these: then the order of allocation was the better neighbourhood",
        apart=part.apart.get("pool", ""),
    )
    if part.subsystem.dvluc.variation.classes <= 8 or one_size(part.subsystem):
        yield Proposal(
            "pool",
            SOURCE,
            KINDS,
            "pool",
            f"{variation(part)}; a freed block serves the next request",
            wrong_if,
        )
        yield Proposal(
            "adaptive_pool",
            SOURCE,
            KINDS,
            "adaptive_pool",
            f"{variation(part)}; U = {figures.unit(part.subsystem.dvluc.utilization.value)}: "
            "emptied chunks go back after a peak",
            "blocks come and go about an emptied chunk, which is fetched again each time",
        )


def walked(part: Part, strategy: str) -> str:
    """Return the case for keeping blocks together, with a note that a replay does not show it."""
    found = part.apart.get(strategy)
    return (
        f"; {found}: what walks over them meets other lines and pages now, which no replay shows"
        if found
        else ""
    )


def general(part: Part) -> Iterator[Proposal]:
    """General heaps suit any sizes that come and go."""
    found = part.subsystem
    yield Proposal(
        "multipool",
        SOURCE,
        ONE,
        "multipool",
        f"{variation(part)}; each size class has a list of free blocks, without headers",
        "sizes change from phase to phase: a class keeps what it had at its peak",
    )
    grown = found.behaviour.reallocations.in_place + found.behaviour.reallocations.moved
    if found.dvluc.variation.classes > 8 or grown > SOME * found.behaviour.allocations:
        yield Proposal(
            "best_fit",
            SOURCE,
            ONE,
            "best_fit",
            f"{variation(part)}; neighbours that are free become one, and serve any size",
            "many small holes are free at once: each request then looks for the best one",
        )


def scoped(part: Part, spare: float) -> Iterator[Proposal]:
    """Regions suit what ends together, or stays."""
    found, dvluc = part.subsystem.behaviour, part.subsystem.dvluc
    u = figures.unit(dvluc.utilization.value)
    ends = next((one for one in part.ends if one[1] >= ENDS), None)
    until = ends[0] if ends else None
    together = found.free_order.together / found.allocations
    if ends or together >= SOME:
        how = (
            f"{figures.share(ends[1])} of its blocks end before {ends_in(until)} returns"
            if ends
            else f"{figures.share(together)} of its blocks are freed in runs that leave none"
        )
        kept = f"what is freed within a scope stays until its end: U of one scope decides, here {u} over all"
        wrong_if = f"a block outlives {ends_in(until) if until else 'the others'}: then nothing comes back"
        runs_as = PLAN if until and part.is_small else SOURCE
        yield Proposal(
            "region", runs_as, ONE, "region", f"{how}; a free is nothing then", f"{wrong_if}; {kept}", until
        )
        yield Proposal(
            "reap",
            runs_as,
            ONE,
            "reap",
            f"{how}; blocks freed before are used again (U = {u})",
            wrong_if,
            until,
        )
        yield Proposal(
            "reap",
            SOURCE,
            ONE,
            "sized_reap",
            f"{how}; blocks freed before are used again by size (U = {u})",
            wrong_if,
            until,
        )
    if dvluc.utilization.value >= LEAST_UTILIZATION and found.bytes - found.max_live_bytes <= spare:
        live = f"{figures.size(found.max_live_bytes)} of {figures.size(found.bytes)}"
        yield Proposal(
            "monotonic",
            PLAN if part.is_small else SOURCE,
            ONE,
            "monotonic",
            f"U = {u}: {live} are alive at once, so that never reusing costs little",
            "the program runs longer than it did: it would hold all that ever passes through",
        )


def ends_in(function: str | None) -> str:
    """Return the name of a function that ends a region."""
    return name_of(Frame(function, "")) if function else "the function around it"


def stacks(part: Part) -> Iterator[Proposal]:
    """Stacks suit what is freed youngest first."""
    found = part.subsystem.behaviour
    lifo, brief = found.free_order.lifo, found.temporaries.last
    if max(lifo, brief) < SOME * found.allocations:
        return
    how = "the youngest alive when they are freed"
    if brief > lifo:
        how = "freed before their thread allocates again"
    which = f"{figures.share(max(lifo, brief) / found.allocations)} of its blocks are {how}"
    yield Proposal(
        "stack",
        SOURCE,
        ONE,
        "stack",
        f"{which}: a free moves the top down",
        "a block outlives those above it: the stack holds all of them until it goes",
    )


def instances(part: Part) -> Iterator[Proposal]:
    """Heaps by instance suit owners whose blocks are mixed in memory and end together."""
    if part.owner is None:
        return
    owners, _ = part.owner
    reason = (
        f"{owners.instances:,} instances are told apart by {owners.place}: "
        f"{figures.share(owners.gain)} more of consecutive frees share it than by chance"
    )
    wrong_if = (
        "instances are as many as their blocks, or short-lived: a heap each costs more memory than it orders"
    )
    yield Proposal(
        "instances",
        PLAN,
        OWNERS,
        "segment_heap",
        f"{reason}{walked(part, 'instances')}",
        wrong_if,
        apart=part.apart.get("instances", ""),
    )
    yield Proposal(
        "region", SOURCE, OWNERS, "region", f"{reason}; a region in each, which ends with it", wrong_if
    )


def of_threads(part: Part) -> Iterator[Proposal]:
    """Several threads need heaps with a cache for each."""
    found, contention = part.subsystem.behaviour, part.subsystem.dvluc.contention
    foreign = found.foreign_frees / found.allocations
    how = f"{part.threads} threads allocate or free, C = {figures.unit(contention.value)}"
    crossed = f"; {figures.share(foreign)} of the blocks end in another thread" if foreign else ""
    wrong_if = "threads come and go, or one allocates what another frees for good: each keeps its own peak"
    yield Proposal(
        "thread-pool", PLAN, ONE, "thread_multipool", f"{how}{crossed}; each thread has a heap", wrong_if
    )
    yield Proposal(
        "multipool",
        SOURCE,
        ONE,
        "synchronized_multipool",
        f"{how}{crossed}; free blocks are cached for each thread and exchanged in batches",
        wrong_if,
    )


def estimates(part: Part) -> Iterator[Estimate]:
    """Yield what the source could do without its blocks, or with fewer."""
    for site, chains, named in part.growths:
        if chains.growing < SOME:
            continue
        small = chains.small_buffer() if named or chains.doubles else None
        if small:
            yield Estimate(
                "small-buffer",
                site,
                small,
                f"{figures.count(small.chains)} containers of {ends_at(small)}: "
                f"{small.elements} have room in {figures.size(small.bytes)}",
                f"most stay empty, or grow beyond {small.elements}: each object carries the room",
            )
            continue
        if saved := chains.reserve():
            yield Estimate(
                "reserve",
                site,
                saved,
                f"{figures.count(saved.chains)} blocks grow in {growth_steps(saved)} steps each on average, "
                f"to {ends_at(saved)}",
                "final sizes differ much from one to the next: what is reserved but not used is held",
            )
        if grown := chains.in_place():
            yield Estimate(
                "grow-in-place",
                site,
                grown,
                f"{figures.count(grown.chains)} blocks grow to {ends_at(grown)}; where the place behind one "
                "is free, nothing is copied or freed",
                "other blocks are allocated behind the growing one: then it moves as before",
            )


def ends_at(saving: Saving) -> str:
    """Say how long chains get."""
    return f"a median of {saving.typical[0]:,} and at most {saving.typical[1]:,} {saving.unit} in 99 of 100"


def growth_steps(saved: Saving) -> str:
    """Return how many steps a chain takes."""
    return figures.number(saved.blocks / max(saved.chains, 1))


def by_worth(asked: Sequence[Proposal]) -> list[str]:
    """Return the ways to divide a part over heaps, first those that keep together what is used together."""
    routes = dict.fromkeys(one.route for one in sorted(asked, key=lambda one: one.route != ONE))
    apart = {one.route for one in asked if one.apart}
    return sorted(routes, key=lambda route: route not in apart)


def route_of(part: Part, route: str, events: int) -> Row:
    """Return for each event of the journal which heap has its block: 0 for the malloc."""
    of = part.objects
    if route == ONE:
        heaps = np.ones(len(of.allocation), np.int64)
    elif route == SITES:
        group = np.zeros(len(part.program.store.contexts["parent"]), np.int64)
        for number, (_, contexts) in enumerate(part.program.candidates_of(part.contexts), 1):
            group[list(contexts)] = number
        heaps = np.where(of.size <= LARGEST, group[of.context], 0)
        heaps = heaps if heaps.any() else np.ones(len(of.allocation), np.int64)
    elif route == KINDS:
        fits = of.size <= LARGEST
        kind = part.site_of.astype(np.int64) * (LARGEST // ROUNDED + 1) + -(
            -of.size.astype(np.int64) // ROUNDED
        )
        _, heaps = np.unique(kind, return_inverse=True)
        heaps = np.where(fits, heaps % MOST_HEAPS + 1, 0)
    else:
        assert part.owner is not None
        heaps = part.owner[1]
    found = np.zeros(events, "<u4")
    found[of.allocation.astype(np.int64)] = heaps
    return found
