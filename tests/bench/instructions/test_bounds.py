"""The promises about instructions: each is missed alone, and unknown is not held."""

import pytest

from bounds import (
    BUMPING_AT_MOST,
    CONSTANT_AT,
    CONSTANTS,
    EIGHT_BLOCKS,
    EIGHT_BLOCKS_AT_MOST,
    EMPTY_LIVES_AT_MOST,
    LIVE,
    LIVES,
    MALLOC_PAIRS_AT_MOST,
    PAIRS_AT_MOST,
    REAPS,
    REPLAYED,
    TWO_HEAPS,
    limits,
)
from callgrind import JOURNALS
from rows import Key

FINE = {
    **{Key("pair", *who, live): 1.0 for who in PAIRS_AT_MOST for live in LIVE},
    **{Key("malloc pair", "mallard", size, live): 37.0 for size in MALLOC_PAIRS_AT_MOST for live in LIVE},
    Key("routed pair", "mallard", "1 frame", 64): 50.0,
    **{Key("bumping", *who, 1): 5.0 for who in BUMPING_AT_MOST},
    **{Key("life, empty", *who, 1): 50.0 for who in EMPTY_LIVES_AT_MOST},
    **{Key(what, who, way, 1): 100.0 for what, way in EIGHT_BLOCKS for who in ("region", *REAPS)},
    **{Key("life", *who, 1): 100.0 for who in LIVES},
    **{Key("life, system calls", *who, 1): 0.0 for who in LIVES},
    Key("life", "std.pool", "pmr", 1): 500.0,
    Key("life", "boost.pool", "pmr", 1): 100.0,
    **{Key(what, who, "pmr", live): 40.0 for what, who in CONSTANTS for live in CONSTANT_AT},
    **{Key(f"replay of {name}", *who, 1): 80.0 for who in REPLAYED for name in JOURNALS},
    **{Key(f"replay of {name}", "boost.dlmalloc", "typed", 1): 100.0 for name in JOURNALS},
}


def missed(changed: dict[Key, float]) -> list[str]:
    """Return the promises that are not held."""
    return [limit.promise for limit in limits({**FINE, **changed}) if limit.held is False]


def test_all_are_held() -> None:
    assert all(limit.held for limit in limits(FINE))


@pytest.mark.parametrize("live", LIVE)
@pytest.mark.parametrize(("who", "at_most"), PAIRS_AT_MOST.items())
def test_a_pair_is_missed_at_any_number_of_live_blocks(who: tuple[str, str], at_most: int, live: int) -> None:
    assert missed({Key("pair", *who, live): at_most}) == []
    assert missed({Key("pair", *who, live): at_most + 0.01}) == [f"pair, {who[0]}, {who[1]}"]


@pytest.mark.parametrize("live", LIVE)
@pytest.mark.parametrize(("size", "at_most"), MALLOC_PAIRS_AT_MOST.items())
def test_a_preloaded_pair_is_missed_at_any_number_of_live_blocks(size: str, at_most: int, live: int) -> None:
    assert missed({Key("malloc pair", "mallard", size, live): at_most}) == []
    assert missed({Key("malloc pair", "mallard", size, live): at_most + 0.01}) == [
        f"malloc pair, mallard, {size}"
    ]


def test_a_routed_pair_is_missed() -> None:
    pair = Key("routed pair", "mallard", "1 frame", 64)
    assert missed({pair: 57.0}) == []
    assert missed({pair: 57.1}) == ["routed pair, mallard, 1 frame"]


@pytest.mark.parametrize(("who", "at_most"), EMPTY_LIVES_AT_MOST.items())
def test_an_empty_life_is_missed(who: tuple[str, str], at_most: int) -> None:
    assert missed({Key("life, empty", *who, 1): at_most}) == []
    assert missed({Key("life, empty", *who, 1): at_most + 0.01}) == [f"life, empty, {who[0]}, {who[1]}"]


@pytest.mark.parametrize(("who", "at_most"), BUMPING_AT_MOST.items())
def test_an_allocation_that_bumps_is_missed(who: tuple[str, str], at_most: int) -> None:
    assert missed({Key("bumping", *who, 1): at_most}) == []
    assert missed({Key("bumping", *who, 1): at_most + 0.01}) == [f"bumping, {who[0]}, {who[1]}"]


@pytest.mark.parametrize("who", REAPS)
@pytest.mark.parametrize(("what", "way"), EIGHT_BLOCKS)
def test_eight_blocks_are_missed_against_a_region(what: str, way: str, who: str) -> None:
    at_most = 100 * EIGHT_BLOCKS_AT_MOST[what]
    assert missed({Key(what, who, way, 1): at_most}) == []
    assert missed({Key(what, who, way, 1): at_most + 0.01}) == [f"{what}, {who}, {way}, over that of region"]


@pytest.mark.parametrize("who", LIVES)
def test_a_life_is_missed_against_each_other(who: tuple[str, str]) -> None:
    beyond = f"life, {who[0]}, {who[1]}, over that of"
    assert missed({Key("life", *who, 1): 116.0 if who[0] == TWO_HEAPS else 101.0}) == [f"{beyond} boost.pool"]
    boost = {Key("life", "boost.pool", "pmr", 1): 200.0}
    assert missed({**boost, Key("life", *who, 1): 170.0}) == [f"{beyond} std.pool"]


@pytest.mark.parametrize("who", LIVES)
def test_a_life_that_calls_the_system_is_missed(who: tuple[str, str]) -> None:
    calls = {Key("life, system calls", *who, 1): 1.0}
    assert missed(calls) == [f"life, {who[0]}, {who[1]}, system calls"]


@pytest.mark.parametrize("journal", JOURNALS)
@pytest.mark.parametrize("who", REPLAYED)
def test_a_replay_is_missed_against_another_heap(who: tuple[str, str], journal: str) -> None:
    replay = Key(f"replay of {journal}", *who, 1)
    assert missed({replay: 80.0}) == []
    assert missed({replay: 80.1}) == [f"replay of {journal}, {who[0]}, {who[1]}, over boost.dlmalloc"]


@pytest.mark.parametrize("who", REPLAYED)
def test_a_replay_of_sqlite_is_missed_alone(who: tuple[str, str]) -> None:
    dear = {Key("replay of sqlite3", "boost.dlmalloc", "typed", 1): 200.0}
    assert missed({**dear, Key("replay of sqlite3", *who, 1): 94.0}) == []
    assert missed({**dear, Key("replay of sqlite3", *who, 1): 94.1}) == [
        f"replay of sqlite3, {who[0]}, {who[1]}"
    ]


@pytest.mark.parametrize("live", CONSTANT_AT)
@pytest.mark.parametrize(("what", "who"), CONSTANTS)
def test_what_is_constant_is_missed_where_it_grows(what: str, who: str, live: int) -> None:
    assert missed({Key(what, who, "pmr", live): 41.0}) == []
    assert missed({Key(what, who, "pmr", live): 43.0}) == [f"{what}, {who}, pmr, over its least"]


@pytest.mark.parametrize("key", FINE, ids=str)
def test_what_is_missing_leaves_its_promise_unjudged(key: Key) -> None:
    without = {other: figure for other, figure in FINE.items() if other != key}
    assert None in [limit.held for limit in limits(without)]
