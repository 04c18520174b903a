"""The table of instructions: a line for each way to do a thing, a column for each number of live blocks."""

from collections.abc import Iterator, Mapping

from rich.table import Table

from replayed import JOURNALS, SCENARIO
from rows import Key

TITLES = {
    "pair": "an allocation and a deallocation of 48 bytes, by random replacement in L live blocks",
    "life": "a heap's life: construct, one pair of 48 bytes, destroy",
    "bumping": "an allocation of 48 bytes while nothing was freed since the last clear",
    "life, empty": "a heap constructed and destroyed, of which nothing is asked",
    "life, eight blocks": "the same with eight allocations of 48 bytes",
    "clear, eight blocks": "eight allocations of 48 bytes and a clear",
    "life, system calls": "1 if such lives call the system, once they were led before",
    "large free": "a free above the largest class, with L such blocks live",
    **{SCENARIO.format(name): f"an allocation and a deallocation of a recorded {name}" for name in JOURNALS},
    "full chunks": "an allocation of 48 bytes with L blocks live and all chunks but one full",
}


def tables(figures: Mapping[Key, float]) -> Iterator[tuple[str, Table]]:
    """Yield each scenario with its title, in the order they were counted."""
    for scenario in dict.fromkeys(key.scenario for key in figures):
        rows = {key: figure for key, figure in figures.items() if key.scenario == scenario}
        yield f"{scenario}: {TITLES[scenario]}", table(scenario, rows)


def table(scenario: str, figures: Mapping[Key, float]) -> Table:
    """Return the rows of one scenario."""
    made = Table(box=None, header_style="bold")
    made.add_column("who")
    made.add_column("way")
    counts = sorted({key.live for key in figures})
    for live in counts:
        made.add_column(f"L={live}" if len(counts) > 1 else "each", justify="right")
    for who, way in dict.fromkeys((key.allocator, key.way) for key in figures):
        found = (figures.get(Key(scenario, who, way, live)) for live in counts)
        made.add_row(who, way, *("-" if figure is None else f"{figure:,.1f}" for figure in found))
    return made
