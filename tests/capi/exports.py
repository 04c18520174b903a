"""What libmallard shows to programs and needs: the functions of mallard.h, each in a version, and libc.

exports.py --header mallard.h LIBRARY.so LIBRARY.a     prints each violation; exit code 1 if there is one

The archive may show what the library in C++ shares with the program around it besides.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# Declared, not defined: a function's name before its bracket, after what the header marks exports by.
DECLARED = re.compile(r"^MALLARD_API\b[^(;]*?\b(mallard_\w+)\(", re.MULTILINE)
VERSION = re.compile(r"MALLARD_\d+\.\d+")
# What lies in the archive besides: templates and variables of our library in C++ and of the standard
# one, shared with a program in C++ that has them too.
SHARED_WITH_CPP = re.compile(r"_Z\w*7mallard|_ZZ?N?K?St\d?|_ZNK?9__gnu_cxx")
OURS = re.compile(r"libmallard\.so\.\d+")
# What the library may need of a system: libc, with the loader, where variables of threads are looked up.
NEEDED = re.compile(r"libc\.so\.\d+|ld-linux.*\.so\.\d+")


def output(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def dynamic(library: Path, tag: str) -> list[str]:
    """The values of a tag of the dynamic section."""
    return re.findall(rf"\({tag}\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", str(library)))


def exported(library: Path) -> dict[str, str]:
    """Each symbol that a shared library defines for others, with its version; "" without."""
    lines = output("nm", "--dynamic", "--defined-only", "--with-symbol-versions", str(library)).splitlines()
    names = (line.split()[-1].partition("@") for line in lines)
    return {name: version.lstrip("@") for name, _, version in names if not VERSION.fullmatch(name)}


def visible(archive: Path) -> set[str]:
    """The symbols of an archive that a program which has it inside would export."""
    lines = output("readelf", "--symbols", "--wide", str(archive)).splitlines()
    fields = [line.split() for line in lines]
    defined = [f for f in fields if len(f) == 8 and f[6] != "UND"]
    return {f[7] for f in defined if f[4] in {"GLOBAL", "WEAK"} and f[5] == "DEFAULT"}


def violations(header: Path, library: Path, archive: Path) -> Iterator[str]:
    """What is shown and must not be, or the other way round."""
    functions = set(DECLARED.findall(header.read_text(encoding="utf-8")))
    if not functions:
        yield f"{header} declares no function"
    found = exported(library)
    for name in sorted(functions - found.keys()):
        yield f"{library.name} lacks {name}, which the header declares"
    for name, version in sorted(found.items()):
        if name not in functions:
            yield f"{library.name} exports {name}, which the header does not declare"
        if not VERSION.fullmatch(version):
            yield f"{library.name}: {name} has no version"
    if not all(OURS.fullmatch(name) for name in dynamic(library, "SONAME")) or not dynamic(library, "SONAME"):
        yield f"{library.name} has no name for programs to ask for"
    for name in dynamic(library, "NEEDED"):
        if not NEEDED.fullmatch(name):
            yield f"{library.name} needs {name}"
    shown = visible(archive)
    for name in sorted(functions - shown):
        yield f"{archive.name} lacks {name}, which the header declares"
    for name in sorted(shown - functions):
        if not SHARED_WITH_CPP.match(name):
            yield f"{archive.name} shows {name}"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--header", required=True, type=Path)
    parser.add_argument("library", type=Path)
    parser.add_argument("archive", type=Path)
    arguments = parser.parse_args()
    found = list(violations(arguments.header, arguments.library, arguments.archive))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
