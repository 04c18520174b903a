"""What `mallard advise` says about a program, beside what is known of it.

    advice   --judged-->    Judged      the right strategy? within 5 % of the best candidate?
    change   --applied-->   Applied     a change of the source: what it should have gained, and what it did

All are read from JSON, so that the same documents can be judged again. What a document does not tell is None,
and never counts as right. Changes are shares: -0.2 is a fifth less.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from limits import Limit
from truths import MALLOC, NOTHING, Truth

NEAR = 1.05  # of the best candidate's CPU time
NEAR_SHARE = 0.1  # of the programs, that need not be as near
MAX_RSS = 1.25  # the default of `mallard advise`
HALF = 0.5  # of the change predicted, that a change of the source has to bring
CHANGES = 6  # programs for which a change of the source is to be had
LEAVE = "leave"

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """What `mallard advise` says of a program."""

    truth: Truth
    pick: str  # of the subsystem; `malloc` or `nothing` where the whole has that
    is_right: bool
    why_not: str = ""
    cpu: float | None = None  # change by the pick
    best: str | None = None  # of all measured candidates
    best_cpu: float | None = None
    seconds: float | None = None  # to record and to advise

    @property
    def over_best(self) -> float | None:
        """Return the CPU time with the pick over that with the best candidate."""
        return None if self.cpu is None or self.best_cpu is None else (1 + self.cpu) / (1 + self.best_cpu)

    @property
    def is_near(self) -> bool | None:
        """Whether the pick is about as good as the best; None where nothing was measured."""
        return None if self.over_best is None else self.over_best <= NEAR


def judged(truth: Truth, advice: Document, seconds: float | None = None) -> Judged:
    """Judge what is said of a program."""
    verdict = advice["verdict"]
    if truth.is_control:
        is_right = verdict["kind"] == NOTHING
        why_not = "" if is_right else verdict["headline"]
        return Judged(truth, picked_of_control(advice), is_right, why_not, seconds=seconds)
    subsystem = subsystem_of(truth, advice["subsystems"])
    if subsystem is None:
        whole = verdict["kind"]
        is_right = whole == MALLOC and MALLOC in truth.right
        why_not = "" if is_right else f"no subsystem has {' or '.join(truth.functions)}"
        return Judged(truth, whole, is_right, why_not, seconds=seconds)
    pick, cpu, best, best_cpu = picked(subsystem)
    if pick == LEAVE and verdict["kind"] == MALLOC:
        pick, cpu = MALLOC, middle(verdict["cpu"])
        if cpu is not None and (best_cpu is None or cpu < best_cpu):
            best, best_cpu = MALLOC, cpu
    why_not = reason_against(truth, pick, verdict)
    if why_not and (unmeasured := [one for one in advice["remarks"] if "budget" in one]):
        why_not += f" ({unmeasured[0]})"
    return Judged(truth, pick, not why_not, why_not, cpu, best, best_cpu, seconds)


def reason_against(truth: Truth, pick: str, verdict: Document) -> str:
    """Return why advice for a program with something to gain is wrong; nothing where it is right."""
    if pick not in truth.right:
        return f"{pick}, not {truth.wanted}"
    if verdict["kind"] == NOTHING and pick != LEAVE:
        return f"{pick}, but the verdict is: {verdict['headline']}"
    if (verdict["peak"] or 0.0) > MAX_RSS - 1:
        return f"{pick}, with {1 + verdict['peak']:.2f} of the peak"
    return ""


def picked_of_control(advice: Document) -> str:
    """Return the advice for a program with nothing to gain."""
    kind: str = advice["verdict"]["kind"]
    picks = [one["pick"] for one in advice["subsystems"] if one["pick"] != LEAVE]
    return picks[0] if kind != NOTHING and picks else kind


def subsystem_of(truth: Truth, subsystems: Sequence[Document]) -> Document | None:
    """Return the subsystem that the truth is about: of all that name one of its functions, the largest."""
    words = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, truth.functions))})(?!\w)")

    def names(one: Document) -> bool:
        site = (one["site"] or {}).get("function") or ""
        return bool(words.search(one["name"]) or words.search(re.sub(r"<[^<>]*>", "", site)))

    return max(filter(names, subsystems), key=lambda one: int(one["blocks"]), default=None)


def picked(subsystem: Document) -> tuple[str, float | None, str | None, float | None]:
    """Return the pick and the best measured candidate, each with its change of the CPU time.

    A strategy may be there twice, as a plan and in the source; the pick stands before all others.
    """
    pick: str = subsystem["pick"]
    measured = [
        (one["strategy"], float(one["cpu"]["median"]))
        for one in subsystem["candidates"]
        if one["measured"] and one["cpu"] and not one.get("refused") and one["strategy"] != LEAVE
    ]
    if not measured:
        return pick, None, None, None
    measured.append((LEAVE, 0.0))
    best, best_cpu = min(measured, key=lambda one: one[1])
    return pick, next((cpu for name, cpu in measured if name == pick), None), best, best_cpu


def middle(interval: Document | None) -> float | None:
    """Return an interval's median."""
    return float(interval["median"]) if interval else None


