"""The processes of a recording: the journals below a journal, and which of them a user means."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mallard import MallardError, _native


@dataclass(frozen=True, slots=True)
class Process:
    """One recorded process, or one of the programs that a process was."""

    journal: str
    depth: int  # 0: the process whose journal was named
    summary: dict[str, Any]  # what src/profile/summary.hpp knows of it

    @property
    def program(self) -> str:
        """Return the file name of its program."""
        return Path(self.summary["program"]).name


def summary_of(journal: str) -> dict[str, Any]:
    """Return what is known of a journal; reads the whole of it."""
    try:
        found: dict[str, Any] = json.loads(_native.summary_json(journal))
    except _native.JournalError as error:
        raise unreadable(journal, error) from error
    return found


def unreadable(journal: str, error: Exception) -> MallardError:
    """Say why a journal cannot be read, and what to name in place of a folder of children's journals."""
    parent = Path(journal.rstrip("/")).with_suffix("")
    if Path(journal).is_dir() and journal.rstrip("/").endswith(".d") and parent.is_file():
        return MallardError(
            f"cannot read {journal}: it holds the journals of child processes; `mallard info {parent}` lists "
            f"them, `mallard profile {parent} --process all` takes them together"
        )
    return MallardError(f"cannot read {journal}: {error}")


def processes(journal: str, summary: dict[str, Any], depth: int = 0) -> Iterator[Process]:
    """Yield the process of a journal, and those below it, each in front of its children."""
    yield Process(journal, depth, summary)
    for child in summary["children"]:
        if child["journal"]:
            path = child_path(journal, child["journal"])
            yield from processes(path, summary_of(path), depth + 1)


def child_path(journal: str, named: str) -> str:
    """Return the path of a child's journal; the folder of the children goes by the journal's present name."""
    renamed = Path(f"{journal}.d") / Path(named).name
    return str(renamed if renamed.exists() else Path(journal).parent / named)


def children_beside(journal: str) -> int:
    """Return how many journals of children lie beside a journal, without reading any."""
    folder = Path(f"{journal}.d")
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return sum(name.replace(".", "").isdigit() for name in names)


def chosen(journal: str, which: str) -> Sequence[Process]:
    """Return the processes that `which` means: all, one by its id, or those of a program by its name."""
    everything = list(processes(journal, summary_of(journal)))
    if which == "all":
        return everything
    found = [one for one in everything if which in (str(one.summary["process"]), one.program)]
    if not found:
        programs = ", ".join(sorted({one.program for one in everything}))
        raise MallardError(
            f"--process {which}: {journal} has no such process; all, an id or one of: {programs}"
        )
    return found


def of_one_program(journal: str, which: str) -> None:
    """Refuse processes of several programs: for what holds for one build only."""
    programs = sorted({one.program for one in chosen(journal, which)})
    if len(programs) > 1:
        raise MallardError(
            f"--process {which}: {journal} has several programs, name one: {', '.join(programs)}"
        )


@contextmanager
def together(journal: str, which: str | None) -> Iterator[str]:
    """Yield a journal of the processes that `which` means: that of the only one, or all of theirs as one."""
    if which is None:
        yield journal
        return
    found = [one.journal for one in chosen(journal, which)]
    if len(found) == 1:
        yield found[0]
        return
    with TemporaryDirectory(prefix="mallard-") as folder:
        path = str(Path(folder) / Path(journal).name)
        try:
            _native.merge_journals(found, path)
        except _native.JournalError as error:
            raise MallardError(f"cannot merge the journals of {journal}: {error}") from error
        yield path
