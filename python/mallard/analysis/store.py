"""A journal read once: its objects in DuckDB, sums and what the objects refer to beside them.

    journal --ObjectStream--> columns --> table objects --> SQL        Store
                          `-> sums of the program and of each context  Reading: no objects, less time

The table has the columns of object_batch (src/profile/object_stream.hpp); `free` and `previous` are NULL
where there is no such event, `free_time` and `free_thread` are NULL for objects never freed. Objects
of regions have a `region` above 0; the view `heap` leaves them out.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

import duckdb
from numpy.typing import NDArray

from mallard import MallardError, _native
from mallard.analysis.progress import Progress
from mallard.processes import unreadable

Columns: TypeAlias = dict[str, NDArray[Any]]

# What does not fit, DuckDB moves to temporary files: above all what queries over many objects need meanwhile.
MEMORY_LIMIT = "1500MB"

# A row takes 125 bytes, and some 15 after compression, which costs more time than all else here: it waits
# until this many rows have come together.
COMPRESSED_AT_ONCE = 1 << 21

INSERT = """
    INSERT INTO objects
    SELECT * REPLACE (
        nullif(free, 18446744073709551615) AS free,
        nullif(previous, 18446744073709551615) AS previous,
        CASE WHEN free = 18446744073709551615 THEN NULL ELSE free_time END AS free_time,
        CASE WHEN free = 18446744073709551615 THEN NULL ELSE free_thread END AS free_thread)
    FROM batch
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a journal tells without its objects: sums, and the tables that they refer to."""

    path: str
    totals: dict[str, Any]  # ObjectStream.totals(); its `contexts` are sums of each context
    contexts: Columns
    threads: list[dict[str, Any]]
    modules: list[dict[str, Any]]
    names: list[str]

    @classmethod
    def read(cls, path: str, progress: Progress = lambda share: None) -> Self:
        """Read the whole journal; `progress` hears the share that is done."""
        try:
            objects = _native.ObjectStream(os.fspath(path), objects=False)
            while objects.next() is not None:
                progress(objects.progress)
        except _native.JournalError as error:
            raise unreadable(path, error) from error
        found = cls(**tables_of(path, objects))
        if not found.totals["allocations"]:
            raise MallardError("; ".join([f"{path} holds no allocation", *found.totals["warnings"]]))
        return found

    def by_context(self, what: str) -> NDArray[Any]:
        """Return one of the sums of each context (src/profile/context_totals.hpp)."""
        column: NDArray[Any] = self.totals["contexts"][what]
        return column


@dataclass(frozen=True, slots=True)
class Store(Reading):
    """The objects of one journal as well."""

    sql: duckdb.DuckDBPyConnection

    @classmethod
    def read(cls, path: str, progress: Progress = lambda share: None) -> Self:
        """Read the whole journal; `progress` hears the share that is done."""
        connection = connect()
        try:
            objects = _native.ObjectStream(os.fspath(path))
            if not fill(connection, objects, progress):
                raise MallardError("; ".join([f"{path} holds no allocation", *objects.totals()["warnings"]]))
        except _native.JournalError as error:
            raise unreadable(path, error) from error
        return cls(sql=connection, **tables_of(path, objects))

    @property
    def processes(self) -> int:
        """Return of how many processes the journal is."""
        return int(self.totals["facts"].get("processes", 1))

    def made_up(self, what: str) -> str:
        """Return by which rule `what` (addresses, clock) was made up on import; empty: it was recorded."""
        kind, _, rule = self.totals["facts"].get(what, "").partition(": ")
        return rule if kind == "none" else ""

    def rows(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.sql.execute(query, parameters or None).fetchall()


def tables_of(path: str, objects: _native.ObjectStream) -> dict[str, Any]:
    """Return the members of Reading, when the journal has been read to its end."""
    return {
        "path": path,
        "totals": objects.totals(),
        "contexts": objects.contexts(),
        "threads": objects.threads(),
        "modules": objects.modules(),
        "names": objects.names(),
    }


def connect() -> duckdb.DuckDBPyConnection:
    """Open a database of this process's own; nothing of it is left in the working directory."""
    overflow = Path(tempfile.gettempdir()) / f"mallard-{os.getpid()}"
    connection = duckdb.connect(config={"memory_limit": MEMORY_LIMIT, "temp_directory": str(overflow)})
    connection.execute("ATTACH ':memory:' AS store (COMPRESS)")
    connection.execute("USE store")
    return connection


def fill(connection: duckdb.DuckDBPyConnection, objects: _native.ObjectStream, progress: Progress) -> bool:
    """Move all objects into the table; False if there are none."""
    created = False
    loose = 0  # rows that are not compressed
    while (batch := objects.next()) is not None:
        if rows := len(batch["allocation"]):
            connection.register("batch", batch)
            if not created:
                connection.execute("CREATE TABLE objects AS FROM batch LIMIT 0")
                created = True
            connection.execute(INSERT)
            connection.unregister("batch")
        loose += rows
        if loose >= COMPRESSED_AT_ONCE:
            connection.execute("CHECKPOINT store")
            loose = 0
        progress(objects.progress)
    if not created:
        return False
    connection.execute("CREATE VIEW heap AS FROM objects WHERE region = 0")
    return True
