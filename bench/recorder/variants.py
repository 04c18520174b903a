"""The ways to run a program that are compared: as it is, recorded by us, recorded by heaptrack.

`native a/a` is `native` once more: what it seems to add is the noise of everything else in the table.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

NATIVE = "native"
CALLER = "caller"
FULL = "full"
RAW = "heaptrack --raw"  # the yardstick of the limits
COMPRESSED = "heaptrack"  # beside it, for its users; no limit reads it

Command = tuple[str, ...]


@dataclass(frozen=True)
class Variant:
    """One of the compared ways: how its command line is made, and whether a journal of ours comes of it."""

    name: str
    wrap: Callable[[Command, Path], Command]
    journal: bool = False


def variants(recorder: str) -> list[Variant]:
    """Return all of them; `recorder` is the mallard-record to measure."""

    def native(program: Command, _output: Path) -> Command:
        return program

    def recorded(stack: str) -> Callable[[Command, Path], Command]:
        return lambda program, output: (recorder, "--stack", stack, "-o", str(output), "--", *program)

    def heaptrack(*options: str) -> Callable[[Command, Path], Command]:
        return lambda program, output: ("heaptrack", *options, "-o", str(output), *program)

    return [
        Variant(NATIVE, native),
        Variant("native a/a", native),
        Variant(CALLER, recorded("caller"), journal=True),
        Variant(FULL, recorded("full"), journal=True),
        Variant(RAW, heaptrack("--raw")),
        Variant(COMPRESSED, heaptrack()),
    ]
