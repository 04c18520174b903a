"""`mallard replay`: the native replay under this command's name."""

import typer

from mallard.native import become


def replay(context: typer.Context) -> None:
    """Replay a journal against every strategy and print the table."""
    become("mallard-replay", context.args)
