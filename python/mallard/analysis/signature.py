"""Which kind of behaviour each allocation shows: the bins that subsystems are told apart by.

    bin = size, a factor of four each x lifetime in events, a factor of sixteen each x end

Bins are coarse on purpose: 72 and 80 bytes, or 3 and 5 events, are no change that a strategy could use. Of
ends there are four: freed by the thread that allocated, by another one, given to realloc, never freed.
"""

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.partition import Observed
from mallard.analysis.store import Store

# 16, 17: realloc and reallocarray (mallard/journal/event.hpp)
KINDS = """
    SELECT context,
        (size_class + 7) // 8 AS sizes,
        CASE WHEN free IS NULL THEN 0 ELSE 1 + floor(log2(free - allocation) / 4)::INTEGER END AS lifetimes,
        CASE WHEN free IS NULL THEN 0 WHEN free_kind IN (16, 17) THEN 1
            WHEN free_thread <> thread THEN 2 ELSE 3 END AS ends,
        count(*) AS objects,
        sum(size)::DOUBLE AS bytes
    FROM heap GROUP BY ALL ORDER BY ALL
"""


def observe(store: Store, node_of: NDArray[np.int64]) -> Observed:
    """Return what each node of a tree shows; `node_of` is that of each context."""
    rows = store.sql.execute(KINDS).fetchnumpy()
    kinds = (rows["sizes"].astype(np.int64) * 64 + rows["lifetimes"]) * 4 + rows["ends"]
    return Observed(
        node=node_of[rows["context"]],
        bin=np.unique(kinds, return_inverse=True)[1],
        objects=rows["objects"].astype(np.float64),
        bytes=rows["bytes"].astype(np.float64),
    )