def limits(all_: Sequence[Judged], allowed: int) -> Iterator[Limit]:
    """Yield what is promised of advice; without a program nothing is known."""
    controls = [one for one in all_ if one.truth.is_control]
    others = [one for one in all_ if not one.truth.is_control]
    yield counted(
        "programs with another strategy than is right", allowed, others, lambda one: not one.is_right
    )
    yield counted("programs without a gain that get advice", 0, controls, lambda one: not one.is_right)
    known = [one for one in others if one.is_near is not None]
    most = int(NEAR_SHARE * len(known))
    yield counted(f"picks more than {NEAR - 1:.0%} above the best", most, known, lambda one: not one.is_near)


def counted(promise: str, at_most: float, of: Sequence[Judged], misses: Any) -> Limit:
    """Return how many miss a promise."""
    names = [one.truth.name for one in of if misses(one)]
    where = ", ".join(names) if names else f"of {len(of)} programs"
    return Limit(promise, at_most, len(names) if of else None, where)


@dataclass(frozen=True)
class Applied:
    """A change of the source, as it was advised, compiled and measured."""

    program: str
    strategy: str
    advised: float | None  # change of the CPU time
    measured: float | None
    interval: Sequence[float] | None
    failure: str = ""  # why it could not be measured
    keeps_together: bool = False  # so that it gains in the program's own work, which no replay shows

    @property
    def brings(self) -> bool:
        """Whether it gains at least half of what was predicted, in the same direction.

        Of what keeps blocks together nothing is predicted but that it gains, where the replay shows none.
        """
        if self.advised is None or self.measured is None:
            return False
        if self.keeps_together and self.advised >= 0:
            return self.measured < 0
        return self.advised * self.measured > 0 and abs(self.measured) >= HALF * abs(self.advised)


def change_of(truth: Truth, advice: Document) -> Document | None:
    """Return the candidate whose change of the source is advised as a diff: the pick, else the best other."""
    subsystem = subsystem_of(truth, advice["subsystems"])
    if subsystem is None:
        return None
    with_diff = [one for one in subsystem["candidates"] if (one["change"] or {}).get("diff")]
    with_diff.sort(key=lambda one: (one["strategy"] != subsystem["pick"], middle(one["cpu"]) or 0.0))
    return with_diff[0] if with_diff else None


def applied_limits(all_: Sequence[Applied]) -> Iterator[Limit]:
    """Yield what is promised of changes of the source."""
    failed = [one.program for one in all_ if one.failure]
    where = ", ".join(failed) or f"of {len(all_)}"
    yield Limit(
        "changes that do not apply, compile or print the same", 0, len(failed) if all_ else None, where
    )
    less = [one.program for one in all_ if not one.brings and not one.failure]
    where = ", ".join(less) or f"of {len(all_)}"
    yield Limit(
        "changes that bring less than half of what was predicted", 0, len(less) if all_ else None, where
    )
    brought = sum(one.brings for one in all_)
    yield Limit(
        f"fewer than {CHANGES} changes bring it, by",
        0,
        max(0, CHANGES - brought),
        f"{brought} bring it",
    )
