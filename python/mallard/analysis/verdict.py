"""The answer: whether another way to allocate can pay in this program, and what speaks for it.

    D bounds what faster operations save: without their cost the program takes 1 - D of its time (Amdahl)
    a replay settles how much of that: D x (1 - best strategy / glibc)

A journal alone cannot prove a gain; it can only prove that there is little to gain. What better locality
saves the program between its allocations is in neither figure: only a run can tell.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mallard import figures
from mallard.analysis.findings import findings
from mallard.analysis.model import Profile, Verdict

# Less than this of the CPU time is nothing to gain.
LEAST_GAIN = 0.02

# A strategy that holds more, beside the fastest malloc, buys its time with memory: it is no answer.
MOST_MEMORY = 1.5  # as mallard-replay has it

# So few allocations say nothing, and cost nothing.
LEAST_ALLOCATIONS = 1000

# So few timed calls say nothing, either: one that lost the processor would be most of D.
LEAST_TIMED = 8

ReplayRow = Mapping[str, Any]


def judged(profile: Profile, replay: Sequence[ReplayRow] | None = None) -> Profile:
    """Return the profile with its verdict; `replay` has the rows of `mallard replay --json`."""
    return replace(profile, verdict=verdict(profile, replay))


def verdict(profile: Profile, replay: Sequence[ReplayRow] | None = None) -> Verdict:
    """Say what could be gained; the verdict that the profile has plays no part."""
    headline, worthwhile = answer(profile, replay)
    if not profile.complete:
        headline = f"The journal ends before the program did. Of what it has: {headline}"
    return Verdict(headline, worthwhile, findings(profile))


def answer(profile: Profile, replay: Sequence[ReplayRow] | None) -> tuple[str, bool]:
    """Return the headline, and whether to read on."""
    allocations, density = profile.totals.allocations, known_density(profile)
    if allocations < LEAST_ALLOCATIONS and (density or 0) < LEAST_GAIN:
        return f"Nothing to gain: the program allocates {allocations:,} times in all.", False
    if density is not None and density < LEAST_GAIN:
        return (
            f"Nothing to gain from faster allocation: D is {figures.share(density)}, all that allocation "
            "costs of the CPU time.",
            False,
        )
    measured = comparison(replay or ())
    if measured is None:
        return unmeasured(profile, density), True
    return settled(measured, density)


def known_density(profile: Profile) -> float | None:
    """Return D of the whole program, if enough of its calls were timed."""
    density = profile.dvluc.density
    return density.value if density.timed >= LEAST_TIMED else None


def unmeasured(profile: Profile, density: float | None) -> str:
    """Say what is known without a replay, and how to go on."""
    known = (
        "What allocation costs of the CPU time is not known."
        if density is None
        else f"Allocation takes {at_most(density)} of the CPU time, so a faster one saves less than that."
    )
    return f"{known} To measure what each strategy would save: mallard replay {shlex.quote(profile.journal)}"


def at_most(density: float) -> str:
    """Return a density as text; that of a whole program is 1 only where its estimates do not fit together."""
    return f"up to {figures.share(density)}" if density >= 1 else figures.share(density)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A strategy beside glibc."""

    name: str
    ratio: float  # of its time to glibc's
    is_clear: bool  # it is faster, and the spreads of both do not touch
    is_malloc: bool

    def saves(self, density: float) -> float:
        """Return the share of the CPU time that it would save."""
        return density * (1 - self.ratio)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The fastest of a replay: of all that hold hardly more than the fastest malloc, and of the mallocs."""

    best: Candidate
    malloc: Candidate


def comparison(rows: Sequence[ReplayRow]) -> Comparison | None:
    """Compare the fastest with glibc; None if the replay did not measure both."""
    measured = [row for row in rows if row["status"] == "ok" and row["ns_per_event"] is not None]
    candidates = [
        row for row in measured if row["strategy"] != "none" and not row["strategy"].endswith(" a/a")
    ]
    glibc = next((row for row in candidates if row["strategy"] == "glibc"), None)
    if glibc is None or glibc["ns_per_event"] <= 0 or len(candidates) < 2:
        return None
    malloc = fastest(row for row in candidates if row["binding"] == "malloc")
    limit = MOST_MEMORY * (malloc["max_held"] or float("inf"))
    best = fastest(row for row in candidates if row is malloc or (row["max_held"] or 0) <= limit)
    return Comparison(beside(best, glibc), beside(malloc, glibc))


def fastest(rows: Iterable[ReplayRow]) -> ReplayRow:
    """Return the row with the lowest time, the first by name of equals."""
    return min(rows, key=lambda row: (row["ns_per_event"], row["strategy"]))


def beside(row: ReplayRow, glibc: ReplayRow) -> Candidate:
    """Compare one row with glibc's; what is below the floor takes no time."""
    return Candidate(
        name=row["strategy"] if row["binding"] == "malloc" else f"{row['strategy']} ({row['binding']})",
        ratio=max(row["ns_per_event"], 0) / glibc["ns_per_event"],
        is_clear=bool(row["spread"][1] < glibc["spread"][0]),
        is_malloc=row["binding"] == "malloc",
    )


def settled(measured: Comparison, density: float | None) -> tuple[str, bool]:
    """Say what the replay measured: the best that the program could be given, and the best malloc."""
    best, malloc = measured.best, measured.malloc
    if not best.is_clear:
        return "Nothing to gain: no strategy was clearly faster than glibc on this journal.", False
    times = f"{best.name} takes {best.ratio:.2f} of glibc's time on this journal"
    if density is None:
        return f"{times}; what that is of the program's CPU time is not known.", True
    gain = best.saves(density)
    if gain < LEAST_GAIN:
        return f"Nothing to gain: {times}, which is {figures.share(gain)} of the program's CPU time.", False
    bound = "up to " if density >= 1 else ""
    headline = (
        f"Worth trying: {times}, which would save {bound}{figures.share(gain)} of the program's CPU time"
    )
    if best.is_malloc:
        return f"{headline}, without changing the program.", True
    if malloc.is_clear:
        headline += (
            f"; {malloc.name} alone, without changing the program, {figures.share(malloc.saves(density))}"
        )
    return f"{headline}.", True
