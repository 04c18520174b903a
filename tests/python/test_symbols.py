"""Names of the calls of a real program, and what is said where there are none."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mallard import _native
from mallard.analysis.model import Frame
from mallard.analysis.store import Store
from mallard.analysis.symbol_cache import SymbolCache
from mallard.analysis.symbols import Symbols

Record = Callable[..., Store]

SOURCE = """
#include <mallard/annotate.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OWN [[gnu::noinline]]
#define INLINED [[gnu::always_inline]] inline

void* kept[16];

OWN void* xmalloc(std::size_t size) { void* p = std::malloc(size); if (!p) std::abort(); return p; }

namespace shop {
INLINED void* grab(std::size_t size) { return xmalloc(size); }
OWN void read_order() { kept[0] = grab(1111); std::puts("order"); }
OWN void fill(std::vector<char>& to) { to.resize(2222); std::puts("filled"); }
struct bill {
  OWN void write() { mallard::scope writing("billing"); kept[1] = std::malloc(3333); std::puts("bill"); }
};
}

int main() {
  shop::read_order();
  std::vector<char> bytes;
  shop::fill(bytes);
  shop::bill().write();
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with debug information."""
    folder = tmp_path_factory.mktemp("program")
    source, program = folder / "shop.cpp", folder / "shop"
    source.write_text(SOURCE)
    include = Path(__file__).parents[2] / "include"
    subprocess.run(["g++", "-std=c++20", "-O2", "-g", f"-I{include}", source, "-o", program], check=True)
    return program


@pytest.fixture
def record(mallard: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> Record:
    """Record a program, and read its journal."""

    def recorded(program: Path) -> Store:
        done = mallard("record", "-o", tmp_path / "journal", "--", program)
        assert done.returncode == 0, done.stderr
        return Store.read(str(tmp_path / "journal"))

    return recorded


@pytest.fixture
def cache(tmp_path: Path) -> SymbolCache:
    """A cache of the test's own."""
    return SymbolCache(tmp_path / "cache.sqlite3")


def context_of(store: Store, size: int) -> int:
    """Return the context of the one allocation of this size."""
    ((context,),) = store.rows("SELECT context FROM heap WHERE size = ?", size)
    return int(context)


def functions(frames: list[Frame]) -> list[str]:
    """Return the names, up to main."""
    names = [frame.function for frame in frames]
    return names[: names.index("main") + 1]


def line_of(text: str) -> int:
    """Return the line of the source that holds a text."""
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line)


def test_calls_have_function_file_and_line(program: Path, record: Record, cache: SymbolCache) -> None:
    store = record(program)
    symbols = Symbols(store, cache)
    frames = symbols.frames(context_of(store, 1111))
    assert functions(frames) == [
        "xmalloc(unsigned long)",
        "shop::grab(unsigned long)",
        "shop::read_order()",
        "main",
    ]
    assert [frame.inlined for frame in frames[:4]] == [False, True, False, False]
    assert [frame.line for frame in frames[:4]] == [
        line_of("OWN void* xmalloc"),
        line_of("INLINED void* grab"),
        line_of("kept[0]"),
        line_of("  shop::read_order();"),
    ]
    assert {frame.file for frame in frames[:4]} == {str(program.with_suffix(".cpp"))}
    assert {frame.module for frame in frames[:4]} == {"shop"}
    assert symbols.warnings == []


def test_sites_are_named_by_who_wants_the_memory(program: Path, record: Record, cache: SymbolCache) -> None:
    store = record(program)
    symbols = Symbols(store, cache)
    names = {size: symbols.site_name(context_of(store, size)) for size in (1111, 2222, 3333)}
    assert names == {1111: "shop::grab", 2222: "shop::fill", 3333: "bill::write"}
    assert symbols.frames(context_of(store, 2222))[0].function.startswith("std::")
    for size, name in names.items():
        context = context_of(store, size)
        assert symbols.frames(context)[symbols.site_frame(context)].function.partition("(")[0].endswith(name)
    assert symbols.site_name(0) == "unknown"
    assert symbols.frames(0) == []


def test_annotated_scopes_are_frames(program: Path, record: Record, cache: SymbolCache) -> None:
    store = record(program)
    frames = Symbols(store, cache).frames(context_of(store, 3333))
    scope = next(frame for frame in frames if frame.function == "billing")
    assert scope == Frame("billing", "")
    assert "shop::bill::write()" in functions(frames)


def test_another_run_opens_no_program(
    program: Path, record: Record, cache: SymbolCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = record(program)
    first = Symbols(store, cache)

    class Forbidden:
        def __init__(self, path: str, build_id: str) -> None:
            raise AssertionError(f"opens {path}")

    monkeypatch.setattr(_native, "Symbolizer", Forbidden)
    second = Symbols(store, cache)
    contexts = range(len(store.contexts["parent"]))
    assert [second.frames(context) for context in contexts] == [first.frames(context) for context in contexts]


def test_without_the_file_places_are_numbers(
    program: Path, record: Record, cache: SymbolCache, tmp_path: Path
) -> None:
    copy = Path(shutil.copy(program, tmp_path / "copy"))
    store = record(copy)
    copy.unlink()
    symbols = Symbols(store, cache)
    frame = symbols.frames(context_of(store, 3333))[0]
    assert frame.function.startswith("copy+0x")
    assert (frame.file, frame.line, frame.module) == (None, None, "copy")
    assert symbols.warnings == [f"{copy}: the file is gone; places in it have no names"]


def test_another_build_names_nothing(
    program: Path, record: Record, cache: SymbolCache, tmp_path: Path
) -> None:
    copy = Path(shutil.copy(program, tmp_path / "copy"))
    store = record(copy)
    shutil.copy("/bin/true", copy)
    symbols = Symbols(store, cache)
    assert symbols.frames(context_of(store, 3333))[0].function.startswith("copy+0x")
    assert symbols.warnings == [f"{copy}: the file is of another build now; places in it have no names"]


def test_calls_of_one_function_without_a_name_are_of_one(
    program: Path, record: Record, cache: SymbolCache, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    subprocess.run(["objcopy", "--strip-all", program, bare], check=True)
    store = record(bare)
    symbols = Symbols(store, cache)
    mains = {
        [frame.function for frame in symbols.frames(context_of(store, size)) if frame.module == "bare"][-2]
        for size in (1111, 2222, 3333)
    }
    assert len(mains) == 1
    assert mains.pop().startswith("bare+0x")
    assert symbols.warnings == []


def test_names_found_without_debug_information_are_asked_for_again_with_it(
    program: Path, record: Record, cache: SymbolCache, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    debug = tmp_path / "bare.debug"
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", program, bare], check=True)
    hidden = debug.rename(tmp_path / "hidden")
    store = record(bare)
    assert Symbols(store, cache).frames(context_of(store, 3333))[0].function.startswith("bare+0x")
    hidden.rename(debug)
    assert functions(Symbols(store, cache).frames(context_of(store, 3333)))[-1] == "main"


def test_without_a_module_a_place_is_its_address(program: Path, record: Record, cache: SymbolCache) -> None:
    store = record(program)
    symbols = Symbols(replace(store, modules=[]), cache)
    frame = symbols.frames(context_of(store, 1111))[0]
    assert frame.function == f"0x{int(store.contexts['return_address'][context_of(store, 1111)]) - 1:x}"
    assert frame.module == ""
    assert symbols.warnings == []
