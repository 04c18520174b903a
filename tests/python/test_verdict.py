"""The verdict: what a journal can say, what only a replay can, and what deserves a line."""

from dataclasses import replace
from typing import Any

import pytest
from report_sample import sample_profile

from mallard.analysis.findings import findings
from mallard.analysis.model import (
    Behaviour,
    Contention,
    Density,
    Finding,
    Frame,
    FreeOrder,
    Locality,
    Profile,
    Reallocations,
    Site,
    Spread,
    Subsystem,
    Temporaries,
    Utilization,
    Variation,
)
from mallard.analysis.profile import bounds
from mallard.analysis.verdict import judged, verdict

CALM = Behaviour(
    allocations=100_000,
    bytes=3_200_000,
    max_live_bytes=32_000,
    max_live_objects=1000,
    live_at_peak_bytes=32_000,
    live_at_peak_objects=1000,
    leaked_bytes=0,
    sizes=Spread(8, 24, 64, 128, 256, 32),
    size_histogram={24: 60_000, 64: 30_000, 256: 10_000},
    lifetime_events=Spread(1, 100, 200, 300, 400, 120),
    lifetime_ns=Spread(1, 100, 200, 300, 400, 120),
    temporaries=Temporaries(0, 0, 0),
    free_order=FreeOrder(one_by_one=100_000, lifo=0, together=0, reallocated=0, never=0),
    reallocations=Reallocations(0, 0, 0),
    allocating_threads=[],
    freeing_threads=[],
    foreign_frees=0,
)
UTILIZED = Utilization(0.1, 320_000, 3_200_000)
KEPT = Utilization(0.6, 1_920_000, 3_200_000)


def subsystem(name: str = "parse", density: float | None = 0.1, **behaviour: Any) -> Subsystem:
    """Return a subsystem of which nothing is remarkable but what is given."""
    (sample, *_) = sample_profile(1).subsystems
    dvluc = replace(
        sample.dvluc,
        density=Density(density, 1e6, 64, 200_000),
        variation=Variation(0.3, 1.8, 7),
        locality=Locality(None, 0.9, 0.8, 0.8, 0.8),
        utilization=UTILIZED,
        contention=Contention(0.0, 0.0, 1),
    )
    return Subsystem(name, [Frame(name, "prog")], 1, replace(CALM, **behaviour), dvluc, [])


def with_dimension(part: Subsystem, **dimensions: Any) -> Subsystem:
    """Return a subsystem with other dimensions."""
    return replace(part, dvluc=replace(part.dvluc, **dimensions))


def program(*parts: Subsystem, density: float | None = 0.2, sites: tuple[Site, ...] = ()) -> Profile:
    """Return a program that consists of them."""
    sample = sample_profile(1)
    return replace(
        sample,
        journal="run 1.mlrd",
        by="subtree",
        totals=replace(
            sample.totals, allocations=100_000, peak_live_bytes=1 << 30, end_live_bytes=0, end_live_objects=0
        ),
        whole=CALM,
        dvluc=replace(sample.dvluc, density=Density(density, 1e6, 64, 200_000)),
        subsystems=list(parts),
        sites=list(sites),
    )


def site(**behaviour: Any) -> Site:
    """Return a site of which nothing is remarkable but what is given."""
    stack = [Frame("operator new", "libstdc++.so.6"), Frame("make(int)", "prog", "src/make.cpp", 12)]
    return Site(1, "make", stack, 0, replace(CALM, **behaviour), frame=1)


def titles(profile: Profile) -> list[str]:
    """Return the titles of all findings."""
    return [finding.title for finding in findings(profile)]


def one_size(size_class: int, largest: int) -> Subsystem:
    """Return a subsystem of one size class."""
    part = subsystem(sizes=Spread(25, 28, 30, 30, largest, 28), size_histogram={24: 5, size_class: 99_995})
    return with_dimension(part, variation=Variation(0.001, 0.006, 2))


