"""Listings of functions show what they should, and docs/fast-paths.md what the compiler makes of them now."""

from pathlib import Path

import pytest

import fast_paths
from fast_paths import functions, listing

ASSEMBLY = """\
\t.text
\t.globl\tpool_allocate
pool_allocate:
.LFB4771:
\t.cfi_startproc
\tmov\trax, QWORD PTR 8[rdi]
\tlea\trcx, -1[rsi+rax]
\tmovzx\tecx, BYTE PTR mallard::size_classes<8ul, (unsigned long)16>::table[rip]
\tmov\trdx, QWORD PTR fs:8+mallard::table@tpoff
\tje\t.L442
\tcmp\tQWORD PTR [rdi], 47
\tjbe\t.L443
\tret
\t.p2align 4,,10
.L442:
\tcall\tmallard::basic_pool<mallard::counting<int>, 4ul>::refill(unsigned long)
.LFE4771:
\t.section\t.text.unlikely
pool_allocate.cold:
.L443:
\tud2
\t.text
pool_deallocate:
\tret
"""

LISTING = """\
pool_allocate:
    mov rax, [rdi+8]
    lea rcx, [rsi+rax-1]
    movzx ecx, [rip+mallard::size_classes::table]
    mov rdx, fs:8+mallard::table
    je .1
    cmp [rdi], 47
    jbe cold
    ret
.1:
    call mallard::basic_pool::refill"""


def test_each_function_has_its_own_lines() -> None:
    bodies = functions(ASSEMBLY)
    assert listing("pool_allocate", bodies["pool_allocate"]) == LISTING
    assert listing("pool_deallocate", bodies["pool_deallocate"]) == "pool_deallocate:\n    ret"


def test_a_listing_does_not_change_with_the_numbers_of_the_labels() -> None:
    elsewhere = ASSEMBLY.replace(".L442", ".L17").replace(".LFB4771", ".LFB99")
    assert functions(elsewhere)["pool_allocate"] != functions(ASSEMBLY)["pool_allocate"]
    assert listing("pool_allocate", functions(elsewhere)["pool_allocate"]) == LISTING


@pytest.fixture(scope="module")
def bodies() -> dict[str, list[str]]:
    """The functions, compiled."""
    return fast_paths.compiled()


@pytest.mark.heaps
def test_the_page_is_what_the_compiler_makes(bodies: dict[str, list[str]]) -> None:
    page = fast_paths.PAGE.read_text(encoding="utf-8")
    assert fast_paths.with_listings(page, bodies) == page, "fast_paths.py --write writes it"


@pytest.mark.heaps
def test_every_function_is_on_the_page(bodies: dict[str, list[str]]) -> None:
    page = fast_paths.PAGE.read_text(encoding="utf-8")
    source = fast_paths.SOURCE.read_text(encoding="utf-8").split('extern "C" {')[1]
    shown = [name for name in bodies if f" {name}(" in source]
    assert len(shown) > 10
    assert [name for name in shown if f"<!-- {name} -->\n```asm\n{name}:\n" not in page] == []


@pytest.mark.heaps
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


@pytest.mark.heaps
def test_a_function_that_is_not_there_is_named(bodies: dict[str, list[str]]) -> None:
    with pytest.raises(fast_paths.PageError, match="the page names buddy_allocate"):
        fast_paths.with_listings("<!-- buddy_allocate -->\n<!-- end -->\n", bodies)
