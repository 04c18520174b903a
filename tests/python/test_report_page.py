"""The report as a page in a browser."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page
from report_browser import opened, wait_until_drawn
from report_sample import SUBSYSTEMS, sample_call_tree, sample_profile, sample_replay

from mallard import figures
from mallard.report.data import JournalReport, culled
from mallard.report.method import DIMENSIONS
from mallard.report.page import render

AGAIN = ["mallard", "report", "ex ample.mlrd"]
DOCUMENT = Path(__file__).parents[2] / "docs" / "profile.md"
MOST_BYTES = 4 << 20


def sample_report(sites: int = 120) -> JournalReport:
    return JournalReport(sample_profile(sites), sample_call_tree(), sample_replay(), "")


def written(path: Path, *reports: JournalReport) -> Path:
    path.write_text(render(list(reports), "1.2.3", AGAIN), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a made-up journal."""
    return written(tmp_path_factory.mktemp("report") / "sample.html", sample_report())


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two journals; the second has no replay, regions or warnings."""
    profile = replace(sample_profile(30), program="/bin/second", arguments=["second"], process=77)
    profile = replace(profile, regions=None, warnings=[])
    second = JournalReport(profile, sample_call_tree(500), None, "Not replayed. This adds it: mallard ...")
    return written(tmp_path_factory.mktemp("report") / "family.html", sample_report(), second)


def sites_shown(page: Page) -> list[str]:
    return page.locator("table.sites tbody tr:not([hidden]):not(.more) .opener").all_inner_texts()


@pytest.mark.slow
def test_every_chart_is_drawn(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        names = page.evaluate("Object.keys(mallard.charts)")
        drawn = {"timeline", "dvluc", "flame", "heat", "threads", "replay"}
        assert set(names) == drawn | {"operations", "tails", "held", "requests", "copies"}
        for name in drawn:
            chart = page.locator(f'#journal-0 .chart[data-chart="{name}"]')
            assert chart.locator("svg.main-svg, canvas, table.dvluc").count() >= 1, name
            assert chart.get_attribute("aria-label")


def test_verdict_and_figures_need_no_scripts(browser: Browser, sample: Path) -> None:
    profile = sample_profile()
    with opened(browser, sample, java_script_enabled=False) as page:
        verdict = page.locator("section.verdict").inner_text()
        assert profile.verdict.headline in verdict
        for finding in profile.verdict.findings:
            assert finding.title in verdict
            assert finding.detail in verdict
            assert finding.suggestion in verdict
        assert figures.count(profile.totals.events) in verdict
        assert figures.size(profile.totals.peak_live_bytes) in verdict
        assert profile.warnings[0] in page.locator(".head").inner_text()
        rows = page.locator("table.subsystems tbody tr")
        assert rows.count() == len(SUBSYSTEMS)
        first = profile.subsystems[0]
        assert first.name in rows.first.inner_text()
        assert figures.unit(first.dvluc.density.value) in rows.first.inner_text()
        assert page.locator("table.strategies tbody tr").count() == len(sample_replay()["rows"])
        assert page.get_by_text("JavaScript is off").is_visible()
        assert not page.get_by_text("This browser is too old").is_visible()


@pytest.mark.slow
def test_findings_beyond_three_open_on_demand(browser: Browser, tmp_path: Path) -> None:
    profile = sample_profile(30)
    titles = [f"finding {number}" for number in range(5)]
    found = [replace(profile.verdict.findings[0], title=title) for title in titles]
    report = JournalReport(
        replace(profile, verdict=replace(profile.verdict, findings=found)), sample_call_tree(), None, ""
    )
    with opened(browser, written(tmp_path / "many.html", report)) as page:
        shown = page.locator("section.verdict .findings strong:visible")
        assert shown.all_inner_texts() == titles[:3]
        page.get_by_text("2 more findings").click()
        assert shown.all_inner_texts() == titles


@pytest.mark.slow
def test_browser_without_decompression_is_told_so(browser: Browser, sample: Path) -> None:
    with browser.new_context() as window:
        page = window.new_page()
        page.add_init_script("delete window.DecompressionStream")
        page.goto(sample.as_uri())
        assert page.get_by_text("This browser is too old").is_visible()
        assert page.locator("section.verdict .headline").is_visible()


@pytest.mark.slow
def test_command_and_names_are_text(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        assert page.locator(".command").inner_text() == "example --fast 'in put.xml' '<out>'"
        assert page.get_by_text("evaluate <tree>").first.is_visible()
        assert "mallard report 'ex ample.mlrd'" in page.locator("footer").inner_text()
        assert "mallard 1.2.3" in page.locator("footer").inner_text()
        assert page.title() == "example: allocation report"


@pytest.mark.slow
def test_sites_sort_by_mouse_and_keyboard(browser: Browser, sample: Path) -> None:
    calls = [site.behaviour.allocations for site in sample_profile().sites]

    def shown(page: Page) -> list[int]:
        cells = page.locator("table.sites tbody tr td:nth-child(3)").all_inner_texts()
        return [int(text.replace(",", "")) for text in cells]

    with opened(browser, sample) as page:
        heading = page.locator("table.sites th", has_text="Calls")
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == "descending"
        assert shown(page) == sorted(calls, reverse=True)
        page.keyboard.press("Enter")
        assert heading.get_attribute("aria-sort") == "ascending"
        assert shown(page) == sorted(calls)
        page.locator("table.sites th", has_text="Site").get_by_role("button").click()
        assert heading.get_attribute("aria-sort") is None
        assert sites_shown(page)[:3] == ["make_part_0", "make_part_1", "make_part_2"]


@pytest.mark.slow
def test_unknown_figures_sort_last_both_ways(browser: Browser, tmp_path: Path) -> None:
    profile = sample_profile(5)
    endless = replace(profile.sites[2], behaviour=replace(profile.sites[2].behaviour, lifetime_ns=None))
    profile = replace(profile, sites=[*profile.sites[:2], endless, *profile.sites[3:]])
    path = written(tmp_path / "endless.html", JournalReport(profile, sample_call_tree(50), None, "None."))
    with opened(browser, path) as page:
        button = page.locator("table.sites").get_by_text("Lifetime", exact=True)
        for _ in range(2):
            button.click()
            assert sites_shown(page)[-1] == "make_part_2"


@pytest.mark.slow
def test_sites_are_filtered_by_words_of_their_stacks(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        field = page.get_by_label("Filter sites")
        field.fill("MAKE_PART_11")
        assert sites_shown(page) == [f"make_part_{n}" for n in [11, *range(110, 120)]]
        field.fill("make_part_11 step_18")
        expected = [n for n in [11, *range(110, 120)] if n % 20 > 18]
        assert sites_shown(page) == [f"make_part_{n}" for n in expected]
        field.fill("no such function")
        assert sites_shown(page) == []
        assert "0 of 137 sites, 0 % of calls" in page.locator("output.note").inner_text()


@pytest.mark.slow
def test_sites_are_saved_as_they_are_shown(browser: Browser, sample: Path, tmp_path: Path) -> None:
    with opened(browser, sample) as page:
        page.get_by_label("Filter sites").fill("make_part_11")
        page.locator("table.sites th", has_text="Calls").get_by_role("button").click()
        with page.expect_download() as download:
            page.get_by_role("button", name="Save as CSV").click()
        download.value.save_as(tmp_path / "sites.csv")
    rows = list(csv.DictReader((tmp_path / "sites.csv").open(newline="", encoding="utf-8")))
    sites = [site for site in sample_profile().sites if site.name.startswith("make_part_11")]
    sites.sort(key=lambda site: -site.behaviour.allocations)
    assert [row["Site"] for row in rows] == [site.name for site in sites]
    assert [int(row["Calls"]) for row in rows] == [site.behaviour.allocations for site in sites]
    assert [int(row["Bytes"]) for row in rows] == [site.behaviour.bytes for site in sites]


@pytest.mark.slow
def test_choosing_a_subsystem_shows_its_sites(browser: Browser, sample: Path) -> None:
    own = [site.name for site in sample_profile().sites if site.subsystem == 2]
    with opened(browser, sample) as page:
        row = page.locator("#journal-0-subsystem-2")
        button = row.get_by_role("button")
        button.focus()
        page.keyboard.press("Enter")
        assert button.get_attribute("aria-pressed") == "true"
        assert sites_shown(page) == [name.partition("(")[0] for name in own]
        assert page.get_by_label("Subsystem", exact=True).input_value() == "2"
        button.click()
        assert len(sites_shown(page)) == 120


@pytest.mark.slow
def test_a_site_opens_to_its_stack(browser: Browser, sample: Path) -> None:
    site = sample_profile().sites[5]
    with opened(browser, sample) as page:
        opener = page.locator('tr[data-site="5"] .opener')
        opener.focus()
        page.keyboard.press("Space")
        assert opener.get_attribute("aria-expanded") == "true"
        opened_row = page.locator("tr.more")
        assert opened_row.locator("ol.stack li").count() == len(site.stack)
        assert f"{site.stack[1].file}:{site.stack[1].line}" in opened_row.inner_text()
        assert opened_row.locator("li.inlined").count() == sum(frame.inlined for frame in site.stack)
        page.locator("table.sites th", has_text="Calls").get_by_role("button").click()
        assert page.locator('tr[data-site="5"] + tr.more').count() == 1, "it stays under its row"
        opener.click()
        assert page.locator("tr.more").count() == 0


@pytest.mark.slow
def test_theme_follows_the_system_and_the_button(browser: Browser, sample: Path) -> None:
    def colours(page: Page) -> tuple[str, str]:
        text = page.locator("#journal-0 svg text").first
        page_colour: str = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return page_colour, text.evaluate("element => getComputedStyle(element).fill")

    with opened(browser, sample, color_scheme="dark") as page:
        dark = colours(page)
        button = page.get_by_role("button", name="Dark")
        assert button.get_attribute("aria-pressed") == "true"
        button.click()
        wait_until_drawn(page)
        light = colours(page)
        assert light[0] != dark[0]
        assert light[1] != dark[1], "charts are drawn anew"
        for _ in range(10):  # another process may get it, and learn of the choice late
            page.reload()
            wait_until_drawn(page)
            if colours(page) == light:
                break
        assert colours(page) == light, "the choice is kept"
    with opened(browser, sample, color_scheme="light") as page:
        assert colours(page) == light


@pytest.mark.slow
def test_headings_explain_themselves(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        for number, dimension in enumerate(DIMENSIONS):
            heading = page.locator("table.dvluc th").nth(1 + number)
            heading.focus()
            assert dimension.formula in page.get_by_role("tooltip").inner_text()
            assert heading.get_attribute("aria-describedby") == "tip"
        page.keyboard.press("Escape")
        assert not page.locator("#tip").is_visible()


@pytest.mark.slow
def test_what_is_focused_keeps_its_tip_below_a_pointer_that_stands_still(
    browser: Browser, sample: Path
) -> None:
    def is_now_below_pointer(place: Locator, at: int) -> None:
        event = "(at) => new MouseEvent('mouseover', { bubbles: true, clientX: 9, clientY: at })"
        place.evaluate(f"(place, at) => place.dispatchEvent(({event})(at))", at)

    with opened(browser, sample) as page:
        main, heading = page.locator("main"), page.locator("table.dvluc th").nth(1)
        page.mouse.move(9, 300)
        heading.focus()
        is_now_below_pointer(main, 300)  # as where the page scrolls to what is focused
        assert heading.get_attribute("aria-describedby") == "tip"
        is_now_below_pointer(main, 301)
        assert heading.get_attribute("aria-describedby") is None


@pytest.mark.slow
def test_keyboard_reaches_everything_in_order(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
        assert page.locator(".skip").evaluate("link => link.getBoundingClientRect().left") >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        reached: list[str] = []
        for _ in range(400):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.closest('section')?.id ?? ''"))
        sections = [name for name in dict.fromkeys(reached) if name]
        order = page.evaluate("[...document.querySelectorAll('section[id]')].map(section => section.id)")
        assert sections == [name for name in order if name in sections]
        assert {"journal-0-verdict", "journal-0-dvluc", "journal-0-sites"} <= set(sections)


@pytest.mark.parametrize("width", [900, 1200, 1366])
@pytest.mark.slow
def test_nothing_sticks_out_sideways(browser: Browser, family: Path, width: int) -> None:
    with opened(browser, family, viewport={"width": width, "height": 768}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_journals_are_tabs(browser: Browser, family: Path) -> None:
    with opened(browser, family) as page:
        assert page.locator("#journal-0").is_visible()
        assert not page.locator("#journal-1").is_visible()
        first, second = page.get_by_role("tab").all()
        assert second.inner_text() == "second (77)"
        first.focus()
        page.keyboard.press("ArrowRight")
        wait_until_drawn(page)
        assert second.get_attribute("aria-selected") == "true"
        assert second.evaluate("tab => tab === document.activeElement")
        assert page.locator("#journal-1").is_visible()
        assert not page.locator("#journal-0").is_visible()
        assert page.locator('#journal-1 .chart[data-chart="timeline"] svg').count() >= 1
        assert "Not replayed" in page.locator("#journal-1-replay").inner_text()
        assert "no event of a region" in page.locator("#journal-1-regions").inner_text()


@pytest.mark.slow
def test_journals_are_compared_and_linked(browser: Browser, family: Path) -> None:
    with opened(browser, family) as page:
        rows = page.locator(".comparison tbody tr")
        assert rows.count() == 2
        rows.nth(1).get_by_role("link").click()
        page.locator("#journal-1").wait_for()
        assert not page.locator("#journal-0").is_visible()


@pytest.mark.slow
def test_text_is_readable_in_both_themes(browser: Browser, sample: Path) -> None:
    """Contrast of WCAG AA: 4.5 of text and what stands behind it."""

    def channels(colour: str) -> list[float]:
        return [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]

    def luminance(colour: str) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    resolve = """name => {
        const probe = document.createElement("i");
        probe.style.color = `var(--${name})`;
        document.body.append(probe);
        return getComputedStyle(probe).color;
    }"""
    for scheme in ("light", "dark"):
        with opened(browser, sample, color_scheme=scheme) as page:
            for text in ("text", "muted", "accent", "warning", "gain"):
                for behind in ("page", "panel", "raised", "notice"):
                    pair = sorted(luminance(page.evaluate(resolve, name)) for name in (text, behind))
                    assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (scheme, text, behind)


@pytest.mark.slow
def test_browser_writes_figures_as_python_does(browser: Browser, sample: Path) -> None:
    values = [0, 0.0001, 0.012, 0.37, 1, 3, 9.994, 9.999, 12.34, 99.94, 99.96, 1023, 1024, 10_000]
    values += [1023.7, 1_048_000, 5_657_472, 2**40, 999_600, 7.5e9, 3.2e13]
    pairs = {
        "count": figures.count,
        "bytes": figures.size,
        "ns": figures.time,
        "number": figures.number,
        "share": figures.share,
        "unit": figures.unit,
    }
    with opened(browser, sample) as page:
        for name, write in pairs.items():
            script = f"values => values.map(value => mallard.format.{name}(value))"
            assert page.evaluate(script, [*values, None]) == [write(value) for value in [*values, None]]


def test_formulas_are_those_of_the_document() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for one in DIMENSIONS:
        assert f"| {one.letter} {one.name} | {one.formula} | {one.range} |" in text


def test_large_journals_stay_small_pages(tmp_path: Path) -> None:
    report = JournalReport(sample_profile(1000), culled(sample_call_tree(200_000)), sample_replay(), "")
    path = written(tmp_path / "large.html", report)
    assert path.stat().st_size <= MOST_BYTES


def test_equal_journals_give_equal_pages() -> None:
    assert render([sample_report()], "1.2.3", AGAIN) == render([sample_report()], "1.2.3", AGAIN)


@pytest.mark.parametrize(
    "broken",
    [
        '<script>console.error("broken")</script>',
        pytest.param("<script>undefined.broken</script>", marks=pytest.mark.slow),
        pytest.param('<img src="http://127.0.0.1:9/broken.png">', marks=pytest.mark.slow),
    ],
)
def test_pages_that_complain_or_ask_the_network_are_told(
    browser: Browser, tmp_path: Path, broken: str
) -> None:
    path = tmp_path / "broken.html"
    path.write_text(f'<!doctype html><html data-ready="yes"><body>{broken}</body></html>')
    with pytest.raises(AssertionError, match="broken"), opened(browser, path):
        pass
