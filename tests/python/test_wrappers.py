"""Which functions are an allocator's wrappers."""

from collections.abc import Iterable

import numpy as np
import pytest

from mallard.analysis.frame_tree import FrameTree
from mallard.analysis.model import Frame
from mallard.analysis.wrappers import (
    MAX_CALLS,
    MIN_CALLERS,
    MIN_CLASSES,
    find_wrappers,
    is_allocator,
    is_container,
)


@pytest.mark.parametrize(
    "function",
    [
        *("malloc", "xmalloc", "xrealloc", "xcalloc", "g_malloc0", "g_malloc_n", "g_strdup", "vasprintf"),
        *(
            "PyMem_RawMalloc",
            "PyObject_Malloc",
            "_PyObject_GC_Malloc",
            "sqlite3DbMallocRaw",
            "sqlite3DbStrDup",
        ),
        *(
            "Perl_safesysmalloc",
            "jv_mem_alloc",
            "ggc_internal_alloc",
            "apr_palloc",
            "talloc_size",
            "mem_alloc",
        ),
        *(
            "operator new(unsigned long)",
            "operator new[](unsigned long)",
            "shop::order::operator new(unsigned long)",
        ),
        *("shop::pool::allocate(unsigned long)", "shop::reallocate_or_die", "xmallocz"),
    ],
)
def test_allocators_are_known_by_name(function: str) -> None:
    assert is_allocator(function)


@pytest.mark.parametrize(
    "function",
    [
        *(
            "main",
            "parse_orders",
            "node_alloc",
            "preallocate_rows",
            "prealloc",
            "dealloc_row",
            "jv_string_sized",
        ),
        *(
            "cc1plus+0x5a3210",
            "shop::allocation_report(int)",
            "",
            "new_order",
            "operator()",
            "make_new_block",
        ),
    ],
)
def test_others_are_not(function: str) -> None:
    assert not is_allocator(function)


def test_containers_are_known_by_their_namespace() -> None:
    assert is_container("std::vector<shop::order>::_M_realloc_insert(int)")
    assert is_container("int* std::__relocate_a<int*>(int*)")
    assert is_container("__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*)")
    assert not is_container("shop::std_report(std::vector<int>&)")
    assert not is_container("shop::std::thing()")


def wrappers(stacks: Iterable[str], size_classes: Iterable[int], scopes: tuple[str, ...] = ()) -> set[str]:
    """Return the wrappers among functions; a stack is `outer outer inner`, each call from a place of its own.

    `f@2` is a call from the second place of f.
    """
    nodes: dict[tuple[int, str], int] = {}
    rows, names = [], [""]
    for stack in stacks:
        context = 0
        for call in stack.split():
            context = nodes.setdefault((context, call), len(nodes) + 1)
            if context == len(names):
                names.append(call)
        rows.append(context)
    parents = np.array([0, *(parent for parent, _ in nodes)], dtype=np.uint32)
    calls = list(dict.fromkeys(names))
    tree = FrameTree.build(
        parents,
        np.array([name in scopes for name in names], dtype=np.uint32),
        np.array([calls.index(name) for name in names]),
        [[Frame(call.partition("@")[0], "prog")] for call in calls],
    )
    masks = np.uint64(1) << np.array(list(size_classes), dtype=np.uint64)
    found = find_wrappers(tree, np.array(rows, dtype=np.uint32), masks)
    return {name for (name, _), wraps in zip(tree.functions, found, strict=True) if wraps}


def called_by_many(function: str, callers: int = MIN_CALLERS) -> list[str]:
    """Return stacks that end with the function, each with a caller of its own."""
    return [f"main user{n} {function}" for n in range(callers)]


def test_a_function_that_many_use_for_many_sizes_is_a_wrapper() -> None:
    assert wrappers(called_by_many("grab"), range(MIN_CALLERS)) == {"grab"}


def test_few_callers_few_sizes_or_many_calls_make_no_wrapper() -> None:
    assert not wrappers(called_by_many("grab", MIN_CALLERS - 1), range(MIN_CALLERS - 1))
    assert not wrappers(called_by_many("make_row"), [n % (MIN_CLASSES - 1) for n in range(MIN_CALLERS)])
    stacks = [f"main user{n} build@{n % (MAX_CALLS + 1)}" for n in range(MIN_CALLERS)]
    assert not wrappers(stacks, range(MIN_CALLERS))


def test_what_calls_a_wrapper_can_be_one() -> None:
    stacks = [*called_by_many("grab"), *called_by_many("grab_rows grab")]
    assert wrappers(stacks, [*range(MIN_CALLERS)] * 2) == {"grab", "grab_rows"}


def test_what_only_allocators_call_is_a_part_of_them() -> None:
    assert wrappers(["main parse xmalloc prog+0x10"], [0]) == {"xmalloc", "prog+0x10"}
    assert wrappers(["main parse xmalloc prog+0x10", "main prog+0x10"], [0, 0]) == {"xmalloc"}


def test_what_a_container_calls_is_not() -> None:
    assert wrappers(["main std::__invoke task"], [0]) == {"std::__invoke"}


def test_scopes_are_no_sites() -> None:
    assert wrappers(["main billing"], [0], scopes=("billing",)) == {"billing"}
