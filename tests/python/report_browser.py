"""A headless Chromium and the pages that are opened in it: what every test of the report stands on.

report_browser.py PAGE.html PICTURE.png [dark] [whole]     takes a picture of a report, as in README
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, sync_playwright
from playwright.sync_api import TimeoutError as BrowserTimeout

CHROMIUM = "/usr/bin/chromium-headless-shell"
# No page takes that long, however busy the machine is: what waits longer is stuck.
LONGEST_MS = 300_000
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
    try:
        page.wait_for_selector("html[data-ready=yes]", state="attached")
    except BrowserTimeout as late:
        late.add_note("\n".join(["Chromium's processes:", *processes_below(os.getpid())]))
        with suppress(BrowserTimeout):  # if it is stuck, it does not answer
            late.add_note(f"the page: {page.wait_for_function(STATE, timeout=5_000).json_value()}")
        raise


# How far the page has come, asked for once it is late.
STATE = """() => [document.readyState, document.documentElement.dataset.ready, typeof Plotly,
  [...document.querySelectorAll("[data-part]")].map((at) => `${at.dataset.part} ${at.childElementCount}`)]"""


def processes_below(ancestor: int) -> list[str]:
    """Say of each descendant whether it ran, and how long it waited for a processor."""
    lines: list[tuple[int, str]] = []
    parents: dict[int, int] = {}
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda folder: int(folder.name)):
        with suppress(OSError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            parents[int(folder.name)] = int(parent)
            ran, waited = (int(word) / 1e9 for word in (folder / "schedstat").read_text().split()[:2])
            words = (folder / "cmdline").read_text().replace("\0", " ").split()
            kind = next((word for word in words if word.startswith("--type=")), " ".join(words[:1]))
            lines.append((int(folder.name), f"{state} ran {ran:.1f} s, waited {waited:.1f} s: {kind}"))

    def is_below(process: int) -> bool:
        return process == ancestor or (process in parents and is_below(parents[process]))

    return [line for process, line in lines if is_below(process)]


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
