"""Plans to measure: mallard's malloc with a plan's image, and the control, the same heap without routing.

    plan.toml --> Plan ----image----> FOLDER/0.image        LD_PRELOAD=libmallard-malloc.so
                   `--one pool for all that it routes-->    MALLARD_MALLOC_PLAN=FOLDER/0.image
                                      FOLDER/blind.image

What the control saves against glibc is due to the heap, and what the plan saves against the control is due
to the routing. A plan holds for one build of one program: its row says which, and the untimed round of
compare/rounds.py leaves it out where no process of the program is of that build. Images live as long as they
are measured.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from struct import Struct
from tempfile import TemporaryDirectory
from typing import BinaryIO

from mallard.compare.mallocs import PLAN_VARIABLE, Malloc
from mallard.native import MALLOC, malloc_library
from mallard.plan import Plan, Rule, image_of, read_plan

CONTROL = "blind"

# Of an ELF file of 64 bits: where its header has the program headers, one of them, the head of a note.
HEADERS = Struct("<32xQ14xHH6x")
PROGRAM_HEADER = Struct("<IIQQQQQQ")
NOTE = Struct("<III")
NOTES, BUILD_ID = 4, 3
MOST_NOTES = 1 << 16


@contextmanager
def planned(paths: Sequence[Path], control: bool = False) -> Iterator[list[Malloc]]:
    """Yield a row for each plan, and one for the control: of the first plan whose program has not changed.

    It has huge pages if any such plan has, so that none takes for its own what they bring.
    """
    plans = [read_plan(path) for path in paths]  # what is wrong with one is said before anything runs
    if not plans:
        yield []
        return
    with TemporaryDirectory(prefix="mallard-") as folder:
        names = ["plan"] if len(plans) == 1 else [path.stem for path in paths]
        rows = [
            row_of(plan, name, Path(folder) / f"{number}.image", str(path))
            for number, (plan, name, path) in enumerate(zip(plans, names, paths, strict=True))
        ]
        if control:
            fitting = [one for one in plans if build_id_of(one.program.path) == one.program.build_id] or plans
            heap = replace(blind(fitting[0]), huge_pages=any(one.huge_pages for one in fitting))
            rows.append(replace(row_of(heap, CONTROL, Path(folder) / "blind.image"), control=True))
        yield rows


def row_of(plan: Plan, name: str, image: Path, file: str = "") -> Malloc:
    """Write a plan's image; return the row that runs under it."""
    image.write_bytes(image_of(plan))
    settings = {PLAN_VARIABLE: str(image)}
    library, build = str(malloc_library(MALLOC)), plan.program.build_id
    changed = tuple(changed_files(plan))
    return Malloc(
        name,
        library,
        settings,
        plan=file,
        most_rss=plan.max_rss,
        build=build,
        changed=changed,
        huge_pages=plan.huge_pages,
    )


def changed_files(plan: Plan) -> list[str]:
    """Return the libraries whose files are of other builds than the plan names."""
    return [
        one.name
        for one in plan.modules[1:]
        if Path(one.path).is_file() and build_id_of(one.path) not in ("", one.build_id)
    ]


def blind(plan: Plan) -> Plan:
    """Return the plan that gives all blocks which the plan routes one pool."""
    routed = [rule for rule in plan.rules if rule.strategy != "default"]
    if not routed:
        return plan
    contexts = tuple(chain.from_iterable(rule.contexts for rule in routed))
    one_pool = Rule("pool", contexts, largest=max(rule.largest for rule in routed))
    unrouted = (rule for rule in plan.rules if rule.strategy == "default")
    return replace(plan, rules=(*unrouted, one_pool))


def build_id_of(path: str) -> str:
    """Return the build id of a program's file; empty if it has none, or is no ELF file of 64 bits."""
    try:
        with Path(path).open("rb") as file:
            return next(build_ids(file), "")
    except OSError:
        return ""


def build_ids(file: BinaryIO) -> Iterator[str]:
    """Yield the build ids among a file's notes."""
    head = file.read(HEADERS.size)
    if not re.match(rb"\x7fELF\x02\x01", head) or len(head) < HEADERS.size:
        return
    place, size, count = HEADERS.unpack(head)
    file.seek(place)
    table = file.read(size * count)
    for at in range(0, len(table) - PROGRAM_HEADER.size + 1, size or len(table)):
        kind, _, offset, _, _, length, _, align = PROGRAM_HEADER.unpack_from(table, at)
        if kind == NOTES:
            file.seek(offset)
            yield from ids_among(file.read(min(length, MOST_NOTES)), 8 if align == 8 else 4)


def ids_among(notes: bytes, align: int) -> Iterator[str]:
    """Yield the build ids of one segment of notes, whose parts are aligned."""
    at = 0
    while at + NOTE.size <= len(notes):
        name_size, size, kind = NOTE.unpack_from(notes, at)
        name = at + NOTE.size
        content = name + -(-name_size // align) * align
        if kind == BUILD_ID and notes[name : name + 4] == b"GNU\0":
            yield notes[content : content + size].hex()
        at = content + -(-size // align) * align
