"""The charts of what a replay can add: single operations, times of calls, held over time, copies, sizes."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import Mallard, Write
from playwright.sync_api import Browser, Page
from replay_sample import CALLS, QUANTUM, threads_replay, timed_replay
from report_browser import opened, part
from report_sample import sample_call_tree, sample_profile, sample_replay

from mallard import figures
from mallard.report.data import JournalReport
from mallard.report.page import render

OF_TIMES = ("operations", "tails", "held", "requests")
LEAST = QUANTUM / 3  # where times too short for the clock are drawn
OWN = re.compile(r"multipool|best_fit|monotonic")  # of mallard, in the sample


@pytest.fixture(scope="module")
def timed(write: Write) -> Path:
    """The page of a replay with --latency and --curve."""
    return write(replay=small_replay())


@pytest.fixture(scope="module")
def on_threads(write: Write) -> Path:
    """The page of a replay with --threads and --scale."""
    return write(replay=threads_replay())


def small_replay() -> dict[str, Any]:
    """Return a replay that is drawn at once."""
    return timed_replay(dots=600, points=200)


def rows_of(replay: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rows by what the page calls them."""
    return {f"{row['strategy']} ({row['binding']})": row for row in replay["rows"]}


def usual(rows: dict[str, dict[str, Any]], figure: Callable[[dict[str, Any]], float]) -> set[str]:
    """Return what is drawn at first: glibc, the best other malloc, three heaps that hold hardly more."""
    ranked = sorted((label for label in rows if "none" not in label), key=lambda label: figure(rows[label]))
    malloc = next(label for label in ranked if "malloc)" in label and not label.startswith("glibc"))
    most = 1.5 * rows[malloc]["max_held"]
    own = [label for label in ranked if OWN.match(label) and rows[label]["max_held"] <= most]
    names = {label.partition(" ")[0]: label for label in reversed(own)}
    return {"glibc (malloc)", malloc, *sorted(names.values(), key=ranked.index)[:3]}


def rare(row: dict[str, Any]) -> float:
    """Return the time that one allocation in a thousand exceeds."""
    return float(row["alloc_ns"]["minimum"]["p999"])


def plots(page: Page, name: str) -> list[dict[str, Any]]:
    """Return the traces and the layout of each plot of a chart."""
    found: list[dict[str, Any]] = part(page, name).evaluate(
        "place => [...place.querySelectorAll('.js-plotly-plot')].map(plot => ({"
        "data: plot.data.map(trace => ({ ...trace })), layout: plot.layout }))"
    )
    return found


