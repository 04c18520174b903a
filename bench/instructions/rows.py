"""What was counted, the figures made of it, and those that were accepted last.

The golden file has one row a line, so that a change shows in a diff as what it is:

      7.00  pair | multipool | typed | 64
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

BASELINE = "none"
PLAIN_WAY = "typed"


@dataclass(frozen=True, order=True)
class Key:
    """What is done, who does it, bound in which way, at how many live blocks."""

    scenario: str
    allocator: str
    way: str
    live: int


@dataclass(frozen=True)
class Counted:
    """What callgrind counted over a number of operations, the loop around them included.

    Instructions, or what else the scenario says.
    """

    key: Key
    operations: int
    total: int


class BaselineError(Exception):
    """A row came without the row that says what its loop costs."""


def net(counted: Iterable[Counted]) -> dict[Key, float]:
    """Return totals an operation to a hundredth, those of the loop subtracted.

    The loop's are those of the same loop around `none`, bound in the same way if it is; the figures keep
    the order of the rows.
    """
    rows = list(counted)
    baselines = {row.key: row for row in rows if row.key.allocator == BASELINE}
    figures = {}
    for row in rows:
        if row.key.allocator == BASELINE:
            continue
        baseline = baseline_of(row.key, baselines)
        if baseline.operations != row.operations:
            raise BaselineError(f"{name(row.key)} and its baseline count different numbers of operations")
        figures[row.key] = round((row.total - baseline.total) / row.operations, 2)
    return figures


def baseline_of(key: Key, baselines: dict[Key, Counted]) -> Counted:
    """Return the row to subtract from that of `key`."""
    for way in (key.way, PLAIN_WAY):
        found = baselines.get(Key(key.scenario, BASELINE, way, key.live))
        if found is not None:
            return found
    raise BaselineError(f"nothing says what the loop of {name(key)} costs")


def name(key: Key) -> str:
    """Return a row's name as the golden file and the table have it."""
    return f"{key.scenario}: {key.allocator}, {key.way}, {key.live} live"


TOLERANCE = 0.05

HEAD = """\
# Instructions an operation, as counted by `./dev instructions`; `./dev instructions --accept` writes this.
# figure  what | who | in which way | at how many live blocks
"""


class GoldenError(Exception):
    """The golden file is missing or not one."""


def accept(path: Path, figures: Mapping[Key, float]) -> None:
    """Accept these figures."""
    lines = (f"{figure:10.2f}  {' | '.join(fields(key))}\n" for key, figure in figures.items())
    path.write_text(HEAD + "".join(lines), encoding="utf-8")


def fields(key: Key) -> tuple[str, str, str, str]:
    """Return a key as a line has it."""
    return (key.scenario, key.allocator, key.way, str(key.live))


def accepted(path: Path) -> dict[Key, float]:
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


def changes(before: Mapping[Key, float], figures: Mapping[Key, float]) -> Iterator[str]:
    """Yield what differs: a row by more than the tolerance, one that is missing, and one that is new."""
    for key, then in before.items():
        now = figures.get(key)
        if now is None:
            yield f"{name(key)}: no longer counted, {then:.2f} accepted"
        elif abs(now - then) > TOLERANCE * then:
            yield f"{name(key)}: {now:.2f}, {then:.2f} accepted"
    for key, now in figures.items():
        if key not in before:
            yield f"{name(key)}: {now:.2f}, none accepted"
