"""Which blocks are one container that grows, and what a reservation or a small buffer would save of them."""

from collections.abc import Sequence

import numpy as np

from mallard.advise.growth import Chains


def chains(rows: Sequence[tuple[int, int, int]], previous: Sequence[int] | None = None) -> Chains:
    """Return the chains of blocks of one thread: allocation, free, size."""
    allocation, free, size = (np.array(column, np.uint64) for column in zip(*rows, strict=True))
    before = np.array(previous if previous else [-1] * len(rows), np.int64)
    stays = np.zeros(len(rows), np.bool_)
    return Chains.of(allocation, free, size, np.zeros(len(rows), np.uint32), before, stays)


def test_a_block_freed_after_a_larger_one_came_is_the_same_container() -> None:
    found = chains([(0, 3, 8), (1, 20, 40), (2, 5, 16), (4, 9, 32)])
    assert sorted(zip(found.length.tolist(), found.last.tolist(), strict=True)) == [(1, 40), (3, 32)]
    assert found.doubles


def test_blocks_that_come_and_go_are_no_chain() -> None:
    chance = np.random.default_rng(1)
    sizes = chance.integers(16, 1000, 2000)
    rows = [(2 * i, 2 * i + 401, int(size)) for i, size in enumerate(sizes)]
    assert chains(rows).growing < 0.15


def test_a_block_that_outlives_a_larger_one_is_no_chain() -> None:
    assert chains([(0, 100, 16), (1, 200, 32)]).length.tolist() == [1, 1]


def test_realloc_is_a_chain_by_itself() -> None:
    found = chains([(0, 1, 10), (1, 2, 20), (2, 9, 30)], [-1, 0, 1])
    assert found.length.tolist() == [3]
    saving = found.reserve()
    assert saving
    assert (saving.blocks, saving.bytes, saving.copied) == (2, 30, 30)


def test_a_small_buffer_holds_most_containers() -> None:
    rows = []
    for i in range(100):
        rows += [(4 * i, 4 * i + 2 if i % 4 == 0 else 5000 + i, 4)]
        rows += [(4 * i + 1, 6000 + i, 8)] if i % 4 == 0 else []
    for i in range(1000, 1010):  # too long
        rows += [(4 * i, 4 * i + 2, 4), (4 * i + 1, 4 * i + 4, 8), (4 * i + 3, 6000 + i, 16)]
    saving = chains(rows).small_buffer()
    assert saving
    assert (saving.elements, saving.blocks) == (2, 125)
