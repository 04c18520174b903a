"""The cost tables of docs/library.md and docs/strategies: the golden file, between two comments of a page.

<!-- costs: pool; beside: std.pool, glibc -->
... the table ...
<!-- end of costs -->

`lives` in place of `costs`: what heaps take of which programs make many.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rows import Key

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "docs" / "library.md", *sorted((ROOT / "docs" / "strategies").glob("*.md")))
LIVE = 64

BLOCK = re.compile(r"(<!-- (costs|lives): (.+?) -->\n).*?(<!-- end of \2 -->)", re.DOTALL)

HEAD = "instructions", "pair, typed", "pair, size at run time", "pair, `pmr`", "construct, pair, destroy"

# Each column of a table of lives: its head, and the row that it is.
LIVES = {
    "allocation, bumping": ("bumping", "typed"),
    "construct, destroy": ("life, empty", "root"),
    "the same of a child": ("life, empty", "child"),
    "construct, eight blocks, destroy": ("life, eight blocks", "root"),
    "eight blocks, clear": ("clear, eight blocks", "root"),
}


def written(page: str, figures: Mapping[Key, float]) -> str:
    """Return a page with its tables as these figures make them."""

    def table(found: re.Match[str]) -> str:
        ours, _, others = found[3].partition("; beside: ")
        names = [name.strip() for part in (ours, others) for name in part.split(",") if name.strip()]
        made = lines(names, figures) if found[2] == "costs" else lines_of_lives(names, figures)
        return found[1] + "".join(f"{line}\n" for line in made) + found[4]

    return BLOCK.sub(table, page)


def lines(names: Sequence[str], figures: Mapping[Key, float]) -> Iterator[str]:
    """Yield the lines of one table, an allocator each."""
    yield row(HEAD)
    yield row(["---", *["---:"] * (len(HEAD) - 1)])
    for name in names:
        pairs = [figures.get(Key("pair", name, way, LIVE)) for way in ("typed", "run-time size", "pmr")]
        if pairs == [None, None, None]:
            pairs[1] = figures[Key("pair", name, "malloc", LIVE)]
        lives = (figures.get(Key("life", name, way, 1)) for way in ("pmr", "typed"))
        life = next((found for found in lives if found is not None), None)
        yield row([f"`{name}`", *map(shown, pairs), shown(life)])


def lines_of_lives(names: Sequence[str], figures: Mapping[Key, float]) -> Iterator[str]:
    """Yield the lines of one table of lives, an allocator each."""
    yield row(["instructions", *LIVES])
    yield row(["---", *["---:"] * len(LIVES)])
    for name in names:
        of_name = (figures[Key(scenario, name, way, 1)] for scenario, way in LIVES.values())
        yield row([f"`{name}`", *map(shown, of_name)])


def row(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(cells)} |"


def shown(figure: float | None) -> str:
    """Return a figure as pages have it; a hyphen where nothing was counted."""
    return "-" if figure is None else f"{figure:,.0f}"


def stale(figures: Mapping[Key, float], pages: Iterable[Path] = PAGES) -> Iterator[Path]:
    """Yield the pages whose tables are not those of these figures."""
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if written(text, figures) != text:
            yield page


def refresh(figures: Mapping[Key, float], pages: Iterable[Path] = PAGES) -> None:
    """Write the tables of all pages anew."""
    for page in stale(figures, pages):
        page.write_text(written(page.read_text(encoding="utf-8"), figures), encoding="utf-8")
