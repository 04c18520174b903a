"""What the paper found in benchmark I, by data structure.

A finding is about a ratio, slower over faster, and decided by its direction unless it is about an amount;
then the bound stands beside it. Where the paper compares heaps, like is compared with like: direct with
direct, winked out with winked out. Comments name what the paper's own tables do not bear out.
"""

from mallard_bench.findings.density.leaves import DS1, DS2, DS3, DS4
from mallard_bench.findings.density.overall import OVERALL
from mallard_bench.findings.density.sets import DS9, DS10, DS11, DS12
from mallard_bench.findings.density.vectors import DS5, DS6, DS7, DS8

FINDINGS = [*DS1, *DS2, *DS3, *DS4, *DS5, *DS6, *DS7, *DS8, *DS9, *DS10, *DS11, *DS12, *OVERALL]
