"""What `mallard advise` and `mallard doctor` say of a program, beside what is known of it.

    advice   --judged-->    Judged      the right strategy? within 5 % of the best candidate?
    doctor   --doctored-->  Doctored    each plan and malloc that was tried: foretold, and what came of it
    change   --applied-->   Applied     a change of the source: what it was to bring, and what it brought

All are read from JSON, so that the same documents can be judged again. What a document does not tell is None,
and never counts as right. Changes are shares: -0.2 is a fifth less.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from limits import Limit
from truths import MALLOC, NOTHING, Truth

NEAR = 1.05  # of the best candidate's CPU time
NEAR_SHARE = 0.1  # of the programs, that need not be as near
MAX_RSS = 1.25  # the default of `mallard advise`
WITHIN = 1 / 3  # a predicted change of the tried one, in the median
PEAK_WITHIN = 0.10
SLOWER = 1.02  # than the best malloc: more, and a recommendation was none
HALF = 0.5  # of the change foretold, that a change of the source has to bring
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
    """Return what a program with nothing to gain is told to do."""
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
class Predicted:
    """One plan or malloc under one program: what was foretold, and what came of it."""

    program: str
    name: str
    predicted: float | None  # change of the CPU time
    tried: float | None
    interval: Sequence[float] | None
    noise: float  # what glibc differs from itself by
    predicted_peak: float | None  # bytes
    tried_peak: float | None

    @property
    def is_told(self) -> bool:
        """Whether the change is larger than what glibc differs from itself by."""
        return self.tried is not None and abs(self.tried) > self.noise

    @property
    def has_same_sign(self) -> bool:
        """Whether it went the way that was foretold."""
        return self.predicted is not None and self.tried is not None and self.predicted * self.tried > 0

    @property
    def off(self) -> float | None:
        """Return how far the prediction is from the change, as a part of the change."""
        return None if self.predicted is None or not self.tried else abs(self.predicted / self.tried - 1)

    @property
    def peak_off(self) -> float | None:
        """Return the same of the peak."""
        if self.predicted_peak is None or not self.tried_peak:
            return None
        return abs(self.predicted_peak / self.tried_peak - 1)

    @property
    def remark(self) -> str:
        """Return what is to be said of it in a table."""
        if self.tried is None:
            return "not tried"
        if not self.is_told:
            return "no difference"
        if self.predicted is None:
            return "not predicted"
        if not self.has_same_sign:
            return "MISS: the other way"
        return "" if self.off is not None and self.off <= WITHIN else "MISS: by more than a third"


@dataclass(frozen=True)
class Doctored:
    """What `mallard doctor` says of a program."""

    program: str
    kind: str  # of the verdict
    use: str | None
    headline: str
    predictions: Sequence[Predicted]
    over_best_malloc: float | None  # CPU time of what is recommended; None where nothing is
    other_outputs: Sequence[str]  # who printed something else
    seconds: float | None = None


def doctored(program: str, document: Document, seconds: float | None = None) -> Doctored:
    """Read what is said of a program."""
    rows = (document["trial"] or {}).get("rows", [])
    noise = max((spread_of(row) for row in rows if row["kind"] == "twin"), default=0.0)
    found = [
        Predicted(
            program,
            one["name"],
            one["predicted_cpu"],
            one["tried_cpu"],
            one["interval"],
            noise,
            one["predicted_peak_bytes"],
            one["tried_peak_bytes"],
        )
        for one in document["predictions"]
    ]
    verdict = document["verdict"]
    different = [row["name"] for row in rows if row["same_output"] is False]
    different += [
        one["name"] for one in (document["trial"] or {}).get("left_out", []) if "prints" in one["reason"]
    ]
    return Doctored(
        program,
        verdict["kind"],
        verdict["use"],
        verdict["headline"],
        found,
        beside_best_malloc(verdict["use"], rows),
        different,
        seconds,
    )


def spread_of(row: Document) -> float:
    """Return how far a row's CPU time is from glibc's, at most."""
    ratio = row["ratios"]["cpu_s"]
    return max(abs(ratio["low"] - 1), abs(ratio["high"] - 1)) if ratio else 0.0


def beside_best_malloc(use: str | None, rows: Sequence[Document]) -> float | None:
    """Return the CPU time of a row over that of the best malloc of the last stage."""
    ratios = {
        row["name"]: 1.0 if row["kind"] == "baseline" else row["ratios"]["cpu_s"]["median"]
        for row in rows
        if row["kind"] == "baseline" or (row["ratios"]["cpu_s"] and row["verdict"] != "behind")
    }
    mallocs = [
        ratios[row["name"]] for row in rows if row["kind"] in ("baseline", "malloc") and row["name"] in ratios
    ]
    return ratios[use] / min(mallocs) if use in ratios and mallocs else None


def doctor_limits(all_: Sequence[Doctored]) -> Iterator[Limit]:
    """Yield what is promised of the doctor; what was not measured holds nothing."""
    told = [one for doctor in all_ for one in doctor.predictions if one.is_told]
    known = [one for one in told if one.predicted is not None]
    wrong = [f"{one.program} {one.name}" for one in known if not one.has_same_sign]
    where = ", ".join(wrong) or f"of {len(known)} changes beyond noise"
    yield Limit("changes that go the other way than foretold", 0, len(wrong) if known else None, where)
    off = [one.off for one in known if one.off is not None]
    where = f"of the change; the median of {len(off)}"
    yield Limit("foretold change is off by", round(WITHIN, 3), median(off) if off else None, where)
    peaks = {
        f"{p.program} {p.name}": p.peak_off for one in all_ for p in one.predictions if p.peak_off is not None
    }
    yield worst("foretold peak is off by", PEAK_WITHIN, peaks)
    over = {one.program: one.over_best_malloc for one in all_ if one.over_best_malloc is not None}
    yield worst("what is recommended takes, of the best malloc's CPU time", SLOWER, over)
    different = [f"{one.program} under {name}" for one in all_ for name in one.other_outputs]
    where = ", ".join(different) or f"of {len(all_)} programs"
    yield Limit("runs that print something else", 0, len(different) if all_ else None, where)


def worst(promise: str, at_most: float, figures: Mapping[str, float]) -> Limit:
    """Judge a promise that each has to keep."""
    if not figures:
        return Limit(promise, at_most, None, "on each")
    name = max(figures, key=lambda name: figures[name])
    return Limit(promise, at_most, figures[name], f"on each, most on {name}")


@dataclass(frozen=True)
class Applied:
    """A change of the source, as it was advised, compiled and measured."""

    program: str
    strategy: str
    advised: float | None  # change of the CPU time
    measured: float | None
    interval: Sequence[float] | None
    failure: str = ""  # why it could not be measured

    @property
    def brings(self) -> bool:
        """Whether it brings a half of what was foretold, or more, and in the same direction."""
        if self.advised is None or self.measured is None:
            return False
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
        "changes that bring less than half of what was foretold", 0, len(less) if all_ else None, where
    )
    brought = sum(one.brings for one in all_)
    yield Limit(
        f"changes that lack to {CHANGES} that bring it", 0, max(0, CHANGES - brought), f"{brought} bring it"
    )
