"""The largest sites, chosen and named by hand."""

import numpy as np
from made_store import Calls, Made, Names, make_store

from mallard.analysis.behaviour import behaviours
from mallard.analysis.groups import Grouping
from mallard.analysis.model import Site
from mallard.analysis.sites import Sites, site_list
from mallard.analysis.store import Store

CALLS = Calls(parents=(0, 0, 1, 1, 3), functions=("", "main", "many", "few", "malloc"))
OBJECTS = [*(Made(n, None, context=2, size=1) for n in range(8)), *(Made(n, None, 500, 4) for n in (8, 9))]


def listed(store: Store, most: int, division: Grouping, order: list[int]) -> list[Site]:
    """Return the sites of a store."""
    sites = Sites.largest(store, most)
    nothing = ("max_live_bytes", "max_live_objects", "one_by_one", "lifo", "together", "reallocated", "never")
    figures = {name: np.zeros(sites.grouping.groups) for name in nothing}
    found = behaviours(store, sites.grouping, figures, 8, 1000)
    return site_list(store, Names(store, CALLS.functions), sites, found, division, order)


def test_largest_is_the_mean_of_both_shares() -> None:
    store = make_store(OBJECTS, CALLS)
    found = Sites.largest(store, 1)
    assert found.contexts == [4], "0.2 of the allocations and 0.99 of the bytes, against 0.8 and 0.01"
    assert (found.total, found.grouping.groups) == (2, 2)
    assert found.grouping.group_of.tolist() == [0, 0, 0, 0, 1]


def test_sites_have_a_name_a_stack_and_their_own_behaviour() -> None:
    division = Grouping("context", np.array([0, 0, 2, 1, 1], np.uint32), 3)
    first, second = listed(make_store(OBJECTS, CALLS), 9, division, [2, 1])
    assert (first.name, second.name) == ("few", "many")
    assert [frame.function for frame in first.stack] == ["malloc", "few", "main"]
    assert first.stack[first.frame].function == "few", "the wrapper is passed over"
    assert (first.subsystem, second.subsystem) == (1, 0), "as the subsystems are listed"
    assert (first.behaviour.bytes, second.behaviour.bytes) == (1000, 8)


def test_a_site_of_several_threads_belongs_to_the_one_that_allocates_most() -> None:
    objects = [Made(n, None, context=2, thread=[0, 1, 1][n % 3]) for n in range(9)]
    by_thread = Grouping("thread", np.array([0, 1], np.uint32), 2)
    (only,) = listed(make_store(objects, CALLS), 9, by_thread, [0, 1])
    assert only.subsystem == 1
    (only,) = listed(
        make_store([Made(9, None, context=2, thread=1), *OBJECTS[:8]], CALLS), 9, by_thread, [0, 1]
    )
    assert only.subsystem == 0
