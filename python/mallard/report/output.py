"""A file that is there as a whole, or as it was before: written beside its place, then moved."""

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from mallard.errors import MallardError


class WholeFile:
    """A file to be written at once. What is wrong with its place is told before any work is done.

    `-` is standard output; what is no regular file, as a pipe, is written in place.
    """

    def __init__(self, path: str) -> None:
        """Open what will be written to; raises MallardError."""
        self.path = path
        self._place = Path(path)
        self._beside: Path | None = None
        try:
            self._file = self._opened()
        except OSError as error:
            raise self._refusal(error) from error

    def __enter__(self) -> Self:
        """Return the file; leaving it removes what was not finished."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file, remove what was not moved to its place."""
        if self._file is not sys.stdout:
            self._file.close()
        if self._beside is not None:
            self._beside.unlink(missing_ok=True)

    def write(self, text: str) -> None:
        """Write all, and put it where it belongs."""
        try:
            self._file.write(text)
            self._file.flush()
            if self._beside is not None:
                self._beside.replace(self._place)
        except OSError as error:
            raise self._refusal(error) from error

    def _opened(self) -> TextIO:
        if self.path == "-":
            return sys.stdout
        if self._place.exists() and not self._place.is_file():
            return self._place.open("w", encoding="utf-8")
        self._beside = self._place.with_name(f".{self._place.name}.{os.getpid()}")
        return self._beside.open("x", encoding="utf-8")

    def _refusal(self, error: OSError) -> MallardError:
        return MallardError(f"cannot write {self.path}: {error.strerror}")
