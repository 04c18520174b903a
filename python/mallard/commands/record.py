"""`mallard record`: the native recorder under this command's name."""

import typer

from mallard.native import become


def record(context: typer.Context) -> None:
    """Run a program and write a journal of its allocations."""
    become("mallard-record", context.args)
