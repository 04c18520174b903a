"""The five dimensions as docs/profile.md defines them: what headings explain when they are pointed at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dimension:
    """One of D V L U C."""

    letter: str
    name: str
    formula: str
    range: str


DIMENSIONS = (
    Dimension(
        "D",
        "density",
        "cost / (CPU time - the recording's share, but no less than the cost of the whole program: that "
        "and the share are estimates). cost of the whole program = for births and for deaths: their "
        "number x the mean of the timed ones (one call in 64 is timed; one that took more than an eighth "
        "of all that was timed stands for itself alone). Subsystems divide it: each operation weighs as "
        "its size class takes on average (neighbouring classes with fewer than 32 timed count as one), or"
        " as the subsystem's own timed ones do if they are 32 or more",
        "0..1",
    ),
    Dimension(
        "V",
        "variation",
        "H / 6, with H = - sum p(c) log2 p(c) over the 64 size classes c: four to a doubling, from 8 "
        "bytes to 384 KiB",
        "0: one class, 1: all alike",
    ),
    Dimension(
        "L",
        "locality",
        "not measured: I / (M x T) needs instructions and transitions, and a journal has no accesses. "
        "Instead: compactness, the live bytes over the bytes of the 64-byte lines, and of the 4096-byte "
        "pages, that hold them, at up to 32 moments",
        "0..1",
    ),
    Dimension(
        "U",
        "utilization",
        "max live bytes / all allocated bytes",
        "0..1",
    ),
    Dimension(
        "C",
        "contention",
        "the mean over time of (sum over threads i of b_i x (1 - product over j != i of (1 - b_j))) / W, "
        "with b_i the share of a span of 1 ms that thread i spends in operations of the subsystem (its "
        "operations there x the mean duration), and W the threads active in that span. Spans without an "
        "operation do not count",
        "0: one thread",
    ),
)
