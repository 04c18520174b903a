"""What advice is made of: subsystems, what was tried for each, and what of that is worth doing.

    Advice -- Verdict          one sentence for the whole program
       |----- SubsystemAdvice  what a part does --- Candidate    a strategy, measured or estimated
       |                                               '-- SourceChange
       |----- WholeMalloc      another malloc for all of it
       '----- Offer            a plan that `mallard try` can run

Changes of CPU time are shares of what the program takes when it is not recorded: -0.2 is a fifth less. Those
of memory are bytes. None is a figure that could not be found out.
"""

from dataclasses import dataclass, field
from typing import Any

from mallard.analysis.model import Dvluc, Frame
from mallard.compare.intervals import Interval, Lead
from mallard.plan import Plan, plan_text

LEAVE = "leave"
NOT_MEASURED = "Nothing was measured here: there is no advice."
PLAN, SOURCE = "plan", "source"  # how a candidate runs: the program unmodified, or its source changed

# A change of the CPU time that is worth telling.
LEAST = 0.01


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may choose."""

    max_rss: float = 1.25  # how far the peak may grow, times the recorded one
    top: int = 8  # subsystems that are measured
    budget: float | None = None  # minutes for replays; None: measure.MINUTES
    until: float | None = None  # of the monotonic clock: when replays end, whatever the budget says
    cpu_seconds: float | None = None  # that the program takes without being recorded, where that is known
    peak_rss: float | None = None  # bytes that it has in memory then, at most
    seed: int = 1  # of the order in which a trial of the plans takes them


@dataclass(frozen=True, slots=True)
class SourceChange:
    """What to write where: as a diff where the line is clear, else in words."""

    type: str
    function: str
    file: str | None
    line: int | None
    text: str
    diff: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One strategy for one subsystem, and what it would change."""

    strategy: str
    runs_as: str  # PLAN or SOURCE
    measured: bool  # False: estimated from the journal
    reason: str
    wrong_if: str
    cpu: Interval | None = None
    ns_per_block: Interval | None = None  # of all blocks of the subsystem
    noise: Interval | None = None  # the same of glibc against itself, in its replay
    lead: Lead | None = None  # of what is measured; the median as ns_per_block
    peak_bytes: int | None = None
    held_bytes: int | None = None
    until: str | None = None  # the function whose return ends it
    change: SourceChange | None = None
    row: str = ""  # of the replay that measured it
    route: str = ""  # of that replay: how it divides the part over heaps
    refused: str = ""  # why it is not picked whatever it gains
    apart: str = ""  # what speaks for it that a replay does not show
    is_clear: bool = False  # it is faster by LEAST of the CPU time, and not by chance


@dataclass(frozen=True, slots=True)
class Owners:
    """The instances that a witness tells apart."""

    place: str
    instances: int
    gain: float
    known: float  # share of the blocks whose owner was seen; those of the others are inferred


@dataclass(frozen=True, slots=True)
class SubsystemAdvice:
    """A part of the program and what was found for it."""

    name: str
    blocks: int
    bytes: int
    share_of_blocks: float
    dvluc: Dvluc
    threads: int
    owners: Owners | None
    site: Frame | None
    pick: str
    candidates: tuple[Candidate, ...]
    sentence: str  # what it does

    @property
    def is_measured(self) -> bool:
        """Return whether there is anything to judge by: a candidate beside leaving it as it is."""
        return any(one.measured for one in self.candidates if one.strategy != LEAVE)

    @property
    def picked(self) -> Candidate | None:
        """Return the candidate that is picked; None where nothing is."""
        return self.candidates[0] if self.pick != LEAVE else None


@dataclass(frozen=True, slots=True)
class WholeMalloc:
    """Another malloc under the whole program, replayed."""

    name: str
    cpu: Interval | None  # with its start
    ns_per_block: Interval
    peak_bytes: int | None
    start_ns: Interval | None = None  # of CPU time, more than under glibc; None: not measured


