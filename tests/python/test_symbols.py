"""From return addresses to names: the module, the calls of a real program, and functions in short."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_store import Calls, Made, make_store

from mallard import _native
from mallard.analysis.function_names import own_name, qualified_name, short_name
from mallard.analysis.model import Frame
from mallard.analysis.module_map import NO_MODULE, locate
from mallard.analysis.store import Store
from mallard.analysis.symbol_cache import SymbolCache, SymbolSource
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


def test_a_relative_path_names_nothing_and_says_so(cache: SymbolCache) -> None:
    source = SymbolSource(cache)
    assert [source.lines(path, "", [16]) for path in ("", "linux-vdso.so.1", "./libplugin.so")] == [[()]] * 3
    assert source.warnings == [
        "./libplugin.so: nothing says in which folder it lies; places in it have no names"
    ]


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


STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
ROWS = f"std::map<{STRING}, int, std::less<{STRING} >, std::allocator<std::pair<{STRING} const, int> > >"


@pytest.mark.parametrize(
    ("function", "short", "qualified"),
    [
        ("main", "main", "main"),
        ("cc1plus+0x12ab", "cc1plus+0x12ab", "cc1plus+0x12ab"),
        ("", "", ""),
        ("shop::parse_orders(char const*, int)", "shop::parse_orders", "shop::parse_orders"),
        ("void shop::shelf<int>::add(int const&) const", "shop::shelf<int>::add", "shop::shelf::add"),
        ("shop::(anonymous namespace)::secret()", *["shop::(anonymous namespace)::secret"] * 2),
        ("operator new(unsigned long)", "operator new", "operator new"),
        ("shop::order::operator()(int)", "shop::order::operator()", "shop::order::operator()"),
        ("shop::order::operator->() const", "shop::order::operator->", "shop::order::operator->"),
        ("shop::order::operator bool() const", *["shop::order::operator bool"] * 2),
        (
            "std::ostream& std::operator<< <char>(std::ostream&, char)",
            "std::operator<<<char>",
            "std::operator<<",
        ),
        ("operators(int)", "operators", "operators"),
        ("main::{lambda(int)#1}::operator()(int) const", *["main::{lambda}::operator()"] * 2),
        ("f(int) const::{lambda()#2}::operator()() const", *["f::{lambda}::operator()"] * 2),
        ("std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector<int>::push_back", None),
        (f"{ROWS}::operator[]({STRING}&&)", "std::map<std::string, int>::operator[]", "std::map::operator[]"),
        (f"shelf<{ROWS}, {ROWS} >::add()", "shelf<...>::add", "shelf::add"),
        (f"{STRING}::_M_create(unsigned long&, unsigned long)", "std::string::_M_create", None),
        ("name[abi:cxx11](int)", "name", "name"),
        ("decltype(auto) call<int>(int)", "call<int>", "call"),
        ("<alloc::vec::Vec<T> as core::Drop>::drop", *["<alloc::vec::Vec<T> as core::Drop>::drop"] * 2),
        ("decltype (::new ((void*)(0)) box(1)) std::construct_at<box>(box*)", None, "std::construct_at"),
        ("std::enable_if<(1>2), int>::type app::f<int>(int)", "app::f<int>", "app::f"),
        ("less<(1 < 2)>::test()", "less<(1 < 2)>::test", "less::test"),
        ("(", "(", "("),
        ("broken<", None, "broken"),
    ],
)
def test_names(function: str, short: str | None, qualified: str | None) -> None:
    assert short is None or short_name(function) == short
    assert qualified is None or qualified_name(function) == qualified


@pytest.mark.parametrize(
    ("function", "own"),
    [
        ("main", "main"),
        ("cc1plus+0xcb20a0", "cc1plus+0xcb20a0"),
        ("(anonymous namespace)::collect_texts(int)", "collect_texts"),
        ("app::(anonymous namespace)::reader::next()", "reader::next"),
        ("nlohmann::v3::basic_json<std::map, int>::push_back(int&&)", "basic_json::push_back"),
        (f"{ROWS}::operator[]({STRING}&&)", "map::operator[]"),
        ("app::run()::{lambda(app::order&)#1}::operator()(app::order&) const", "{lambda}::operator()"),
        ("std::operator<< <char>(std::ostream&, char)", "std::operator<<"),
    ],
)
def test_tables_have_room_for_the_function_and_its_class(function: str, own: str) -> None:
    assert own_name(function) == own


def mapped(begin: int, end: int, bias: int, load_ns: int = 0, unload_ns: int = 0) -> dict[str, Any]:
    """Return a row of the modules."""
    row = {"begin": begin, "end": end, "bias": bias, "load_ns": load_ns, "unload_ns": unload_ns}
    return row | {"path": f"/lib/{begin:x}.so", "build_id": "ab"}


def store_of(addresses: list[int], modules: list[dict[str, Any]], seen_ns: list[int]) -> Store:
    """Return a store whose contexts 1, 2 ... are calls from the program, first seen at these times."""
    objects = [Made(time // 10, None, context=number) for number, time in enumerate(seen_ns, 1)]
    store = make_store(
        objects, Calls(parents=[0] * (len(addresses) + 1), functions=[""] * (len(addresses) + 1))
    )
    contexts = store.contexts | {"return_address": np.array([0, *addresses], dtype=np.uint64)}
    return replace(store, contexts=contexts, modules=modules)


def found(store: Store) -> list[tuple[int, int]]:
    """Return module and address of each context but the unknown one."""
    module, address = locate(store)
    return list(zip(module.tolist(), address.tolist(), strict=True))[1:]


def test_addresses_are_those_of_the_call_inside_the_file() -> None:
    modules = [mapped(0x5000, 0x6000, 0x4000), mapped(0x400000, 0x401000, 0)]
    store = store_of([0x5010, 0x400123, 0x9000, 0x6000, 0x5000], modules, [0, 10, 20, 30, 40])
    # A call can be the last instruction of its file, and cannot be right before the first.
    assert found(store) == [(0, 0x100F), (1, 0x400122), (NO_MODULE, 0x8FFF), (0, 0x1FFF), (NO_MODULE, 0x4FFF)]


def test_without_modules_nothing_is_found() -> None:
    assert found(store_of([0x5010], [], [0])) == [(NO_MODULE, 0x500F)]


def test_of_two_at_one_place_the_one_that_was_mapped_then() -> None:
    first = mapped(0x5000, 0x7000, 0x5000, load_ns=0, unload_ns=100)
    second = mapped(0x6000, 0x8000, 0x6000, load_ns=200)
    store = store_of([0x6010, 0x6020, 0x5010, 0x7010], [first, second], [50, 300, 400, 0])
    assert found(store) == [(0, 0x100F), (1, 0x1F), (0, 0xF), (1, 0x100F)]


def test_of_two_that_were_mapped_then_the_later_one() -> None:
    modules = [mapped(0x5000, 0x6000, 0x5000, load_ns=10), mapped(0x5000, 0x6000, 0x5000)]
    assert found(store_of([0x5010], modules, [500])) == [(0, 0xF)]


def test_a_caller_was_seen_when_what_it_called_was() -> None:
    first = mapped(0x5000, 0x6000, 0x5000, load_ns=0, unload_ns=100)
    second = mapped(0x5000, 0x6000, 0x5000, load_ns=200)
    objects = [Made(5, None, context=2), Made(30, None, context=1)]
    store = make_store(objects, Calls(parents=(0, 0, 1), functions=("", "f", "g")))
    contexts = store.contexts | {"return_address": np.array([0, 0x5010, 0x9000], dtype=np.uint64)}
    assert found(replace(store, contexts=contexts, modules=[first, second]))[0] == (0, 0xF)
