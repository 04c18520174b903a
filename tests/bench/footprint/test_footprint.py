"""`./dev footprint`: which figure a limit is about, when nobody can tell, and which programs it records."""

import sys
from pathlib import Path

import pytest

import footprint
from footprint import Program, Recording, journal_of, large, ordinary, record, unseen
from holding import Weighed, limits
from usage import RunError

Figures = dict[str, object]


def figures(mapped: int = 1_000, live: int = 1_000, peaks: int = 1_000) -> Figures:
    """Return a journal's figures: of 1,000 bytes live and 1,000 requested, so much is received."""
    return {
        "max_live": 800,
        "multipool": {
            "max_held": 900,
            "max_mapped": mapped,
            "at_max_live": {"requested": 1_000, "granted": live},
            "sum_of_peaks": {"requested": 1_000, "granted": peaks},
        },
    }


def held(seen: Figures, unseen: Figures | None = None) -> list[bool | None]:
    """Judge one journal of each kind."""
    weighed = [Weighed("a", True, figures()), Weighed("b", True, seen)]
    weighed.append(Weighed("c", False, unseen or figures()))
    return [limit.held for limit in limits(weighed)]


def test_all_are_held() -> None:
    assert held(figures(1_150, 1_100)) == [True] * 6


@pytest.mark.parametrize(
    ("broken", "missed"),
    [
        (figures(mapped=1_151), [0]),
        (figures(live=1_101), [1]),
        (figures(mapped=1_200, peaks=1_101), [2]),
    ],
)
def test_each_limit_can_be_missed_alone(broken: Figures, missed: list[int]) -> None:
    assert [place for place, kept in enumerate(held(broken)) if not kept] == missed


def test_unseen_journals_have_a_tenth_of_slack() -> None:
    assert held(figures(), figures(1_265, 1_210)) == [True] * 6
    assert held(figures(), figures(1_266, 1_211)) == [True, True, True, False, False, True]


def test_what_the_process_keeps_counts() -> None:
    one = Weighed("a", True, figures(mapped=1_100))
    assert one.held_over_sum == pytest.approx(1.1)
    assert one.sum_over_live == pytest.approx(1.25)


def test_limit_names_the_journal_that_is_tightest() -> None:
    first = next(iter(limits([Weighed("a", True, figures(1_010)), Weighed("b", True, figures(1_020))])))
    assert first.figure == pytest.approx(1.02)
    assert first.where == "on each, most on b"


def test_without_journals_nobody_can_tell() -> None:
    assert [limit.held for limit in limits([])] == [None] * 6
    assert [limit.held for limit in limits([Weighed("a", True, figures())])] == [True] * 3 + [None] * 3


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
