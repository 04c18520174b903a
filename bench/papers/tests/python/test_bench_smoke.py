"""Each benchmark, really measured, as small as it can be."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mallard_bench.options import Benchmark
from mallard_bench.papers import OF_ALLOCATORS, paper_of

OURS = {**dict.fromkeys(OF_ALLOCATORS, "V2"), Benchmark.POOLS: "pool.V2"}  # else AS7
MALLARD = Path(sys.executable).parent / "mallard"


@pytest.mark.parametrize("benchmark", Benchmark)
def test_smoke(benchmark: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [MALLARD, "bench", benchmark, "--smoke"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    header, *documents = [
        json.loads(line) for line in (tmp_path / f"mallard-bench-{benchmark}.jsonl").read_text().splitlines()
    ]
    assert len(documents) == header["groups"]
    rows = [row for document in documents for row in document["rows"]]
    without = [row["label"] for row in rows if row["status"] != "ok"]
    assert without == (["boost.fast_pool.null"] if benchmark == Benchmark.POOLS else [])  # not for threads
    ours = OURS.get(Benchmark(benchmark), "AS7")
    assert {paper_of(benchmark).base, ours} <= {row["label"] for row in rows}
    assert ours in done.stdout
