"""The programs whose best strategy is known, and why it is the best.

A program is a case of a source in programs/. Its subsystem is what the functions named here allocate; all
else are neighbours. `right` are the strategies that are right for it, in the words of `mallard advise`, with
`malloc` for another malloc under the whole program. None of them: there is nothing to gain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "programs"
INPUTS = ("small", "large")

NOTHING = "nothing"
MALLOC = "malloc"
APART = frozenset({"pool", "multipool"})  # memory of its own, whose blocks are used again one by one
BUMPED = frozenset({"region", "reap"})  # one block after the other, until the last has ended


@dataclass(frozen=True)
class Truth:
    """A program, its subsystem, and what is right for that."""

    name: str  # the case
    source: str
    functions: Sequence[str]
    right: frozenset[str]
    because: str

    @property
    def is_control(self) -> bool:
        """Whether there is nothing to gain."""
        return not self.right

    @property
    def wanted(self) -> str:
        """Return what is right, in a few words."""
        return " or ".join(sorted(self.right)) or NOTHING


TRUTHS = [
    Truth(
        "subsystems",
        "apart.cpp",
        ("registry::add", "registry::renew"),
        frozenset({"instances"}),
        "60 registries of one class are filled in turn and read one after the other: only memory of its own"
        " for each instance makes a walk meet nothing else, and the code is the same for all of them.",
    ),
    Truth(
        "kinds",
        "apart.cpp",
        ("registry::add", "registry::renew"),
        APART | {"adaptive_pool"},
        "Six registries, each of a class of its own, are filled in turn and read one after the other: the"
        " code tells them apart, and the entries of each have one size.",
    ),
    Truth(
        "long_lived",
        "apart.cpp",
        ("summarise",),
        APART | {"adaptive_pool", "monotonic", "region", "reap"},
        "One summary stays in each page of rows that go: any memory of their own brings summaries together,"
        " since they are made once and walked 400 times.",
    ),
    Truth(
        "phases",
        "apart.cpp",
        ("phase",),
        APART | {"leave", MALLOC},
        "Eight phases allocate from eight sites, and few blocks of each stay: a pool for each phase would"
        " keep eight peaks, so that only pools which several phases share stay within the limit.",
    ),
    Truth(
        "parser",
        "lifetimes.cpp",
        ("parse", "formula", "term"),
        BUMPED,
        "All nodes of a tree end when parse() returns: a region takes them one behind the other, frees"
        " nothing by itself, and begins anew with each tree; monotonic memory would never come back.",
    ),
    Truth(
        "churn",
        "lifetimes.cpp",
        ("make_thing", "things::turn", "things::things"),
        APART | {"adaptive_pool"},
        "Blocks of four classes, each of one size, end at random: a list of free blocks of that size serves"
        " each request in a few instructions, and no block is ever split or merged.",
    ),
    Truth(
        "mixed",
        "lifetimes.cpp",
        ("make_block",),
        frozenset({MALLOC, "multipool", "best_fit"}),
        "Blocks of 16 bytes to 32 KiB end at random: no one size, no common end, no order, which is what"
        " general heaps are for; blocks above 1 KiB are out of a plan's reach.",
    ),
    Truth(
        "fifo",
        "lifetimes.cpp",
        ("write_message",),
        BUMPED | APART | {MALLOC},
        "Messages end in the order in which they were made, and the queue runs empty between bursts: blocks"
        " one behind the other are read as they lie, and all memory is free again at each end of a burst."
        " Mallocs with lists by size take a half of glibc's CPU time here, as a plan's pool does.",
    ),
    Truth(
        "kept",
        "lifetimes.cpp",
        ("make_entry",),
        frozenset({"monotonic", "region", "reap"}),
        "Entries stay until the program ends: nothing is used again, so that nothing has to be remembered"
        " of free memory, and the frees at the end need not be made.",
    ),
    Truth(
        "small_vectors",
        "growth.cpp",
        ("tag_record",),
        frozenset({"small-buffer"}),
        "Vectors have one or two elements of 4 bytes: inside the vector they need no block, and no"
        " allocation is cheaper than none.",
    ),
    Truth(
        "growing_vectors",
        "growth.cpp",
        ("collect_samples",),
        frozenset({"reserve", "grow-in-place"}),
        "The number of samples is known before the first is taken: reserved, a vector has one block in"
        " place of eight, and copies nothing; grown in place, it has one block as well.",
    ),
    Truth(
        "pipeline",
        "threads.cpp",
        ("write_message",),
        frozenset({"thread-pool", MALLOC}),
        "Each message is made by one thread and freed by another: a pool of the thread that makes them gets"
        " them back without a lock, where glibc takes that of the arena; other mallocs do the same.",
    ),
    Truth(
        "workers",
        "threads.cpp",
        ("make_task", "make_reply"),
        frozenset({"thread-pool", MALLOC}),
        "Each of four threads has objects of two sizes that end at random: lists of free blocks of its own"
        " serve each request without a lock; other mallocs do the same.",
    ),
    Truth(
        "scratch",
        "plain.c",
        ("take_scratch", "evaluate"),
        frozenset({"stack"}),
        "Buffers end in the reverse order of their making: the memory of the last is on top, so that to"
        " take and to free is to move one pointer, and what is free is one piece.",
    ),
    Truth(
        "strings",
        "plain.c",
        ("append_text",),
        frozenset({"reserve", "grow-in-place", "best_fit"}),
        "48 texts grow a few bytes at a time by realloc, in turn: nearly each step moves the text, so that"
        " room taken ahead, or a heap that grows blocks where they are, saves the copies.",
    ),
    Truth(
        "compute",
        "plain.c",
        ("solve",),
        frozenset(),
        "Nothing is allocated.",
    ),
    Truth(
        "little",
        "plain.c",
        ("take_sample",),
        frozenset(),
        "5,000 blocks in half a second: all of their allocation is below a hundredth of a per cent of the"
        " CPU time.",
    ),
]
