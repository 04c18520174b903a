"""Finds out which memory-allocation strategy would pay in a C or C++ program."""

import sys


class MallardError(Exception):
    """Why the command cannot go on, in one line for its user; exit code 2."""


def why(error: BaseException) -> str:
    """Say in one line why the work cannot go on: of memory and disks, too; empty if the error is our own."""
    if isinstance(error, MallardError):
        return str(error)
    words = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return f"out of memory: {words}" if words else "out of memory"
    duckdb = sys.modules.get("duckdb")  # which nobody loads for --help
    return words if isinstance(error, OSError) or (duckdb and isinstance(error, duckdb.Error)) else ""


def is_interrupt(error: BaseException) -> bool:
    """Return whether Ctrl-C has ended the work; DuckDB tells of it by an error of its own."""
    of_duckdb = isinstance(error, RuntimeError) and str(error) == "Query interrupted"
    return of_duckdb or isinstance(error, KeyboardInterrupt)
