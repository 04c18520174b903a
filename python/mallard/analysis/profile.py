"""From a journal to its profile, in two passes over the file.

first   Store.read --> objects --> symbols, subsystems, sites
second  StatisticsPass --> free order, peaks, compactness and contention of each of them
then    SQL        --> behaviour of each, D V L U C, verdict
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mallard import MallardError, _native
from mallard.analysis import overview
from mallard.analysis.behaviour import behaviours
from mallard.analysis.dvluc import Cost, busy_ns, costs, dvluc, localities, ns_per_operation
from mallard.analysis.groups import Grouping, everything
from mallard.analysis.model import Behaviour, Dvluc, Profile, Subsystem, Verdict
from mallard.analysis.overview import Sites, site_list
from mallard.analysis.partition import Limits
from mallard.analysis.progress import Progress
from mallard.analysis.store import Store
from mallard.analysis.subsystems import Division, divide
from mallard.analysis.symbols import Symbols
from mallard.analysis.verdict import judged
from mallard.figures import shown

MOMENTS = 32  # at which compactness is looked at

# How far the work is after reading, after dividing and after the second pass.
READ, DIVIDED, COUNTED = 0.4, 0.6, 0.8


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may choose."""

    by: str = "subtree"
    sites: int = 100
    few_limit: int = 8
    short_ns: int = 1000
    limits: Limits = field(default_factory=Limits)
    metric: str | None = None  # that sites are sorted by; None: their shares of allocations and bytes


@dataclass(frozen=True, slots=True)
class Group:
    """What is known of one group of objects."""

    behaviour: Behaviour
    dvluc: Dvluc
    live_bytes: list[int]


def profile(path: str, options: Options, progress: Progress = lambda share: None) -> Profile:
    """Read the journal at `path` and return all that is known of it."""
    store = Store.read(path, lambda share: progress(READ * share))
    return profile_of(store, Symbols(store), options, progress)


def profile_of(
    store: Store, symbols: Symbols, options: Options, progress: Progress = lambda share: None
) -> Profile:
    """Return all that is known of a journal that has been read; `progress` continues where reading ended."""
    if store.totals["allocations"] == 0:
        raise MallardError(f"{store.path} holds no allocation of the malloc family")
    division = divide(store, symbols, options.by, options.limits)
    sites = Sites.largest(store, options.sites, options.metric)
    parts = [everything(), division.grouping]
    progress(DIVIDED)
    found = [costs(store, part) for part in parts]
    statistics = count(store, [*zip(parts, found, strict=True)], sites.grouping, progress)
    (whole,) = groups_of(store, parts[0], found[0], statistics, 0, options)
    subsystems = groups_of(store, parts[1], found[1], statistics, 1, options)
    progress((1 + COUNTED) / 2)
    assert whole is not None
    order, threads = largest_first(subsystems), overview.threads(store)
    of_sites = behaviours(store, sites.grouping, statistics.figures(2), options.few_limit, options.short_ns)
    return judged(
        Profile(
            journal=shown(store.path),
            program=store.totals["program"],
            arguments=list(store.totals["arguments"]),
            process=store.totals["process"],
            by=options.by,
            complete=store.totals["complete"],
            warnings=[
                *store.totals["warnings"],
                *symbols.warnings,
                *made_up(store),
                *merged(store),
                *bounds(whole.dvluc),
            ],
            machine=dict(store.totals["facts"]),
            few_limit=options.few_limit,
            short_ns=options.short_ns,
            totals=overview.totals(store),
            verdict=Verdict("", False, []),
            whole=whole.behaviour,
            dvluc=whole.dvluc,
            subsystems=subsystem_list(store, division, subsystems, order),
            sites=site_list(store, symbols, sites, of_sites, division.grouping, order),
            sites_total=sites.total,
            threads=threads,
            timeline=overview.timeline(store),
            heat_map=overview.heat_map(store),
            thread_matrix=overview.thread_matrix(store, len(threads)),
            regions=overview.regions(store),
        )
    )


