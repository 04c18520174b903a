"""A progress bar on stderr for work that takes long; nothing where nobody looks."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[float], None]  # hears the share that is done, 0..1


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """Show how far the work called `title` is, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def waiting(title: str) -> Iterator[None]:
    """Show that work of unknown length goes on, and for how long, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(title, total=None)
        yield


@contextmanager
def turns_bar() -> Iterator[Callable[[float, str, float], None]]:
    """Show what is at work, the share that is done and when all will be, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda share, what, seconds: None
        return
    from datetime import datetime, timedelta

    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[end]}"))
    # Drawn when it is updated, and not by a thread: nothing else is at work while a program is timed.
    with Bar(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=1.0, end="")

        def update(share: float, what: str, seconds: float) -> None:
            end = f"until about {datetime.now() + timedelta(seconds=seconds):%H:%M:%S}" if seconds else ""
            bar.update(task, completed=share, description=what, end=end, refresh=True)

        yield update
