"""Takes a picture of a report, as in README: report_picture.py PAGE.html PICTURE.png [dark] [whole]."""

import sys
from pathlib import Path

from report_browser import chromium, opened

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