def once(page: Page, name: str, drawn: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    """Return the plots of a chart once they are so; plotly takes its time to draw."""
    for _ in range(100):
        found = plots(page, name)
        if found and drawn(found):
            return found
        page.wait_for_timeout(50)
    raise AssertionError(f"{name} is not drawn so")


def dots(row: dict[str, Any], call: str) -> list[tuple[int, float]]:
    """Return events and times of one kind of calls, as they are drawn."""
    table = row["operations"]
    return [
        (event, max(LEAST, float(f"{ns:.4g}")))
        for event, ns, kind in zip(table["event"], table["ns"], table["call"], strict=True)
        if CALLS[kind] == call
    ]


def drawn_dots(plot: dict[str, Any], axis: str, call: str) -> list[tuple[int, float]]:
    """Return the dots of one panel."""
    coloured = [one for one in plot["data"] if "coloraxis" in one["marker"]]
    [trace] = [one for one in coloured if one["xaxis"] == axis and one["name"] == call]
    return list(zip(trace["x"], trace["y"], strict=True))


def starts_with(name: str, found: list[dict[str, Any]]) -> bool:
    """Return whether the first trace of the first plot is called so."""
    return bool(found[0]["data"][0]["name"] == name)


@pytest.mark.slow
def test_two_strategies_stand_side_by_side(browser: Browser, timed: Path) -> None:
    rows = rows_of(small_replay())
    with opened(browser, timed) as page:
        left, right = (
            part(page, "operations").get_by_label(f"{side} strategy") for side in ("Left", "Right")
        )
        assert left.input_value() == "glibc (malloc)"
        assert right.input_value() not in ("glibc (malloc)", "none (typed)", "monotonic (typed)")
        [plot] = plots(page, "operations")
        assert drawn_dots(plot, "x", "alloc") == dots(rows["glibc (malloc)"], "alloc")
        assert drawn_dots(plot, "x2", "alloc") == dots(rows[right.input_value()], "alloc")
        before = plot["layout"]["yaxis"]["range"]
        assert plot["layout"]["yaxis2"]["range"] == before
        right.select_option("std.pool (pmr)")
        expected = dots(rows["std.pool (pmr)"], "alloc")
        [plot] = once(
            page, "operations", lambda found: len(drawn_dots(found[0], "x2", "alloc")) == len(expected)
        )
        assert drawn_dots(plot, "x2", "alloc") == expected
        assert plot["layout"]["yaxis"]["range"] == before, "any two are drawn on the same axes"


@pytest.mark.slow
def test_calls_are_told_apart(browser: Browser, timed: Path) -> None:
    glibc = rows_of(small_replay())["glibc (malloc)"]
    with opened(browser, timed) as page:
        for call in CALLS:
            part(page, "operations").get_by_role("radio", name=call, exact=True).check()
            [plot] = once(page, "operations", partial(starts_with, call))
            assert drawn_dots(plot, "x", call) == dots(glibc, call)
        part(page, "operations").get_by_role("radio", name="all", exact=True).check()
        [plot] = once(page, "operations", lambda found: len(found[0]["data"]) > 2 * len(CALLS))
        assert len({trace["marker"]["symbol"] for trace in plot["data"] if trace["name"] in CALLS}) == len(
            CALLS
        )
        assert part(page, "operations").locator(".legendtext").all_text_contents() == [
            *CALLS,
            "the ten worst",
        ]


@pytest.mark.slow
def test_the_worst_are_marked_and_listed(browser: Browser, timed: Path) -> None:
    worst = rows_of(small_replay())["glibc (malloc)"]["worst"]
    with opened(browser, timed) as page:
        part(page, "operations").get_by_role("radio", name="all", exact=True).check()
        [plot] = once(page, "operations", lambda found: len(found[0]["data"]) > 4)
        marks = next(trace for trace in plot["data"] if trace["name"] == "the ten worst")
        assert marks["x"] == [one["event"] for one in worst]
        for one, text in zip(worst, marks["hovertext"], strict=True):
            assert f"event {figures.count(one['event'])}<br>" in text
            assert f" {one['call']} of " in text
            assert figures.size(one["size"]) in text
            assert f"{figures.count(one['live_blocks'])} blocks live" in text
            assert f"{one['page_faults']} page faults" in text
        table = part(page, "operations").locator("table.worst").first
        assert "glibc (malloc)" in table.locator("caption").inner_text()
        events = table.locator("tbody tr td:nth-child(2)").all_inner_texts()
        assert events == [figures.count(one["event"]) for one in worst]


@pytest.mark.slow
def test_what_the_clock_cannot_tell_is_drawn_at_the_end(browser: Browser, timed: Path) -> None:
    with opened(browser, timed) as page:
        [plot] = plots(page, "operations")
        trace = next(one for one in plot["data"] if one.get("xaxis") == "x2" and one["name"] == "alloc")
        short = [text for text, ns in zip(trace["hovertext"], trace["y"], strict=True) if ns == LEAST]
        assert short
        assert all("less than 10 ns" in text for text in short)
        assert plot["layout"]["yaxis"]["ticktext"][0] == "< 10 ns"
        assert 10 ** plot["layout"]["yaxis"]["range"][0] < LEAST


@pytest.mark.slow
def test_boxes_are_those_of_the_figures(browser: Browser, timed: Path) -> None:
    rows = rows_of(small_replay())
    keys = {"lowerfence": "min", "q1": "p25", "median": "p50", "q3": "p75", "upperfence": "p99"}

    def check(plot: dict[str, Any], which: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        for axis, call in (("x", "alloc_ns"), ("x2", "free_ns")):
            boxes = [one for one in plot["data"] if one["type"] == "box" and one["xaxis"] == axis]
            assert {box["name"] for box in boxes} == set(rows)
            for box in boxes:
                of = which(rows[box["name"]][call])
                for drawn, key in keys.items():
                    assert box[drawn] == pytest.approx([max(LEAST, of[key])], rel=1e-3)
            slowest = next(one for one in plot["data"] if one["name"] == "slowest" and one["xaxis"] == axis)
            for label, ns in zip(slowest["y"], slowest["x"], strict=True):
                assert ns == pytest.approx(max(LEAST, which(rows[label][call])["max"]), rel=1e-3)

    def shown(name: str) -> dict[str, Any]:
        before = plots(page, "tails")[0]["data"]
        part(page, "tails").get_by_role("radio", name=name).check()
        return once(page, "tails", lambda found: found[0]["data"] != before)[0]

    with opened(browser, timed) as page:
        check(plots(page, "tails")[0], lambda of: of["minimum"])
        check(shown("All as they came"), lambda of: of)
        check(shown("First pass"), lambda of: of["cold"])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "key"), [("slowest", "max"), ("median", "p50"), ("99.9 %", "p999")])
