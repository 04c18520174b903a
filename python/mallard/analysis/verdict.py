"""The answer: whether another way to allocate can pay in this program, and what speaks for it.

    D bounds it: without any allocation cost the program takes 1 - D of its time (Amdahl)
    a replay settles it: D x (1 - best strategy / glibc)

A journal alone proves nothing gained, it can only prove that there is nothing to gain.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mallard import figures
from mallard.analysis.findings import findings
from mallard.analysis.model import Profile, Verdict

# Less than this of the CPU time is nothing to gain.
LEAST_GAIN = 0.02

# So few allocations say nothing, and cost nothing.
LEAST_ALLOCATIONS = 1000

ReplayRow = Mapping[str, Any]


def judged(profile: Profile, replay: Sequence[ReplayRow] | None = None) -> Profile:
    """Return the profile with its verdict; `replay` are the rows of `mallard replay --json`."""
    return replace(profile, verdict=verdict(profile, replay))


def verdict(profile: Profile, replay: Sequence[ReplayRow] | None = None) -> Verdict:
    """Say what could be gained; the verdict that the profile has plays no part."""
    headline, worthwhile = answer(profile, replay)
    return Verdict(headline, worthwhile, findings(profile))


def answer(profile: Profile, replay: Sequence[ReplayRow] | None) -> tuple[str, bool]:
    """Return the headline, and whether to read on."""
    allocations, density = profile.totals.allocations, profile.dvluc.density.value
    if allocations < LEAST_ALLOCATIONS:
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


def unmeasured(profile: Profile, density: float | None) -> str:
    """Say what is known without a replay, and how to go on."""
    limit = (
        "What allocation costs of the CPU time is not known"
        if density is None
        else f"Allocation costs up to {figures.share(density)} of the CPU time, which no strategy can exceed"
    )
    return f"{limit}; no replay has measured yet what one does: mallard replay {shlex.quote(profile.journal)}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The fastest strategy of a replay beside glibc."""

    name: str
    ratio: float  # of its time to glibc's
    is_clear: bool  # the spreads of both do not touch


def comparison(rows: Sequence[ReplayRow]) -> Comparison | None:
    """Compare the fastest with glibc; None if the replay did not measure both."""
    measured = [row for row in rows if row["status"] == "ok" and row["ns_per_event"]]
    contestants = [
        row for row in measured if row["strategy"] != "none" and not row["strategy"].endswith(" a/a")
    ]
    glibc = next((row for row in contestants if row["strategy"] == "glibc"), None)
    if glibc is None or len(contestants) < 2:
        return None
    best = min(contestants, key=lambda row: (row["ns_per_event"], row["strategy"]))
    return Comparison(
        name=f"{best['strategy']} ({best['binding']})",
        ratio=best["ns_per_event"] / glibc["ns_per_event"],
        is_clear=bool(best["spread"][1] < glibc["spread"][0]),
    )


def settled(measured: Comparison, density: float | None) -> tuple[str, bool]:
    """Say what the replay measured."""
    if not measured.is_clear:
        return "Nothing to gain: no strategy was clearly faster than glibc on this journal.", False
    times = f"{measured.name} takes {measured.ratio:.2f} of glibc's time on this journal"
    if density is None:
        return f"{times}; what that is of the program's CPU time is not known.", True
    gain = density * (1 - measured.ratio)
    if gain < LEAST_GAIN:
        return f"Nothing to gain: {times}, which is {figures.share(gain)} of the program's CPU time.", False
    return f"Worth trying: {times}, which would save {figures.share(gain)} of the program's CPU time.", True
