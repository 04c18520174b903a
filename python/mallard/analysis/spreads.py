"""Spreads of a figure over the objects of each group.

    group  2 0 0 1 ...  --sorted by group--> | 0 0 ... | 1 ... | 2 ... |  --each sorted--> Spread
    figure 7 3 9 4 ...                       | 9 3     | 4     | 7     |

Quantiles are nearest-rank: p50 is the smallest value that at least half of the objects do not exceed, so
that each is a value that occurs. Sorting columns takes a tenth of what quantiles take in SQL, which keeps a
list of values for each group.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.model import Spread
from mallard.analysis.store import Store


def spreads(store: Store, objects: str, figure: str, groups: int) -> list[Spread | None]:
    """Return the spread of `figure`, an SQL expression, in each group; None where no object has it.

    `objects` is a table with `grp`, as Grouping.objects gives it.
    """
    columns = store.sql.execute(
        f"SELECT grp, value FROM (SELECT grp, {figure} AS value FROM {objects}) WHERE value IS NOT NULL"
    ).fetchnumpy()
    group = np.asarray(columns["grp"]).astype(np.min_scalar_type(groups))
    order = np.argsort(group, kind="stable")  # takes a few passes where numbers of groups are small
    values = np.asarray(columns["value"])[order]
    ends = np.cumsum(np.bincount(group, minlength=groups))
    return [spread(part) for part in np.split(values, ends[:-1])]


def spread(values: NDArray[Any]) -> Spread | None:
    """Return the spread of some values, which are sorted in place; None if there are none."""
    if not len(values):
        return None
    values.sort()
    p50, p90, p99 = (float(values[-(-percent * len(values) // 100) - 1]) for percent in (50, 90, 99))
    return Spread(float(values[0]), p50, p90, p99, float(values[-1]), float(values.mean()))
