"""What the table of costs must say about where it was measured."""

from machine import first_line, machine
from workloads import COMPILER, FLAGS


def facts(recorder: str) -> dict[str, str | int]:
    """Return the machine, and the versions of what is compared."""
    return machine() | {
        "compiler": first_line(COMPILER, "--version"),
        "flags": " ".join(FLAGS),
        "recorder": first_line(recorder, "--version"),
        "heaptrack": first_line("heaptrack", "--version"),
    }
