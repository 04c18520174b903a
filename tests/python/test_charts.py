"""The charts of the report: what a reader sees of them, and what they answer."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Write
from playwright.sync_api import Browser, Page
from report_browser import opened, part
from report_sample import BUCKETS, DURATION, SUBSYSTEMS, sample_profile, sample_replay

from mallard import figures
from mallard.analysis.model import CallTree, HeatMap, Profile, Subsystem, ThreadMatrix, Timeline

pytestmark = pytest.mark.slow


def plotted(page: Page, name: str) -> Any:
    """Return the traces that plotly draws, and the shapes of its layout."""
    return part(page, name).evaluate(
        "place => { const plot = place.querySelector('.js-plotly-plot');"
        "return { data: plot.data, shapes: plot.layout.shapes ?? [], x: plot.layout.xaxis.range }; }"
    )


def read_out(page: Page) -> dict[str, str]:
    """Return the figures of the timeline's span by name."""
    pairs = part(page, "timeline").locator(".read-out dl > div")
    return dict(pair.locator("dt, dd").all_inner_texts() for pair in pairs.all())


def live_in_subsystems(profile: Profile, first: int, last: int) -> dict[str, int]:
    """Return by how much each subsystem's live bytes grow from bucket `first` to `last`."""
    return {part.name: part.live_bytes[last] - part.live_bytes[first - 1] for part in profile.subsystems}


