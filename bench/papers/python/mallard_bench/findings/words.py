"""The figures that decided about a finding, in words: what was found and demanded, and what contradicts it.

60 of 66, 3 within noise; counted as holding: above 1 in 90 %; ratios from 0.98 to 1.13, median 1.05;
against: DS3 2^6 AS3/AS4 0.98
"""

import math
from collections.abc import Sequence

from mallard_bench.findings.interval import Interval, median, over

NAMED = 3  # exceptions that are named; of more only how many they are

NOISE = (
    "A ratio is within noise where its noise reaches across a bound of what is counted as holding. Noise is "
    "the 10th to the 90th of 100 parts of its rounds, of figures of two groups those of both, or, if that "
    "is more, what the first strategy and its repetition differ by in the same group, and at least in the "
    "median of all groups."
)


def where(section: str) -> str:
    """Say where in a paper a finding stands, or that it is a promise."""
    return f"section {section}" if section[0].isdigit() else section


def accepted(least: float, most: float, share: float | None = None) -> str:
    """Say between which bounds a ratio counts as holding, and in how many places it must."""
    if most == math.inf:
        bounds = f"above {least:.3g}"
    else:
        bounds = f"{least:.3g} to {most:.3g}" if least > 0 else f"below {most:.3g}"
    if share is None:
        return f"counted as holding: {bounds}"
    return f"counted as holding: {bounds} " + (
        "everywhere" if share == 1 else f"in {share:.0%}".replace("%", " %")
    )


def extent(ratios: Sequence[Interval]) -> str:
    """Say between which two ratios all lie."""
    values = [ratio.value for ratio in ratios]
    if len(values) == 1:
        return f"ratio {values[0]:.3g}"
    return f"ratios from {min(values):.3g} to {max(values):.3g}"


def around(ratios: Sequence[Interval]) -> str:
    """Say where the ratios lie."""
    return extent(ratios) + (f", median {median(ratios).value:.3g}" if len(ratios) > 1 else "")


def undecided(unclear: Sequence[Interval], least: float, most: float) -> str:
    """Say how many ratios noise leaves open; of those about no difference, how many also show none."""
    if not unclear:
        return ""
    said = f", {len(unclear)} within noise"
    if 0 < least < 1 < most < math.inf:
        level = sum(ratio.low <= 1 <= ratio.high for ratio in unclear)
        said += f", {level} of these no different from 1" if level else ""
    return said


def exceptions(against: Sequence[Interval], least: float, most: float) -> str:
    """Name the places that contradict a finding, the clearest first."""
    worst = sorted(against, key=lambda ratio: min(over(ratio.value, least), over(most, ratio.value)))
    named = [f"{' '.join(filter(None, ratio.of))} {ratio.value:.3g}".strip() for ratio in worst[:NAMED]]
    more = f" and {len(worst) - NAMED} more" if len(worst) > NAMED else ""
    return f"; against: {', '.join(named)}{more}" if named else ""


def few(rounds: int) -> str:
    """Say that there are too few rounds to know the noise."""
    return f"{rounds} round{'s' if rounds > 1 else ''}, too few to tell noise"
