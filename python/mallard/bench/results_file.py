"""The file that a run's results are kept in: JSON Lines, a header and then a line for each finished group.

    {"mallard": "0.1.0", "benchmark": "density", "level": "quick", "options": {...}, "groups": 28, ...}
    {"benchmark": "density", "group": {...}, ..., "rows": [...], "settings": {...}, "title": "DS3 2^6", ...}
    ...

A line is written when its group is done, so that whatever ends the run loses one group at most. A line that
was cut off counts as none. Each line after the first is what mallard-bench printed; `settings` is what it was
asked for, `title` what that is called, `seconds` how long it took.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mallard.bench.results import Document, Result, result
from mallard.errors import MallardError


@dataclass(frozen=True)
class Header:
    """The first line: which run the results are of."""

    mallard: str  # the version
    benchmark: str
    level: str
    options: dict[str, Any]
    memory_limit: int  # bytes that a strategy may take
    groups: int  # that there are when it is done
    date: str


@dataclass(frozen=True)
class Run:
    """A file of results."""

    path: Path
    header: Header
    documents: list[dict[str, Any]]

    @property
    def results(self) -> list[Result]:
        """The results as they are worked with."""
        return [result(document) for document in self.documents]

    @property
    def complete(self) -> bool:
        """Whether all groups are there."""
        return len(self.documents) == self.header.groups

    def broken(self) -> Iterator[str]:
        """Yield which strategies broke their checks or crashed, and how."""
        for document, measured in zip(self.documents, self.results, strict=True):
            for row in measured.rows:
                if row.status == "failed":
                    yield f"{document['title']}, {row.label or row.strategy}: {row.reason}"


def read(path: Path) -> Run:
    """Read a file of results."""
    try:
        text = path.read_text(encoding="utf-8")
        first, *lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        return Run(path, Header(**first), lines)
    except OSError as error:
        raise MallardError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, TypeError) as error:
        raise MallardError(f"{path} holds no results of mallard bench") from error


def check_writable(path: Path) -> None:
    """Refuse a path where no file can be made, before anything is measured."""
    if not os.access(path.parent, os.W_OK):
        raise MallardError(f"cannot write {path}: its folder is not there, or cannot be written")


class ResultsFile:
    """The file of a run that is going on; it appears with the first result."""

    def __init__(self, path: Path, header: Header) -> None:
        """Begin a new file, or go on with what is there."""
        self.path = path
        self.header = header
        self.documents: list[dict[str, Any]] = []

    @classmethod
    def create(cls, path: Path, header: Header) -> "ResultsFile":
        """Begin a new file; one that is there is left alone."""
        if path.exists():
            raise MallardError(f"{path} is there already: --resume goes on with it, -o names another file")
        check_writable(path)
        return cls(path, header)

    @classmethod
    def resume(cls, path: Path, header: Header) -> "ResultsFile":
        """Go on with a file, which must be of a run that was asked for the same."""
        kept = read(path)
        for what in ("mallard", "benchmark", "level", "options"):
            old, new = getattr(kept.header, what), getattr(header, what)
            if old != new:
                raise MallardError(f"cannot go on with {path}: {difference(what, old, new)}")
        with path.open("rb+") as file:
            file.truncate(file.read().rfind(b"\n") + 1)
        resumed = cls(path, kept.header)
        resumed.documents = kept.documents
        return resumed

    def append(self, document: Document) -> None:
        """Keep a group."""
        lines = [document] if self.documents else [asdict(self.header), document]
        try:
            with self.path.open("a" if self.documents else "x", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise MallardError(f"cannot write {self.path}: {error.strerror}") from error
        self.documents.append(dict(document))

    def kept(self, settings: Mapping[str, int | str]) -> dict[str, Any] | None:
        """Return the document of a group that is done."""
        return next((one for one in self.documents if one["settings"] == settings), None)

    def run(self) -> Run:
        """Return what there is."""
        return Run(self.path, self.header, self.documents)


def difference(what: str, old: Any, new: Any) -> str:
    """Say how two runs differ, in few words."""
    if isinstance(old, dict) and isinstance(new, dict):
        name = next(name for name in [*old, *new] if old.get(name) != new.get(name))
        return difference(name.replace("_", " "), old.get(name), new.get(name))
    return f"its {what} is {plain(old)}, not {plain(new)}"


def plain(value: Any) -> str:
    """Return an option's value as one would write it."""
    if isinstance(value, list):
        return " ".join(str(part) for part in value) or "all"
    return "the usual" if value is None else str(value)
