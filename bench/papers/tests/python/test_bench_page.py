"""The page of `mallard bench` in a browser."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page
from report_browser import opened, part, wait_until_drawn

from bench_sample import CRASHED, FAILED, OUT_OF_MEMORY, RAN_OUT, SKIPPED, TOO_MUCH, sample_run, sample_runs
from mallard import MallardError
from mallard_bench import expected_documents
from mallard_bench.findings import judged
from mallard_bench.findings.judge import Verdict
from mallard_bench.page.bench_page import render
from mallard_bench.repeated import Repeated, of_rounds
from mallard_bench.results_file import Run
from mallard_bench.subcommands import table

AGAIN = ["mallard", "bench", "table", "in put.jsonl"]
MOST_BYTES = 4 << 20
WIDTHS = (800, 1200, 1366)
BENCHMARKS = {"density", "locality", "utilization", "contention"}
SECONDS = 2**27 / 1e9
SETTLED_MS = 300  # scrolling, which puts tips away, is over


def written(path: Path, runs: Sequence[Run]) -> Path:
    path.write_text(render(runs, "1.2.3", AGAIN), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run of each benchmark."""
    return written(tmp_path_factory.mktemp("bench") / "four.html", sample_runs())


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page for each benchmark's run, by its name: a part of what all their charts take to be drawn."""
    folder = tmp_path_factory.mktemp("bench")
    return {
        run.header.benchmark: written(folder / f"{run.header.benchmark}.html", [run]) for run in sample_runs()
    }


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two runs of benchmark I."""
    runs = [sample_run("density", 1), sample_run("density", 2)]
    return written(tmp_path_factory.mktemp("bench") / "twice.html", runs)


def digits(value: float) -> str:
    """Return three digits as the paper has them."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def document(run: Run, **group: Any) -> dict[str, Any]:
    """Return the document of a group."""
    return next(one for one in run.documents if group.items() <= one["group"].items())


def row(found: dict[str, Any], label: str, **more: Any) -> dict[str, Any]:
    """Return the first row of a label."""
    wanted = {"label": label, **more}
    return next(one for one in found["rows"] if wanted.items() <= one.items() and not one["repeated"])


def paired(one: dict[str, Any], base: dict[str, Any]) -> Repeated:
    """Return the ratio of two rows, round by round."""
    ratio = of_rounds(one["rounds_ns"]).over(of_rounds(base["rounds_ns"]))
    assert ratio
    return ratio


def shown(table: Locator) -> tuple[list[str], dict[str, list[str]]]:
    """Return the names of a heat map's columns, and its cells by the names of rows."""
    heads, rows = table.evaluate(
        """table => [
            [...[...table.tHead.rows].at(-1).cells].map(cell => cell.textContent),
            [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent)),
        ]"""
    )
    corner = table.locator("col.corner").count()
    return heads[corner:], {" ".join(cells[:corner]): cells[corner:] for cells in rows}


def cell(table: Locator, name: str, column: str) -> Locator:
    """Return a cell."""
    heads, rows = shown(table)
    at = list(rows).index(name)
    return table.locator("tbody tr").nth(at).locator("td").nth(heads.index(column))


def heat(page: Page, benchmark: str, at: int = 0) -> Locator:
    """Return one of the heat maps of a section."""
    return part(page, benchmark).locator("table.heat").nth(at)


def choose(page: Page, benchmark: str, name: str) -> None:
    """Press one of the switches of a section."""
    part(page, benchmark).locator(".choice label", has_text=re.compile(f"^{name}$")).click()


def choose_from(page: Page, benchmark: str, label: str, value: str) -> None:
    """Choose from one of the lists of a section."""
    lists = part(page, benchmark).locator(".list-choice", has_text=label)
    lists.locator("select").select_option(value)


def show(page: Page, structure: str) -> None:
    """Choose a structure."""
    page.locator(f'[data-keep="{structure}"]').click()


