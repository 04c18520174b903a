"""Made-up runs of all four benchmarks: the paper's values with noise, more allocators, every status once.

python bench_sample.py FILE.html    writes the page of them
"""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mallard_bench import expected_documents
from mallard_bench.page.bench_page import write_page
from mallard_bench.results_file import Header, Run

NOISE = 0.03
ROUNDS = 5
MACHINE = {
    "cpu": "Example <CPU> 3000",
    "cores": 4,
    "memory": 32 << 30,
    "kernel": "Linux 6.1.0",
    "transparent_huge_pages": "madvise",
    "c_library": "glibc 2.36",
    "compiler": "gcc 12.2.0",
    "flags": "-O2 -g -DNDEBUG",
}
METHOD = {
    "turns": "allocators alternate, each turn in a fresh process, at least 5 rounds",
    "figures": "medians of the rounds; spread: the 10th and the 90th of 100 parts",
    "rounds": ROUNDS,
    "memory_limit": 16 << 30,
    "litter": 0,
}
HEAPS = ("monotonic", "multipool", "multipool/monotonic")
MALLOCS = {"glibc-notrim": 0.9, "jemalloc": 0.7, "tcmalloc": 0.65, "mimalloc": 0.6, "tbbmalloc": 1.1}
RESOURCES = {
    "std.monotonic": 0.6,
    "boost.monotonic": 0.65,
    "std.pool": 1.4,
    "boost.pool": 0.8,
    "std.sync_pool": 1.9,
    "boost.sync_pool": 1.05,
    "synchronized_multipool": 0.75,
}
NEEDED_NS = 2.3  # an access, where the paper has ratios alone
SKIPPED = ("DS8", 16)
OUT_OF_MEMORY = ("DS4", 16, "AS3")
FAILED = ("DS2", 6, "std.pool")
TOO_MUCH = "needs about 21 GiB, the limit is 16 GiB"
RAN_OUT = "it took all of the 16 GiB that it may take"
CRASHED = "its worker was ended by signal 11"

Row = dict[str, Any]


def sample_runs(seed: int = 1) -> list[Run]:
    """Return one run of each benchmark."""
    return [sample_run(benchmark, seed) for benchmark in expected_documents.GROUPS]


def sample_run(benchmark: str, seed: int = 1) -> Run:
    """Return a run as its file is read."""
    chance = random.Random(f"{benchmark} {seed}")
    options = {"narrowed": {}, "strategies": [], "rounds": ROUNDS, "litter": 0, "memory_limit": None}
    documents = [
        {
            "benchmark": benchmark,
            "group": group,
            "machine": MACHINE,
            "method": METHOD,
            "rows": list(rows_of(benchmark, group, rows, chance)),
            "settings": {},
            "title": " ".join(map(str, group.values())),
            "seconds": 1.0,
        }
        for group, rows in merged(benchmark)
    ]
    header = Header(
        *("1.2.3", benchmark, "default", options),
        *(16 << 30, len(documents), f"2026-11-{20 + seed}T10:00:00+00:00"),
    )
    return Run(Path(f"mallard-bench-{benchmark}.jsonl"), header, documents)


def merged(benchmark: str) -> list[tuple[dict[str, Any], list[Row]]]:
    """Return the paper's groups with all strategies; in benchmark II these are in different tables."""
    found: dict[tuple[Any, ...], tuple[dict[str, Any], list[Row]]] = {}
    for document in expected_documents.documents(benchmark):
        group = document["group"]
        found.setdefault(tuple(group.items()), (group, []))[1].extend(document["rows"])
    return list(found.values())