def only(profile: Profile) -> Finding:
    """Return the one finding."""
    (found,) = findings(profile)
    assert found.suggestion.startswith("Suggested: ")
    return found


def rows(**times: tuple[float, float, float]) -> list[dict[str, Any]]:
    """Return rows of a replay: low, median and high of each strategy."""
    return [
        {"strategy": name.replace("_", " "), "binding": "malloc", "status": "ok", "max_held": 1000}
        | {"ns_per_event": median, "spread": [low, high]}
        for name, (low, median, high) in times.items()
    ]


def test_low_density_is_nothing_to_gain_whatever_the_behaviour() -> None:
    together = FreeOrder(0, 0, 100_000, 0, 0)
    found = verdict(program(subsystem(free_order=together, density=0.012), density=0.012))
    assert not found.worthwhile
    assert found.headline == (
        "Nothing to gain from faster allocation: D is 1.2 %, all that allocation costs of the CPU time."
    )


def test_few_allocations_are_nothing_to_gain() -> None:
    profile = program(subsystem(), density=None)
    found = verdict(replace(profile, totals=replace(profile.totals, allocations=999)))
    assert not found.worthwhile
    assert "allocates 999 times" in found.headline


def test_few_allocations_may_still_cost_much() -> None:
    profile = program(subsystem(), density=0.1)
    assert verdict(replace(profile, totals=replace(profile.totals, allocations=999))).worthwhile


@pytest.mark.parametrize(("timed", "known"), [(7, False), (8, True)])
def test_a_density_of_a_few_timed_calls_says_nothing(timed: int, known: bool) -> None:
    sample = program(subsystem())
    dvluc = replace(sample.dvluc, density=Density(0.9, 1e6, timed, 64 * timed))
    few = replace(sample, dvluc=dvluc, totals=replace(sample.totals, allocations=32 * timed))
    assert verdict(few).worthwhile == known


def test_a_density_that_is_only_a_bound_is_said_to_be_one() -> None:
    bound = program(subsystem(), density=1.0)
    assert "Allocation takes up to 100.0 % of the CPU" in verdict(bound).headline
    measured = rows(glibc=(9, 10, 11), jemalloc=(4, 5, 6))
    assert "would save up to 50.0 % of the program's CPU" in verdict(bound, measured).headline
    assert [len(bounds(replace(bound.dvluc, density=Density(d, 1e6, 64, 200_000)))) for d in (0.99, 1)] == [
        0,
        1,
    ]


def test_without_a_replay_the_limit_is_told_and_how_to_measure() -> None:
    found = verdict(program(subsystem()))
    assert found.worthwhile
    assert "Allocation takes 20.0 % of the CPU time, so a faster one saves less than that." in found.headline
    assert found.headline.endswith("To measure what each strategy would save: mallard replay 'run 1.mlrd'")


def test_unknown_density_is_said_to_be_unknown() -> None:
    found = verdict(program(subsystem(density=None), density=None))
    assert found.headline.startswith("What allocation costs of the CPU time is not known. To measure")


def test_the_fastest_strategy_decides() -> None:
    measured = rows(none=(1, 1, 1), glibc=(9, 10, 11), jemalloc=(7, 7.5, 8), multipool=(4, 5, 6))
    measured[3]["binding"] = "pmr"
    found = verdict(program(subsystem()), measured)
    assert found.worthwhile
    assert found.headline == (
        "Worth trying: multipool (pmr) takes 0.50 of glibc's time on this journal, which would save "
        "10.0 % of the program's CPU time; jemalloc alone, without changing the program, 5.0 %."
    )


def test_another_malloc_needs_no_change_of_the_program() -> None:
    found = verdict(program(subsystem()), rows(glibc=(9, 10, 11), jemalloc=(4, 5, 6)))
    assert found.headline.startswith("Worth trying: jemalloc takes 0.50 of glibc's time")
    assert found.headline.endswith("10.0 % of the program's CPU time, without changing the program.")


