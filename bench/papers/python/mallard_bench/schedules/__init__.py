"""Which groups a run measures, in the order of the paper's tables."""

from collections.abc import Callable

from mallard import MallardError
from mallard_bench.options import Benchmark, Group, Level, Options
from mallard_bench.schedules import (
    allocplus_schedule,
    contention_schedule,
    density_schedule,
    locality_schedule,
    utilization_schedule,
)

# Per benchmark its groups, and a few short ones that tell how fast a machine is.
Schedule = Callable[[Options], list[Group]]
SCHEDULES: dict[Benchmark, tuple[Schedule, Schedule]] = {
    Benchmark.DENSITY: (density_schedule.groups, density_schedule.probes),
    Benchmark.LOCALITY: (locality_schedule.groups, locality_schedule.probes),
    Benchmark.UTILIZATION: (utilization_schedule.groups, utilization_schedule.probes),
    Benchmark.CONTENTION: (contention_schedule.groups, contention_schedule.probes),
    Benchmark.EXPANSION: (
        allocplus_schedule.expansion,
        allocplus_schedule.probes_of(allocplus_schedule.expansion),
    ),
    Benchmark.SHRINK: (allocplus_schedule.shrink, allocplus_schedule.probes_of(allocplus_schedule.shrink)),
    Benchmark.BURST: (allocplus_schedule.burst, allocplus_schedule.probes_of(allocplus_schedule.burst)),
    Benchmark.POOLS: (allocplus_schedule.pools, allocplus_schedule.pool_probes),
}


def schedule(options: Options) -> list[Group]:
    """Return the groups that the options ask for."""
    groups, _ = SCHEDULES[options.benchmark]
    if found := groups(options):
        return found
    raise MallardError(f"nothing to measure: no group of {options.benchmark} has all that was asked for")


def is_long(options: Options) -> bool:
    """Return whether a run takes minutes to days, and should say so beforehand."""
    if options.run is not None or options.level == Level.SMOKE:
        return False
    return options.level != Level.QUICK or not options.narrowed


def probes(options: Options) -> list[Group]:
    """Return a few short groups."""
    _, short = SCHEDULES[options.benchmark]
    return short(options)
