"""docs/fast-paths.md shows what the compiler makes of the fast paths now."""

from pathlib import Path

import pytest

import fast_paths

pytestmark = pytest.mark.heaps


@pytest.fixture(scope="module")
def bodies() -> dict[str, list[str]]:
    """The functions, compiled."""
    return fast_paths.compiled()


def test_the_page_is_what_the_compiler_makes(bodies: dict[str, list[str]]) -> None:
    page = fast_paths.PAGE.read_text(encoding="utf-8")
    assert fast_paths.with_listings(page, bodies) == page, "fast_paths.py --write writes it"


def test_every_function_is_on_the_page(bodies: dict[str, list[str]]) -> None:
    page = fast_paths.PAGE.read_text(encoding="utf-8")
    functions = fast_paths.SOURCE.read_text(encoding="utf-8").split('extern "C" {')[1]
    shown = [name for name in bodies if f" {name}(" in functions]
    assert len(shown) > 10
    assert [name for name in shown if f"<!-- {name} -->\n```asm\n{name}:\n" not in page] == []


def test_an_altered_page_is_told_and_written_anew(
    bodies: dict[str, list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = fast_paths.PAGE.read_text(encoding="utf-8")
    copy = tmp_path / "fast-paths.md"
    copy.write_text(page.replace("    ret\n", "    nop\n", 1), encoding="utf-8")
    monkeypatch.setattr(fast_paths, "PAGE", copy)
    monkeypatch.setattr(fast_paths, "compiled", lambda: bodies)
    assert fast_paths.main([]) == 1
    assert "-    nop\n+    ret\n" in capsys.readouterr().out
    assert fast_paths.main(["--write"]) == 0
    assert copy.read_text(encoding="utf-8") == page
    assert fast_paths.main([]) == 0


def test_a_function_that_is_not_there_is_named(bodies: dict[str, list[str]]) -> None:
    with pytest.raises(fast_paths.PageError, match="the page names buddy_allocate"):
        fast_paths.with_listings("<!-- buddy_allocate -->\n<!-- end -->\n", bodies)
