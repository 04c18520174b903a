"""A journal as text, one event a line."""

from pathlib import Path

from mallard import MallardError, _native
from mallard.analysis.progress import Progress
from mallard.output import writing


def export_text(journal: str, output: Path | None, progress: Progress) -> list[str]:
    """Write all that the form has a place for; return a line for each thing that the user should know."""
    try:
        with writing(output) as file:
            done = _native.export_text(journal, file.fileno(), progress)
    except _native.JournalError as error:
        raise MallardError(f"cannot read {journal}: {error}") from error
    told: list[str] = done["warnings"]
    if left_out := done["left_out"]:
        told.append(f"{left_out} events of regions are left out: the text form has no place for them")
    return told
