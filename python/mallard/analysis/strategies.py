"""The way to allocate that a subsystem's behaviour suggests: one for each subsystem, the most special first.

                          U is high                         most passes through
    frees together        monotonic, wink-out               multipool, wink-out
    youngest first        monotonic on a buffer             a stack
    all alive at once     monotonic, wink-out
    one size              a pool                            a pool
    many sizes            a general heap                    a general heap

Where several threads meet, pools and general heaps are the synchronised ones, with a cache for each thread.
Monotonic memory holds all that ever passed through it. So it is not suggested where that is far more than
what is alive at once.
"""

from collections.abc import Iterator

from mallard import _native, figures
from mallard.analysis.model import Behaviour, Finding, Profile, Subsystem

# How much of a set of objects must behave in a way for the set to be said to.
MOST = 0.5

# U, at least, where monotonic memory is advised: it holds twice what is alive, at most.
HOLDS_ALL = 0.5

# U, at least, of what is kept until all of it is there.
KEPT = 0.9

# Blocks, at least, that a line is about: fewer are a start-up's, such as libstdc++'s pool for exceptions.
FEW = 16

ONE_SIZE_BITS = 0.5  # of entropy of the size classes, at most
MIXED_SIZES = 0.6  # V, at least


def strategies(profile: Profile, of_temporaries: set[int]) -> Iterator[Finding]:
    """Find for each subsystem the strategy that its behaviour suggests.

    Those `of_temporaries` already have their advice: their blocks need no other heap.
    """
    for number, subsystem in enumerate(profile.subsystems):
        if number in of_temporaries or is_rest(subsystem, profile) or is_small(subsystem, profile):
            continue
        if told := way_of(subsystem):
            yield strategy(subsystem, number, *told)


def way_of(subsystem: Subsystem) -> tuple[str, str, str] | None:
    """Return title, detail and suggestion; None if nothing special fits."""
    part, variation = subsystem.behaviour, subsystem.dvluc.variation
    whole, freed = part.allocations, part.free_order
    if freed.together >= MOST * whole:
        detail = f"{freed.together:,} of its {whole:,} blocks are freed in runs that leave none of them"
        return "frees its blocks together", detail, wink_out(subsystem)
    if freed.lifo >= MOST * whole:
        detail = f"{freed.lifo:,} of its {whole:,} blocks are the youngest alive when they are freed"
        return "frees the youngest first", detail, stack(subsystem)
    if subsystem.dvluc.utilization.value >= KEPT:
        live = figures.size(part.max_live_bytes)
        detail = (
            f"{live} of all the {figures.size(part.bytes)} that its {whole:,} blocks take are alive at once"
        )
        return "keeps what it allocates", detail, wink_out(subsystem)
    if size := one_size(subsystem):
        detail = f"nearly all of its {whole:,} blocks are of {size:,} bytes or of the same size class"
        kind = "synchronized_pool" if meets(subsystem) else "pool"
        return "allocates one size", detail, f"a {kind} of blocks of {part.sizes.max:,.0f} bytes"
    if variation.value >= MIXED_SIZES:
        detail = f"V = {figures.unit(variation.value)}, {variation.classes} size classes"
        general = "synchronized_multipool" if meets(subsystem) else "multipool"
        return "mixes sizes", detail, f"a general heap, such as {general}; pools for single sizes do not fit"
    return None


def wink_out(subsystem: Subsystem) -> str:
    """Suggest how to give back everything at once."""
    part = subsystem.behaviour
    if part.free_order.never >= MOST * part.allocations:
        return f"a monotonic heap of its own; {held(part)}"
    at_once = "of its own, released at once instead of block by block (wink-out)"
    if subsystem.dvluc.utilization.value >= HOLDS_ALL:
        return f"a monotonic heap {at_once}; {held(part)}"
    return f"a multipool heap {at_once}; a monotonic one would hold what is freed before, too"


def stack(subsystem: Subsystem) -> str:
    """Suggest how to give back the youngest first."""
    if subsystem.dvluc.utilization.value >= HOLDS_ALL:
        outermost = "a monotonic heap on a buffer, released when the outermost call returns"
        return f"{outermost}; {held(subsystem.behaviour)}"
    return "a stack with mark and release, or a small pool of its own"


def held(part: Behaviour) -> str:
    """Say what monotonic memory holds at most."""
    total, live = figures.size(part.bytes), figures.size(part.max_live_bytes)
    return f"it would hold at most {total}, of which {live} are alive at once now"


def one_size(subsystem: Subsystem) -> int | None:
    """Return the size of nearly all blocks, if there is one and no block is larger than its class."""
    part = subsystem.behaviour
    often = max(part.size_histogram, key=lambda size: part.size_histogram[size])
    is_open = often == _native.largest_of_size_classes()[-1]
    if is_open or part.sizes.max > often or subsystem.dvluc.variation.entropy > ONE_SIZE_BITS:
        return None
    return int(part.sizes.p50)


def meets(subsystem: Subsystem) -> bool:
    """Return whether several threads allocate or free its blocks."""
    return subsystem.dvluc.contention.active_threads > 1


def is_rest(subsystem: Subsystem, profile: Profile) -> bool:
    """Return whether it is only what the others have left, which has no place in the code."""
    return profile.by == "subtree" and not subsystem.path and len(profile.subsystems) > 1


def is_small(subsystem: Subsystem, profile: Profile) -> bool:
    """Return whether a subsystem has too few blocks for a line about it; unknown cost asks for more."""
    if subsystem.behaviour.allocations < FEW:
        return True
    return subsystem.dvluc.density.value is None and not is_weighty(subsystem.behaviour, profile)


def is_weighty(part: Behaviour, profile: Profile) -> bool:
    """Return whether a set of objects is so large that a line about it is worth reading."""
    return part.allocations >= max(FEW, 0.01 * profile.whole.allocations)


def strategy(subsystem: Subsystem, number: int, title: str, detail: str, suggestion: str) -> Finding:
    """Say what a subsystem's behaviour suggests."""
    density = subsystem.dvluc.density.value
    return Finding(
        title=f"{subsystem.name} {title}",
        detail=f"{detail}; its operations take {figures.share(density)} of the CPU time.",
        suggestion=f"Suggested: try {suggestion}.",
        share=density,
        subsystem=number,
    )
