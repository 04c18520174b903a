"""What a profile shows that may be worth a change, one rule a function.

    profile --rules--> findings, those first that could concern the largest share of the CPU time

A share is an upper limit: what the operations in question cost in all, so what would be gained if they cost
nothing. Memory and locality have no share: a journal cannot prove what they cost.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from mallard import figures
from mallard.analysis.model import Behaviour, Finding, Profile, Site, Subsystem

# Findings that concern less of the CPU time are not told.
LEAST_SHARE = 0.005

# How much of a set of objects must behave in a way for the set to be said to.
MOST = 0.5

ONE_SIZE_BITS = 0.5  # of entropy of the size classes, at most
MIXED_SIZES = 0.6  # V, at least
LEAST_CONTENTION = 0.005  # C
LONG_CHAIN = 4
LOOSE_PAGES = 0.3  # compactness of pages, at most ...
LOOSE_BYTES = 1 << 20  # ... where as much is alive
LEFT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of the CPU time a number of operations takes."""

    per_operation: float | None  # share of the CPU time

    @classmethod
    def of(cls, profile: Profile) -> "Scale":
        """Take the mean of the whole program."""
        density = profile.dvluc.density
        known = density.value is not None and density.operations > 0
        return cls((density.value or 0) / density.operations if known else None)

    def share(self, operations: float) -> float | None:
        """Return the share of the CPU time; None if it is not known."""
        return None if self.per_operation is None else operations * self.per_operation


def findings(profile: Profile) -> list[Finding]:
    """Return what is worth a line, the largest share first, then what has none."""
    scale = Scale.of(profile)
    found = [
        *temporaries(profile, scale),
        *reallocations(profile, scale),
        *strategies(profile),
        *foreign_frees(profile),
        *mixed_sizes(profile),
        *loose_pages(profile),
        *left_at_end(profile),
    ]
    told = [finding for finding in found if finding.share is None or finding.share >= LEAST_SHARE]
    return sorted(told, key=lambda finding: -(finding.share or 0))


def temporaries(profile: Profile, scale: Scale) -> Iterator[Finding]:
    """Find sites whose blocks are freed before their thread allocates again, and subsystems of small ones."""
    told: set[int] = set()
    for site in profile.sites:
        if is_brief(site.behaviour) and is_weighty(site.behaviour, profile):
            told.add(site.subsystem)
            yield brief(site.name, place(site), site.behaviour, site.subsystem, scale)
    for number, subsystem in enumerate(profile.subsystems):
        if number not in told and is_brief(subsystem.behaviour):
            yield brief(subsystem.name, "", subsystem.behaviour, number, scale)


def is_brief(part: Behaviour) -> bool:
    """Return whether most objects are temporaries."""
    return part.temporaries.last >= MOST * part.allocations


def brief(name: str, where: str, part: Behaviour, subsystem: int, scale: Scale) -> Finding:
    """Say that temporaries could share a buffer."""
    return Finding(
        title=f"{name} allocates temporaries",
        detail=f"{part.temporaries.last:,} of its {part.allocations:,} blocks{where} are freed before their "
        "thread allocates again.",
        suggestion="Suggested: keep one buffer and use it again, or take it from the stack.",
        share=scale.share(2 * part.temporaries.last),
        subsystem=subsystem,
    )


def reallocations(profile: Profile, scale: Scale) -> Iterator[Finding]:
    """Find sites that make blocks larger step by step."""
    for site in profile.sites:
        grown = site.behaviour.reallocations
        count = grown.in_place + grown.moved
        if count and grown.longest_chain >= LONG_CHAIN and is_weighty(site.behaviour, profile):
            yield Finding(
                title=f"{site.name} grows blocks step by step",
                detail=f"{count:,} reallocations{place(site)}, {grown.moved:,} of which moved the block; "
                f"up to {grown.longest_chain:,} of one block.",
                suggestion="Suggested: reserve the final size, or grow by a factor.",
                share=scale.share(count),
                subsystem=site.subsystem,
            )


def is_weighty(part: Behaviour, profile: Profile) -> bool:
    """Return whether a set of objects is so large that a line about it is worth reading."""
    return part.allocations >= 0.01 * profile.whole.allocations


