"""How long a run still takes: what groups were expected to cost, corrected by what those done have cost.

    left = expected of those not done * (measured / expected of those done)

What was skipped cost nothing and tells nothing. As long as nothing is done, probes tell.
"""

from collections.abc import Iterable

MINUTE, HOUR, DAY = 60, 3600, 86400


class Pace:
    """The account of a run."""

    def __init__(self, expected: Iterable[float]) -> None:
        """Begin with what all groups are expected to cost, in seconds."""
        self.left = sum(expected)
        self.expected = 0.0
        self.measured = 0.0
        self.probe_factor = 1.0

    def probed(self, expected: float, measured: float) -> None:
        """Learn from something that is not part of the run."""
        self.probe_factor = measured / expected

    def done(self, expected: float, measured: float, skipped: bool) -> None:
        """Count a group as done."""
        self.left -= expected
        if not skipped:
            self.expected += expected
            self.measured += measured

    def seconds_left(self, running_for: float = 0) -> float:
        """Return how long the rest takes, a group among it that has been running for a while."""
        factor = self.measured / self.expected if self.expected else self.probe_factor
        return max(self.left * factor - running_for, 0.0)


def duration(seconds: float) -> str:
    """Return a duration as people say it."""
    if seconds < 1.5 * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 1.5 * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    if seconds < 2 * DAY:
        minutes = round(seconds / MINUTE)
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{seconds / DAY:.0f} days"