def test_boxes_are_ordered_by_a_figure(browser: Browser, timed: Path, name: str, key: str) -> None:
    lowest = {label: row["alloc_ns"]["minimum"][key] for label, row in rows_of(small_replay()).items()}

    def is_ordered(found: list[dict[str, Any]]) -> bool:
        from_below: list[str] = found[0]["layout"]["yaxis"]["categoryarray"]
        return [lowest[label] for label in reversed(from_below)] == sorted(lowest.values())

    with opened(browser, timed) as page:
        part(page, "tails").get_by_role("radio", name=name, exact=True).check()
        once(page, "tails", is_ordered)


@pytest.mark.slow
def test_percentiles_spread_towards_the_last_call(browser: Browser, timed: Path) -> None:
    rows = rows_of(small_replay())
    with opened(browser, timed) as page:
        curves = plots(page, "tails")[1]
        assert {line["name"] for line in curves["data"]} == usual(rows, rare)
        for line in curves["data"]:
            tail = rows[line["name"]]["alloc_ns"]["minimum"]["tail"]
            assert line["x"] == [step / 4 for step in range(len(tail))]
            assert line["y"] == pytest.approx([max(LEAST, ns) for ns in tail], rel=1e-3)
        axis = curves["layout"]["xaxis"]
        ticks = dict(zip(axis["ticktext"], axis["tickvals"], strict=True))
        assert ticks["50 %"] == 1
        assert ticks["99.9 %"] == pytest.approx(math.log2(1000))
        halves = [text for text in curves["data"][0]["hovertext"] if "<br>50.0 %: " in text]
        assert len(halves) == 1


@pytest.mark.slow
def test_lines_are_chosen_by_keyboard(browser: Browser, timed: Path) -> None:
    count = len(small_replay()["rows"])
    with opened(browser, timed) as page:
        toggles = part(page, "tails").get_by_role("group", name="Strategies that are drawn")
        box = toggles.get_by_role("checkbox", name="std.pool (pmr)")
        assert not box.is_checked()
        box.focus()
        page.keyboard.press("Space")
        once(page, "tails", lambda found: {line["name"] for line in found[1]["data"]} >= {"std.pool (pmr)"})
        assert box.evaluate("box => box === document.activeElement"), "the focus stays"
        toggles.get_by_role("button", name="All").click()
        found = once(page, "tails", lambda found: len(found[1]["data"]) == count)
        looks = [(line["line"]["color"], line["line"]["dash"]) for line in found[1]["data"]]
        assert len(set(looks)) == count
        toggles.get_by_role("button", name="None").click()
        once(page, "tails", lambda found: found[1]["data"] == [])
        toggles.get_by_role("button", name="Usual").click()
        first = usual(rows_of(small_replay()), rare)
        once(page, "tails", lambda found: {line["name"] for line in found[1]["data"]} == first)


