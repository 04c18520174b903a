"""The mallocs that a program is measured under, and the environment that puts each in force.

    "jemalloc"                             a name of src/harness/foreign_malloc.cpp, where all of them stand
    "./libmine.so"                         a library that defines malloc
    "MALLOC_CONF=narenas:1 jemalloc"       either of them with variables before it, as in a shell

A name without a file is looked for in this installation, then by the dynamic linker.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from mallard import MallardError, _native
from mallard.native import tool

BASE = "glibc"  # what the others are compared with: the program as it comes
AGAIN = " a/a"  # after the name of a malloc that is measured a second time
PRELOAD = "LD_PRELOAD"
PLAN_VARIABLE = "MALLARD_MALLOC_PLAN"
IN_HUGE_PAGES = "MALLARD_MALLOC_HUGE_PAGES=1 mallard"  # what a plan in huge pages has to beat
# Variables that choose or tune a malloc of the C library, or route ours: a shell's do not reach the program.
OWN_SETTINGS = (
    PRELOAD,
    "GLIBC_TUNABLES",
    PLAN_VARIABLE,
    "MALLOC_ARENA_MAX",
    "MALLOC_ARENA_TEST",
    "MALLOC_CHECK_",
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_PERTURB_",
    "MALLOC_TOP_PAD_",
    "MALLOC_TRIM_THRESHOLD_",
)


@dataclass(frozen=True, slots=True)
class Malloc:
    """One malloc: what to preload, and what else stands in the environment."""

    name: str
    library: str = ""  # its file; empty: the C library's own
    settings: dict[str, str] = field(default_factory=dict)
    repeated: bool = False  # the base, measured a second time
    plan: str = ""  # the file of the plan that it runs under, if it is under one
    most_rss: float = inf  # of the base's, what this plan was made to stay below
    build: str = ""  # build id of the program that this plan is for
    changed: tuple[str, ...] = ()  # libraries whose files are of other builds than this plan names
    control: bool = False  # the plan's heap without its routing
    huge_pages: bool = False  # whether the plan asks for them

    def environment(self, behind: str = "") -> dict[str, str]:
        """Return the variables that put it in force, and load another library behind it."""
        objects = " ".join(filter(None, (self.library, behind)))
        return {**self.settings, **({PRELOAD: objects} if objects else {})}


def chosen(
    texts: Sequence[str], again: bool, beside: Sequence[Malloc] = (), but: Sequence[str] = ()
) -> list[Malloc]:
    """Return glibc, and those that are meant by the texts: by default all that are installed, `but` these.

    Those `beside` them follow, and, with `again`, glibc's second measurement. By default mallard's malloc
    stands there in huge pages as well, if a plan beside asks for them.
    """
    known = {one["name"]: one for one in _native.mallocs()}
    files = libraries(one["object"] for one in known.values())
    wanted = texts or [
        *(
            name
            for name, one in known.items()
            if name not in but and (not one["object"] or files[one["object"]])
        ),
        *([IN_HUGE_PAGES] if any(one.huge_pages for one in beside) else []),
    ]
    found: dict[str, Malloc] = {}
    for text in [BASE, *wanted]:
        settings, name = parsed(text)
        one = known.get(name)
        if one is None:
            found[text] = Malloc(text if settings else Path(name).name, file_of(name, known), settings)
        else:
            tuned = dict([one["tunables"].split("=", 1)]) if one["tunables"] else {}
            found[text] = Malloc(text, installed(one, files), tuned | settings)
    rows = [*found.values(), *beside, *([Malloc(BASE + AGAIN, repeated=True)] if again else [])]
    alike(rows)
    return rows


def parsed(text: str) -> tuple[dict[str, str], str]:
    """Return the variables before a name, and the name."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise MallardError(f"--malloc {text}: {error}") from error
    if not words or any("=" not in word for word in words[:-1]):
        raise MallardError(
            f"--malloc {text!r}: write a name or a library, with variables before it: A=1 glibc"
        )
    settings = dict(word.split("=", 1) for word in words[:-1])
    if PRELOAD in settings:
        raise MallardError(f"--malloc {text}: name the library in place of {PRELOAD}")
    return settings, words[-1]


def alike(mallocs: Iterable[Malloc]) -> None:
    """Refuse two rows of one name."""
    names = [one.name for one in mallocs]
    if twice := {name for name in names if names.count(name) > 1}:
        raise MallardError(
            f"two libraries or plans are called {', '.join(sorted(twice))}: rename one or link to it"
        )


def file_of(name: str, known: Iterable[str]) -> str:
    """Return the path of a library that the user names."""
    if "/" in name or re.search(r"\.so(\.|$)", name):
        if Path(name).is_file():
            path = str(Path(name).absolute())
            if re.search(r"[\s:]", path):
                raise MallardError(
                    f"--malloc {name}: {PRELOAD} separates names by blanks and colons; rename it"
                )
            return path
        if "/" not in name and (file := libraries([name])[name]):
            return file
        raise MallardError(f"--malloc {name}: no such library")
    raise MallardError(f"--malloc {name}: not known; a library's file or one of {', '.join(known)}")


def installed(one: dict[str, str], files: dict[str, str]) -> str:
    """Return the file of a known malloc, which may be missing."""
    if one["object"] and not files[one["object"]]:
        way = f"apt install {one['package']}" if one["package"] else "this installation has none"
        raise MallardError(f"--malloc {one['name']}: {one['object']} is not there: {way}")
    return files[one["object"]]


def libraries(objects: Iterable[str]) -> dict[str, str]:
    """Return where objects are: in this installation, or where the dynamic linker finds them; else empty.

    The linker is asked to list what it would load into Python, without running it.
    """
    found = {name: own_library(name) for name in objects}
    asked = [name for name, file in found.items() if name and not file]
    environment = {**os.environ, "LD_TRACE_LOADED_OBJECTS": "1", PRELOAD: " ".join(asked)}
    listed = subprocess.run([sys.executable], env=environment, capture_output=True, text=True, check=False)
    told = dict(re.findall(r"(?m)^\s*(\S+) => (/.*) \(0x", listed.stdout))
    return found | {name: told.get(name, "") for name in asked}


def own_library(name: str) -> str:
    """Return where this installation has a library that it loads into programs; empty if it has none."""
    folder = Path(tool("mallard-launch")).resolve().parent
    places = (folder / name, folder.parent / "lib/mallard" / name)
    return next((str(place) for place in places if name and place.is_file()), "")
