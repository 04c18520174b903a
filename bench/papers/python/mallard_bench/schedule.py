"""Which groups a run measures, in the order of the paper's tables."""

from collections.abc import Callable

from mallard.errors import MallardError
from mallard_bench.group import Group
from mallard_bench.options import Benchmark, Level, Options
from mallard_bench.schedules import allocators, contention, density, locality, pools, utilization

LONG = (Level.DEFAULT, Level.FULL)  # which may take hours, and say so beforehand

# Per benchmark its groups, and a few short ones that tell how fast a machine is.
Schedule = Callable[[Options], list[Group]]
SCHEDULES: dict[Benchmark, tuple[Schedule, Schedule]] = {
    Benchmark.DENSITY: (density.groups, density.probes),
    Benchmark.LOCALITY: (locality.groups, locality.probes),
    Benchmark.UTILIZATION: (utilization.groups, utilization.probes),
    Benchmark.CONTENTION: (contention.groups, contention.probes),
    Benchmark.EXPANSION: (allocators.expansion, allocators.probes_of(allocators.expansion)),
    Benchmark.SHRINK: (allocators.shrink, allocators.probes_of(allocators.shrink)),
    Benchmark.BURST: (allocators.burst, allocators.probes_of(allocators.burst)),
    Benchmark.POOLS: (pools.groups, pools.probes),
}


def schedule(options: Options) -> list[Group]:
    """Return the groups that the options ask for."""
    groups, _ = SCHEDULES[options.benchmark]
    if found := groups(options):
        return found
    raise MallardError(f"nothing to measure: no group of {options.benchmark} has all that was asked for")


def probes(options: Options) -> list[Group]:
    """Return a few short groups."""
    _, short = SCHEDULES[options.benchmark]
    return short(options)
