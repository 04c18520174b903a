"""How our heaps stand against a malloc, journal by journal, and what is promised of that."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

from limits import Limit

RIVAL = "mimalloc"
# multipool with one free list a class, as it was before it had slabs.
BEFORE = "lifo_multipool"

# Figures of a row that are compared.
WARM = "ns_per_event"
COLD = "cold_ns_per_event"
HELD = "max_held"


@dataclass(frozen=True)
class Standing:
    """What `mallard replay --json` found for one journal."""

    journal: str
    steady: bool
    rows: Sequence[dict[str, Any]]

    def ratio(self, figure: str, strategy: str, binding: str, over: str) -> float | None:
        """Return a strategy's figure over another's, bound as malloc or typed; None if one is missing."""
        ours = self.row(strategy, binding)
        theirs = self.row(over, "malloc") or self.row(over, "typed")
        if ours is None or theirs is None or not ours[figure] or not theirs[figure]:
            return None
        return float(ours[figure] / theirs[figure])

    def row(self, strategy: str, binding: str) -> dict[str, Any] | None:
        """Return a strategy's row if its figures can be used."""
        for each in self.rows:
            if (each["strategy"], each["binding"], each["status"]) == (strategy, binding, "ok"):
                return each
        return None


@dataclass(frozen=True)
class Promise:
    """A ratio that is promised on each journal of a kind, and in the geometric mean of them."""

    figure: str
    strategy: str
    binding: str
    over: str
    each: float
    mean: float | None = None
    steady: bool = False

    @property
    def words(self) -> str:
        """Return it as it is told."""
        what = {WARM: "warm", COLD: "cold", HELD: "held at most"}[self.figure]
        return f"{self.strategy}, {self.binding}, {what}, over {self.over}" + (
            ", steady churn" if self.steady else ""
        )


FRESH = (
    Promise(WARM, "multipool", "typed", RIVAL, 0.9, 0.75),
    Promise(COLD, "multipool", "typed", RIVAL, 0.95),
    Promise(WARM, "multipool", "pmr", RIVAL, 1.05),
    Promise(HELD, "multipool", "typed", BEFORE, 1.15, 1.05),
    Promise(WARM, "multipool", "typed", RIVAL, 0.8, steady=True),
    Promise(WARM, "multipool", "typed", BEFORE, 1.3, steady=True),
    Promise(WARM, "synchronized_multipool", "typed", RIVAL, 1.2),
    Promise(WARM, "locked_multipool", "typed", RIVAL, 2.0),
    Promise(WARM, "reap", "typed", RIVAL, 1.5),
    Promise(WARM, "sized_reap", "typed", RIVAL, 1.2),
)
LITTERED = (
    Promise(WARM, "multipool", "typed", BEFORE, 1.1),
    Promise(HELD, "multipool", "typed", BEFORE, 1.1),
)


def mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean."""
    return exp(sum(log(each) for each in ratios) / len(ratios))


def limits(standings: Sequence[Standing], litter: int) -> Iterator[Limit]:
    """Yield every promise, judged by the journal that it is tightest on; without journals it is unjudged."""
    for promise in LITTERED if litter else FRESH:
        ratios = dict(judged(standings, promise))
        if not ratios:
            yield Limit(promise.words, promise.each, None, "on each")
            continue
        worst = max(ratios, key=ratios.__getitem__)
        yield Limit(promise.words, promise.each, ratios[worst], f"on each, most on {worst}")
        if promise.mean is not None:
            yield Limit(promise.words, promise.mean, mean(list(ratios.values())), "geometric mean")


def judged(standings: Sequence[Standing], promise: Promise) -> Iterator[tuple[str, float]]:
    """Yield the journals that a promise is about, and the ratio on each."""
    for each in standings:
        ratio = each.ratio(promise.figure, promise.strategy, promise.binding, promise.over)
        if each.steady == promise.steady and ratio is not None:
            yield each.journal, ratio


def strategies(litter: int) -> list[str]:
    """Return the names of all strategies that promises are about."""
    named = {name for each in (LITTERED if litter else FRESH) for name in (each.strategy, each.over)}
    return sorted(named | {RIVAL})


def columns() -> list[tuple[str, Callable[[Standing], float | None]]]:
    """Return the columns of the table: their titles and figures."""

    def of(figure: str, strategy: str, binding: str, over: str) -> Callable[[Standing], float | None]:
        return lambda standing: standing.ratio(figure, strategy, binding, over)

    return [
        ("warm", of(WARM, "multipool", "typed", RIVAL)),
        ("pmr", of(WARM, "multipool", "pmr", RIVAL)),
        ("cold", of(COLD, "multipool", "typed", RIVAL)),
        ("warm/lifo", of(WARM, "multipool", "typed", BEFORE)),
        ("held/lifo", of(HELD, "multipool", "typed", BEFORE)),
        ("lifo", of(WARM, BEFORE, "typed", RIVAL)),
        ("sync", of(WARM, "synchronized_multipool", "typed", RIVAL)),
        ("locked", of(WARM, "locked_multipool", "typed", RIVAL)),
        ("reap", of(WARM, "reap", "typed", RIVAL)),
        ("sized_reap", of(WARM, "sized_reap", "typed", RIVAL)),
    ]
