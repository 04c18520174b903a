"""What in a profile may be worth a change, one function a rule.

    profile --rules--> findings, those first that could concern the largest share of the CPU time

A share is an upper limit: what the operations in question cost in all, so what would be gained if they cost
nothing. Memory and locality have no share: a journal cannot prove what they cost.
"""

import math
from collections.abc import Iterator, Sequence

from mallard import figures
from mallard.analysis.model import Behaviour, Finding, Profile, Site, Subsystem
from mallard.analysis.strategies import MOST, is_rest, is_small, is_weighty, strategies, strategy

# Findings that concern less of the CPU time are not reported, unless there is no other.
LEAST_SHARE = 0.01

LEAST_CONTENTION = 0.005  # C
LONG_CHAIN = 4
LOOSE_PAGES = 0.3  # compactness of pages, at most ...
LOOSE_BYTES = 1 << 20  # ... where as much is alive
LEFT_BYTES = 1 << 20


def findings(profile: Profile) -> list[Finding]:
    """Return what is worth a line, the largest share first, then what has none."""
    brief = dict(temporaries(profile))
    of_temporaries = {n for n in brief if is_brief(profile.subsystems[n].behaviour)}
    found = [
        *brief.values(),
        *reallocations(profile),
        *strategies(profile, of_temporaries),
        *foreign_frees(profile),
        *loose_pages(profile),
        *left_at_end(profile),
    ]
    found.sort(key=lambda finding: -(finding.share or 0))
    told = [finding for finding in found if finding.share is None or finding.share >= LEAST_SHARE]
    return told or found[:1]


def share(subsystem: Subsystem, operations: int) -> float | None:
    """Return the share of the CPU time of a number of a subsystem's operations, at most all of them."""
    density = subsystem.dvluc.density
    if density.value is None:
        return None
    return density.value * min(operations / max(density.operations, 1), 1.0)


def temporaries(profile: Profile) -> Iterator[tuple[int, Finding]]:
    """Find subsystems with sites whose blocks are freed before their thread allocates again.

    Where no single site stands out, all of a subsystem's blocks may be temporaries. It is one finding in any
    case.
    """
    for number, subsystem in enumerate(profile.subsystems):
        sites = [
            site
            for site in profile.sites
            if site.subsystem == number and is_brief(site.behaviour) and is_weighty(site.behaviour, profile)
        ]
        if sites:
            yield number, brief_sites(subsystem, number, sites)
        elif (
            is_brief(subsystem.behaviour)
            and not is_rest(subsystem, profile)
            and not is_small(subsystem, profile)
        ):
            yield number, brief(f"{subsystem.name} allocates", "", subsystem, number, [subsystem.behaviour])


def brief_sites(subsystem: Subsystem, number: int, sites: Sequence[Site]) -> Finding:
    """Name the site with most temporaries; say that there are others."""
    largest = max(sites, key=lambda site: site.behaviour.temporaries.last)
    others = len(sites) - 1
    who = f"{largest.name} allocates" if not others else f"{largest.name} and {many(others)} allocate"
    return brief(who, place(largest), subsystem, number, [site.behaviour for site in sites])


def many(others: int) -> str:
    """Return how many other sites there are."""
    return f"{others} other site{'s' if others > 1 else ''} of its subsystem"


def is_brief(part: Behaviour) -> bool:
    """Return whether most objects are temporaries."""
    return part.temporaries.last >= MOST * part.allocations


def brief(who: str, where: str, subsystem: Subsystem, number: int, parts: Sequence[Behaviour]) -> Finding:
    """Say that temporaries could share a buffer: each saves its allocation and its free."""
    last, whole = sum(part.temporaries.last for part in parts), sum(part.allocations for part in parts)
    return Finding(
        title=f"{who} temporaries",
        detail=f"{last:,} of {whole:,} blocks{where} are freed before their thread allocates again.",
        suggestion="Suggested: keep one buffer and use it again, or take it from the stack.",
        share=share(subsystem, 2 * last),
        subsystem=number,
    )


def reallocations(profile: Profile) -> Iterator[Finding]:
    """Find sites that make blocks larger in more steps than doubling takes."""
    for site in profile.sites:
        grown = site.behaviour.reallocations
        count = grown.in_place + grown.moved
        if count and is_stepwise(site.behaviour) and is_weighty(site.behaviour, profile):
            yield Finding(
                title=f"{site.name} grows blocks step by step",
                detail=f"{count:,} reallocations{place(site)}, {grown.moved:,} of which moved the block; "
                f"up to {grown.longest_chain:,} of one block.",
                suggestion="Suggested: reserve the final size, or grow by a factor.",
                share=share(profile.subsystems[site.subsystem], count),
                subsystem=site.subsystem,
            )


def is_stepwise(part: Behaviour) -> bool:
    """Return whether a chain of reallocations is longer than growing by half each time would make it."""
    growth = part.sizes.max / max(part.sizes.min, 1.0)
    return part.reallocations.longest_chain >= max(LONG_CHAIN, 2 * math.log2(max(growth, 1.0)))


def place(site: Site) -> str:
    """Return where a site is in the source, if that is known."""
    frame = site.stack[site.frame] if site.stack else None
    return f" ({frame.file}:{frame.line})" if frame and frame.file else ""


def foreign_frees(profile: Profile) -> Iterator[Finding]:
    """Find subsystems whose threads meet in the allocator and free each other's blocks."""
    for number, subsystem in enumerate(profile.subsystems):
        part, contention = subsystem.behaviour, subsystem.dvluc.contention
        if is_rest(subsystem, profile) or not part.foreign_frees:
            continue
        if (contention.value or 0) >= LEAST_CONTENTION:
            yield strategy(
                subsystem,
                number,
                "frees blocks of other threads while they allocate",
                f"{part.foreign_frees:,} of {part.allocations:,} blocks end in another thread, "
                f"with C = {figures.unit(contention.value)} over {contention.active_threads} threads",
                "a heap with caches for each thread (synchronized_multipool), or such a malloc",
            )


def loose_pages(profile: Profile) -> Iterator[Finding]:
    """Find subsystems whose blocks lie among much that is not theirs or is free."""
    for number, subsystem in enumerate(profile.subsystems):
        pages = subsystem.dvluc.locality.pages
        if pages is None or pages > LOOSE_PAGES or is_rest(subsystem, profile):
            continue
        if subsystem.behaviour.max_live_bytes >= LOOSE_BYTES:
            yield Finding(
                title=f"{subsystem.name} lies scattered",
                detail=f"On average its blocks fill {figures.share(pages)} of the pages that they lie on. "
                "What that costs in cache and TLB misses a journal cannot tell: not proven.",
                suggestion="Suggested: try a heap of its own, which keeps its blocks on pages of their own.",
                share=None,
                subsystem=number,
            )


def left_at_end(profile: Profile) -> Iterator[Finding]:
    """Find what is never freed; at the end of a process that does no harm.

    A journal that is not complete ends before the process did: what is alive then says nothing.
    """
    left = profile.totals.end_live_bytes
    if profile.complete and left >= LEFT_BYTES and left >= MOST * profile.totals.peak_live_bytes:
        yield Finding(
            title=f"{figures.size(left)} are never freed",
            detail=f"{profile.totals.end_live_objects:,} blocks are alive at the end, when the process gives "
            "all memory back anyway.",
            suggestion="Suggested: nothing, unless the program is to run longer: then mallard leaks shows "
            "which sites they are of.",
            share=None,
            subsystem=None,
        )
