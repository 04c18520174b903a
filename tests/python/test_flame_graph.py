"""The flame graph of the report: what a reader finds in it, by mouse and by keys."""

from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Write
from playwright.sync_api import Browser
from report_browser import opened, part, wait_until_drawn
from report_sample import sample_call_tree, sample_profile

from mallard import figures
from mallard.analysis.call_tree import inclusive
from mallard.analysis.model import CallTree, Frame

pytestmark = pytest.mark.slow

DEEP = 220


def focused_sum(tree: CallTree, metric: str) -> list[int]:
    """Return a metric of each node with its callees."""
    return inclusive(tree.parent, tree.metrics[metric])


def test_flame_graph_finds_functions_and_their_share(browser: Browser, sample: Path) -> None:
    tree = sample_call_tree()
    sums = focused_sum(tree, "bytes")
    found = ["function_12" in tree.names[name] for name in tree.name]
    above = [False] * len(found)
    share = 0
    for node in range(1, len(found)):
        above[node] = above[tree.parent[node]] or found[tree.parent[node]]
        share += sums[node] if found[node] and not above[node] else 0
    names = {tree.names[name] for name, hit in zip(tree.name, found, strict=True) if hit}
    with opened(browser, sample) as page:
        flame = part(page, "flame")
        flame.get_by_label("Find function").fill("FUNCTION_12")
        text = flame.locator(".flame-found").inner_text()
        assert text.startswith(f"{len(names)} functions in {figures.count(sum(found))} places, ")
        assert figures.share(share / sums[0]) in text
        flame.get_by_label("Next match").first.click()
        assert "function_12" in flame.locator(".flame-status").inner_text()
        assert "function_12" in flame.locator(".tooltip strong").inner_text()
        flame.get_by_label("Find function").fill("no such function")
        assert flame.locator(".flame-found").inner_text() == "No function is named so"


def test_flame_graph_zooms_by_mouse_and_keys(browser: Browser, sample: Path) -> None:
    tree = sample_call_tree()
    sums = focused_sum(tree, "bytes")
    children = [node for node in range(1, len(sums)) if tree.parent[node] == 0]
    largest = max(children, key=lambda node: sums[node])
    name = tree.names[tree.name[largest]]
    with opened(browser, sample) as page:
        flame = part(page, "flame")
        box = flame.locator(".flame-box")
        status = flame.locator(".flame-status")
        box.click(position={"x": 20, "y": 28})
        assert status.inner_text().startswith(f"{name} ")
        assert figures.size(sums[largest]) in status.inner_text()
        flame.get_by_role("button", name="Show all").click()
        assert status.inner_text().startswith("example ")
        assert flame.get_by_role("button", name="Show all").is_disabled()

        box.focus()
        page.keyboard.press("ArrowDown")
        assert status.inner_text().startswith(f"{name} ")
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowDown")
        assert "of what is zoomed to" in status.inner_text()
        page.keyboard.press("Backspace")
        assert status.inner_text().startswith("example ")
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.type") == "search"


def test_flame_graph_changes_its_metric_and_says_all_of_a_cell(browser: Browser, sample: Path) -> None:
    tree = sample_call_tree()
    with opened(browser, sample) as page:
        flame = part(page, "flame")
        for text, metric, write in (
            ("Allocations", "calls", figures.count),
            ("Live at peak", "live_at_peak", figures.size),
            ("Alive at exit", "leaked", figures.size),
            ("Temporaries", "temporaries", figures.count),
        ):
            flame.get_by_role("radio", name=text).check()
            assert write(focused_sum(tree, metric)[0]) in flame.locator(".flame-status").inner_text()
        flame.locator(".flame-box").hover(position={"x": 20, "y": 28})
        tooltip = flame.locator(".tooltip").inner_text()
        for text in (
            "Allocations",
            "Bytes",
            "Live at peak",
            "Alive at exit",
            "Temporaries",
            "share",
            "itself",
        ):
            assert text in tooltip


def test_flame_graph_survives_a_change_of_theme(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        flame = part(page, "flame")
        flame.locator(".flame-box").click(position={"x": 20, "y": 28})
        flame.get_by_label("Find function").fill("function_1")
        before = flame.locator(".flame-found").inner_text()
        page.locator("#theme").click()
        wait_until_drawn(page)
        assert flame.locator(".flame-found").inner_text() == before
        assert flame.get_by_role("button", name="Show all").is_enabled()


def test_flame_graph_goes_where_a_subsystem_or_a_site_is(browser: Browser, write: Write) -> None:
    tree = CallTree(
        parent=[0, 0, 1, 1, 2],
        name=[0, 1, 2, 3, 4],
        names=["example", "main", "parse(file&)", "print()", "make_node()"],
        module=[0, 0, 0, 0, 0],
        modules=["example"],
        metrics={"calls": [0, 0, 0, 5, 7], "bytes": [0, 0, 0, 50, 350]},
    )
    main, parse, make = (Frame(name, "example") for name in ("main", "parse(file&)", "make_node()"))
    profile = sample_profile()
    parser = replace(profile.subsystems[0], name="parse(file&)", path=[main, parse])
    site = replace(profile.sites[0], name="make_node()", stack=[make, parse, main])
    profile = replace(profile, subsystems=[parser, *profile.subsystems[1:]], sites=[site, *profile.sites[1:]])
    with opened(browser, write(profile, tree)) as page:
        status = part(page, "flame").locator(".flame-status")
        choose = part(page, "dvluc").get_by_role("button", name="1 parse(file&)")
        choose.click()
        assert status.inner_text().startswith("parse(file&) (example): 350 B, 87.5 %")
        choose.click()
        assert status.inner_text().startswith("example ")
        page.locator("table.sites .opener", has_text="make_node").click()
        page.get_by_role("button", name="Show in the call tree").click()
        assert status.inner_text().startswith("make_node() ")
        part(page, "flame").get_by_role("button", name="Largest site here").click()
        assert "make_node" in page.evaluate("document.activeElement.textContent")
        part(page, "flame").get_by_role("radio", name="Subsystems").check()
        legend = part(page, "flame").locator(".legend").inner_text()
        assert legend.split("\n") == ["1 parse(file&)", "the rest"]


def deep_tree(depth: int) -> CallTree:
    """Return a recursion without branches."""
    return CallTree(
        parent=[0, *range(depth)],
        name=[0, *([1] * depth)],
        names=["example", "descend(int)"],
        module=[0] * (depth + 1),
        modules=["example"],
        metrics={name: [1] * (depth + 1) for name in ("calls", "bytes", "live_at_peak")}
        | {"temporaries": [0] * (depth + 1)},
    )


def test_deep_stacks_scroll_inside_their_chart(browser: Browser, write: Write) -> None:
    with opened(browser, write(tree=deep_tree(DEEP))) as page:
        flame = part(page, "flame")
        box = flame.locator(".flame-box")
        size = box.bounding_box()
        assert size
        assert size["height"] < 700
        box.focus()
        for _ in range(DEEP + 5):
            page.keyboard.press("ArrowDown")
        assert box.evaluate("box => box.scrollTop") > 1000
        assert flame.locator(".tooltip strong").inner_text() == "descend(int)"
        flame.get_by_role("radio", name="Temporaries").check()
        assert "no temporaries" in flame.locator(".flame-status").inner_text()
