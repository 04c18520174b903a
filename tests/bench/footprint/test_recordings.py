"""What footprints are taken of: programs that fail leave no journal behind, and large ones are large."""

import sys
from pathlib import Path

import pytest

import footprint
from recordings import Program, Recording, journal_of, large, ordinary, record, unseen
from usage import RunError

MALLARD = str(Path(sys.executable).with_name("mallard"))


def test_program_that_fails_is_told_and_leaves_no_journal(tmp_path: Path) -> None:
    path = journal_of("false", tmp_path)
    with pytest.raises(RunError, match=r"^false: "):
        record(Program(("/bin/false",)), MALLARD, path, tmp_path)
    assert not path.exists()


def test_program_runs_in_its_folder_with_its_environment(tmp_path: Path) -> None:
    check = 'test "$WANTED" = yes && test "$PWD" = "$0"'
    program = Program(("/bin/sh", "-c", check, str(tmp_path)), {"WANTED": "yes"})
    record(program, MALLARD, journal_of("sh", tmp_path), tmp_path)
    assert journal_of("sh", tmp_path).exists()


def test_programs_have_names_of_their_own(tmp_path: Path) -> None:
    groups = [large(tmp_path), ordinary(), unseen(tmp_path)]
    assert len({name for group in groups for name in group}) == sum(map(len, groups))


def test_journal_with_too_few_objects_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "footprint"
    program.write_text("#!/bin/sh\necho '{\"max_live_objects\": 99}'\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(footprint, "PROGRAM", program)
    assert footprint.figures_of(Recording("few", tmp_path, True, 99)) == {"max_live_objects": 99}
    with pytest.raises(RunError, match="few has 99 objects alive: 100 are wanted"):
        footprint.figures_of(Recording("few", tmp_path, True, 100))


def test_program_that_fails_to_weigh_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "footprint"
    program.write_text("#!/bin/sh\necho 'footprint: no room' >&2\nexit 2\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(footprint, "PROGRAM", program)
    with pytest.raises(RunError, match="no room"):
        footprint.figures_of(Recording("any", tmp_path))