@dataclass(frozen=True, slots=True)
class Offer:
    """A plan, and what it is expected to gain."""

    name: str
    plan: Plan
    cpu: Interval | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in a sentence."""

    kind: str  # plan, malloc, source or nothing
    headline: str
    cpu: Interval | None = None
    peak: float | None = None  # change as a share of the recorded peak


@dataclass(frozen=True, slots=True)
class Advice:
    """All that was found for one journal."""

    program: tuple[str, ...]
    journal: str
    verdict: Verdict
    subsystems: tuple[SubsystemAdvice, ...] = ()  # the largest gain first
    mallocs: tuple[WholeMalloc, ...] = ()
    offers: tuple[Offer, ...] = ()
    remarks: tuple[str, ...] = ()
    method: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, str] = field(default_factory=dict)

    @property
    def plans(self) -> list[tuple[str, Plan]]:
        """Return the plans by name, the one with the largest expected gain first."""
        return [(offer.name, offer.plan) for offer in self.offers]


def as_document(advice: Advice) -> dict[str, Any]:
    """Return it as the object of JSON that --json prints; docs/advice.md names its members."""
    return {
        "program": list(advice.program),
        "journal": advice.journal,
        "verdict": {
            "kind": advice.verdict.kind,
            "headline": advice.verdict.headline,
            "cpu": interval(advice.verdict.cpu),
            "peak": advice.verdict.peak,
        },
        "subsystems": [of_subsystem(one) for one in advice.subsystems],
        "mallocs": [
            {
                "name": one.name,
                "cpu": interval(one.cpu),
                "ns_per_block": interval(one.ns_per_block),
                "start_ns": interval(one.start_ns),
                "peak_bytes": one.peak_bytes,
            }
            for one in advice.mallocs
        ],
        "plans": [
            {
                "name": offer.name,
                "rules": len(offer.plan.rules),
                "predicted_peak_bytes": offer.plan.predicted_peak,
                "cpu": interval(offer.cpu),
                "text": plan_text(offer.plan),
            }
            for offer in advice.offers
        ],
        "remarks": list(advice.remarks),
        "method": advice.method,
        "machine": advice.machine,
    }


def interval(of: Interval | None) -> dict[str, float] | None:
    """Return an interval's members."""
    return {"median": of.median, "low": of.low, "high": of.high} if of else None


def of_subsystem(one: SubsystemAdvice) -> dict[str, Any]:
    """Return what was found for a subsystem."""
    found = one.dvluc
    return {
        "name": one.name,
        "blocks": one.blocks,
        "bytes": one.bytes,
        "share_of_blocks": one.share_of_blocks,
        "share_of_cpu": found.density.value,
        "dvluc": {
            "density": found.density.value,
            "variation": found.variation.value,
            "locality": found.locality.pages,
            "utilization": found.utilization.value,
            "contention": found.contention.value,
        },
        "does": one.sentence,
        "threads": one.threads,
        "owners": {"place": one.owners.place, "instances": one.owners.instances, "gain": one.owners.gain}
        if one.owners
        else None,
        "site": {"function": one.site.function, "file": one.site.file, "line": one.site.line}
        if one.site
        else None,
        "pick": one.pick,
        "candidates": [of_candidate(candidate) for candidate in one.candidates],
    }


def of_candidate(one: Candidate) -> dict[str, Any]:
    """Return a candidate's members."""
    change = one.change
    return {
        "strategy": one.strategy,
        "row": one.row or None,
        "measured": one.measured,
        "runs_as": one.runs_as,
        "cpu": interval(one.cpu),
        "ns_per_block": interval(one.ns_per_block),
        "peak_bytes": one.peak_bytes,
        "held_bytes": one.held_bytes,
        "reason": one.reason,
        "until": one.until,
        "change": {
            "type": change.type,
            "function": change.function,
            "file": change.file,
            "line": change.line,
            "text": change.text,
            "diff": change.diff,
        }
        if change
        else None,
        "doubt": one.lead.doubt if one.lead else None,
        "is_clear": one.is_clear,
        "wrong_if": one.wrong_if,
        "refused": one.refused or None,
        "apart": one.apart or None,
    }
