"""A/A: by how much two measurements of the same thing differ, so that readers know what a difference means.

In each group the first strategy is measured twice, in turn with the others: how far the second lies from the
first, round by round, is noise.
"""

from collections.abc import Iterator, Sequence
from statistics import median, quantiles
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.html.element import tag
from mallard.html.table import Column, head, line, scrolled
from mallard_bench.page.facts import many
from mallard_bench.ratios import ratios
from mallard_bench.results_file import Run

WORDS = (
    "In every group the first strategy (AS1, boost.V1 or pool.V1) is measured twice, as if it were two. "
    "What these differ by is noise: a difference between strategies that is no larger means nothing here."
)


def noise(runs: Sequence[Run], names: Sequence[str]) -> Element:
    """Return the section."""
    made = tag("section", tag("h2", "Noise"), class_="card", id="noise")
    rows = [(name, sorted(found)) for run, name in zip(runs, names, strict=True) if (found := list(of(run)))]
    if not rows:
        made.append(
            tag("p", "The first strategy was not measured twice: what a difference means here is not known.")
        )
        return made
    made.append(tag("p", WORDS))
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


def of(run: Run) -> Iterator[float]:
    """Yield the noise of each pair of a run: of each figure of a turn that what is measured twice has."""
    for document in run.documents:
        for row, found in zip(document["rows"], ratios(document), strict=True):
            ratio = found.get("wall_ratio") or found.get("ratio")
            if row.get("repeated") and ratio is not None:
                yield abs(ratio.value - 1)
