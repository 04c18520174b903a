"""Files that appear when they are whole, and not before; and text for a terminal or a file."""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from mallard import MallardError

if TYPE_CHECKING:
    from rich.console import Console

FILE_WIDTH = 120


def spare(inputs: Iterable[str | Path], output: str | Path | None) -> None:
    """Refuse an output that would take the place of what it is made from."""
    if output is None or not Path(output).exists():
        return
    if any(Path(read).exists() and Path(read).samefile(output) for read in inputs):
        raise MallardError(f"{output} is what is read: name another file with -o")


def expect_writable(path: str | Path | None) -> None:
    """Refuse an output that cannot be written, before much is done for it; nothing is left there."""
    if path is None or (Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir())):
        return
    with suppress(NothingWritten), replacing(path):
        raise NothingWritten


class NothingWritten(Exception):  # noqa: N818  # not an error
    """What is there stays."""


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a path to write to; what is there at the end takes the place of `path`.

    If something goes wrong, it does not, and nothing is left of it. A pipe or a device is written to itself.
    """
    target = Path(path)
    if target.is_dir():
        raise MallardError(f"cannot write {path}: it is a directory")
    if target.exists() and not target.is_file():
        try:
            yield target
        except OSError as error:
            raise MallardError(f"cannot write {path}: {error.strerror}") from error
        return
    target = target.resolve()
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        part.touch(exist_ok=False)
        yield part
        part.replace(target)
    except OSError as error:
        raise MallardError(f"cannot write {path}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def writing(path: Path | None) -> Iterator[BinaryIO]:
    """Open the file that takes the place of `path`, or standard output if that is None."""
    if path is not None:
        with replacing(path) as part, part.open("wb") as file:
            yield file
        return
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except (OSError, KeyboardInterrupt) as error:
        discard_output()
        if isinstance(error, BrokenPipeError):
            unread()
        if isinstance(error, KeyboardInterrupt):
            raise
        raise MallardError(f"cannot write to standard output: {error.strerror}") from error


def drawn(draw: "Callable[[Console], None]", to_file: bool) -> bytes:
    """Return what is drawn: as wide as the terminal, with colours on one only; or for a file.

    What standard output's encoding cannot have is a question mark.
    """
    from rich.console import Console

    console = Console(width=FILE_WIDTH, no_color=True) if to_file else Console()
    with console.capture() as captured:
        draw(console)
    return captured.get().encode("utf-8" if to_file else sys.stdout.encoding, "replace")


def discard_output() -> None:
    """Have what is still in Python's buffer not be tried again at the exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def unread() -> NoReturn:
    """Exit like a program that the system ends by SIGPIPE: the reader, such as `head`, has seen enough."""
    discard_output()
    sys.exit(128 + signal.SIGPIPE)
