"""What runs are called on the page, where and how they were measured, and their noise."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median, quantiles
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.html.element import Column, head, line, scrolled, tag
from mallard_bench.options import Benchmark
from mallard_bench.ratios import ratios
from mallard_bench.results import Document
from mallard_bench.results_file import Run

HEADINGS = ("Machine", "Compiler", "Kernel", "Huge pages", "C library", "Heaps", "Limit", "Groups", "Date")
WORDS = (
    (
        "AS1 ... AS14",
        "the paper's strategies: the global allocator, monotonic, multipool, and multipool over monotonic; "
        "accessed directly or, virtual, through a base class; destroyed normally or winked out",
    ),
    ("warm", "everything that is needed was touched before: the first structure or pass is not counted"),
    ("cold", "the first in a fresh process, whose pages come from the system"),
    ("spread", "from the 10th to the 90th of 100 parts of the rounds"),
    (
        "ratio",
        "in each round the time of a strategy over that of AS1: their median, and with ± how far from it "
        "most of them lie",
    ),
    ("held", "bytes that the process held at most; page faults are those of the cold part"),
    ("skip", "not tried, because it needs more memory than a strategy may take"),
    ("fail", "memory ran out, as the paper prints it"),
    ("broke", "the worker crashed, or its own checks did not hold"),
    (
        "V1, V2",
        "allocators of the plain protocol and of the one with commands and bursts: Boost's (boost), ours "
        "over best_fit, and over it with a lock (locked); none: no allocator, which is taken off all times",
    ),
    ("A/A", "the first strategy, AS1, boost.V1 or pool.V1, measured a second time"),
)


def measured_on(runs: Sequence[Run], names: Sequence[str]) -> Element:
    """Return the section of machines."""
    head = tag("tr", tag("th", "Run", scope="col"), *(tag("th", name, scope="col") for name in HEADINGS))
    rows = [
        tag("tr", tag("th", name, scope="row"), *(tag("td", fact) for fact in facts(run)))
        for run, name in zip(runs, names, strict=True)
    ]
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="machines")
    made = tag("section", tag("h2", "Measured on"), class_="card", id="measured-on")
    made.append(scrolled(table, "Machines"))
    return made


def facts(run: Run) -> Iterator[str]:
    """Yield what stands below HEADINGS."""
    yield each(run, machine)
    yield each(run, lambda of: f"{of['machine']['compiler']} {of['machine']['flags']}")
    yield each(run, lambda of: str(of["machine"]["kernel"]))
    yield each(run, lambda of: str(of["machine"]["transparent_huge_pages"]))
    yield each(run, lambda of: str(of["machine"]["c_library"]))
    yield each(run, litter)
    yield figures.size(run.header.memory_limit)
    yield str(len(run.documents)) if run.complete else f"{len(run.documents)} of {run.header.groups}"
    yield run.header.date.replace("T", " ").replace("+00:00", " UTC")


def each(run: Run, fact: Callable[[Document], str]) -> str:
    """Return a fact of all groups, each that differs once."""
    return "; ".join(dict.fromkeys(map(fact, run.documents)))


def machine(of: Document) -> str:
    """Return processor and memory."""
    known = of["machine"]
    return f"{known['cpu']}, {many(known['cores'], 'core')}, {figures.size(known['memory'])}"


def litter(of: Document) -> str:
    """Return what heaps were like when a measurement began."""
    times = of["method"]["litter"]
    return f"littered, {times} times the live objects" if times else "fresh"


def method(runs: Sequence[Run]) -> Element:
    """Return the section of words, and of how figures were made."""
    made = tag("section", tag("h2", "Method"), class_="card", id="method")
    turns = dict.fromkeys(
        f"{of['method']['turns']}; {of['method']['figures']}" for run in runs for of in run.documents
    )
    rows = [("turns", text) for text in turns] + list(WORDS)
    body = tag("tbody", *(tag("tr", tag("th", name, scope="row"), tag("td", text)) for name, text in rows))
    made.append(scrolled(tag("table", body, class_="pairs"), "Method"))
    return made


BENCHMARK_HEADINGS = {
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


# In each group the first strategy is measured twice, in turn with the others: how far the second lies from
# the first, round by round, is noise.
NOISE = (
    "In every group the first strategy (AS1, boost.V1 or pool.V1) is measured twice, as if it were two. "
    "What these differ by is noise: a difference between strategies that is no larger means nothing here."
)


def noise(runs: Sequence[Run], names: Sequence[str]) -> Element:
    """Return the section."""
    made = tag("section", tag("h2", "Noise"), class_="card", id="noise")
    pairs = ((name, sorted(differences(run))) for run, name in zip(runs, names, strict=True))
    rows = [(name, found) for name, found in pairs if found]
    if not rows:
        made.append(
            tag("p", "The first strategy was not measured twice: what a difference means here is not known.")
        )
        return made
    made.append(tag("p", NOISE))
    for name, found in rows:
        made.append(tag("p", tag("strong", sentence(found)), f" ({name})"))
    columns: list[Column[tuple[str, list[float]]]] = [
        Column("Run", lambda row: row[0]),
        Column("Pairs", lambda row: len(row[1]), figures.count),
        Column("Median", lambda row: median(row[1]), figures.share),
        Column("19 of 20 within", lambda row: most_of(row[1]), figures.share),
        Column("Largest", lambda row: row[1][-1], figures.share),
    ]
    table = tag("table", head(columns), tag("tbody", *(line(columns, row) for row in rows)))
    made.append(tag("details", tag("summary", "Figures"), scrolled(table, "Noise of each run")))
    return made


def sentence(found: Sequence[float]) -> str:
    """Say what the noise is."""
    if len(found) == 1:
        return f"The two differ by {figures.share(found[0])}."
    return (
        f"19 of 20 pairs differ by at most {figures.share(most_of(found))}, half by at most "
        f"{figures.share(median(found))}; {many(len(found), 'pair')}."
    )


def most_of(found: Sequence[float]) -> float:
    """Return what 19 of 20 do not exceed."""
    return found[0] if len(found) == 1 else quantiles(found, n=20, method="inclusive")[-1]


def differences(run: Run) -> Iterator[float]:
    """Yield the noise of each pair of a run: of each figure of a turn that what is measured twice has."""
    for document in run.documents:
        for row, found in zip(document["rows"], ratios(document), strict=True):
            ratio = found.get("wall_ratio") or found.get("ratio")
            if row.get("repeated") and ratio is not None:
                yield abs(ratio.value - 1)
