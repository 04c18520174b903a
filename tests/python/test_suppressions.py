"""Suppressions in the forms of LeakSanitizer and Valgrind: what they match, and what is none."""

from collections.abc import Sequence
from typing import Any

import pytest
from made_store import Made, make_store

from mallard import MallardError
from mallard.analysis.alive import AliveSite
from mallard.analysis.model import Frame
from mallard.analysis.suppressions import Suppressor, parse, read_suppressions, runtime_suppressions

STACK = (
    Frame("inflateInit2_", "libz.so.1", "inflate.c", 223),
    Frame("app::reader<int>::open(char const*)", "prog", "src/reader.cpp", 12),
    Frame("app::load(std::string const&)", "prog", "src/load.cpp", 40),
    Frame("main", "prog", "src/main.cpp", 7),
)
MODULES: list[dict[str, Any]] = [
    {"path": "/usr/lib/x86_64-linux-gnu/libz.so.1"},
    {"path": "/opt/app/prog"},
    {"path": "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"},
    {"path": "/lib64/ld-linux-x86-64.so.2"},
]


def left(rules: str, stack: Sequence[Frame] = STACK, call: str = "malloc") -> bool:
    """Tell whether a site stays with these rules."""
    reading = make_store([Made(0, None)])
    reading.modules.extend(MODULES)
    site = AliveSite(context=1, name="", bytes=100, blocks=2, call=call, stack=list(stack))
    return bool(Suppressor(reading, list(parse(rules, "file"))).left([site]))


def block(*lines: str) -> str:
    """Return a suppression of Valgrind."""
    return "\n".join(["{", "   a name", "   Memcheck:Leak", *lines, "}"])


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("inflateInit2_", True),
        ("inflate", True),  # any part of a name
        ("reader::open", True),  # also as it is without arguments
        ("reader<int>::open(char const*)", True),
        ("libz.so", True),
        ("/usr/lib/*/libz.so.1", True),
        ("src/load.cpp", True),
        ("^main$", True),
        ("^ain", False),
        ("mai$", False),
        ("app::*::open", True),
        ("load.cxx", False),
        (".ain", False),  # no regular expression
    ],
)
def test_a_pattern_of_sanitizers_is_looked_for_everywhere(pattern: str, matches: bool) -> None:
    assert left(f"# comment\n\n  leak:{pattern}\n") is not matches


@pytest.mark.parametrize(
    ("frames", "matches"),
    [
        (["fun:malloc", "fun:inflateInit2_"], True),
        (["fun:inflateInit2_"], True),  # what the recorder's entry point is called may be left out
        (["match-leak-kinds: reachable,possible", "fun:malloc", "obj:*/libz.so*"], True),
        (["fun:calloc", "fun:inflateInit2_"], False),
        (["fun:malloc", "fun:main"], False),  # from the innermost on
        (["fun:malloc", "...", "fun:main"], True),
        (["...", "fun:main"], True),
        (["...", "fun:main", "..."], True),
        (["fun:malloc", "...", "fun:inflateInit2_"], True),  # no frame is a number of frames
        (["...", "fun:load", "fun:main"], False),
        (["...", "fun:app::load", "fun:main"], True),
        (["...", "fun:main", "fun:_start"], False),  # more frames than there are
        (["fun:*Init?_"], True),
        (["fun:inflate"], False),  # the whole name
        (["...", "fun:_ZN3app4loadERKSs"], True),
        (["...", "fun:_ZN3app4loadEi"], False),
        (["...", "fun:_ZN3app4load*"], True),
        (["...", "fun:_ZN3app2lo*"], False),
        (["...", "fun:_ZN3app6reader*"], True),
        (["...", "obj:/opt/app/prog"], True),
        (["...", "obj:/opt/app/other"], False),
        (["fun:malloc", "src:inflate.c:223"], True),
        (["fun:malloc", "src:inflate.c:22"], False),
        (["fun:*", "fun:*", "obj:*/prog"], True),
    ],
)
def test_frames_of_valgrind_are_matched_from_the_innermost_on(frames: list[str], matches: bool) -> None:
    assert left(block(*frames)) is not matches


