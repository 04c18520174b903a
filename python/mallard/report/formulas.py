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
        "cost / CPU time, both estimated from the calls that were timed",
        "0..1",
    ),
    Dimension(
        "V",
        "variation",
        "H / 6, with H = - sum p(c) log2 p(c) over 64 size classes c: four for each doubling, from 8 "
        "bytes to 384 KiB; larger sizes are one class",
        "0: one class, 1: all 64 classes equally frequent",
    ),
    Dimension(
        "L",
        "locality",
        "not measured: I / (M x T) needs instructions and transitions, and a journal has no accesses. "
        "Instead: compactness, the live bytes over the bytes of the 64-byte lines, and of the 4096-byte "
        "pages, that hold them",
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
        "the mean over time of (sum over threads i of b_i x (1 - product over j != i of (1 - b_j))) / W. "
        "b_i is the share of an interval of 1 ms that thread i spends in operations of the subsystem (its "
        "operations there x the mean duration). W is the number of threads active in that interval. "
        "Intervals without an operation do not count",
        "0: one thread",
    ),
)
