"""Tables that belong together, and which findings of the paper stand below them."""

from collections.abc import Sequence
from dataclasses import dataclass

from mallard_bench.tables.grid import Grid


@dataclass(frozen=True)
class Section:
    """Some tables; `name` is what the paper's findings call them."""

    name: str
    tables: Sequence[Grid]
