"""Makes the listings of docs/fast-paths.md from what the compiler makes of fast_paths/fast_paths.cpp.

A listing stands between `<!-- NAME -->` and `<!-- end -->`. Without options it tells what differs, with exit
code 1; with --write it writes the listings anew.
"""

import argparse
import difflib
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from callgrind import COMPILER, INCLUDE, CountError, run
from listing import functions, listing

SOURCE = Path(__file__).with_name("fast_paths") / "fast_paths.cpp"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "fast-paths.md"

PLACE = re.compile(r"^<!-- (?!end )(\w+) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
NOTATION = ("-S", "-masm=intel")


class PageError(Exception):
    """The page and the functions do not fit together."""


def compiled() -> dict[str, list[str]]:
    """Return the functions as the compiler makes them, with readable names inside."""
    assembly = run(*COMPILER, *NOTATION, "-I", str(INCLUDE), str(SOURCE), "-o", "-")
    named = subprocess.run(("c++filt",), input=assembly, check=True, capture_output=True, text=True).stdout
    return functions(named)


def with_listings(page: str, bodies: Mapping[str, list[str]]) -> str:
    """Return the page with every listing as the compiler makes it."""

    def made(place: re.Match[str]) -> str:
        if place[1] not in bodies:
            raise PageError(f"the page names {place[1]}, which is no function of {SOURCE.name}")
        return f"<!-- {place[1]} -->\n```asm\n{listing(place[1], bodies[place[1]])}\n```\n<!-- end -->"

    return PLACE.sub(made, page)


def main(given: Sequence[str]) -> int:
    """Compare the page, or write it."""
    parser = argparse.ArgumentParser(description="Hold docs/fast-paths.md to what the compiler makes.")
    parser.add_argument("--write", action="store_true", help="write the page's listings anew")
    wanted = parser.parse_args(given)
    page = PAGE.read_text(encoding="utf-8")
    made = with_listings(page, compiled())
    if wanted.write:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(page.splitlines(True), made.splitlines(True), "page", "compiler")
    )
    return 1 if page != made else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (CountError, PageError, OSError) as reason:
        print(f"fast_paths: {reason}", file=sys.stderr)
        sys.exit(2)
