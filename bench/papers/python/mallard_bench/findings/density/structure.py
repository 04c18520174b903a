"""A data structure of benchmark I as its findings are written, and those that several of them share.

ds4 = Structure(4)      ds4.finds("Wink-out ...", each(ds4.compare(LOCAL_KEPT)))      ds4.multipool_is_best()
"""

from collections.abc import Sequence

from mallard_bench.families import COMPOSITE, GLOBAL, LOCAL, MULTIPOOL
from mallard_bench.findings.density import ratios
from mallard_bench.findings.density.ratios import (
    ALL_SIZES,
    GLOBAL_VIRTUAL,
    LOCAL_KEPT,
    LOCAL_VIRTUAL,
    OTHERS_TO_MULTIPOOL,
    Pair,
    Sizes,
    all_of,
    grown,
    kept,
)
from mallard_bench.findings.finding import Finding, Judge
from mallard_bench.findings.judge import ALWAYS, MOSTLY, NEARLY, Ratios, each, middle, quotient

Range = tuple[float, float]


class Structure:
    """DS1 to DS12; section 7 has a part for each."""

    def __init__(self, number: int) -> None:
        """Be the structure of a number."""
        self.name = f"DS{number}"
        self.section = f"7.{number}"

    def finds(self, sentence: str, judge: Judge, claimed: Range | None = None) -> Finding:
        """Return a finding about it."""
        return Finding(self.name, self.section, sentence, judge, claimed)

    def compare(self, pairs: Sequence[Pair], sizes: Sizes = ALL_SIZES) -> Ratios:
        """Return how many times slower the first of each pair is, at every size."""
        return ratios.compare(self.name, pairs, sizes)

    def times(self, strategies: Sequence[str]) -> Ratios:
        """Return the times of strategies as they are, to be compared between sizes."""
        return ratios.times(self.name, strategies)

    def global_is_slowest(self) -> Finding:
        """Find that everybody is faster."""
        return self.finds(
            "The global allocator is always the slowest.",
            each(self.compare(all_of(GLOBAL, LOCAL)), share=ALWAYS),
        )

    def multipool_is_best(self) -> Finding:
        """Find that of the local heaps."""
        return self.finds(
            "Multipool is the best heap.", each(self.compare(OTHERS_TO_MULTIPOOL), share=MOSTLY)
        )

    def winkout_gains(self, claimed: Range, least: float = 1.0) -> Finding:
        """Find that with every heap."""
        return self.finds(
            "Wink-out gains in every local heap.",
            each(self.compare(LOCAL_KEPT), least, share=ALWAYS),
            claimed,
        )

    def winkout_gains_most_with_composite(self) -> Finding:
        """Find that it gains more than with multipool alone."""
        return self.finds(
            "Wink-out gains most with multipool over monotonic.",
            each(quotient(self.compare(kept(COMPOSITE)), self.compare(kept(MULTIPOOL)))),
        )

    def winkout_is_nothing_with_multipool(self) -> Finding:
        """Find that strings, which are destroyed one by one, leave it nothing to gain."""
        return self.finds(
            "Wink-out makes no difference with multipool.",
            each(self.compare(kept(MULTIPOOL)), 0.94, 1.06),
        )

    def virtual_is_nothing_for_global(self, claimed: Range | None = None) -> Finding:
        """Find that AS1 and AS2 take the same."""
        return self.finds(
            "For the global allocator the base class makes no difference.",
            each(self.compare(GLOBAL_VIRTUAL), 0.95, 1.05, ALWAYS),
            claimed,
        )

    def virtual_is_little_for_global(self, claimed: Range) -> Finding:
        """Find that AS2 takes a little longer than AS1."""
        return self.finds(
            "The base class costs the global allocator a few percent.",
            middle(self.compare(GLOBAL_VIRTUAL), 1.0, 1.1),
            claimed,
        )

    def virtual_slows_local(self, claimed: Range, share: float = NEARLY) -> Finding:
        """Find that every local heap is faster where the compiler knows it."""
        return self.finds(
            "Local heaps are slower through a base class.",
            each(self.compare(LOCAL_VIRTUAL), share=share),
            claimed,
        )

    def abruptly_longer(self, containers: str, claimed: Range | None = None) -> Finding:
        """Find that something overflows from 2^7 to 2^8."""
        return self.finds(
            f"Between 2^7 and 2^8 {containers} everything takes abruptly longer.",
            each(grown(self.times((*GLOBAL, *LOCAL)), 7, 8), 1.1, share=ALWAYS),
            claimed,
        )

    def global_is_slowest_around_2_13(self, containers: str) -> Finding:
        """Find that smaller and larger structures take it less an element."""
        return self.finds(
            f"The global allocator is slowest around 2^13 {containers}, and faster beyond.",
            each(ratios.peak(self.name, GLOBAL), share=ALWAYS),
        )

    def local_takes_longer_in_larger(self) -> Finding:
        """Find that of every local heap."""
        return self.finds(
            "Local heaps take longer in larger structures.",
            each(grown(self.times(LOCAL), 6, 16), share=ALWAYS),
        )
