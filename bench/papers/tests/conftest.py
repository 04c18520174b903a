"""A browser for the tests of the page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from report_browser import chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium for all tests of the page."""
    with chromium() as running:
        yield running
