"""Figures, with their units, and names of files as text, as tables and the report write them.

html/page/lib/format.js writes the same figures; tests/python/test_report_page.py holds them together.
"""

from collections.abc import Sequence
from pathlib import PurePath

UNKNOWN = "–"  # noqa: RUF001


def short(value: float) -> str:
    """Return three significant digits: 1.23, 12.3 or 1,234."""
    size = abs(value)
    if size >= 99.95 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


def scaled(value: float | None, units: tuple[str, ...], step: int) -> str:
    """Return the value in the unit that suits it, each `step` times the one before."""
    if value is None:
        return UNKNOWN
    unit = 0
    while unit + 1 < len(units) and abs(value) >= step * 0.9995:
        value /= step
        unit += 1
    return f"{short(value)} {units[unit]}"


def count(value: float | None) -> str:
    """Return a whole number."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def size(value: float | None) -> str:
    """Return a number of bytes."""
    return scaled(value, ("B", "KiB", "MiB", "GiB", "TiB"), 1024)


def time(ns: float | None) -> str:
    """Return a duration."""
    return scaled(ns, ("ns", "µs", "ms", "s"), 1000)


def number(value: float | None) -> str:
    """Return a number with three significant digits."""
    return UNKNOWN if value is None else short(value)


def share(value: float | None) -> str:
    """Return a part of 1 in per cent."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "0 %"
    return "< 0.1 %" if value < 0.0005 else f"{100 * value:.1f} %"


def unit(value: float | None) -> str:
    """Return a figure that lies in 0..1."""
    if value is None:
        return UNKNOWN
    return "< 0.001" if 0 < value < 0.0005 else f"{value:.3f}"


def shown(name: str) -> str:
    """Return a file's name with U+FFFD for each byte that is no text; it can be written anywhere.

    What opens the file has its bytes instead (os.fsencode).
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def program_name(arguments: Sequence[str], program: str, journal: str) -> str:
    """Return the name by which the program was started; that of the journal's file where it is not known.

    The program's own file may be called otherwise: redis-server is a link to redis-check-rdb.
    """
    names = [*arguments[:1], program, journal]
    return shown(next((name for path in names if (name := PurePath(path).name)), journal))
