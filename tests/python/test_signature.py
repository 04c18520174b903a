"""Which allocations show the same kind of behaviour, and which do not."""

import numpy as np
from made_store import FREE, REALLOC, Calls, Made, make_store

from mallard.analysis.signature import observe

CALLS = Calls(parents=(0, 0, 1, 1), functions=("", "main", "a", "b"))
NODE_OF = np.array([0, 1, 2, 3])


def alike(first: Made, second: Made) -> bool:
    """Return whether two objects are of one kind."""
    return bool(observe(make_store([first, second], CALLS), NODE_OF).bin.max() == 0)


def test_sizes_within_a_factor_of_four_are_one_kind() -> None:
    assert alike(Made(0, 5, size=33), Made(1, 6, size=128))
    assert not alike(Made(0, 5, size=32), Made(1, 6, size=33))
    assert not alike(Made(0, 5, size=128), Made(1, 6, size=129))


def test_lifetimes_within_a_factor_of_sixteen_are_one_kind() -> None:
    assert alike(Made(0, 16), Made(1, 256))
    assert not alike(Made(0, 15), Made(1, 17))
    assert not alike(Made(0, 255), Made(1, 257))
    assert not alike(Made(0, 255), Made(1, None))


def test_ends_are_kinds() -> None:
    freed, foreign = Made(0, 5), Made(1, 6, thread=1)
    reallocated = Made(2, 7, free_kind=REALLOC)
    assert alike(freed, Made(1, 6, thread=2, free_thread=2, free_kind=FREE + 3))
    assert not alike(freed, foreign)
    assert not alike(freed, reallocated)
    assert not alike(foreign, reallocated)


def test_rows_are_sums_of_a_node_and_a_kind() -> None:
    objects = [Made(0, 1, context=2, size=40), Made(1, 2, context=2, size=50), Made(2, None, context=3)]
    found = observe(make_store(objects, CALLS), NODE_OF)
    rows = zip(found.node.tolist(), found.objects.tolist(), found.bytes.tolist(), strict=True)
    assert sorted(rows) == [(2, 2, 90), (3, 1, 32)]
    assert found.shares(4).tolist() == [0, 0, (2 / 3 + 90 / 122) / 2, (1 / 3 + 32 / 122) / 2]
