"""What runs and benchmarks are called on the page."""

from collections.abc import Sequence

from mallard_bench.options import Benchmark
from mallard_bench.results_file import Run

HEADINGS = {
    Benchmark.DENSITY: "I: Density",
    Benchmark.LOCALITY: "II: Locality",
    Benchmark.UTILIZATION: "III: Utilization",
    Benchmark.CONTENTION: "IV: Contention",
    Benchmark.EXPANSION: "Expansion",
    Benchmark.SHRINK: "Shrink to fit",
    Benchmark.BURST: "Bursts",
    Benchmark.POOLS: "Pools",
}
MINUTE = len("2026-11-22T10:11")


def run_names(runs: Sequence[Run]) -> list[str]:
    """Return a name a run, by which a reader tells it from the others."""
    names = [run_name(run) for run in runs]
    return [
        f"{name} ({names[: number + 1].count(name)})" if names.count(name) > 1 else name
        for number, name in enumerate(names)
    ]


def run_name(run: Run) -> str:
    """Return what was run, with what and when."""
    compilers = dict.fromkeys(document["machine"]["compiler"] for document in run.documents)
    date = run.header.date[:MINUTE].replace("T", " ")
    return " ".join([run.header.benchmark, run.header.level, *compilers, date])


def many(number: int, what: str) -> str:
    """Return how many there are of what."""
    return f"{number} {what}{'' if number == 1 else 's'}"