def test_timeline_reads_out_the_whole_run_first(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        shown = read_out(page)
        totals = sample_profile().totals
        assert shown["allocations"] == figures.count(totals.allocations)
        assert shown["span"] == f"0 to {figures.time(DURATION)}"
        assert shown["live, least to most"].endswith(figures.size(totals.peak_live_bytes))
        assert f"peak {figures.size(totals.peak_live_bytes)}" in part(page, "timeline").inner_text()


def test_dragging_over_the_timeline_zooms_and_reads_out(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        plot = part(page, "timeline").locator(".nsewdrag").first
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        assert box
        at = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] * 0.25, at)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.5, at, steps=4)
        page.mouse.up()
        page.wait_for_function(
            "document.querySelector('.read-out dd').textContent.startsWith('0 ') === false"
        )
        timeline = sample_profile().timeline
        low, high = (
            float(field.input_value()) for field in part(page, "timeline").locator("input[type=number]").all()
        )
        assert low == pytest.approx(DURATION / 1e6 * 0.25, rel=0.02)
        assert high == pytest.approx(DURATION / 1e6 * 0.5, rel=0.02)
        first, last = int(low * 1e6 // timeline.bucket_ns), -int(-high * 1e6 // timeline.bucket_ns) - 1
        expected = sum(timeline.allocations[first : last + 1])
        assert read_out(page)["allocations"] == figures.count(expected)
        drawn = plotted(page, "timeline")["x"]
        assert drawn == pytest.approx([low, high], rel=0.001)

        page.get_by_role("button", name="Show the whole run").click()
        assert read_out(page)["allocations"] == figures.count(sum(timeline.allocations))


def test_keys_choose_a_span_of_the_timeline(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        profile = sample_profile()
        start, end = part(page, "timeline").locator("input[type=number]").all()
        end.fill(str(DURATION / 1e6 / 2))
        end.press("Tab")
        start.fill(str(DURATION / 1e6 / 4))
        start.press("Enter")
        growth = part(page, "timeline").locator("table.growth tbody tr")
        expected = live_in_subsystems(profile, BUCKETS // 4, BUCKETS // 2 - 1)
        largest = max(expected, key=lambda name: abs(expected[name]))
        assert growth.count() == min(6, sum(value != 0 for value in expected.values()))
        assert growth.first.locator("th").get_attribute("title") == largest
        sign = "+" if expected[largest] > 0 else "−"  # noqa: RUF001
        assert growth.first.locator("td").first.inner_text() == sign + figures.size(abs(expected[largest]))

        before = read_out(page)["span"]
        page.get_by_role("button", name="Zoom in").press("Enter")
        assert read_out(page)["span"] != before
        start.fill("")
        start.press("Tab")
        assert "NaN" not in part(page, "timeline").inner_text()


def test_timeline_stacks_subsystems(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        part(page, "timeline").get_by_role("radio", name="By subsystem").check()
        stacked = [trace for trace in plotted(page, "timeline")["data"] if trace.get("stackgroup")]
        assert len(stacked) == len(SUBSYSTEMS)


def test_heat_map_shows_objects_or_bytes(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        heat = part(page, "heat")
        objects = plotted(page, "heat")["data"]
        heat.get_by_role("radio", name="Bytes").check()
        size = plotted(page, "heat")["data"]
        assert objects[0]["z"] != size[0]["z"]
        assert objects[0]["hovertext"] == size[0]["hovertext"]
        map_ = sample_profile().heat_map
        never = [cells[-1] for cells in map_.objects]
        assert len(size[1]["z"][0]) == 1
        assert [row[0] is not None for row in size[1]["z"]] == [count > 0 for count in never]
        assert figures.count(max(never)) in " ".join(text[0] for text in size[1]["hovertext"])


def test_heat_map_marks_a_subsystem(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        assert plotted(page, "heat")["shapes"] == []
        part(page, "heat").get_by_label("Mark a subsystem").select_option("2")
        page.wait_for_function(
            "document.querySelector('[data-part=heat] .js-plotly-plot').layout.shapes?.length === 1"
        )
        assert page.locator("table.subsystems tr.chosen").count() == 1


def test_one_thread_is_a_sentence(browser: Browser, write: Write) -> None:
    profile = sample_profile()
    alone = replace(profile, threads=profile.threads[:1], thread_matrix=ThreadMatrix([0], [[900, 100]], 1))
    with opened(browser, write(alone)) as page:
        text = part(page, "threads").inner_text()
        assert "one thread, main" in text
        assert "1,000 objects, 100 of them never freed" in text
        assert part(page, "threads").locator("svg").count() == 0


def test_threads_of_one_name_are_told_apart(browser: Browser, write: Write) -> None:
    profile = sample_profile()
    workers = [replace(thread, name="worker") for thread in profile.threads]
    with opened(browser, write(replace(profile, threads=workers))) as page:
        text = part(page, "threads").inner_text()
        assert all(f"worker {thread.system_id}" in text for thread in workers)


@pytest.mark.parametrize("others", [0, 8])
def test_many_threads_are_put_together(browser: Browser, write: Write, others: int) -> None:
    """The matrix has 40 rows, the last one of them may be that of 8 threads."""
    profile = sample_profile()
    count = 40 - others
    threads = [replace(profile.threads[0], name=f"t{number}", system_id=number) for number in range(40)]
    rows = min(count + others, count + 1)
    cells = [[1 + (row == column) * (40 - row) for column in range(rows + 1)] for row in range(rows)]
    matrix = ThreadMatrix(list(range(count)), cells, 40)
    with opened(browser, write(replace(profile, threads=threads, thread_matrix=matrix))) as page:
        assert "24 others" in part(page, "threads").inner_text()
        assert "40 of 40 threads allocate" in part(page, "threads").inner_text()
        hover = plotted(page, "threads")["data"][0]["hovertext"]
        assert len(hover) == 17
        assert "t39" not in "".join(hover[16])
        never = plotted(page, "threads")["data"][1]["hovertext"][16][0]
        assert f"never freed<br>{rows - 16} objects" in never


def test_dimensions_are_bars_with_their_raw_figures(browser: Browser, sample: Path) -> None:
    profile = sample_profile()
    with opened(browser, sample) as page:
        panel = part(page, "dvluc")
        rows = panel.locator("table.dvluc tbody tr")
        assert rows.count() == len(SUBSYSTEMS) + 1
        for row, one in zip(rows.all(), profile.subsystems, strict=False):
            assert figures.unit(one.dvluc.variation.value) in row.inner_text()
        widths = [
            cell.evaluate("fill => fill.offsetWidth / fill.parentElement.offsetWidth")
            for cell in panel.locator("tbody tr td:nth-of-type(2) .fill").all()[:-1]
        ]
        assert widths == pytest.approx([one.dvluc.variation.value for one in profile.subsystems], abs=0.02)

        rows.nth(3).get_by_role("button").click()
        raw = panel.locator(".raw").inner_text()
        density = profile.subsystems[3].dvluc.density
        assert SUBSYSTEMS[3] in raw
        assert f"{figures.count(density.operations)} operations" in raw
        assert "not measured; compactness" in raw
        assert page.locator("table.subsystems tr.chosen").count() == 1


def test_many_subsystems_unfold(browser: Browser, write: Write) -> None:
    profile = sample_profile()
    many: list[Subsystem] = [
        replace(profile.subsystems[number % 6], name=f"part {number}") for number in range(30)
    ]
    with opened(browser, write(replace(profile, subsystems=many))) as page:
        rows = part(page, "dvluc").locator("tbody tr")
        assert rows.count() == 13
        page.get_by_role("button", name="Show all 30").click()
        assert rows.count() == 31


def test_strategies_have_a_box_for_each_pass(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        boxes = [trace for trace in plotted(page, "replay")["data"] if trace["type"] == "box"]
        measured = {
            f"{row['strategy']} ({row['binding']})"
            for row in sample_replay()["rows"]
            if row["ns_per_event"] is not None and row["strategy"] != "none"
        }
        assert len(boxes) == 2 * len(measured)
        assert {box["name"] for box in boxes} == measured
        assert "glibc a/a (malloc)" in part(page, "replay").inner_text()
        assert (
            "tbbmalloc (malloc): skipped, libtbbmalloc.so.2 is not installed"
            in part(page, "replay").inner_text()
        )


def test_strategies_without_rounds_have_median_and_spread(browser: Browser, write: Write) -> None:
    replay = sample_replay()
    for row in replay["rows"]:
        del row["rounds_ns"], row["cold_rounds_ns"]
    with opened(browser, write(replay=replay)) as page:
        drawn = plotted(page, "replay")["data"]
        points = [trace for trace in drawn if trace["type"] == "scatter"]
        glibc = next(row for row in replay["rows"] if row["strategy"] == "glibc")
        warm = next(trace for trace in points if trace["name"] == "glibc (malloc)")
        assert not any(trace["type"] == "box" for trace in drawn)
        assert warm["x"] == [glibc["ns_per_event"]]
        assert warm["error_x"]["array"][0] == pytest.approx(glibc["spread"][1] - glibc["ns_per_event"])


def test_what_is_empty_is_said(browser: Browser, write: Write) -> None:
    nothing = replace(
        sample_profile(),
        subsystems=[],
        sites=[],
        timeline=Timeline(1, [], [], [], []),
        heat_map=HeatMap([8], [1, 0], [[0, 0]], [[0, 0]]),
        thread_matrix=ThreadMatrix([0, 1, 2, 3], [[0] * 5 for _ in range(4)], 0),
    )
    tree = CallTree([0], [0], ["example"], [0], [""], {"calls": [0], "bytes": [0]})
    replay = sample_replay()
    replay["rows"] = [row for row in replay["rows"] if row["status"] == "skipped"]
    with opened(browser, write(nothing, tree, replay)) as page:
        for name in ("timeline", "dvluc", "flame", "heat", "threads", "replay"):
            assert part(page, name).locator(".chart").count() == 0, name
            assert len(part(page, name).locator(".summary").inner_text()) > 10, name


def test_charts_follow_the_width_of_the_window(browser: Browser, sample: Path) -> None:
    with opened(browser, sample, viewport={"width": 1366, "height": 768}) as page:
        page.set_viewport_size({"width": 900, "height": 768})
        for name, drawn in (("timeline", "svg.main-svg"), ("flame", "canvas"), ("replay", "svg.main-svg")):
            one = part(page, name).locator(drawn).first
            drawn_width = "one.width.baseVal ? one.width.baseVal.value : one.width"
            page.wait_for_function(f"one => ({drawn_width}) < 900", arg=one.element_handle())
            assert one.evaluate("one => one.getBoundingClientRect().right") <= 900


def test_names_are_short_but_not_wrong(browser: Browser, sample: Path) -> None:
    expected = {
        "std::vector<int, std::allocator<int> >::push_back(int const&)": "std::vector::push_back",
        "operator new(unsigned long)": "operator new",
        "a::operator<(a const&, a const&)": "a::operator<",
        "b<c>::operator()(int) const": "b::operator()",
        "d::operator->() const": "d::operator->",
        "(anonymous namespace)::f(int)": "f",
        "a<b> ::c()": "a::c",
        "void g<(h)1>(i<j>&&)": "void g",
        "libc.so.6+0x1234": "libc.so.6+0x1234",
        "<k as l>": "<k as l>",
    }
    with opened(browser, sample) as page:
        shortened = page.evaluate("names => names.map(mallard.short_name)", list(expected))
        assert shortened == list(expected.values())
