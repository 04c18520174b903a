"""The report as a page in a browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from report_browser import chromium, opened
from report_sample import sample_call_tree, sample_profile, sample_replay

from mallard.report.data import JournalReport
from mallard.report.page import render


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a made-up journal."""
    path = tmp_path_factory.mktemp("report") / "sample.html"
    report = JournalReport(sample_profile(), sample_call_tree(), sample_replay(), "")
    path.write_text(render([report], "0.0.0", ["mallard", "report", "example.mlrd"]), encoding="utf-8")
    return path


def test_every_chart_is_drawn(browser: Browser, sample: Path) -> None:
    with opened(browser, sample) as page:
        charts = page.locator(".chart")
        assert charts.count() >= 1
        for number in range(charts.count()):
            assert charts.nth(number).locator("svg.main-svg").count() >= 1
