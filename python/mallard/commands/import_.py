"""`mallard import`: a journal from what others record."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mallard import MallardError


class Form(StrEnum):
    """What can be imported."""

    TEXT = "text"
    CSAPP = "csapp"


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE[.xz]", help="What to import.")],
    form: Annotated[
        Form,
        typer.Option(
            "--from", help="Its form: mallard's text form, or a trace of CS:APP's malloc lab (.rep)."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", metavar="JOURNAL", help="The journal to write.")],
) -> None:
    """Convert a text journal or a CS:APP trace into a journal."""
    from mallard import _native
    from mallard.analysis.progress import progress_bar
    from mallard.output import replacing, spare

    spare([file], output)
    spool = Path(f"{output}.spool")
    if spool.exists():
        raise MallardError(
            f"cannot write {output}: {spool} belongs to a recording that was cut off or is still running"
        )
    try:
        with replacing(output) as part, progress_bar(f"import {file.name}") as progress:
            done = _native.import_journal(str(file), form.value, str(part), progress)
    except _native.WriteError as error:
        raise MallardError(f"cannot write {output}: {error}") from error
    except _native.JournalError as error:
        raise MallardError(f"cannot import {file}: {error}") from error
    for warning in done["warnings"]:
        print(f"mallard: warning: {file}: {warning}", file=sys.stderr)
