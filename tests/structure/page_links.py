"""Every link of a page leads to a file of the tree, and to a heading if it names one.

page_links.py [ROOT]     prints each link of a *.md file that leads nowhere; exit code 1 if there is one
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import tree_check

LINK = re.compile(r"\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
ELSEWHERE = ("http://", "https://", "mailto:")


def violations(root: Path) -> Iterator[str]:
    """Links that lead nowhere, in the order of pages."""
    for page in sorted(tree_check.files(root, {".md"})):
        name = page.relative_to(root)
        for link in LINK.findall(prose(page)):
            path, _, heading = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if link.startswith(ELSEWHERE):
                continue
            if not target.exists():
                yield f"{name.as_posix()}: {link} leads to no file"
            elif heading and heading not in anchors(target):
                yield f"{name.as_posix()}: {link} leads to no heading"


def prose(page: Path) -> str:
    """A page without its examples."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The names of a page's headings in links."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(prose(page)))
    return {heading.replace(" ", "-") for heading in plain}


if __name__ == "__main__":
    sys.exit(tree_check.main(violations, sys.argv[1:]))
