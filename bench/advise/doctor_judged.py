"""What `mallard doctor` says about a program: plans and mallocs, the prediction for each, and the outcome.

Read from JSON, so that the same documents can be judged again. What a document does not tell is None, and
never counts as right. Changes are shares: -0.2 is a fifth less.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from limits import Limit

WITHIN = 1 / 3  # a predicted change of the tried one, in the median
PEAK_WITHIN = 0.10
SLOWER = 1.02  # than the best malloc: more, and a recommendation was none
MINUTES = 12  # for a program, with the default budget

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Predicted:
    """One plan or malloc under one program: the prediction and the outcome."""

    program: str
    name: str
    predicted: float | None  # change of the CPU time
    tried: float | None
    interval: Sequence[float] | None
    noise: float  # what glibc differs from itself by in as many rounds
    predicted_peak: float | None  # bytes
    tried_peak: float | None

    @property
    def is_told(self) -> bool:
        """Whether the change is larger than what glibc differs from itself by."""
        return self.tried is not None and abs(self.tried) > self.noise

    @property
    def has_same_sign(self) -> bool:
        """Whether it went the way that was predicted."""
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
    noise = {row["name"]: noise_of(len(row["rounds"]["cpu_s"]), rows) for row in rows}
    found = [
        Predicted(
            program,
            one["name"],
            one["predicted_cpu"],
            one["tried_cpu"],
            one["interval"],
            noise[one["name"]],
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


def noise_of(rounds: int, rows: Sequence[Document]) -> float:
    """Return what glibc differs from itself by, at most, where a change is the median of so many rounds.

    A row that was dropped has fewer rounds than the others: it is beside the median of any as many in a row.
    """
    baseline = next(row["rounds"]["cpu_s"] for row in rows if row["kind"] == "baseline")
    noise = 0.0
    for twin in (row for row in rows if row["kind"] == "twin"):
        both = list(zip(twin["rounds"]["cpu_s"], baseline, strict=False))
        parts = [both[begin : begin + rounds] for begin in range(len(both) - rounds + 1)]
        medians = [median(one / other for one, other in part) for part in parts]
        noise = max([noise, spread_of(twin), *(abs(ratio - 1) for ratio in medians)])
    return noise


def spread_of(row: Document) -> float:
    """Return how far a row's CPU time is from glibc's, at most."""
    ratio = row["ratios"]["cpu_s"]
    return max(abs(ratio["low"] - 1), abs(ratio["high"] - 1)) if ratio else 0.0


def beside_best_malloc(use: str | None, rows: Sequence[Document]) -> float | None:
    """Return the CPU time of a row over that of the best malloc of the last stage."""
    ratios = {
        row["name"]: 1.0 if row["kind"] == "baseline" else row["ratios"]["cpu_s"]["median"]
        for row in rows
        if row["kind"] == "baseline" or (row["ratios"]["cpu_s"] and row["verdict"] != "dropped")
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
    yield Limit("changes that go the other way than predicted", 0, len(wrong) if known else None, where)
    off = [one.off for one in known if one.off is not None]
    where = f"of the change; the median of {len(off)}"
    yield Limit("predicted change is off by", round(WITHIN, 3), median(off) if off else None, where)
    peaks = {
        f"{p.program} {p.name}": p.peak_off for one in all_ for p in one.predictions if p.peak_off is not None
    }
    yield worst("predicted peak is off by", PEAK_WITHIN, peaks)
    over = {one.program: one.over_best_malloc for one in all_ if one.over_best_malloc is not None}
    yield worst("what is recommended takes, of the best malloc's CPU time", SLOWER, over)
    different = [f"{one.program} under {name}" for one in all_ for name in one.other_outputs]
    where = ", ".join(different) or f"of {len(all_)} programs"
    yield Limit("runs that print something else", 0, len(different) if all_ else None, where)
    taken = {one.program: one.seconds / 60 for one in all_ if one.seconds is not None}
    yield worst("minutes that the doctor takes", MINUTES, taken)


def worst(promise: str, at_most: float, figures: Mapping[str, float]) -> Limit:
    """Judge a promise that each has to keep."""
    if not figures:
        return Limit(promise, at_most, None, "on each")
    name = max(figures, key=lambda name: figures[name])
    return Limit(promise, at_most, figures[name], f"on each, most on {name}")
