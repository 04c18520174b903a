"""Each benchmark, really measured, as small as it can be."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mallard.bench.options import Benchmark

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
    assert {row["status"] for row in rows} == {"ok"}
    assert {"AS1", "AS7"} <= {row["label"] for row in rows}
    assert "AS7" in done.stdout
