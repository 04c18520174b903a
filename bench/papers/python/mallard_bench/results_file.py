"""The file that a run's results are kept in: JSON Lines, a header and then a line for each finished group.

    {"mallard": "0.1.0", "benchmark": "density", "level": "quick", "options": {...}, "groups": 28, ...}
    {"benchmark": "density", "group": {...}, ..., "rows": [...], "settings": {...}, "title": "DS3 2^6", ...}
    ...

A line is written when its group is done, so that whatever ends the run loses one group at most. A last line
that was cut off counts as none. A run holds a lock on its file, so that no other writes it. Each line below
the header is what mallard-bench printed; `settings` is what it was asked for, `title` what that is called,
`seconds` how long it took. `cat` joins the parts of a run that have different groups; the file then has
several headers, each above its own groups.
"""

import fcntl
import json
import lzma
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from mallard import MallardError
from mallard_bench.options import WHICH
from mallard_bench.results import Document, Result, result
from mallard_bench.results_lines import are_numbers, check, not_ours, objects, regular

OPENED = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
XZ = b"\xfd7zXZ\0"  # what a file that xz compressed begins with
SAME = ("mallard", "benchmark", "level", "options", "program")  # of the header, in all parts of a run


@dataclass(frozen=True)
class Header:
    """Which run, or which part of one, the lines below are of."""

    mallard: str  # the version
    benchmark: str
    level: str
    options: dict[str, Any]
    memory_limit: int  # bytes that a strategy may take
    groups: int  # that there are when it is done
    date: str
    program: str = ""  # a digest of mallard-bench


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
    """Read a file of results, one that was compressed by xz, or what comes through a pipe."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISFIFO(mode):
            regular(path, mode)
        raw = path.read_bytes()
    except OSError as error:
        raise MallardError(f"cannot read {path}: {error.strerror}") from error
    return run_of(path, unpacked(path, raw) if raw.startswith(XZ) else raw)


def unpacked(path: Path, raw: bytes) -> bytes:
    """Return what a file holds that was compressed."""
    found = b""
    while raw:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        with suppress(lzma.LZMAError):
            found += stream.decompress(raw)
        if not stream.eof:
            raise MallardError(f"cannot read {path}: it is a damaged .xz file")
        raw = stream.unused_data
    return found


def run_of(path: Path, raw: bytes) -> Run:
    """Return the run that a file holds."""
    lines = list(objects(path, raw))
    if not lines:
        raise not_ours(path)
    header = header_of(path, *lines[0])
    documents: list[dict[str, Any]] = []
    for number, line in lines[1:]:
        if "groups" in line:
            header = joined(path, number, header, header_of(path, number, line))
            continue
        check(path, number, line, header.benchmark)
        if documents and (other := another(documents[0]["machine"], line["machine"])):
            raise MallardError(f"{path}, line {number}: {line['title']} is of another machine: {other}")
        documents.append(line)
    return Run(path, header, documents)


def joined(path: Path, number: int, run: Header, part: Header) -> Header:
    """Return the header of a run and one more part of it, which has other groups."""
    mine, its = (of.options.get("narrowed", {}) for of in (run, part))
    apart = [name for name in WHICH if name in mine and name in its and not {*mine[name]} & {*its[name]}]
    both = {name: sorted([*mine[name], *its[name]]) for name in apart[:1]}
    wider = [
        replace(of, options={**of.options, "narrowed": {**narrowed, **both}})
        for of, narrowed in ((run, mine), (part, its))
    ]
    if said := unlike(*wider) or (None if both else "it may have the same groups"):
        raise MallardError(f"{path}, line {number}: this part cannot be joined to the first: {said}")
    limit = max(run.memory_limit, part.memory_limit)  # half of what was available, which varies
    return replace(wider[0], memory_limit=limit, groups=run.groups + part.groups)


def unlike(old: Header, new: Header) -> str | None:
    """Say how two runs were not asked for the same."""
    pairs = ((what, getattr(old, what), getattr(new, what)) for what in SAME)
    return next((difference(*pair) for pair in pairs if pair[1] != pair[2]), None)


def header_of(path: Path, number: int, line: Mapping[str, Any]) -> Header:
    """Return the header that a line is."""
    kinds = {field.name: field.type for field in fields(Header)}
    wanted = set(kinds) - {"program"}
    if not wanted <= set(line):
        raise no_header(path, number)
    if more := set(line) - set(kinds):
        raise MallardError(
            f"{path}, line {number}: was made by another version of mallard, {line['mallard']}: "
            f"{', '.join(sorted(more))} is unknown here"
        )
    header = Header(**line)
    texts = (header.mallard, header.benchmark, header.level, header.date, header.program)
    numbers = (header.memory_limit, header.groups)
    sound = isinstance(header.options, dict) and all(isinstance(number, int) for number in numbers)
    if not sound or not all(isinstance(text, str) for text in texts):
        raise no_header(path, number)
    narrowed = header.options.get("narrowed", {})
    if not isinstance(narrowed, dict) or not all(map(are_numbers, narrowed.values())):
        raise no_header(path, number)
    return header


def no_header(path: Path, number: int) -> MallardError:
    """Return the error for a line that should be a header."""
    return not_ours(path) if number == 1 else MallardError(f"{path}, line {number}: is no header")


def check_writable(path: Path) -> None:
    """Refuse a path where no file can be made, before anything is measured."""
    if not os.access(path.parent, os.W_OK):
        raise MallardError(f"cannot write {path}: its folder is not there, or cannot be written")


class ResultsFile:
    """The locked file of a run that is going on; it is there from the start, and goes if nothing is kept."""

    def __init__(self, path: Path, header: Header, descriptor: int, kept: list[dict[str, Any]]) -> None:
        """Go on with what is kept in an open file, which has its header."""
        self.path = path
        self.header = header
        self.descriptor = descriptor
        self.documents = kept

    @classmethod
    def create(cls, path: Path, header: Header) -> "ResultsFile":
        """Begin a new file."""
        cls.check_new(path)
        return cls.begun(path, header, locked(path, OPENED | os.O_CREAT | os.O_EXCL))

    @classmethod
    def check_new(cls, path: Path) -> None:
        """Refuse a path where no new file can be begun; one that is there is left alone."""
        if path.is_symlink() and not path.exists():
            raise MallardError(f"cannot write {path}: it is a link to {path.readlink()}, which is not there")
        if path.exists():
            regular(path, path.stat().st_mode)
            if cls.is_locked(path):
                raise being_written(path)
            raise MallardError(f"{path} is there already: --resume goes on with it, -o names another file")
        check_writable(path)

    @classmethod
    def resume(cls, path: Path, header: Header, machine: Mapping[str, Any]) -> "ResultsFile":
        """Go on with a file, which must be of a run that was asked for the same, on the same machine."""
        regular(path, path.stat().st_mode)
        descriptor = locked(path, OPENED)
        try:
            raw = path.read_bytes()
            if not raw:
                return cls.begun(path, header, descriptor)
            kept = run_of(path, raw)
            if said := unlike(kept.header, header):
                raise MallardError(f"cannot go on with {path}: {said}")
            if kept.documents and (other := another(kept.documents[0]["machine"], machine)):
                raise MallardError(f"cannot go on with {path}: it was measured on another machine: {other}")
            os.ftruncate(descriptor, raw.rfind(b"\n") + 1)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, kept.header, descriptor, kept.documents)

    @classmethod
    def begun(cls, path: Path, header: Header, descriptor: int) -> "ResultsFile":
        """Begin an empty file."""
        file = cls(path, header, descriptor, [])
        try:
            file.write(asdict(header))
        except BaseException:
            file.close()
            raise
        return file

    @staticmethod
    def is_locked(path: Path) -> bool:
        """Return whether a run is writing a file."""
        try:
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def append(self, document: Document) -> None:
        """Keep a group."""
        self.write(document)
        self.documents.append(dict(document))

    def write(self, line: Document) -> None:
        """Write a line whole, or leave nothing of it."""
        whole = (json.dumps(line) + "\n").encode()
        before = os.fstat(self.descriptor).st_size
        try:
            rest = memoryview(whole)
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]
            os.fsync(self.descriptor)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self.descriptor, before)
            raise MallardError(f"cannot write {self.path}: {error.strerror}") from error

    def close(self) -> None:
        """End the run; a file that nothing was kept in goes."""
        if not self.documents:
            with suppress(OSError):
                self.path.unlink()
        os.close(self.descriptor)

    def kept(self, settings: Mapping[str, int | str]) -> dict[str, Any] | None:
        """Return the document of a group that is done."""
        return next((one for one in self.documents if one["settings"] == settings), None)

    def run(self) -> Run:
        """Return what there is."""
        return Run(self.path, self.header, self.documents)


def locked(path: Path, flags: int) -> int:
    """Open a file that no other run is writing."""
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        raise MallardError(f"cannot write {path}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise being_written(path) from error
    return descriptor


def being_written(path: Path) -> MallardError:
    """Return the error for the second of two runs."""
    return MallardError(f"{path}: another run is writing it; -o names another file")


def another(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """Say how a machine differs; the kernel may keep more or less of its memory."""
    differs = (what for what in old if what != "memory" and old[what] != new.get(what))
    return next((difference(what.replace("_", " "), old[what], new.get(what)) for what in differs), None)


def difference(what: str, old: Any, new: Any) -> str:
    """Say how two runs differ, in few words."""
    if what == "program":
        return "it was measured by another mallard-bench"
    if isinstance(old, dict) and isinstance(new, dict):
        name = next(name for name in [*old, *new] if old.get(name) != new.get(name))
        if name == "cached-hashes":
            return f"it was measured {'with' if old.get(name) else 'without'} --uncached-hashes"
        return difference(name.replace("_", " "), old.get(name), new.get(name))
    return f"its {what} is {plain(old)}, not {plain(new)}"


def plain(value: Any) -> str:
    """Return an option's value as one would write it."""
    if isinstance(value, list):
        return " ".join(str(part) for part in value) or "all"
    return "the usual" if value is None else str(value)
