"""What the browser gets: each run's documents and the paper's, in one form, without what is not shown.

    {"runs": [{"name": "density quick gcc ...", "benchmark": "density", "cores": 4, "documents": [...]}],
     "paper": {"density": [...]}, "titles": {"DS1": "vector<int>"}, "families": {"global": ["AS1", ...]}}

A document has its group and rows; members of a row that say nothing are left out.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mallard_bench import expected_documents
from mallard_bench.papers import FAMILIES
from mallard_bench.ratios import with_ratios
from mallard_bench.results import Document
from mallard_bench.results_file import Run
from mallard_bench.tables.density_tables import title

DIGITS = 5
STRUCTURES = [f"DS{number}" for number in range(1, 13)]


def as_json(runs: Sequence[Run], names: Sequence[str]) -> str:
    """Return the data of the page."""
    benchmarks = dict.fromkeys(run.header.benchmark for run in runs)
    whole = {
        "runs": [
            {
                "name": name,
                "benchmark": run.header.benchmark,
                "cores": min((one["machine"]["cores"] for one in run.documents), default=0),
                "documents": compact(run.documents),
            }
            for run, name in zip(runs, names, strict=True)
        ],
        "paper": {name: compact(expected_documents.documents(name)) for name in benchmarks},
        "families": FAMILIES,
        "titles": {name: title(name).partition(", ")[2] for name in STRUCTURES},
    }
    return json.dumps(whole, separators=(",", ":"), allow_nan=False)


def compact(documents: Iterable[Document]) -> list[dict[str, Any]]:
    """Return documents with what is shown of them; those of one group, as the paper has some, are one."""
    groups: dict[str, dict[str, Any]] = {}
    for document in map(with_ratios, documents):
        kept = groups.setdefault(json.dumps(document["group"]), {"group": document["group"], "rows": []})
        kept["rows"] += [smaller(row) for row in document["rows"]]
    return list(groups.values())


def smaller(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row says, in as many digits as are read."""
    said = {name: value for name, value in row.items() if value is not None}
    if not said.get("repeated"):
        said.pop("repeated", None)
    return {name: rounded(value) for name, value in said.items()}


def rounded(value: Any) -> Any:
    """Return floats, also those of a list, with fewer digits."""
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