@pytest.mark.slow
def test_many_strategies_look_different(browser: Browser, write: Write) -> None:
    with opened(browser, write(replay=timed_replay(strategies=35, dots=40, points=40))) as page:
        toggles = part(page, "held").get_by_role("group", name="Strategies that are drawn")
        toggles.get_by_role("button", name="All").click()
        found = once(page, "held", lambda found: len(found[0]["data"]) == 1 + 2 * 34)
        lines = [trace for trace in found[0]["data"] if trace.get("fill") == "tonexty"]
        assert len({(line["line"]["color"], line["line"]["dash"]) for line in lines}) == 34
        assert page.evaluate("document.documentElement.scrollWidth") <= 1366


@pytest.mark.slow
def test_held_stands_above_live(browser: Browser, timed: Path) -> None:
    rows = rows_of(small_replay())
    with opened(browser, timed) as page:
        [plot] = plots(page, "held")
        live, *others = plot["data"]
        assert live["name"] == "live"
        of = rows["glibc (malloc)"]["curve"]
        assert live["x"] == of["event"]
        assert live["text"] == [figures.size(bytes_) for bytes_ in of["live"]]
        bands = [trace["name"] for trace in others if trace.get("fill") == "tonexty"]
        assert set(bands) == usual(
            rows, lambda row: (row["fragmentation_measures"] or {"max_to_max": 9})["max_to_max"]
        )
        low, high = (trace for trace in others if trace["name"] == "glibc (malloc)")
        unit = max(of["held_max"]) / max(high["y"])
        assert high["y"] == pytest.approx([bytes_ / unit for bytes_ in of["held_max"]])
        assert low["y"] == pytest.approx([bytes_ / unit for bytes_ in of["held_min"]])
        part(page, "held").get_by_role("radio", name="Held and granted").check()
        once(page, "held", lambda found: any("granted" in trace["name"] for trace in found[0]["data"]))
        part(page, "held").get_by_role("radio", name="Logarithmic").check()
        [plot] = once(page, "held", lambda found: found[0]["layout"]["yaxis"]["type"] == "log")
        assert all(value is None or value > 0 for trace in plot["data"] for value in trace["y"])


def test_measures_of_fragmentation_are_a_table(browser: Browser, timed: Path) -> None:
    rows = rows_of(small_replay())
    with opened(browser, timed, java_script_enabled=False) as page:
        table = page.locator("#journal-0-held table.strategies")
        text = table.locator("tr", has_text="multipool").first.inner_text()
        measures = rows["multipool (typed)"]["fragmentation_measures"]
        assert all(f"{value:.2f}" in text for value in measures.values())
        assert figures.size(rows["multipool (typed)"]["external"]) in text
        assert table.locator("tbody tr").count() == len(rows) - 1, "all but none"
        assert page.locator("#journal-0-tails table.strategies tbody tr").count() == len(rows)


@pytest.mark.slow
def test_copies_have_the_spread_of_their_rounds(browser: Browser, on_threads: Path) -> None:
    rows = rows_of(threads_replay())
    with opened(browser, on_threads) as page:
        assert "12.5 % of the frees are remote" in part(page, "replay").inner_text()
        [plot] = plots(page, "copies")
        names = [trace["name"] for trace in plot["data"]]
        assert names[-1] == "none: the schedule alone"
        assert "glibc (malloc)" in names
        for trace in plot["data"][:-1]:
            scale = rows[trace["name"]]["scale"]
            assert trace["y"] == pytest.approx([point["events_per_second"] for point in scale])
            tops = [value + above for value, above in zip(trace["y"], trace["error_y"]["array"], strict=True)]
            assert tops == pytest.approx([max(point["rounds"]) for point in scale])
            locked = trace["name"].startswith("synchronized")
            assert ("contention" in trace["hovertext"][-1]) == locked
            assert "voluntary" in trace["hovertext"][-1]
        part(page, "copies").get_by_role("radio", name="Times one copy").check()
        once(page, "copies", lambda found: all(trace["y"][0] == 1 for trace in found[0]["data"]))


