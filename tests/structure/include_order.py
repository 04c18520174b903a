"""The include order: a lower room never includes an upper one.

    include_order.py [ROOT]     prints each violation as PATH:LINE: REASON; exit code 1 if there is one

Rooms are folders. Each names the rooms it may include beside itself; for the rooms that run in other
people's programs or are shipped, the system's headers are limited as well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import tree_check

LIBRARY = ["core", "source", "debug", "layer", "thread", "heap", "resource", "allocator"]  # lower to upper
LIBRARY_ROOMS = [f"include/mallard/{room}" for room in LIBRARY]
SUFFIXES = {".hpp", ".cpp", ".h", ".c"}
INCLUDE = re.compile(r'\s*#\s*include\s*(?:"(?P<own>[^"]+)"|<(?P<system>[^>]+)>)')

# The C++20 library: any name without a suffix, the C headers by their C++ names included.
STANDARD = re.compile(r"[a-z_0-9]+")
# What needs no C++ runtime: compile-time and freestanding parts, and libc by its C++ names.
RUNTIME_FREE = re.compile(
    r"atomic|bit|compare|concepts|initializer_list|limits|new|source_location|span|type_traits|utility|version"
    r"|array|algorithm|cerrno|climits|cstdarg|cstddef|cstdint|cstdio|cstdlib|cstring|ctime"
)
# libc and the kernel's interface.
LIBC = re.compile(
    r"(dlfcn|elf|errno|fcntl|features|limits|link|malloc|obstack|poll|pthread|sched|semaphore|signal|spawn|stdarg|stddef"
    r"|stdint|stdio|stdlib|string|time|ucontext|unistd)\.h"
    r"|(sys|linux|asm|gnu)/[a-z_0-9-]+\.h"
)


@dataclass(frozen=True)
class Rule:
    """What a room may include: other rooms, and system headers by their whole names (None: any)."""

    rooms: list[str]
    system: list[re.Pattern[str]] | None = None


LIBRARY_RULES = {room: Rule(LIBRARY_ROOMS[:rank], [STANDARD]) for rank, room in enumerate(LIBRARY_ROOMS)}
# The operating system gives memory, and says what a process did wrong and when a thread ends.
for room in ("source", "debug", "thread"):
    rank = LIBRARY.index(room)
    LIBRARY_RULES[LIBRARY_ROOMS[rank]] = Rule(LIBRARY_ROOMS[:rank], [STANDARD, LIBC])

# What only some heaps are made of lies in a folder of the first one's name, and no other file may include it.
HEAP_PARTS = {
    "adaptive_pool": ["adaptive_pool", "adaptive_multipool", "synchronized_adaptive_pool"],
    "best_fit": ["best_fit", "synchronized_best_fit"],
    "multipool": ["multipool"],
    "sized_reap": ["sized_reap"],
}
OWNERS = {
    f"include/mallard/heap/{folder}": {f"include/mallard/heap/{heap}.hpp" for heap in heaps}
    for folder, heaps in HEAP_PARTS.items()
}
LIBRARY_RULES |= dict.fromkeys(OWNERS, LIBRARY_RULES["include/mallard/heap"])

# What one file alone may include beside what its room may: the compiler's unwinder behind one door, what the
# C library says of threads behind another, and a file that does not exist where the C++ is too old.
OF_ONE_FILE = {
    "include/mallard/debug/call_place.hpp": re.compile(r"unwind\.h"),
    "include/mallard/core/light_mutex.hpp": re.compile(r"sys/single_threaded\.h"),
    "include/mallard/core/version.hpp": re.compile(r"needs-c\+\+20"),
}

# What enters the recorded program: libc, and the parts of the library that say what a record looks like.
PRELOAD = Rule(
    ["include/mallard/core", "include/mallard/journal", "src/journal/spool", "src/unwind"],
    [RUNTIME_FREE, LIBC],
)
# The annotations are for programs in C, and need none of the library.
ANNOTATE = Rule([], [re.compile(r"stddef\.h")])
# The library's face for C: what C itself has.
C_FACE = Rule([], [re.compile(r"(stdbool|stddef|string)\.h")])
PRELOAD_ROOM = "src/recorder/preload"
IN_THE_PROGRAM = [*PRELOAD.rooms, "include/mallard/annotate.h", "src/recorder"]
# Lower to upper; the program comes in by those of one line, none of which includes another.
PRELOAD_ORDER = [
    ["state"],
    ["spool"],
    ["stack"],
    ["thread"],
    ["event"],
    ["malloc", "region", "process"],
    ["recording"],
]
PRELOAD_RULES = {
    f"{PRELOAD_ROOM}/{folder}": Rule(
        [*IN_THE_PROGRAM, *(f"{PRELOAD_ROOM}/{lower}" for floor in PRELOAD_ORDER[:rank] for lower in floor)],
        PRELOAD.system,
    )
    for rank, floor in enumerate(PRELOAD_ORDER)
    for folder in floor
}
EVERYTHING_SHIPPED = [*LIBRARY_ROOMS, "include/mallard/journal", "include/mallard"]


def floors(house: str, names: list[str], below: list[str]) -> dict[str, Rule]:
    """Rules for the folders of a house, lower to upper, and for its loose files, above them all."""
    rooms = [f"{house}/{name}" for name in names]
    return {room: Rule([*below, *rooms[:rank]]) for rank, room in enumerate([*rooms, house])}


JOURNAL_RULES = floors(
    "src/journal", ["spool", "bytes", "events", "binary", "drain", "text"], EVERYTHING_SHIPPED
)

# The longest matching folder is a file's room.
RULES: dict[str, Rule] = {
    **LIBRARY_RULES,
    "include/mallard/journal": Rule(["include/mallard/core"], [STANDARD]),
    "include/mallard": Rule([*LIBRARY_ROOMS, "include/mallard/journal"], [STANDARD]),
    "include/mallard/annotate.h": ANNOTATE,
    "include/mallard.h": C_FACE,
    "src/capi": Rule([*LIBRARY_ROOMS, "include/mallard.h"], [STANDARD]),
    "src/malloc": Rule([*LIBRARY_ROOMS, "src/unwind"], [RUNTIME_FREE, re.compile(r"mutex"), LIBC]),
    **JOURNAL_RULES,
    "src/journal/spool": Rule(["include/mallard/core", "include/mallard/journal"], PRELOAD.system),
    "src/profile": Rule([*EVERYTHING_SHIPPED, *JOURNAL_RULES]),
    "src/symbols": Rule([*EVERYTHING_SHIPPED, *JOURNAL_RULES]),
    "src/harness": Rule([*EVERYTHING_SHIPPED, *JOURNAL_RULES]),
    "src/recorder": PRELOAD,  # shared by both of its sides, so as strict as the preloaded one
    PRELOAD_ROOM: Rule([], []),  # its files lie in its folders
    **PRELOAD_RULES,
    "src/unwind": Rule(["include/mallard/core"], PRELOAD.system),
    "src/recorder/launcher": Rule([*EVERYTHING_SHIPPED, *JOURNAL_RULES, "src/harness", "src/recorder"]),
    **floors(
        "src/replay",
        ["trace", "latency", "run", "allocator", "region", "session", "output"],
        [*EVERYTHING_SHIPPED, *JOURNAL_RULES, "src/profile", "src/harness"],
    ),
}


def room_of(path: str) -> str | None:
    """The room a path, relative to the root, lies in; a file can be a room of its own."""
    folders = [room for room in RULES if path == room or path.startswith(room + "/")]
    return max(folders, key=len, default=None)


def resolve(root: Path, name: str) -> str | None:
    """The file an include in quotes means: only the two include roots count, never the own folder."""
    for base in ("include", "src"):
        if (root / base / name).is_file():
            return f"{base}/{name}"
    return None


def complaint(root: Path, name: str, room: str, own: str | None, system: str | None) -> str | None:
    """Why this file of this room may not include this, if so."""
    rule = RULES[room]
    if system is not None:
        if name in OF_ONE_FILE and OF_ONE_FILE[name].fullmatch(system):
            return None
        if rule.system is not None and not any(p.fullmatch(system) for p in rule.system):
            return f"{room} may not include <{system}>"
        return None
    target = resolve(root, own or "")
    if target is None:
        return f'"{own}" is no file below include/ or src/'
    other = room_of(target)
    if other is None or other == room or name in OWNERS.get(other, set()):
        return None
    if other not in rule.rooms:
        return f"{room} may not include {target}, which is in {other}"
    return None


def circle(rules: dict[str, Rule]) -> list[str]:
    """Rooms that may include each other, one by way of the next; none if the table is an order."""
    try:
        TopologicalSorter({room: {*rule.rooms} - {room} for room, rule in rules.items()}).prepare()
    except CycleError as found:
        rooms: list[str] = found.args[1]
        return rooms
    return []


def violations(root: Path) -> Iterator[str]:
    """Every include below include/ and src/ that breaks the order, and a table that is none."""
    if rooms := circle(RULES):
        yield f"the table lets rooms include each other: {', '.join(rooms)}"
    for base in ("include", "src"):
        for path in sorted((root / base).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            name = path.relative_to(root).as_posix()
            room = room_of(name)
            if room is None:
                yield f"{name}:1: the folder has no line in the table of rooms"
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if found := INCLUDE.match(line):
                    reason = complaint(root, name, room, found["own"], found["system"])
                    if reason is not None:
                        yield f"{name}:{number}: {reason}"


if __name__ == "__main__":
    sys.exit(tree_check.main(violations, sys.argv[1:]))