def place(site: Site) -> str:
    """Return where a site is in the source, if that is known."""
    frame = site.stack[site.frame] if site.stack else None
    return f" ({frame.file}:{frame.line})" if frame and frame.file else ""


def strategies(profile: Profile) -> Iterator[Finding]:
    """Find for each subsystem the strategy that its behaviour suggests, the most special first."""
    for number, subsystem in enumerate(profile.subsystems):
        if is_rest(subsystem, profile):
            continue
        part = subsystem.behaviour
        whole = part.allocations
        if part.deaths.together >= MOST * whole:
            yield strategy(
                subsystem,
                number,
                "dies together",
                f"{part.deaths.together:,} of its {whole:,} blocks are freed in runs that leave nothing",
                "a monotonic heap of its own, released at once where the run of frees is now (wink-out)",
            )
        elif part.deaths.lifo >= MOST * whole:
            yield strategy(
                subsystem,
                number,
                "frees the youngest first",
                f"{part.deaths.lifo:,} of its {whole:,} blocks are the youngest alive when they are freed",
                "a monotonic heap on a buffer, released when the outermost call returns",
            )
        elif subsystem.dvluc.variation.entropy <= ONE_SIZE_BITS:
            yield strategy(
                subsystem,
                number,
                "allocates one size",
                f"{whole:,} blocks, half of them of {part.sizes.p50:,.0f} bytes or less and nearly all of "
                "one size class",
                "a pool of that size",
            )


def is_rest(subsystem: Subsystem, profile: Profile) -> bool:
    """Return whether it is only what the others have left, which has no place in the code."""
    return profile.by == "subtree" and not subsystem.path and len(profile.subsystems) > 1


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


def foreign_frees(profile: Profile) -> Iterator[Finding]:
    """Find subsystems whose threads meet in the allocator and free each other's blocks."""
    for number, subsystem in enumerate(profile.subsystems):
        part, contention = subsystem.behaviour, subsystem.dvluc.contention
        if part.foreign_frees and (contention.value or 0) >= LEAST_CONTENTION:
            yield strategy(
                subsystem,
                number,
                "frees blocks of other threads while they allocate",
                f"{part.foreign_frees:,} of {part.allocations:,} blocks end in another thread, "
                f"with C = {figures.unit(contention.value)} over {contention.active_threads} threads",
                "a malloc with caches for each thread, or hand blocks back in batches",
            )


def mixed_sizes(profile: Profile) -> Iterator[Finding]:
    """Find subsystems whose sizes speak against pools."""
    for number, subsystem in enumerate(profile.subsystems):
        variation = subsystem.dvluc.variation
        if variation.value >= MIXED_SIZES and not is_rest(subsystem, profile):
            yield strategy(
                subsystem,
                number,
                "mixes sizes",
                f"V = {figures.unit(variation.value)}, {variation.classes} size classes",
                "a general heap, such as multipool; pools for single sizes do not fit",
            )


def loose_pages(profile: Profile) -> Iterator[Finding]:
    """Find subsystems whose blocks lie among much that is not theirs or is free."""
    for number, subsystem in enumerate(profile.subsystems):
        pages = subsystem.dvluc.locality.pages
        if pages is not None and pages <= LOOSE_PAGES and subsystem.behaviour.max_live_bytes >= LOOSE_BYTES:
            yield Finding(
                title=f"{subsystem.name} lies scattered",
                detail=f"On average {figures.share(pages)} of the pages that hold its blocks is its own. "
                "What that costs in cache and TLB misses a journal cannot tell: not proven.",
                suggestion="Suggested: try a heap of its own, which keeps its blocks on pages of their own.",
                share=None,
                subsystem=number,
            )


def left_at_end(profile: Profile) -> Iterator[Finding]:
    """Find what is never freed; at the end of a process that does no harm."""
    left = profile.totals.end_live_bytes
    if left >= LEFT_BYTES and left >= MOST * profile.totals.peak_live_bytes:
        yield Finding(
            title=f"{figures.size(left)} are never freed",
            detail=f"{profile.totals.end_live_objects:,} blocks are alive at the end, when the process gives "
            "all memory back anyway.",
            suggestion="Suggested: nothing, unless the program is to run longer: then look at the sites that "
            "have most alive at the peak.",
            share=None,
            subsystem=None,
        )
