"""A headless Chromium and the pages that are opened in it: what every test of the report stands on.

report_browser.py PAGE.html PICTURE.png [dark] [whole]     takes a picture of a report, as in README
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
LONGEST_MS = 60_000
# What Chromium says of its own drawing in software when surfaces or colours are read back.
OF_THE_DRIVER = ("warning: Canvas2D: Multiple readback", "warning: [.WebGL-")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium; root needs it without its sandbox."""
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, path: Path, **context: Any) -> Iterator[Page]:
    """Open a page from a file, wait until all is drawn; no error and no request but for the file itself."""
    with browser.new_context(**({"viewport": {"width": 1366, "height": 768}} | context)) as window:
        page = window.new_page()
        page.set_default_timeout(LONGEST_MS)
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("request", lambda request: complaints.append(f"request: {request.url}"))
        page.goto(path.as_uri())
        try:
            if context.get("java_script_enabled", True):
                wait_until_drawn(page)
            yield page
        finally:
            expected = (f"request: {path.as_uri()}", "request: blob:", *OF_THE_DRIVER)
            unexpected = [line for line in complaints if not line.startswith(expected)]
            if unexpected:
                raise AssertionError("\n".join(unexpected))


def wait_until_drawn(page: Page) -> None:
    """Wait until all charts of the journal that is shown are drawn."""
    page.wait_for_selector("html[data-ready=yes]", state="attached")


def part(page: Page, name: str) -> Locator:
    """Return all that a section has of its chart."""
    return page.locator(f'[data-part="{name}"]')


WIDTH, HEIGHT = 1200, 1180


def picture(
    page_file: Path, to: Path, scheme: str = "light", whole: bool = False, width: int = WIDTH
) -> None:
    """Write what a reader sees first, or the whole page."""
    view = {"width": width, "height": HEIGHT}
    with chromium() as browser, opened(browser, page_file, viewport=view, color_scheme=scheme) as page:
        page.screenshot(path=to, full_page=whole)


if __name__ == "__main__":
    picture(
        Path(sys.argv[1]).resolve(),
        Path(sys.argv[2]),
        "dark" if "dark" in sys.argv[3:] else "light",
        "whole" in sys.argv[3:],
    )