def made_up(store: Store) -> list[str]:
    """Return a line for each thing that an import had to make up."""
    lines = {
        "clock": "times are made up, as the journal's source has none",
        "addresses": "addresses, and with them held bytes, are made up, as the journal's source has none",
    }
    return [f"{line}: {rule}" for what, line in lines.items() if (rule := store.made_up(what))]


def merged(store: Store) -> list[str]:
    """Return a line if the journal is of several processes (src/journal/merge.hpp)."""
    if (number := store.processes) == 1:
        return []
    return [
        f"{number:,} journals together: what one did not free counts as live to the end of all, "
        "and C is not measured"
    ]


def bounds(dvluc: Dvluc) -> list[str]:
    """Return a line if densities are no more than upper bounds."""
    if (dvluc.density.value or 0) < 1:
        return []
    return ["the recording took so much of the CPU time that D is no more than an upper bound"]


def count(
    store: Store, parts: Sequence[tuple[Grouping, Sequence[Cost]]], sites: Grouping, progress: Progress
) -> _native.StatisticsPass:
    """Read the journal again, and count each part's and each site's objects."""
    over_time = store.totals["over_time"]
    buckets = len(over_time["live_bytes"])
    moments = 0 if store.made_up("addresses") else MOMENTS
    groupings = [part.statistics_plan(ns_per_operation(cost), moments, buckets) for part, cost in parts]
    groupings.append(sites.statistics_plan(np.zeros(0), 0, 0))
    try:
        end = over_time["bucket_ns"] * buckets
        statistics = _native.StatisticsPass(store.path, store.totals["events"], end, groupings)
        while statistics.advance():
            progress(DIVIDED + (COUNTED - DIVIDED) * statistics.progress)
    except _native.JournalError as error:
        raise MallardError(f"cannot read {store.path} again: {error}") from error
    return statistics


def groups_of(
    store: Store,
    part: Grouping,
    cost: Sequence[Cost],
    statistics: _native.StatisticsPass,
    number: int,
    options: Options,
) -> list[Group | None]:
    """Return what is known of each group; `number` is the part's among the groupings of the second pass."""
    figures, live = statistics.figures(number), statistics.live_bytes(number)
    tight = localities(statistics.compactness(number), part.groups)
    found = behaviours(store, part, figures, options.few_limit, options.short_ns)
    busy = busy_ns(store, cost)
    return [
        None
        if behaviour is None
        else Group(
            behaviour,
            dimensions(store, dvluc(cost[group], busy, behaviour, figures, tight[group], group)),
            overview.numbers(live[group]),
        )
        for group, behaviour in enumerate(found)
    ]


def dimensions(store: Store, found: Dvluc) -> Dvluc:
    """Leave out what several processes have not in common: threads of two share no heap."""
    if store.processes == 1:
        return found
    return replace(found, contention=replace(found.contention, value=None, overlaps=None))


def largest_first(groups: Sequence[Group | None]) -> list[int]:
    """Return the numbers of groups that have objects: largest density first, else most allocations."""

    def size(number: int) -> tuple[float, int]:
        group = groups[number]
        return (group.dvluc.density.value or 0, group.behaviour.allocations) if group else (0, 0)

    return sorted((n for n, group in enumerate(groups) if group), key=size, reverse=True)


def subsystem_list(
    store: Store, division: Division, groups: Sequence[Group | None], order: Sequence[int]
) -> list[Subsystem]:
    """Put the subsystems together."""
    with division.grouping.objects(store) as objects:
        sites = dict(store.rows(f"SELECT grp, count(DISTINCT context) FROM {objects} GROUP BY grp"))
    return [
        Subsystem(
            name=division.names[number],
            path=division.paths[number],
            sites=sites[number],
            behaviour=group.behaviour,
            dvluc=group.dvluc,
            live_bytes=group.live_bytes,
        )
        for number in order
        if (group := groups[number])
    ]