@pytest.mark.parametrize("pattern", ["_Znwm", "_Znw*", "_ZnwmRKSt9nothrow_t", "operator new(unsigned long)"])
def test_operator_new_has_the_names_that_valgrind_gives_it(pattern: str) -> None:
    assert not left(block(f"fun:{pattern}", "fun:inflateInit2_"), call="new")
    assert left(block(f"fun:{pattern}", "fun:inflateInit2_"), call="malloc")


def test_a_mangled_name_is_the_function_that_it_is_of() -> None:
    stack = [Frame("app::load(int, char)", "prog")]
    assert not left(block("fun:_ZN3app4loadEic"), stack)
    assert left(block("fun:_ZN3app4loadEii"), stack)


def test_other_errors_of_valgrind_are_left_out() -> None:
    rules = "{\n a\n Memcheck:Cond\n fun:main\n}\n{\n b\n Helgrind,Memcheck:Leak\n fun:main\n}"
    assert [rule.name for rule in parse(rules, "file")] == ["b"]


def test_what_is_suppressed_counts_for_the_first_that_matches() -> None:
    rules = list(parse("leak:nowhere\nleak:main\nleak:load\n", "file"))
    reading = make_store([Made(0, None)])
    site = AliveSite(context=1, name="", bytes=100, blocks=2, call="malloc", stack=list(STACK))
    assert Suppressor(reading, rules).left([site, site]) == []
    assert [(rule.sites, rule.blocks, rule.bytes) for rule in rules] == [(0, 0, 0), (2, 4, 200), (0, 0, 0)]


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("leak:", 1, "expected leak:PATTERN"),
        ("\nrace:x", 2, "expected leak:PATTERN"),
        ("main", 1, "expected leak:PATTERN"),
        ("# c\n{\n name\n Memcheck:Leak\n fun:main\n", 2, "the brace is never closed"),
        ("{\n name\n}", 1, "a suppression has a name"),
        ("{\n name\n Memcheck:Leak\n}", 1, "a suppression has a name"),
        ("{\n name\n Memcheck:Leak\n main\n}", 4, "expected fun:, obj: or src:"),
        ("{\n name\n Memcheck:Leak\n fun:\n}", 4, "expected fun:, obj: or src:"),
        ("{\n name\n Memcheck:Leak\n fun:_ZN*load\n}", 4, "* can stand at the end"),
    ],
)
def test_what_is_no_suppression_is_told_with_its_line(text: str, line: int, told: str) -> None:
    with pytest.raises(MallardError, match=f"file:{line}: ") as error:
        list(parse(text, "file"))
    assert told in str(error.value)


def test_a_missing_file_is_told() -> None:
    with pytest.raises(MallardError, match="cannot read /nonexistent: No such file"):
        read_suppressions("/nonexistent")


def test_what_the_runtimes_keep_for_themselves_is_known() -> None:
    reading = make_store([Made(0, None)])
    reading.modules.extend(MODULES)

    def stays(*stack: Frame) -> bool:
        site = AliveSite(context=1, name="", bytes=1, blocks=1, call="malloc", stack=list(stack))
        return bool(Suppressor(reading, runtime_suppressions()).left([site]))

    start = Frame("_dl_init", "ld-linux-x86-64.so.2")
    assert not stays(Frame("libstdc++.so.6+0xa1f0", "libstdc++.so.6"), start)
    assert not stays(Frame("pool", "prog"), Frame("_GLOBAL__sub_I_eh_alloc.cc", "prog"), start)
    assert stays(Frame("global_table", "prog"), start), "the program's own start is its own"
    assert stays(Frame("std::string::_M_create", "libstdc++.so.6"), Frame("main", "prog"))
