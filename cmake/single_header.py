"""The whole library as one header, for projects that copy what they use.

    single_header.py OUTPUT

Writes what include/mallard/mallard.hpp includes, each of our headers once and in its order, behind the
licence, the version and the standard's headers. Needs nothing but the checkout; the same checkout gives
the same text.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = re.compile(r'#include "(mallard/[^"]+)"')
SYSTEM = re.compile(r"#include <[^>]+>")
CONDITION = re.compile(r"#\s*(if|endif)")
VERSION = re.compile(r"define MALLARD_VERSION_\w+ (\d+)")


class Amalgam:
    """Headers in the order in which a compiler would reach them."""

    def __init__(self, include: Path) -> None:
        self.include = include
        self.system: set[str] = set()
        self.seen: set[str] = set()

    def text_of(self, name: str) -> Iterator[str]:
        """The lines of a header, those of what it includes first; none if it has been seen."""
        if name in self.seen:
            return
        self.seen.add(name)
        own: list[str] = []
        depth = 0  # of conditions: what is included under one stays there
        for line in (self.include / name).read_text(encoding="utf-8").splitlines():
            if found := CONDITION.match(line):
                depth += 1 if found[1] == "if" else -1
            if included := OWN.match(line):
                if depth != 0:
                    raise ValueError(f"{name} includes {included[1]} under a condition")
                yield from self.text_of(included[1])
            elif SYSTEM.match(line) and depth == 0:
                self.system.add(line)
            elif line != "#pragma once":
                own.append(line)
        if all(not line or line.startswith("//") for line in own):
            return  # it only includes others
        yield f"\n// --- {name} " + "-" * max(0, 100 - len(name)) + "\n"
        yield from "\n".join(own).strip().splitlines()


def single_header(root: Path) -> str:
    """The text of the one header."""
    amalgam = Amalgam(root / "include")
    body = "\n".join(amalgam.text_of("mallard/mallard.hpp"))
    version = ".".join(
        VERSION.findall((root / "include/mallard/core/version.hpp").read_text(encoding="utf-8"))
    )
    licence = (root / "LICENSE").read_text(encoding="utf-8").strip().splitlines()
    head = [
        f"mallard {version}: local allocators, in one header. Made of include/mallard/mallard.hpp.",
        "",
        *licence,
    ]
    comment = "\n".join(f"// {line}".rstrip() for line in head)
    body = re.sub(r"\n{3,}", "\n\n", body)
    return f"{comment}\n#pragma once\n\n" + "\n".join(sorted(amalgam.system)) + f"\n{body}\n"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    output = parser.parse_args().output
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(single_header(ROOT), encoding="utf-8")
    except OSError as error:
        print(f"single_header.py: cannot write {output}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
