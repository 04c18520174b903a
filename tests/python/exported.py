"""What the tests of `mallard export` share."""

import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

ROOT = Path(__file__).parent.parent.parent
# Stacks are written by one function, whatever their form.
SLOW_STACKS = [pytest.param(form, marks=pytest.mark.slow) for form in ("--folded", "--speedscope")]


def rows(query: str, folder: Path) -> list[tuple[Any, ...]]:
    """Return the rows of a query; {name} is the file of that table."""
    named = re.sub(r"\{(\w+)\}", lambda name: f"'{folder / name[1]}.parquet'", query)
    return duckdb.execute(named).fetchall()
