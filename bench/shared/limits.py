"""What is promised, whether it is held, and the exit code."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn


@dataclass(frozen=True)
class Limit:
    """What is promised, the figure it is about, and where the figure comes from."""

    promise: str
    at_most: float
    figure: float | None
    where: str

    @property
    def held(self) -> bool | None:
        """Whether the promise is kept; None if the figure is missing."""
        return None if self.figure is None else self.figure <= self.at_most


def verdict(limit: Limit) -> str:
    """Return a limit as one line: held or missed, and the figure."""
    word = {True: "held", False: "MISSED", None: "unknown"}[limit.held]
    form = "d" if isinstance(limit.figure, int) else ".3f"
    return f"{word:8}{limit.promise}: {number(limit.figure, form)}, at most {limit.at_most:g} ({limit.where})"


def number(value: float | None, form: str) -> str:
    """Return a number, or "-" for none."""
    return "-" if value is None else format(value, form)


def exit_code(interrupted: bool, failed: bool, check: bool, held: list[bool | None]) -> int:
    """Return the exit code; with `check`, a limit that nobody could judge is not held."""
    if interrupted:
        return 130
    if failed:
        return 2
    return 1 if check and not all(held) else 0


def judged(limits: Sequence[Limit], interrupted: bool, check: bool, aside: bool = False) -> int:
    """Print what is held, beside standard output if that has JSON, and return the exit code."""
    for limit in limits:
        print(verdict(limit), file=sys.stderr if aside else sys.stdout)
    return exit_code(interrupted, False, check, [limit.held for limit in limits])


def as_command(name: str, main: Callable[[Sequence[str]], int], *refusals: type[Exception]) -> NoReturn:
    """Run a command of bench/ on its arguments; what it refuses is one line and exit code 2."""
    try:
        sys.exit(main(sys.argv[1:]))
    except refusals as reason:
        print(f"{name}: {reason}", file=sys.stderr)
        sys.exit(2)
