"""Return addresses find the file that was mapped there, and their place in it."""

from dataclasses import replace
from typing import Any

import numpy as np
from made_store import Calls, Made, make_store

from mallard.analysis.module_map import NO_MODULE, locate
from mallard.analysis.store import Store


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
