"""`mallard run`: a program under mallard's own malloc, so that nobody has to know about LD_PRELOAD."""

import os
import signal
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from mallard import MallardError
from mallard.native import tool

LIBRARY = "libmallard-malloc.so"
SETTINGS = {"context_settings": {"allow_interspersed_args": False}}  # what follows the program is its own


def malloc_library() -> Path:
    """Path of the library: as the environment says, else where the tools are installed or were built."""
    if given := os.environ.get("MALLARD_MALLOC_LIBRARY"):
        return Path(given)
    tools = Path(tool("mallard-record")).resolve().parent
    for folder in (tools, tools / "../lib/mallard", tools / "../malloc"):
        if (path := folder / LIBRARY).is_file():
            return path.resolve()
    raise MallardError(f"{LIBRARY} is not beside {tools / 'mallard-record'}: install mallard's tools")


def run(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM [ARGUMENT]...", show_default=False)],
    stats: Annotated[
        bool, typer.Option("--stats", help="Print what is in use when the program ends.")
    ] = False,
    decay: Annotated[
        int | None,
        typer.Option(metavar="MS", min=0, help="Milliseconds that freed memory stays with the process: 500."),
    ] = None,
    huge_pages: Annotated[bool, typer.Option("--huge-pages", help="Ask the system for huge pages.")] = False,
) -> NoReturn:
    """Run a program under mallard's malloc.

    The program's children have it as well. What it does and costs: docs/malloc.md.
    """
    environment = dict(os.environ)
    preloaded = environment.get("LD_PRELOAD")
    environment["LD_PRELOAD"] = ":".join([str(malloc_library()), *([preloaded] if preloaded else [])])
    if stats:
        environment["MALLARD_MALLOC_STATS"] = "1"
    if decay is not None:
        environment["MALLARD_MALLOC_DECAY_MS"] = str(decay)
    if huge_pages:
        environment["MALLARD_MALLOC_HUGE_PAGES"] = "1"
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores, and the program is not to
    try:
        os.execvpe(program[0], program, environment)
    except OSError as error:
        raise MallardError(f"cannot run {program[0]}: {error.strerror}") from error
