"""What of a profile reaches the page."""

import json
from typing import Any

import pytest
from replay_sample import timed_replay
from report_sample import sample_call_tree, sample_profile, sample_replay

from mallard.analysis.call_tree import inclusive
from mallard.analysis.model import CallTree
from mallard.report.data import SMALLER, JournalReport, as_json, culled, steps
from mallard.report.page import render

MOST_BYTES = 4 << 20


def sums(tree: CallTree) -> dict[str, int]:
    return {metric: sum(values) for metric, values in tree.metrics.items()}


def paths(tree: CallTree) -> dict[tuple[str, ...], dict[str, int]]:
    """Figures of each path with what is below it."""
    whole = {metric: inclusive(tree.parent, own) for metric, own in tree.metrics.items()}
    path: list[tuple[str, ...]] = []
    found: dict[tuple[str, ...], dict[str, int]] = {}
    for node, name in enumerate(tree.name):
        above = path[tree.parent[node]] if node else ()
        path.append((*above, tree.names[name]))
        figures = found.setdefault(path[node], dict.fromkeys(whole, 0))
        for metric, values in whole.items():
            figures[metric] += values[node]
    return found


def test_small_nodes_are_put_together() -> None:
    tree = CallTree(
        parent=[0, 0, 1, 1, 2, 2],
        name=[0, 1, 2, 3, 4, 5],
        names=["program", "main", "f", "g", "tiny", "small"],
        module=[0] * 6,
        modules=["a"],
        metrics={"calls": [0, 0, 900_000, 99_000, 400, 300], "bytes": [0, 0, 10, 0, 0, 0]},
    )
    small = culled(tree)
    assert [small.names[name] for name in small.name] == ["program", "main", "f", "g", SMALLER]
    assert small.parent == [0, 0, 1, 1, 2]
    assert small.metrics == {"calls": [0, 0, 900_000, 99_000, 700], "bytes": [0, 0, 10, 0, 0]}


def test_a_node_large_in_one_metric_stays() -> None:
    tree = CallTree([0, 0, 0], [0, 1, 2], ["program", "few", "many"], [0] * 3, ["a"])
    tree.metrics.update(calls=[0, 1, 999_999], live_at_peak=[0, 50, 0])
    assert culled(tree).names == ["program", "few", "many"]


def test_what_is_left_keeps_its_figures() -> None:
    tree = sample_call_tree(4000)
    small = culled(tree, share=0.01)
    assert len(small.parent) < len(tree.parent) / 10
    assert sums(small) == sums(tree)
    before = paths(tree)
    for path, figures in paths(small).items():
        if SMALLER not in path:
            assert figures == before[path]
    assert all(above < node for node, above in enumerate(small.parent) if node)


def test_no_more_nodes_than_asked_for() -> None:
    tree = sample_call_tree(4000)
    small = culled(tree, share=0, most=100)
    kept = [name for name in small.name if small.names[name] != SMALLER]
    assert len(kept) <= 101
    assert sums(small) == sums(tree)


def test_stacks_are_numbers_of_frames() -> None:
    profile = sample_profile(40)
    sent = json.loads(as_json(JournalReport(profile, sample_call_tree(50), sample_replay(), "")))
    for site, original in zip(sent["profile"]["sites"], profile.sites, strict=True):
        stack = [sent["frames"][number] for number in site["stack"]]
        assert [frame["function"] for frame in stack] == [frame.function for frame in original.stack]
    assert len(sent["frames"]) == len({tuple(frame.items()) for frame in sent["frames"]})


def page_bytes(replay: dict[str, Any]) -> int:
    """Return how large the page of a large program with this replay is."""
    report = JournalReport(sample_profile(1000), culled(sample_call_tree(200_000)), replay, "")
    return len(render([report], "1.2.3", ["mallard"]).encode())


@pytest.mark.parametrize(
    ("strategies", "dots", "fits"),
    [
        (12, 4000, True),
        pytest.param(35, 4000, True, marks=pytest.mark.slow),
        pytest.param(12, 30_000, False, marks=pytest.mark.slow),
    ],
)
def test_a_million_events_stay_a_small_page(strategies: int, dots: int, fits: bool) -> None:
    """A row has at most about 4000 dots and 1000 points; with many more the page would be too large."""
    assert (page_bytes(timed_replay(strategies, dots, points=1000)) <= MOST_BYTES) == fits


def test_the_page_has_every_point() -> None:
    """Steps add up to the columns, and no extreme is rounded away."""
    replay = timed_replay(3, 500, 100)
    report = JournalReport(sample_profile(5), sample_call_tree(50), replay, "")
    sent = json.loads(as_json(report))["replay"]
    for row, original in zip(sent["rows"], replay["rows"], strict=True):
        table, before = row["operations"], original["operations"]
        assert summed(table["event"]) == before["event"]
        assert table["size"] == before["size"]
        assert table["ns"] == pytest.approx(before["ns"], rel=1e-3)
        assert row["worst"] == original["worst"]
        if original["curve"]:
            for name in ("event", "live", "granted", "held_min", "held_max"):
                assert summed(row["curve"][name]) == original["curve"][name]
    assert steps([None, 5, None, 3, 0]) == [None, 5, None, -2, -3]


def summed(steps: list[int | None]) -> list[int | None]:
    """Return the values that the browser makes of steps."""
    value = 0
    found: list[int | None] = []
    for step in steps:
        value += step or 0
        found.append(None if step is None else value)
    return found