def rows_of(benchmark: str, group: dict[str, Any], papers: list[Row], chance: random.Random) -> Iterator[Row]:
    """Yield the rows of a group: the paper's, then all others, then AS1 once more."""
    for paper in papers:
        yield ended(group, measured(named(paper["label"]) | paper, chance))
    for base in [row for row in papers if row["label"] == "AS1"]:
        for name, factor in MALLOCS.items():
            yield ended(group, measured(other(base, name, "malloc", "normal", factor), chance))
        if benchmark == "density":
            for name, factor in RESOURCES.items():
                for destruction, less in (("normal", 1.0), ("winkout", 0.92)):
                    beside = other(base, name, "pmr", destruction, factor * less)
                    yield ended(group, measured(beside, chance))
        yield ended(group, measured(named("AS1") | base | {"repeated": True}, chance))


def named(label: str) -> Row:
    """Return who a label of the paper is."""
    number = int(label.removeprefix("AS"))
    if number <= 2:
        strategy, binding = ("glibc", "malloc") if number == 1 else ("new_delete", "pmr")
        return {"strategy": strategy, "binding": binding, "destruction": "normal", "repeated": False}
    return {
        "strategy": HEAPS[(number - 3) // 4],
        "binding": "typed" if (number - 3) % 4 < 2 else "pmr",
        "destruction": "normal" if number % 2 else "winkout",
        "repeated": False,
    }


def other(base: Row, name: str, binding: str, destruction: str, factor: float) -> Row:
    """Return an allocator whose times are a multiple of AS1's."""
    row = dict(base, label=None, strategy=name, binding=binding, destruction=destruction, repeated=False)
    for time in ("ns_per_event", "wall_ns_per_event"):
        if row.get(time) is not None:
            row[time] *= factor
    return row


def measured(row: Row, chance: random.Random) -> Row:
    """Return a row with noise and with whatever else a measured one has."""
    made = dict(row, reason=None, cold_ns_per_event=None, rounds_ns=None, cold_rounds_ns=None)
    made |= dict.fromkeys(("wall_ns_per_event", "wall_spread", "wall_rounds_ns", "failed_locks"))
    made |= {"max_held": None, "page_faults": None}
    wall = row.get("wall_ns_per_event")
    base = wall if wall is not None else row.get("ns_per_event")
    if base is None:
        return dict(made, ns_per_event=None, spread=None, reason=RAN_OUT)
    if "split" in row or "factor" in row:
        base *= NEEDED_NS
    rounds = sorted(round(base * chance.gauss(1, NOISE), 4) for _ in range(ROUNDS))
    made |= {"ns_per_event": rounds[ROUNDS // 2], "spread": [rounds[0], rounds[-1]], "rounds_ns": rounds}
    if wall is not None:
        made |= {"wall_ns_per_event": rounds[ROUNDS // 2], "wall_spread": [rounds[0], rounds[-1]]}
        made["wall_rounds_ns"] = rounds
        if row["binding"] == "malloc" or row["label"] == "AS2":
            made["failed_locks"] = round(chance.uniform(0, 0.3), 4)
    else:
        cold = [round(time * chance.uniform(2, 3), 4) for time in rounds]
        made |= {"cold_ns_per_event": sorted(cold)[ROUNDS // 2], "cold_rounds_ns": cold}
    made |= {"max_held": chance.randrange(1 << 12, 1 << 26), "page_faults": chance.randrange(2000)}
    return made


def ended(group: dict[str, Any], row: Row) -> Row:
    """Return the row, or what is left of it where a strategy did not reach its end."""
    where = (group.get("structure"), group.get("size"))
    if where == SKIPPED:
        return without_figures(row, "skipped", TOO_MUCH)
    if (*where, row["label"]) == OUT_OF_MEMORY:
        return without_figures(row, "out_of_memory", RAN_OUT)
    if (*where, row["strategy"]) == FAILED:
        return without_figures(row, "failed", CRASHED)
    return row


def without_figures(row: Row, status: str, reason: str) -> Row:
    """Return a row of a strategy that was not measured."""
    kept = ("label", "strategy", "binding", "destruction", "repeated")
    return dict.fromkeys(row) | {name: row[name] for name in kept} | {"status": status, "reason": reason}


if __name__ == "__main__":
    write_page(sample_runs(), Path(sys.argv[1]), "1.2.3", ["mallard", "bench", "table"])
