"""Replays: what mallard-replay counts becomes instructions a pair."""

from pathlib import Path

import pytest

import replayed
from callgrind import CountError
from rows import Key


def test_two_events_are_a_pair_and_others_rows_are_left_out() -> None:
    rows = [
        {"strategy": "none", "binding": "typed", "instructions_per_event": 16.0},
        {"strategy": "best_fit", "binding": "pmr", "instructions_per_event": 25.5},
        {"strategy": "boost.dlmalloc", "binding": "typed", "instructions_per_event": 83.77},
        {"strategy": "best_fit", "binding": "typed", "instructions_per_event": None},
    ]
    assert dict(replayed.pairs("sqlite3", {"rows": rows})) == {
        Key("replay of sqlite3", "best_fit", "pmr", 1): 51.0,
        Key("replay of sqlite3", "boost.dlmalloc", "typed", 1): 167.54,
    }


def test_whole_journals_are_replayed_by_the_installed_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that counts 10 instructions an event for who stands first among what it is asked for."""
    fake = tmp_path / "mallard-replay"
    row = '{"strategy": "%s", "binding": "typed", "instructions_per_event": 10}'
    fake.write_text(f'#!/bin/sh\n[ -e "$1" ] && printf \'{{"rows": [{row}]}}\' "$3"\n', encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setattr(replayed, "REPLAY", fake)
    assert replayed.replayed() == {
        Key("replay of sqlite3", "best_fit", "typed", 1): 20.0,
        Key("replay of cc1plus", "best_fit", "typed", 1): 20.0,
    }
    fake.write_text("#!/bin/sh\necho no such strategy >&2\nexit 2\n", encoding="utf-8")
    with pytest.raises(CountError, match="no such strategy"):
        replayed.replayed()
    fake.unlink()
    with pytest.raises(CountError, match="mallard-replay is not there"):
        replayed.replayed()
