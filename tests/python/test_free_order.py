"""What the order of frees says of how blocks are used."""

import numpy as np

from mallard.advise.free_order import far_apart, in_order


def test_kinds_freed_one_after_the_other_are_in_order() -> None:
    kind, size = np.tile(np.arange(4), 100), np.full(400, 2000)
    gain, far = in_order(kind, size, np.argsort(kind, kind="stable"))
    assert gain.min() > 0.7
    assert far.min() == 1
    assert in_order(kind, size // 20, np.argsort(kind, kind="stable"))[1].max() == 0, "all on one page"
    assert in_order(kind, size, np.arange(400))[0].max() <= 0
    assert in_order(np.sort(kind), size, np.arange(400))[0].max() <= 0, "it is the order in memory, too"


def test_neighbours_in_memory_are_not_far_apart() -> None:
    size = np.full(1000, 64)
    assert far_apart(size, np.arange(1000)) == 0
    assert far_apart(size, np.arange(1000).reshape(10, 100).T.ravel()) > 0.9
