"""Standard output that is full, or that nobody reads to its end.

full:   one line says so, exit code 2        closed, as `head` does: what is left is not printed, all is well
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from mallard import MallardError


class PatientConsole(Console):
    """A console that leaves it to `printing` what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        """Tell the caller."""
        raise  # it is called where the error is handled


def has_width() -> bool:
    """Return whether somebody says how wide lines may be: a terminal, or COLUMNS."""
    return sys.stdout.isatty() or "COLUMNS" in os.environ


def print_text(text: Text, console: Console, before: Text | None = None) -> None:
    """Print a text behind another, wrapped at words where a width is known."""
    first = before or Text()
    room = max(console.width - len(first), len(first), 1)
    for number, line in enumerate(text.wrap(console, room) if has_width() else [text]):
        line.rstrip()
        console.print((Text(" " * len(first)) if number else first) + line, soft_wrap=True)


@contextmanager
def printing() -> Iterator[None]:
    """Print inside."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        # What is still in Python's buffer must not be tried again at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise MallardError(f"cannot write to standard output: {error.strerror}") from error
