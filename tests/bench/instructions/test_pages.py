"""The cost tables of the pages: those of the golden file, and told when they are not."""

from pathlib import Path

import pytest

import pages
from instructions import GOLDEN
from rows import Key, accepted

FIGURES = {
    Key("pair", "pool", "typed", 64): 11.0,
    Key("pair", "pool", "pmr", 64): 23.0,
    Key("life", "pool", "typed", 1): 641.02,
    Key("life", "pool", "pmr", 1): 1660.05,
    Key("pair", "glibc", "malloc", 64): 133.0,
}
LIVES = {Key(scenario, "reap", way, 1): 51.09 for scenario, way in pages.LIVES.values()}
PAGE = "# Pool\n<!-- costs: pool; beside: glibc -->\nold\n<!-- end of costs -->\nafter\n"


def test_pages_show_what_was_accepted() -> None:
    assert list(pages.stale(accepted(GOLDEN))) == [], "./dev instructions --accept writes them"
    assert len(pages.PAGES) > 5


def test_a_table_has_a_line_for_each_allocator() -> None:
    made = pages.written(PAGE, FIGURES)
    assert made.startswith("# Pool\n<!-- costs: pool; beside: glibc -->\n| instructions |")
    assert "| `pool` | 11 | - | 23 | 1,660 |\n" in made
    assert "| `glibc` | - | 133 | - | - |\n" in made
    assert made.endswith("<!-- end of costs -->\nafter\n")
    assert pages.written(made, FIGURES) == made


def test_a_table_of_lives_has_every_column() -> None:
    page = "<!-- lives: reap -->\nold\n<!-- end of lives -->\n"
    made = pages.written(page, LIVES)
    assert made.startswith("<!-- lives: reap -->\n| instructions | allocation, bumping |")
    assert "\n| `reap` | 51 | 51 | 51 | 51 | 51 |\n<!-- end of lives -->\n" in made
    for key in LIVES:
        with pytest.raises(KeyError):
            pages.written(page, {other: 51.0 for other in LIVES if other != key})


def test_a_page_with_another_figure_is_told_and_refreshed(tmp_path: Path) -> None:
    page = tmp_path / "pool.md"
    page.write_text(pages.written(PAGE, FIGURES), encoding="utf-8")
    assert list(pages.stale(FIGURES, [page])) == []
    changed = FIGURES | {Key("pair", "pool", "typed", 64): 12.0}
    assert list(pages.stale(changed, [page])) == [page]
    pages.refresh(changed, [page])
    assert list(pages.stale(changed, [page])) == []


def test_a_allocator_that_nobody_counts_is_not_left_out_silently() -> None:
    with pytest.raises(KeyError):
        pages.written(PAGE.replace("glibc", "nobody"), FIGURES)
