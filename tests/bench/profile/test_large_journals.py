"""The large journals: work that is the same in every run, and that is refused where it is too little."""

import sys
from pathlib import Path

import pytest

from large_journals import Workload, record, unit
from usage import RunError

MALLARD = str(Path(sys.executable).with_name("mallard"))


def test_unit_has_its_parts_and_is_the_same_each_time() -> None:
    assert unit(3) == unit(3)
    assert [f"int fill_{n}(int count)" in unit(3) for n in range(4)] == [True, True, True, False]


def test_journal_that_is_too_small_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"true made \d+ events only: 10,000,000 are wanted"):
        record(Workload("true", ("/bin/true",)), MALLARD, tmp_path)


def test_program_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="mallard: "):
        record(Workload("absent", ("/absent/program",)), MALLARD, tmp_path)
