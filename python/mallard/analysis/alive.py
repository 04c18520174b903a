"""What is alive at a moment that matters, the peak or the end: the calling contexts that hold it.

sums of each context --largest first--> AliveSite: bytes, blocks, and the stack that allocated them
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mallard import _native
from mallard.analysis.model import Frame
from mallard.analysis.store import Reading
from mallard.analysis.symbols import Symbols

MOMENTS = ("peak", "leaked")  # as the columns of a reading begin


@dataclass(frozen=True, slots=True)
class AliveSite:
    """A calling context that has something alive."""

    context: int  # index into the journal's contexts
    name: str  # the innermost function that is no allocator's wrapper
    bytes: int
    blocks: int
    call: str  # malloc, calloc, new ...: the latest one there
    stack: list[Frame]  # innermost first
    frame: int = 0  # index into stack: the one that the name is of


def alive_sites(reading: Reading, symbols: Symbols, moment: str) -> list[AliveSite]:
    """Return all contexts that have blocks alive at one of MOMENTS: most bytes first, then most blocks."""
    size, count = reading.by_context(f"{moment}_bytes"), reading.by_context(f"{moment}_objects")
    kinds, calls = reading.by_context("kind"), _native.event_kinds()
    contexts = np.flatnonzero(count)
    order = np.lexsort((contexts, -count[contexts].astype(np.int64), -size[contexts].astype(np.int64)))
    return [
        AliveSite(
            context=context,
            name=symbols.site_name(context),
            bytes=int(size[context]),
            blocks=int(count[context]),
            call=calls[kinds[context]],
            stack=symbols.frames(context),
            frame=symbols.site_frame(context),
        )
        for context in contexts[order].tolist()
    ]


def total(sites: Iterable[AliveSite]) -> tuple[int, int]:
    """Return the bytes and the blocks of all of them."""
    amounts = [(site.bytes, site.blocks) for site in sites]
    return sum(size for size, _ in amounts), sum(blocks for _, blocks in amounts)
