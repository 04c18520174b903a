"""Sites with their stacks, as `mallard leaks` and `mallard peak` print them."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from mallard import figures
from mallard.analysis.alive import AliveSite, total
from mallard.analysis.function_names import short_name
from mallard.analysis.model import Frame

INDENT = 4


def amount(size: int, blocks: int) -> str:
    """Return bytes and blocks; exact, as one compares them with other tools' figures."""
    exact = f"{size:,} bytes" if size != 1 else "1 byte"
    return f"{exact} in {counted(blocks, 'block')}"


def counted(number: int, what: str) -> str:
    """Return how many there are of what."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def say(console: Console, line: str, style: str = "") -> None:
    """Print a line as it is; a terminal breaks it where it ends."""
    console.print(Text(line, style=style), soft_wrap=True)


def print_sites(sites: Sequence[AliveSite], most: int, frames: int, console: Console) -> None:
    """Print the first sites with the innermost frames of their stacks, and what the others have."""
    whole = total(sites)[0]
    for site in sites[:most]:
        console.print()
        share = f" ({figures.share(site.bytes / whole)})" if whole else ""
        say(console, f"{amount(site.bytes, site.blocks)}{share}: {site.name}", style="bold")
        for number, frame in enumerate(site.stack[:frames]):
            style = "" if number == site.frame else "dim"
            line = Text(" " * INDENT).append(short_name(frame.function), style=style)
            line.append(place(frame), style="cyan")
            console.print(line, no_wrap=True, overflow="ellipsis")
        if len(site.stack) > frames:
            more = counted(len(site.stack) - frames, "more caller")
            say(console, f"{' ' * INDENT}... {more}", style="dim")
    if len(sites) > most:
        rest = sites[most:]
        console.print()
        say(console, f"{counted(len(rest), 'more site')}: {amount(*total(rest))} (--sites shows more)")


def place(frame: Frame) -> str:
    """Return file and line of a frame, else its module where the name does not have it."""
    if frame.file:
        return f"  {frame.file.rsplit('/', 1)[-1]}:{frame.line}" if frame.line else f"  {frame.file}"
    return f"  {frame.module}" if frame.module and not frame.function.startswith(frame.module) else ""