@pytest.mark.slow
def test_sizes_asked_for(browser: Browser, timed: Path) -> None:
    sizes = small_replay()["journal"]["sizes"]
    everything = sum(bucket["allocations"] for bucket in sizes)
    with opened(browser, timed) as page:
        bars, share = plots(page, "requests")[0]["data"]
        assert bars["y"] == [bucket["allocations"] for bucket in sizes]
        small = sum(bucket["allocations"] for bucket in sizes if bucket["to"] <= 16)
        at = [bucket["to"] for bucket in sizes].index(16)
        assert share["y"][at] == pytest.approx(100 * small / everything)
        assert share["y"][-1] == 100
        edges = [left + width for left, width in zip(bars["x"], bars["width"], strict=True)]
        assert edges[:-1] == pytest.approx(bars["x"][1:]), "buckets follow each other"


@pytest.mark.slow
@pytest.mark.parametrize("width", [900, 1366])
def test_charts_fit_the_window(browser: Browser, timed: Path, width: int) -> None:
    with opened(browser, timed, viewport={"width": width, "height": 768}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for name in OF_TIMES:
            assert part(page, name).locator(".chart svg.main-svg").count() >= 1, name


@pytest.mark.slow
def test_what_a_replay_lacks_is_said_with_its_command(browser: Browser, write: Write) -> None:
    profile = replace(sample_profile(), journal="my journal.mlrd")
    with opened(browser, write(profile, replay=sample_replay())) as page:
        for name in OF_TIMES:
            text = part(page, name).inner_text()
            assert "mallard replay 'my journal.mlrd' --latency --curve -o replay.json" in text, name
            assert "mallard report 'my journal.mlrd' --replay replay.json" in text, name
            assert part(page, name).locator(".chart").count() == 0
        assert "mallard replay 'my journal.mlrd' --threads --scale 4" in part(page, "copies").inner_text()


@pytest.mark.slow
def test_without_a_replay_all_name_the_command(browser: Browser, tmp_path: Path) -> None:
    hint = "Not replayed. This adds it: mallard report a.mlrd --replay always"
    path = tmp_path / "report.html"
    report = JournalReport(sample_profile(5), sample_call_tree(50), None, hint)
    path.write_text(render([report], "1.2.3", ["mallard"]), encoding="utf-8")
    with opened(browser, path) as page:
        for name in (*OF_TIMES, "replay"):
            assert part(page, name).inner_text() == hint, name


def test_threads_have_their_columns(browser: Browser, on_threads: Path) -> None:
    row = rows_of(threads_replay())["synchronized_multipool (typed)"]
    with opened(browser, on_threads, java_script_enabled=False) as page:
        table = page.locator("#journal-0-replay table.strategies")
        headings = table.locator("th").all_inner_texts()
        cells = table.locator("tr", has_text="synchronized_multipool").locator("td").all_inner_texts()
        shown = dict(zip(headings, cells, strict=True))
        assert shown["Wall ns"] == figures.number(row["threads"]["wall_ns_per_event"])
        assert shown["Voluntary switches"] == "120"
        assert shown["Max live strayed"] == "1.1 %"
        assert shown["4 copies"] == figures.count(row["scale"][3]["events_per_second"])
        assert shown["Contention"] == "16.0 %"


def test_replays_on_threads_do_not_settle_the_verdict(
    mallard: Mallard, journal: Path, tmp_path: Path
) -> None:
    """What D can save is a matter of the program's CPU time on one thread, which such a replay is not of."""
    headlines = {}
    for name, found in (("blocks", sample_replay()), ("threads", threads_replay())):
        found["journal"]["file"] = journal.name
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps(found))
        made = mallard("report", journal, "-o", tmp_path / "report.html", "--replay", file)
        assert made.returncode == 0, made.stderr
        text = (tmp_path / "report.html").read_text()
        [headlines[name]] = re.findall(r'class="headline">([^<]*)', text)
        assert ("Max live strayed" in text) == (name == "threads")
    assert "To measure what each strategy would save" in headlines["threads"]
    assert "To measure what each strategy would save" not in headlines["blocks"]
