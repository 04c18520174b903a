"""The golden file: the figures that were accepted, and what has changed since.

One row a line, so that a change shows in a diff as what it is:

      7.00  pair | multipool | typed | 64
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from rows import Key, name

TOLERANCE = 0.05

HEAD = """\
# Instructions an operation, as counted by `./dev instructions`; `./dev instructions --accept` writes this.
# figure  what | who | in which way | at how many live blocks
"""


class GoldenError(Exception):
    """The golden file is missing or not one."""


def write(path: Path, figures: Mapping[Key, float]) -> None:
    """Accept these figures."""
    lines = (f"{figure:10.2f}  {' | '.join(fields(key))}\n" for key, figure in figures.items())
    path.write_text(HEAD + "".join(lines), encoding="utf-8")


def fields(key: Key) -> tuple[str, str, str, str]:
    """Return a key as a line has it."""
    return (key.scenario, key.allocator, key.way, str(key.live))


def read(path: Path) -> dict[Key, float]:
    """Return the accepted figures."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise GoldenError(f"cannot read {path}: {error.strerror}") from error
    figures = {}
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        try:
            figure, rest = line.split(maxsplit=1)
            scenario, allocator, way, live = rest.split(" | ")
            figures[Key(scenario, allocator, way, int(live))] = float(figure)
        except ValueError as error:
            raise GoldenError(f"{path}:{number}: no row: {line}") from error
    return figures


def changes(accepted: Mapping[Key, float], figures: Mapping[Key, float]) -> Iterator[str]:
    """Yield what differs: a row by more than the tolerance, one that is missing, and one that is new."""
    for key, before in accepted.items():
        now = figures.get(key)
        if now is None:
            yield f"{name(key)}: no longer counted, {before:.2f} accepted"
        elif abs(now - before) > TOLERANCE * before:
            yield f"{name(key)}: {now:.2f}, {before:.2f} accepted"
    for key, now in figures.items():
        if key not in accepted:
            yield f"{name(key)}: {now:.2f}, none accepted"
