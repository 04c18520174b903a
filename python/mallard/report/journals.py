"""Which journals a report is of."""

import json
from pathlib import Path

from mallard import _native
from mallard.errors import MallardError


def with_children(journals: list[str]) -> list[str]:
    """Return the journals, each followed by those of its child processes and theirs."""
    found: list[str] = []
    waiting = list(reversed(journals))
    while waiting:
        journal = waiting.pop()
        if journal not in found:
            found.append(journal)
            waiting += reversed(children(journal))
    return found


def children(journal: str) -> list[str]:
    """Return the journals of a journal's child processes that were recorded."""
    try:
        summary = json.loads(_native.summary_json(journal))
    except _native.JournalError as error:
        raise MallardError(f"cannot read {journal}: {error}") from error
    beside = Path(journal).parent
    return [str(beside / child["journal"]) for child in summary["children"] if child["journal"]]