def test_every_chart_is_drawn(browser: Browser, four: Path) -> None:
    with opened(browser, four) as page:
        assert set(page.evaluate("Object.keys(mallard.charts)")) == BENCHMARKS
        for name in BENCHMARKS:
            chart = page.locator(f'.chart[data-chart="{name}"]')
            assert chart.locator("table.heat tbody td").count() > 0, name
            assert chart.get_attribute("aria-label")
        assert part(page, "density").locator(".overview canvas").count() == 12
        assert part(page, "locality").locator(".surface canvas").count() >= 6
        assert part(page, "contention").locator("svg.main-svg").count() >= 1


def test_a_chart_that_cannot_be_drawn_is_told(browser: Browser, four: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    broken.write_text(four.read_text().replace("mallard.heat_table = (", "mallard.heat_lost = ("))
    with pytest.raises(AssertionError, match="heat_table"), opened(browser, broken):
        pass


def test_what_matters_needs_no_scripts(browser: Browser, four: Path) -> None:
    with opened(browser, four, java_script_enabled=False) as page:
        text = page.locator("main").text_content() or ""
        found = [(run, judged(run.header.benchmark, run.documents)) for run in sample_runs()]
        verdicts = [judgement.verdict for _, of in found for _, judgement in of]
        assert f"Of {len(verdicts)} findings of the paper {verdicts.count(Verdict.HOLDS)} hold here" in text
        for _, of in found:
            for finding, judgement in of:
                assert finding.sentence in text
                assert judgement.figures in text
        for fact in ("Example <CPU> 3000, 4 cores, 32 GiB", "gcc 12.2.0 -O2 -g -DNDEBUG", "Linux 6.1.0"):
            assert fact in text
        for fact in ("madvise", "glibc 2.36", "2026-11-21 10:00:00 UTC", "fresh", "alternate"):
            assert fact in text
        assert page.get_by_text("JavaScript is off").is_visible()
        assert "mallard bench table 'in put.jsonl'" in page.locator("footer").inner_text()


def test_noise_is_stated_before_the_charts(browser: Browser, tmp_path: Path) -> None:
    run = sample_run("density")
    pairs = run.documents[:20]
    for at, one in enumerate(pairs):
        repeated = next(each for each in one["rows"] if each["repeated"])
        factor, first = 1.5 if at == 0 else 1.01, row(one, "AS1")
        repeated["ns_per_event"] = factor * first["ns_per_event"]
        repeated["rounds_ns"] = [factor * ns for ns in first["rounds_ns"]]
    few = replace(run, documents=pairs, header=replace(run.header, groups=20))
    with opened(browser, written(tmp_path / "noise.html", [few])) as page:
        noise = page.locator("#noise")
        assert "half by at most 1.0 %" in noise.inner_text()
        assert "50.0 %" in (noise.text_content() or "")
        order = page.evaluate("[...document.querySelectorAll('section[id]')].map(section => section.id)")
        assert order == ["verdict", "noise", "measured-on", "density", "method"]


def test_noise_that_was_not_measured_is_not_invented(browser: Browser, tmp_path: Path) -> None:
    run = sample_run("utilization")
    for one in run.documents:
        one["rows"] = [each for each in one["rows"] if not each["repeated"]]
    with opened(browser, written(tmp_path / "noise.html", [run])) as page:
        assert "not known" in page.locator("#noise").inner_text()


def test_findings_are_filtered(browser: Browser, four: Path) -> None:
    runs = sample_runs()
    verdicts = [one.verdict for run in runs for _, one in judged(run.header.benchmark, run.documents)]
    with opened(browser, four) as page:
        lines = page.locator(".judged li")
        assert lines.count() == len(verdicts)
        assert page.locator(".judged li:visible").count() == 0, "tables open on demand"
        buttons = page.locator("#findings-filter button")
        for number in (0, 1):
            buttons.nth(number).focus()
            page.keyboard.press("Enter")
        assert page.locator(".judged li:visible").count() == verdicts.count(Verdict.OPEN) > 0
        buttons.nth(2).click()
        assert page.locator(".run-findings:visible").count() == 0


def test_ratios_and_times_are_those_measured(browser: Browser, alone: dict[str, Path]) -> None:
    of = document(sample_run("density"), structure="DS3", size=10)
    one, base = row(of, "AS7"), row(of, "AS1")
    with opened(browser, alone["density"]) as page:
        show(page, "DS3")
        heads, rows = shown(heat(page, "density"))
        assert heads[:14] == [f"AS{number}" for number in range(1, 15)]
        assert heads[-1] == "A/A"
        assert len(rows) == 11
        ratio = paired(one, base)
        assert ratio.spread
        farthest = max(ratio.value - ratio.spread[0], ratio.spread[1] - ratio.value)
        shown_ratio = cell(heat(page, "density"), "2¹⁰", "AS7")
        assert shown_ratio.inner_text() == digits(ratio.value)
        assert shown_ratio.get_attribute("data-around") == f"±{math.ceil(farthest * 100) / 100:.2f}"
        choose(page, "density", "Cold")
        expected = digits(one["cold_ns_per_event"] / base["cold_ns_per_event"])
        assert cell(heat(page, "density"), "2¹⁰", "AS7").inner_text() == expected
        choose(page, "density", "Absolute")
        expected = digits(one["cold_ns_per_event"] * SECONDS)
        assert cell(heat(page, "density"), "2¹⁰", "AS7").inner_text() == expected
        choose(page, "density", "Warm")
        expected = digits(one["ns_per_event"] * SECONDS)
        assert cell(heat(page, "density"), "2¹⁰", "AS7").inner_text() == expected
        for measure, name in (("Page faults", "page_faults"), ("Held", "max_held")):
            choose(page, "density", measure)
            value = cell(heat(page, "density"), "2¹⁰", "AS7").get_attribute("data-value")
            assert float(value or 0) == pytest.approx(one[name], rel=1e-4)


def test_a_cell_tells_all_that_is_known_of_it(browser: Browser, alone: dict[str, Path]) -> None:
    one = row(document(sample_run("density"), structure="DS1", size=6), "AS8")
    with opened(browser, alone["density"], reduced_motion="reduce") as page:
        pointed = cell(heat(page, "density"), "2⁶", "AS8")
        pointed.scroll_into_view_if_needed()
        page.wait_for_timeout(SETTLED_MS)
        pointed.hover()
        tip = page.get_by_role("tooltip").inner_text()
        for fact in ("AS8: multipool, directly, winked out", "2⁶", "5 rounds", "spread", "of AS1"):
            assert fact in tip
        assert f"{one['page_faults']:,} page faults" in tip
        assert "in the paper" in tip


def test_keys_go_from_cell_to_cell(browser: Browser, alone: dict[str, Path]) -> None:
    with opened(browser, alone["density"]) as page:
        first = cell(heat(page, "density"), "2⁶", "AS1")
        assert first.get_attribute("tabindex") == "0"
        first.focus()
        assert "AS1" in page.get_by_role("tooltip").inner_text()
        for key in ("ArrowRight", "ArrowDown", "ArrowDown"):
            page.keyboard.press(key)
        assert "AS2: new_delete, virtual, normal destruction · 2⁸" in page.get_by_role("tooltip").inner_text()
        page.keyboard.press("End")
        assert "AS1 measured a second time" in page.get_by_role("tooltip").inner_text()
        assert heat(page, "density").locator('td[tabindex="0"]').count() == 1
        page.keyboard.press("Escape")
        assert not page.locator("#tip").is_visible()


def test_what_was_not_measured_says_why(browser: Browser, alone: dict[str, Path]) -> None:
    with opened(browser, alone["density"]) as page:
        show(page, SKIPPED[0])
        instead = heat(page, "density").locator("td.instead")
        assert instead.inner_text() == f"skipped: {TOO_MUCH}"
        show(page, OUT_OF_MEMORY[0])
        failed = cell(heat(page, "density"), "2¹⁶", OUT_OF_MEMORY[2])
        assert failed.inner_text() == "fail"
        assert RAN_OUT in (failed.get_attribute("data-tip") or "")
        show(page, FAILED[0])
        broken = cell(heat(page, "density"), "2⁶", FAILED[2])
        assert broken.inner_text() == "broke"
        assert CRASHED in (broken.get_attribute("data-tip") or "")
        for mark in heat(page, "density").locator("[data-end]").all():
            box = mark.bounding_box()
            assert box
            assert box["x"] > 0
            assert mark.evaluate("cell => getComputedStyle(cell).position") == "static"
        tops = sorted(page.locator(".scale-legend").first.locator(".cell-key").all_inner_texts())
        assert tops == ["broke", "fail", "skip"]


def test_the_paper_stands_beside_in_the_same_colours(browser: Browser, tmp_path: Path) -> None:
    run = sample_run("density")
    papers = [
        one | {"machine": run.documents[0]["machine"], "method": run.documents[0]["method"]}
        for one in expected_documents.documents("density")
    ]
    with opened(browser, written(tmp_path / "paper.html", [replace(run, documents=papers)])) as page:
        for figures in ("Absolute", "Ratio to AS1"):
            choose(page, "density", figures)
            choose_from(page, "density", "Beside it", "paper")
            ours, theirs = heat(page, "density", 0), heat(page, "density", 1)
            assert shown(ours) == shown(theirs)
            colours = "table => [...table.querySelectorAll('td')].map(cell => cell.style.background)"
            assert ours.evaluate(colours) == theirs.evaluate(colours)
        choose_from(page, "density", "Beside it", "paper change")
        _, rows = shown(heat(page, "density", 1))
        assert {text for cells in rows.values() for text in cells} == {"1.00"}


def test_the_paper_has_warm_times_only(browser: Browser, alone: dict[str, Path]) -> None:
    with opened(browser, alone["density"]) as page:
        choose_from(page, "density", "Beside it", "paper")
        choose(page, "density", "Held")
        assert part(page, "density").locator("table.heat").count() == 1
        assert "its times are of warm runs" in part(page, "density").inner_text()


def test_runs_are_compared(browser: Browser, twice: Path) -> None:
    first, second = (document(sample_run("density", seed), structure="DS1", size=6) for seed in (1, 2))
    ours, theirs = (paired(row(of, "AS7"), row(of, "AS1")).value for of in (first, second))
    with opened(browser, twice) as page:
        choose_from(page, "density", "Beside it", "1")
        assert cell(heat(page, "density", 1), "2⁶", "AS7").inner_text() == digits(theirs)
        choose_from(page, "density", "Beside it", "1 change")
        assert cell(heat(page, "density", 1), "2⁶", "AS7").inner_text() == digits(ours / theirs)
        choose_from(page, "density", "Beside it", "")
        choose_from(page, "density", "Run", "1")
        assert cell(heat(page, "density"), "2⁶", "AS7").inner_text() == digits(theirs)


def test_small_pictures_choose_a_structure(browser: Browser, alone: dict[str, Path]) -> None:
    with opened(browser, alone["density"]) as page:
        button = page.locator('[data-keep="DS7"]')
        button.focus()
        page.keyboard.press("Enter")
        assert heat(page, "density").locator("caption").inner_text().startswith("DS7 vector<unordered_set")
        assert page.locator('[data-keep="DS7"]').get_attribute("aria-pressed") == "true"
        assert page.evaluate("document.activeElement.dataset.keep") == "DS7"


def heights(surface: dict[str, Any]) -> dict[tuple[int, int], float]:
    """Return a surface's figures by |S| and split."""
    return {
        (y, x): figure
        for y, line in zip(surface["y"], surface["z"], strict=True)
        for x, figure in zip(surface["x"], line, strict=True)
    }


def test_surfaces_are_ratios_of_after_to_before(browser: Browser, alone: dict[str, Path]) -> None:
    of = document(sample_run("locality"), table="splits", **{"global": 21}, subsystem=18)
    before, after = (row(of, "AS1", split=3, shuffled=state) for state in (False, True))
    expected = paired(after, before).value
    surfaces = "places => places.map(place => place.data[0])"
    with opened(browser, alone["locality"]) as page:
        choose(page, "locality", "Here")
        page.wait_for_function("document.querySelectorAll('.surface .main-svg').length === 9")
        drawn = part(page, "locality").locator(".surface").evaluate_all(surfaces)
        assert [one["type"] for one in drawn] == ["surface"] * 3
        without, beside, less = map(heights, drawn)
        assert without[18, 3] == pytest.approx(expected, rel=1e-3)
        assert less[18, 3] == pytest.approx(without[18, 3] / beside[18, 3], rel=1e-6)
        assert cell(heat(page, "locality"), "2¹⁸", "8").inner_text() == digits(expected)
        choose_from(page, "locality", "System", "factors 7")
        assert shown(heat(page, "locality"))[0] == [str(number) for number in range(10)]


def test_percentages_and_failures_of_utilization(browser: Browser, alone: dict[str, Path]) -> None:
    run = sample_run("utilization")
    ran_out = next(
        one for one in run.documents if any(each["status"] == "out_of_memory" for each in one["rows"])
    )
    group = ran_out["group"]
    failed = next(each["label"] for each in ran_out["rows"] if each["status"] == "out_of_memory")
    name = " ".join(f"2{superscript(group[key])}" for key in ("total", "active", "block"))
    share = 100 * paired(row(ran_out, "AS7"), row(ran_out, "AS1")).value
    with opened(browser, alone["utilization"]) as page:
        choose_from(page, "utilization", "Total", str(group["total"]))
        table = heat(page, "utilization")
        assert cell(table, name, failed).inner_text() == "fail"
        assert cell(table, name, "AS7").inner_text() == f"{share:.0f}"
        assert cell(table, name, "AS1 ns").inner_text() == digits(row(ran_out, "AS1")["ns_per_event"])


def superscript(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def test_time_by_threads_with_failed_locks_beside(browser: Browser, alone: dict[str, Path]) -> None:
    run = sample_run("contention")
    ours = [one for one in run.documents if (one["group"]["iterations"], one["group"]["block"]) == (15, 6)]
    with opened(browser, alone["contention"]) as page:
        plot = part(page, "contention").locator(".js-plotly-plot")
        traces = plot.evaluate("plot => plot.data")
        time = next(one for one in traces if one["name"].startswith("AS1 ") and "xaxis" not in one)
        locks = next(one for one in traces if one["name"].startswith("AS1 ") and one.get("xaxis") == "x2")
        assert time["y"] == pytest.approx([row(one, "AS1")["wall_ns_per_event"] for one in ours], rel=1e-4)
        assert len(time["error_y"]["array"]) == len(ours)
        expected = [100 * row(one, "AS1")["failed_locks"] for one in ours]
        assert locks["y"] == pytest.approx(expected, rel=1e-3)
        assert "more threads than cores" in plot.inner_text()
        hidden = {one["name"] for one in traces if one["visible"] is not True}
        assert hidden.isdisjoint(one["name"] for one in traces if one.get("xaxis") == "x2")
        choose(page, "contention", "Failed locks")
        assert cell(heat(page, "contention"), "1", "AS1").inner_text() == f"{expected[0]:.1f}"


def test_tables_are_copied_as_csv(browser: Browser, alone: dict[str, Path]) -> None:
    of = document(sample_run("density"), structure="DS1", size=16)
    with opened(browser, alone["density"]) as page:
        page.evaluate("() => { navigator.clipboard.writeText = async text => { window.copied = text; }; }")
        choose(page, "density", "Absolute")
        part(page, "density").get_by_role("button", name="Copy as CSV").click()
        page.wait_for_function("window.copied")
        rows = list(csv.DictReader(io.StringIO(page.evaluate("window.copied"))))
    assert [one["size"] for one in rows] == [f"2^{size}" for size in range(6, 17)]
    assert float(rows[-1]["AS14"]) == pytest.approx(row(of, "AS14")["ns_per_event"], rel=1e-4)


def test_where_the_clipboard_is_closed_the_table_is_shown(browser: Browser, alone: dict[str, Path]) -> None:
    with opened(browser, alone["utilization"]) as page:
        page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
        part(page, "utilization").get_by_role("button", name="Copy as CSV").click()
        field = page.get_by_label("Table as CSV")
        assert field.input_value().startswith("T,A,S,AS1 ns,AS2")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out_sideways(browser: Browser, four: Path, width: int) -> None:
    with opened(browser, four, viewport={"width": width, "height": 768}) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def contrasts(page: Page) -> Iterator[float]:
    """Yield the contrast of the text and the colour of each coloured cell, as WCAG defines it."""

    def luminance(colour: str) -> float:
        channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    pairs = page.evaluate(
        "[...document.querySelectorAll('.heat td[style]')].map(cell => "
        "[getComputedStyle(cell).color, getComputedStyle(cell).backgroundColor])"
    )
    for pair in pairs:
        low, high = sorted(map(luminance, pair))
        yield (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_are_readable_on_every_colour(browser: Browser, four: Path, scheme: str) -> None:
    with opened(browser, four, color_scheme=scheme) as page:
        for figures in ("Ratio to AS1", "Absolute"):
            choose(page, "density", figures)
            found = list(contrasts(page))
            assert len(found) > 1000
            assert min(found) >= 4.5


def test_theme_is_changed_by_the_button_and_choices_stay(browser: Browser, alone: dict[str, Path]) -> None:
    with opened(browser, alone["density"], color_scheme="light") as page:
        show(page, "DS4")
        before = cell(heat(page, "density"), "2⁶", "AS7").evaluate("cell => cell.style.background")
        page.get_by_role("button", name="Dark").click()
        wait_until_drawn(page)
        assert heat(page, "density").locator("caption").inner_text().startswith("DS4")
        after = cell(heat(page, "density"), "2⁶", "AS7").evaluate("cell => cell.style.background")
        assert after != before


def test_a_run_that_is_not_complete_says_so(browser: Browser, tmp_path: Path) -> None:
    run = sample_run("density")
    part_of = replace(run, documents=run.documents[:7])
    with opened(browser, written(tmp_path / "part.html", [part_of])) as page:
        assert "7 of 132 groups" in page.locator(".head").inner_text()
        assert page.locator(".overview button").count() == 1


def test_names_are_text(browser: Browser, tmp_path: Path) -> None:
    run = sample_run("utilization")
    run.documents[0]["rows"][0] |= {"status": "failed", "reason": "<b>&amp;</script>"}
    with opened(browser, written(tmp_path / "names.html", [run])) as page:
        heat(page, "utilization").locator('[data-end="broke"]').focus()
        assert "<b>&amp;</script>" in page.get_by_role("tooltip").inner_text()


def test_pages_are_written_of_kept_results(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = []
    for benchmark in ("density", "contention"):
        run = sample_run(benchmark)
        kept.append(tmp_path / f"{benchmark}.jsonl")
        kept[-1].write_text("".join(json.dumps(line) + "\n" for line in (asdict(run.header), *run.documents)))
    table(kept, html=tmp_path / "page.html")
    assert "DS1, vector<int>" in capsys.readouterr().out, "tables are printed, too"
    with opened(browser, tmp_path / "page.html") as page:
        assert page.title() == "Benchmarks of P0089: density, contention"
        assert f"mallard bench table {kept[0]}" in page.locator("footer").inner_text()


def test_pages_that_cannot_be_written(tmp_path: Path) -> None:
    run = sample_run("contention")
    kept = tmp_path / "kept.jsonl"
    kept.write_text("".join(json.dumps(line) + "\n" for line in (asdict(run.header), *run.documents)))
    with pytest.raises(MallardError, match="absent"):
        table([kept], html=tmp_path / "absent" / "page.html")


def test_full_default_runs_stay_small_pages(four: Path) -> None:
    assert four.stat().st_size <= MOST_BYTES


def test_equal_runs_give_equal_pages() -> None:
    assert render(sample_runs(), "1.2.3", AGAIN) == render(sample_runs(), "1.2.3", AGAIN)
