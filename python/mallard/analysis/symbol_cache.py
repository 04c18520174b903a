"""Names of code addresses that were found before, kept by build id: another run opens no program file.

    ~/.cache/mallard/symbols.sqlite3 (or below XDG_CACHE_HOME)
        build id and debug information --> addresses with their frames, packed

One row holds all that one process knew of a build; when more becomes known, the row is replaced by one with
both. Processes may share the file: SQLite keeps them apart, and what two found at the same time stays as two
rows until the next one joins them. Beyond LIMIT bytes the builds that were not used for longest are dropped.

Nothing depends on it. Where it cannot be written, is locked for long or is no database, it holds nothing.
A file is looked into for addresses that the cache does not know. What has no build id is not kept: nothing
shows whether the file is still the same.
"""

import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeAlias

import numpy as np

from mallard import _native
from mallard.figures import shown

# Function, file and line; of one address the innermost frame first.
Lines: TypeAlias = tuple[tuple[str, str, int], ...]
Known: TypeAlias = dict[int, Lines]

LIMIT = 256 << 20
VERSION = 1  # of names and packing: another one starts over
PATIENCE_S = 2.0
DAY_S = 86400.0  # how exactly it is known when a build was used
# A number is never used again: who replaces a row must not hit the one that another process made of it.
TABLES = f"""
    DROP TABLE IF EXISTS frames;
    CREATE TABLE frames (id INTEGER PRIMARY KEY AUTOINCREMENT, build TEXT, used REAL, packed BLOB);
    CREATE INDEX by_build ON frames (build);
    PRAGMA user_version = {VERSION};
"""


class SymbolCache:
    """What is known by build."""

    def __init__(self, path: Path | None = None) -> None:
        """Use the user's cache, or the file at `path`."""
        self._path = path or default_path()
        self._rows: dict[str, list[int]] = {}  # what was read of each build

    def load(self, build: str) -> Known:
        """Return all that is known of a build."""
        known: Known = {}

        def read(database: sqlite3.Connection) -> None:
            rows = database.execute(
                "SELECT id, used, packed FROM frames WHERE build = ?", (build,)
            ).fetchall()
            for _, _, packed in rows:
                known.update(unpack(packed))
            self._rows[build] = [number for number, _, _ in rows]
            if rows and min(used for _, used, _ in rows) < time.time() - DAY_S:
                with suppress(sqlite3.OperationalError):  # it can be read all the same
                    database.execute("UPDATE frames SET used = ? WHERE build = ?", (time.time(), build))

        self._transact(read)
        return known

    def store(self, build: str, known: Known) -> None:
        """Keep what is known of a build now, in place of what was loaded of it."""

        def write(database: sqlite3.Connection) -> None:
            loaded = [(number,) for number in self._rows.pop(build, [])]
            database.executemany("DELETE FROM frames WHERE id = ?", loaded)
            row = build, time.time(), pack(known)
            database.execute("INSERT INTO frames (build, used, packed) VALUES (?, ?, ?)", row)
            drop_oldest(database)

        self._transact(write)

    def _transact(self, use: Callable[[sqlite3.Connection], None]) -> None:
        """Do something with the database in one transaction, or nothing at all."""
        if self._path is None:
            return
        try:
            try:
                transact(self._path, use)
            except sqlite3.OperationalError:
                raise  # locked, full, not to be written
            except sqlite3.DatabaseError:
                self._path.unlink()  # no database, or a broken one
                transact(self._path, use)
        except (OSError, sqlite3.Error):
            self._path = None  # it does not get better during this run


def default_path() -> Path | None:
    """Return where the user's cache is, None if there is no place for it."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not folder.is_absolute():
        try:
            folder = Path.home() / ".cache"
        except RuntimeError:
            return None
    return folder / "mallard" / "symbols.sqlite3"


def transact(path: Path, use: Callable[[sqlite3.Connection], None]) -> None:
    """Open the database, made anew if it is of another version, and use it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None)) as database:
        if not is_current(database):
            database.execute("BEGIN IMMEDIATE")
            if not is_current(database):  # another process can have been faster
                for statement in TABLES.split(";"):
                    database.execute(statement)
            database.execute("COMMIT")
        database.execute("BEGIN")
        use(database)
        database.execute("COMMIT")