def test_a_strategy_that_buys_time_with_memory_is_no_answer() -> None:
    measured = rows(glibc=(9, 10, 11), jemalloc=(4, 5, 6), monotonic=(-0.2, -0.1, 0.1), multipool=(2, 3, 4))
    for row, held in zip(measured[2:], (1501, 1500), strict=True):
        row["binding"], row["max_held"] = "typed", held
    assert "multipool (typed) takes 0.30" in verdict(program(subsystem()), measured).headline
    measured[2]["max_held"] = 1500
    assert "monotonic (typed) takes 0.00 of" in verdict(program(subsystem()), measured).headline


def test_a_gain_below_the_limit_is_none() -> None:
    found = verdict(program(subsystem(), density=0.03), rows(glibc=(9, 10, 11), multipool=(4, 5, 6)))
    assert not found.worthwhile
    assert found.headline.startswith("Nothing to gain: multipool takes 0.50 of glibc's time")
    assert "1.5 % of the program's CPU time" in found.headline


def test_a_gain_within_the_spread_is_none() -> None:
    found = verdict(program(subsystem()), rows(glibc=(8, 10, 12), multipool=(7, 9, 11)))
    assert not found.worthwhile
    assert "no strategy was clearly faster than glibc" in found.headline


def test_glibc_itself_may_be_the_fastest() -> None:
    found = verdict(program(subsystem()), rows(glibc=(4, 5, 6), jemalloc=(7, 7.5, 8)))
    assert not found.worthwhile


def test_floor_repeated_rows_and_failures_are_not_compared() -> None:
    measured = rows(none=(1, 1, 1), glibc=(9, 10, 11), glibc_a_a=(5, 6, 7), broken=(1, 2, 3))
    measured[2]["strategy"], measured[3]["status"] = "glibc a/a", "failed"
    assert "To measure what each strategy would save" in verdict(program(subsystem()), measured).headline


def test_the_replay_is_judged_even_where_density_is_unknown() -> None:
    found = verdict(program(density=None), rows(glibc=(9, 10, 11), multipool=(4, 5, 6)))
    assert found.worthwhile
    assert "what that is of the program's CPU time is not known" in found.headline


def test_nothing_remarkable_is_no_finding() -> None:
    assert findings(program(subsystem(), sites=(site(),))) == []


@pytest.mark.parametrize(
    ("remarkable", "title", "suggestion"),
    [
        (
            subsystem(free_order=FreeOrder(0, 0, 60_000, 0, 40_000)),
            "parse frees its blocks together",
            "wink-out",
        ),
        (
            subsystem(free_order=FreeOrder(0, 60_000, 0, 0, 40_000)),
            "parse frees the youngest first",
            "a stack with mark",
        ),
        (
            with_dimension(subsystem(free_order=FreeOrder(0, 60_000, 0, 0, 40_000)), utilization=KEPT),
            "parse frees the youngest first",
            "a monotonic heap on a buffer, released when the outermost call returns; it would hold at most "
            "3.05 MiB, of which 31.2 KiB are alive at once now",
        ),
        (
            with_dimension(subsystem(free_order=FreeOrder(0, 0, 60_000, 0, 40_000)), utilization=KEPT),
            "parse frees its blocks together",
            "a monotonic heap of its own",
        ),
        (
            with_dimension(subsystem(), utilization=Utilization(0.95, 95, 100)),
            "parse keeps what it allocates",
            "a monotonic heap of its own",
        ),
        (one_size(32, 30), "parse allocates one size", "a pool of blocks of 30 bytes"),
        (with_dimension(subsystem(), variation=Variation(0.7, 4.2, 30)), "parse mixes sizes", "multipool"),
        (
            with_dimension(subsystem(foreign_frees=5000), contention=Contention(0.1, 99.0, 4)),
            "parse frees blocks of other threads while they allocate",
            "caches for each thread",
        ),
        (
            with_dimension(one_size(32, 30), contention=Contention(0.0, 0.0, 2)),
            "parse allocates one size",
            "a synchronized_pool of blocks of 30 bytes",
        ),
        (
            with_dimension(
                subsystem(), variation=Variation(0.7, 4.2, 30), contention=Contention(0.0, 0.0, 2)
            ),
            "parse mixes sizes",
            "such as synchronized_multipool",
        ),
    ],
)
def test_behaviour_suggests_a_strategy(remarkable: Subsystem, title: str, suggestion: str) -> None:
    found = only(program(remarkable))
    assert found.title == title
    assert suggestion in found.suggestion
    assert (found.share, found.subsystem) == (0.1, 0)


