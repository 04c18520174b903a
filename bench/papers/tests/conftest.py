"""What the tests of the papers start from, and a browser for those of the page."""

import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from report_browser import chromium

# As in the root's conftest.py, which pytest does not look for above a project of its own.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium for all tests of the page."""
    with chromium() as running:
        yield running