def is_current(database: sqlite3.Connection) -> bool:
    """Tell whether the tables are there, in this version."""
    return bool(database.execute("PRAGMA user_version").fetchone()[0] == VERSION)


def drop_oldest(database: sqlite3.Connection) -> None:
    """Forget the builds that were not used for longest, until the others fit."""
    total = 0
    builds = "SELECT build, sum(length(packed)) FROM frames GROUP BY build ORDER BY max(used) DESC"
    for build, size in database.execute(builds).fetchall():
        total += size
        if total > LIMIT:
            database.execute("DELETE FROM frames WHERE build = ?", (build,))


def pack(known: Known) -> bytes:
    """Write frames with each text once."""
    texts: dict[str, int] = {}

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    places = [
        [address, *(part for name, file, line in lines for part in (number(name), number(file), line))]
        for address, lines in known.items()
    ]
    return zlib.compress(json.dumps({"texts": list(texts), "places": places}).encode(), level=1)


def unpack(packed: bytes) -> Known:
    """Read what pack has written."""
    try:
        content = json.loads(zlib.decompress(packed))
        texts = content["texts"]
        return {
            address: tuple(
                (texts[name], texts[file], line)
                for name, file, line in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
            )
            for address, *numbers in content["places"]
        }
    except (zlib.error, ValueError, LookupError, TypeError) as error:
        raise sqlite3.DatabaseError("a row is broken") from error


DEBUG_FILES = Path("/usr/lib/debug")


class SymbolSource:
    """Names addresses; `warnings` has a line for each file that cannot."""

    def __init__(self, cache: SymbolCache) -> None:
        """Keep in `cache` what is found."""
        self.warnings: list[str] = []
        self._cache = cache

    def lines(self, path: str, build_id: str, addresses: Sequence[int]) -> list[Lines]:
        """Return what is known of each address of the file itself; nothing where nothing is known."""
        if not path.startswith("/"):
            if path and not path.startswith("linux-vdso"):  # the kernel's, or nobody's: there is no file
                self.warnings.append(
                    f"{shown(path)}: nothing says in which folder it lies; places in it have no names"
                )
            return [()] * len(addresses)
        build = f"{build_id} {shown(debug_information(path, build_id))}"
        known = self._cache.load(build) if build_id else {}
        missing = [address for address in addresses if address not in known]
        if missing and (found := self._resolve(path, build_id, missing)) is not None:
            known.update(zip(missing, found, strict=True))
            if build_id and is_final(found):
                self._cache.store(build, known)
        return [known.get(address, ()) for address in addresses]

    def _resolve(self, path: str, build_id: str, addresses: Sequence[int]) -> list[Lines] | None:
        try:
            found = _native.Symbolizer(path, build_id).resolve(np.array(addresses, dtype=np.uint64))
        except ValueError as error:
            self.warnings.append(f"{shown(path)}: {error}; places in it have no names")
            return None
        return [tuple(lines) for lines in found]


def debug_information(path: str, build_id: str) -> str:
    """Return where separate debug information is; what was found without it is then looked up again."""
    file = Path(path)
    places = (
        DEBUG_FILES / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug",
        file.with_name(f"{file.name}.debug"),
        file.parent / ".debug" / f"{file.name}.debug",
        DEBUG_FILES / f"{file.parent}/{file.name}.debug".lstrip("/"),
    )
    found = next((str(place) for place in places if place.exists()), "")
    return found or ("debuginfod" if os.environ.get("DEBUGINFOD_URLS") else "")


def is_final(found: Iterable[Lines]) -> bool:
    """Tell whether to keep it: where a server could have helped and did not, it may the next time."""
    return not os.environ.get("DEBUGINFOD_URLS") or any(file for lines in found for _, file, _ in lines)
