"""What of a profile reaches the page."""

import json

from report_sample import sample_call_tree, sample_profile, sample_replay

from mallard.analysis.call_tree import inclusive
from mallard.analysis.model import CallTree
from mallard.report.data import SMALLER, JournalReport, as_json, culled


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