@pytest.mark.parametrize(("size_class", "largest"), [(458_752, 1 << 30), (32, 4096)])
def test_a_pool_needs_a_size(size_class: int, largest: int) -> None:
    assert findings(program(one_size(size_class, largest))) == []


def test_monotonic_memory_is_no_advice_where_most_passes_through() -> None:
    for free_order in (FreeOrder(0, 60_000, 0, 0, 40_000), FreeOrder(0, 0, 60_000, 0, 40_000)):
        assert "try a monotonic" not in only(program(subsystem(free_order=free_order))).suggestion


def test_what_is_never_freed_needs_no_release() -> None:
    kept = with_dimension(
        subsystem(free_order=FreeOrder(0, 0, 0, 0, 100_000)), utilization=Utilization(1, 100, 100)
    )
    assert "a monotonic heap of its own; it would" in only(program(kept)).suggestion


@pytest.mark.parametrize(
    "behaviour", [{"temporaries": Temporaries(900, 0, 0)}, {"free_order": FreeOrder(0, 0, 900, 0, 0)}]
)
def test_of_unknown_cost_only_large_subsystems_are_told(behaviour: dict[str, Any]) -> None:
    small = subsystem(density=None, allocations=900, **behaviour)
    assert findings(program(small, density=None)) == []
    large = replace(small, behaviour=replace(small.behaviour, allocations=1000))
    assert len(findings(program(large, density=None))) == 1


@pytest.mark.parametrize(
    "behaviour",
    [
        {"free_order": FreeOrder(0, 0, 0, 0, 1)},  # libstdc++'s pool for exceptions
        {"temporaries": Temporaries(1, 1, 1), "free_order": FreeOrder(1, 0, 0, 0, 0)},
        {"reallocations": Reallocations(1, 5, 6)},
    ],
)
def test_a_few_blocks_of_a_start_up_are_no_finding(behaviour: dict[str, Any]) -> None:
    one = replace(CALM, allocations=1, bytes=72_704, max_live_bytes=72_704, **behaviour)
    pool = with_dimension(subsystem("_GLOBAL__sub_I_eh_alloc.cc"), utilization=Utilization(1, 72_704, 72_704))
    pool = replace(pool, behaviour=one)
    whole = replace(program(pool, sites=(replace(site(), behaviour=one),)), whole=one)
    assert findings(whole) == []


def test_what_is_left_of_a_program_is_no_place_for_advice() -> None:
    together = FreeOrder(0, 0, 100_000, 0, 0)
    rest = replace(
        with_dimension(
            subsystem(
                free_order=together,
                temporaries=Temporaries(100_000, 0, 0),
                foreign_frees=5000,
                max_live_bytes=1 << 24,
            ),
            contention=Contention(0.1, 99.0, 4),
            locality=Locality(None, 0.5, 0.1, 0.1, 0.1),
        ),
        path=[],
    )
    assert titles(program(rest, subsystem("print"))) == []
    alone = replace(subsystem(free_order=together), path=[])
    assert titles(program(alone)) == ["parse frees its blocks together"], "alone, it is the program"


