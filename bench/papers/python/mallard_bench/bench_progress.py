"""The progress of a run on stderr: which group, how many, how long still; nothing where nobody looks."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mallard_bench.pace import duration

Report = Callable[
    [str, int, float], None
]  # hears the title of a group, how many are done, and the seconds left


@contextmanager
def progress(groups: int) -> Iterator[Report]:
    """Show how far a run of some groups is, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda title, done, left: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=groups, left="", visible=False)
        yield lambda title, done, left: bar.update(
            task,
            description=title,
            completed=done,
            left=f"about {duration(left)} left",
            visible=True,
            refresh=True,
        )
