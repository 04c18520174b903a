"""Tables as Parquet files: the objects, and what their columns refer to.

Objects go from DuckDB to the file without passing through Python; none or all of the files appear.
"""

import os
import re
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import duckdb

from mallard import MallardError, _native
from mallard.analysis.progress import Progress
from mallard.analysis.store import Store
from mallard.analysis.symbols import Symbols
from mallard.export.tables import tables
from mallard.output import replacing

# Numbers of names become the names; lists count from 1.
OBJECTS = """
    SELECT * REPLACE (
        $kinds[kind + 1] AS kind,
        CASE WHEN free IS NOT NULL THEN $kinds[free_kind + 1] END AS free_kind,
        $origins[origin + 1] AS origin,
        $largest[size_class + 1] AS size_class)
    FROM objects
"""
MEANINGS = {
    "kinds": _native.event_kinds(),
    "origins": ["fresh", "in_place", "moved"],
    "largest": _native.largest_of_size_classes(),
}


def export_parquet(store: Store, symbols: Symbols, folder: Path, progress: Progress) -> None:
    """Write all tables into the folder."""
    beside = tables(store, symbols)
    store.sql.execute("SET pandas_analyze_sample = 0")  # a column of objects holds texts, however few
    made = make_folder(folder)
    try:
        with ExitStack() as stack:
            part = stack.enter_context(replacing(folder / "objects.parquet"))
            copy(store, OBJECTS, part, **MEANINGS)
            for number, (name, table) in enumerate(beside.items(), 1):
                progress(number / (1 + len(beside)))
                part = stack.enter_context(replacing(folder / f"{name}.parquet"))
                store.sql.register("exported", table)
                copy(store, "FROM exported", part)
                store.sql.unregister("exported")
    except BaseException:
        if made:
            with suppress(OSError):
                folder.rmdir()
        raise


def copy(store: Store, query: str, path: Path, **parameters: Any) -> None:
    """Write the rows of a query."""
    try:
        store.sql.execute(
            f"COPY ({query}) TO $path (FORMAT parquet, COMPRESSION zstd)", {"path": str(path), **parameters}
        )
    except duckdb.IOException as error:
        number = re.search(r'"errno":"(\d+)"', str(error))
        reason = os.strerror(int(number[1])) if number else str(error)
        raise MallardError(f"cannot write {path.parent}: {reason}") from error


def make_folder(folder: Path) -> bool:
    """Make the folder; return whether it was not there."""
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise MallardError(f"cannot write {folder}: it is not a folder") from None
        return False
    except OSError as error:
        raise MallardError(f"cannot write {folder}: {error.strerror}") from error
    return True
