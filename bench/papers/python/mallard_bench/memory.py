"""How much memory a strategy may take."""

import re
from pathlib import Path

from mallard.errors import MallardError

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def limit(asked: str | None) -> int:
    """Return the limit in bytes; half of what the machine has available if none is asked for."""
    if asked is None:
        return available() // 2
    found = re.fullmatch(r"(\d+)([KMGT]?)(?:i?B)?", asked, re.IGNORECASE)
    if found is None or int(found[1]) == 0:
        raise MallardError(f"--memory-limit {asked} is not a size; write 512M or 4G")
    return int(found[1]) * UNITS[found[2].upper()]


def available() -> int:
    """Return the bytes that the machine could give to programs without swapping."""
    facts = Path("/proc/meminfo").read_text(encoding="ascii")
    found = re.search(r"^MemAvailable:\s*(\d+) kB$", facts, re.MULTILINE)
    if found is None:
        raise MallardError("cannot tell how much memory is available: say --memory-limit")
    return int(found[1]) << 10