def test_findings_that_concern_little_are_told_only_if_there_is_no_other() -> None:
    together = FreeOrder(0, 0, 100_000, 0, 0)
    little, less = (subsystem(n, share, free_order=together) for n, share in (("a", 0.009), ("b", 0.008)))
    assert titles(program(less, little)) == ["a frees its blocks together"]
    large = subsystem("c", 0.011, free_order=together)
    assert titles(program(little, large)) == ["c frees its blocks together"]


def test_temporaries_of_a_site_are_told_with_their_line() -> None:
    found = only(program(subsystem(), sites=(site(temporaries=Temporaries(50_000, 60_000, 70_000)),)))
    assert found.title == "make allocates temporaries"
    assert "(src/make.cpp:12)" in found.detail
    assert found.share == pytest.approx(0.05), (
        "100,000 of the subsystem's 200,000 operations, which take 10 %"
    )


def test_temporaries_of_a_subsystem_are_told_once() -> None:
    part = subsystem(
        temporaries=Temporaries(90_000, 90_000, 90_000), free_order=FreeOrder(0, 100_000, 0, 0, 0)
    )
    assert only(program(part)).detail.startswith("90,000 of 100,000 blocks are")
    one_site = site(temporaries=Temporaries(90_000, 90_000, 90_000))
    assert titles(program(part, sites=(one_site,))) == ["make allocates temporaries"]
    larger = replace(site(temporaries=Temporaries(95_000, 0, 0)), name="split")
    found = only(program(part, sites=(one_site, larger, one_site)))
    assert found.title == "split and 2 other sites of its subsystem allocate temporaries"
    assert found.share == 0.1, "no more than the subsystem itself"


def test_chains_of_reallocations_are_told() -> None:
    found = only(program(subsystem(), sites=(site(reallocations=Reallocations(1000, 9000, 14)),)))
    assert found.title == "make grows blocks step by step"
    assert found.share == pytest.approx(0.1 * 10_000 / 200_000)


def test_buffers_that_double_need_no_advice() -> None:
    doubling = site(reallocations=Reallocations(1000, 9000, 14), sizes=Spread(16, 64, 64, 64, 16 << 14, 64))
    assert findings(program(subsystem(), sites=(doubling,))) == []


def test_locality_is_never_said_to_be_proven() -> None:
    loose = with_dimension(subsystem(max_live_bytes=1 << 24), locality=Locality(None, 0.5, 0.1, 0.1, 0.1))
    found = only(program(loose))
    assert found.share is None
    assert "not proven" in found.detail


def test_memory_that_is_never_freed_alarms_nobody() -> None:
    profile = program(subsystem())
    totals = replace(profile.totals, end_live_bytes=1 << 30, end_live_objects=77)
    found = only(replace(profile, totals=totals))
    assert found.title == "1 GiB are never freed"
    assert found.suggestion.startswith("Suggested: nothing, unless")


def test_an_incomplete_journal_has_no_end_and_says_so() -> None:
    profile = replace(program(subsystem()), complete=False)
    totals = replace(profile.totals, end_live_bytes=1 << 30, end_live_objects=77)
    found = verdict(replace(profile, totals=totals))
    assert found.findings == []
    assert found.headline.startswith("The journal ends before the program did. Of what it has: Allocation")


def test_the_largest_share_comes_first_and_unknown_shares_last() -> None:
    together = FreeOrder(0, 0, 100_000, 0, 0)
    loose = with_dimension(
        subsystem("wide", max_live_bytes=1 << 24), locality=Locality(None, 0.5, 0.1, 0.1, 0.1)
    )
    parts = (
        loose,
        subsystem("small", 0.02, free_order=together),
        subsystem("large", 0.15, free_order=together),
    )
    assert titles(program(*parts)) == [
        "large frees its blocks together",
        "small frees its blocks together",
        "wide lies scattered",
    ]


def test_judging_changes_only_the_verdict() -> None:
    profile = program(subsystem())
    again = judged(profile, rows(glibc=(9, 10, 11), multipool=(4, 5, 6)))
    assert again.verdict != profile.verdict
    assert replace(again, verdict=profile.verdict) == profile
