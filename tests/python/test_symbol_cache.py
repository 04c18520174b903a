"""Names that were found once are there in the next run, and a cache that is broken is none."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from mallard.analysis import symbol_cache
from mallard.analysis.symbol_cache import Known, SymbolCache, default_path

KNOWN: Known = {
    0x10: (("read", "/src/read.hpp", 7), ("parse", "/src/parse.cpp", 31)),
    0x20: (("parse", "/src/parse.cpp", 40),),
    0x30: (),
}

STORE_MANY = """
import sys
from pathlib import Path
from mallard.analysis import symbol_cache
from mallard.analysis.symbol_cache import SymbolCache
symbol_cache.PATIENCE_S = 60.0
for number in range(20):
    cache = SymbolCache(Path(sys.argv[1]))
    known = cache.load("build")
    known[int(sys.argv[2]) * 100 + number] = (("f", "", number),)
    cache.store("build", known)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a cache can be."""
    return tmp_path / "folder" / "symbols.sqlite3"


def rows(path: Path) -> list[tuple[str, int]]:
    """Return build and size of each row."""
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT build, length(packed) FROM frames ORDER BY build").fetchall()


def test_what_was_stored_is_loaded(path: Path) -> None:
    SymbolCache(path).store("build", KNOWN)
    assert SymbolCache(path).load("build") == KNOWN
    assert SymbolCache(path).load("other") == {}


def test_more_of_a_build_replaces_its_row(path: Path) -> None:
    SymbolCache(path).store("build", {0x10: KNOWN[0x10]})
    cache = SymbolCache(path)
    cache.store("build", cache.load("build") | KNOWN)
    assert SymbolCache(path).load("build") == KNOWN
    assert len(rows(path)) == 1


def test_what_two_store_at_once_is_kept_of_both(path: Path) -> None:
    common: Known = {0x30: KNOWN[0x30]}
    SymbolCache(path).store("build", common)
    first, second = SymbolCache(path), SymbolCache(path)
    assert first.load("build") == second.load("build") == common
    first.store("build", common | {0x10: KNOWN[0x10]})
    second.store("build", common | {0x20: KNOWN[0x20]})
    assert SymbolCache(path).load("build") == KNOWN


def test_many_processes_share_one_cache(path: Path) -> None:
    command = [sys.executable, "-c", STORE_MANY, str(path)]
    running = [subprocess.Popen([*command, str(n)], stderr=subprocess.PIPE) for n in range(4)]
    assert [process.communicate()[1] for process in running] == [b""] * 4
    # Who replaces a row has read it before.
    assert set(SymbolCache(path).load("build")) == {
        n * 100 + number for n in range(4) for number in range(20)
    }


def test_a_file_that_is_no_database_is_begun_anew(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"something else entirely" * 1000)
    assert SymbolCache(path).load("build") == {}
    SymbolCache(path).store("build", KNOWN)
    assert SymbolCache(path).load("build") == KNOWN


def test_a_broken_row_is_begun_anew(path: Path) -> None:
    SymbolCache(path).store("build", KNOWN)
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE frames SET packed = ?", (b"broken",))
        database.commit()
    assert SymbolCache(path).load("build") == {}
    SymbolCache(path).store("build", KNOWN)
    assert SymbolCache(path).load("build") == KNOWN


def test_another_version_is_begun_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SymbolCache(path).store("build", KNOWN)
    monkeypatch.setattr(symbol_cache, "VERSION", 2)
    monkeypatch.setattr(symbol_cache, "TABLES", symbol_cache.TABLES.replace("version = 1", "version = 2"))
    assert SymbolCache(path).load("build") == {}


def test_nothing_is_cached_where_nothing_can_be(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "symbols.sqlite3", tmp_path, Path("/proc/symbols.sqlite3")):
        cache = SymbolCache(place)
        cache.store("build", KNOWN)
        assert cache.load("build") == {}
    assert capfd.readouterr() == ("", "")


def test_a_locked_cache_is_not_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SymbolCache(path).store("build", KNOWN)
    monkeypatch.setattr(symbol_cache, "PATIENCE_S", 0.01)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        cache = SymbolCache(path)
        assert cache.load("build") == {}
        cache.store("build", KNOWN)


def test_the_least_recently_used_are_dropped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = SymbolCache(path)
    for build in ("a", "b", "c"):
        cache.store(build, KNOWN)
    size = rows(path)[0][1]
    monkeypatch.setattr(symbol_cache, "LIMIT", 2 * size)
    monkeypatch.setattr(symbol_cache, "DAY_S", 0.0)
    assert SymbolCache(path).load("a") == KNOWN
    cache.store("d", KNOWN)
    assert [build for build, _ in rows(path)] == ["a", "d"]


def test_the_users_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_path() == tmp_path / "mallard" / "symbols.sqlite3"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert default_path() == Path("/home/somebody/.cache/mallard/symbols.sqlite3")
