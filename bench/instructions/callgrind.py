"""Builds the program, runs it under callgrind, and reads what it counted.

Of recorded programs mallard-replay counts, over the whole of a journal. It is the installed one, not one
built here: what is compared is counted in the same run of it. That takes a few seconds a journal.
"""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rows import Counted, Key

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
INCLUDE = ROOT / "include"
# The library for C, compiled on its own as its users get it.
FOR_C = ROOT / "src" / "capi"
HARNESS = ROOT / "src" / "harness"
# As it is installed.
MALLOC = ROOT / ".venv" / "lib" / "mallard" / "libmallard-malloc.so"

SUFFIXES = {".cpp", ".hpp", ".h"}

# gcc inlines less in a unit that has grown much: what a heap counts would depend on the others in its file.
COMPILER = ("g++-12", "-std=c++20", "-O2", "-DNDEBUG", "--param=inline-unit-growth=1000")
# Bound at once, so that no count holds the search for a function of a library.
LINKED_WITH = ("-lboost_container", "-Wl,-z,now")
# The program turns the collection on by itself.
COUNTER = (
    "valgrind",
    "-q",
    "--tool=callgrind",
    "--collect-atstart=no",
    "--collect-systime=yes",
    "--combine-dumps=yes",
)

# The C library chooses a way to copy memory by the processor it finds; this is the one for any x86-64.
# Some count a byte as an instruction, and from which size on depends on the caches.
WITHOUT = ("AVX512F", "AVX512VL", "AVX2", "AVX", "AVX_Fast_Unaligned_Load", "SSSE3", "ERMS", "FSRM")
TUNABLES = (
    "glibc.cpu.hwcaps=" + ",".join(f"-{name}" for name in WITHOUT),
    f"glibc.cpu.x86_non_temporal_threshold={1 << 30}",
)

ENVIRONMENT = {"PATH": os.environ["PATH"], "GLIBC_TUNABLES": ":".join(TUNABLES)}

# What a row may tell besides instructions: 1 if the system was called in a stretch, else 0. How often is not
# known: callgrind then adds those before it.
SYSTEM_CALLS = "system calls"

TIMEOUT = 600

DUMP = re.compile(
    r"^desc: Trigger: Client Request: (.+)$\n(?:.*\n)*?^totals: (\d+)(?: (\d+))?.*$", re.MULTILINE
)


class CountError(Exception):
    """The program could not be built, run or understood."""


def count(folder: Path, placed: int = 0) -> list[Counted]:
    """Build the program and return what it counts; `folder` takes what is made on the way.

    `placed`: how many pages behind the usual place the heaps have their memory.
    """
    return count_in(folder, built(folder), str(placed))


def built(folder: Path) -> Path:
    """Return the program, built in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "instructions"
    build(program)
    return program


def of_mallocs(folder: Path) -> Iterator[list[Counted]]:
    """Yield what the program counts of malloc and free: the C library's, and those that are preloaded."""
    if not MALLOC.exists():
        raise CountError(f"{MALLOC} is not there: it comes with ./dev instructions")
    for preload in (None, MALLOC):
        yield count_in(folder, built(folder), "0", "0", "malloc_pairs", preload=preload)


def count_in(
    folder: Path, program: Path, *arguments: str, preload: Path | None = None, **environment: str
) -> list[Counted]:
    """Return what a program counts that is given these arguments, in this environment."""
    dumps = folder / "callgrind.out"
    dumps.unlink(missing_ok=True)
    if preload is not None:
        environment["LD_PRELOAD"] = str(preload)
    run(*COUNTER, f"--callgrind-out-file={dumps}", str(program), *arguments, **environment)
    return list(counted(dumps.read_text(encoding="utf-8")))


def build(program: Path) -> None:
    """Compile and link the program, unless it is there and made of what is there now."""
    if is_current(program):
        return
    began = time.time()
    sources = sorted(source for folder in (FOLDER, FOR_C) for source in folder.glob("*.cpp"))
    includes = ("-I", str(INCLUDE), "-I", str(FOR_C.parent))

    with TemporaryDirectory(dir=program.parent) as folder:  # two may build it at once

        def compiled(source: Path) -> str:
            made = f"{folder}/{source.parent.name}-{source.stem}.o"
            run(*COMPILER, *includes, "-c", str(source), "-o", made)
            return made

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compiled, sources))
        linked = Path(folder) / program.name
        run(*COMPILER, *objects, "-o", str(linked), *LINKED_WITH)
        os.utime(linked, (began, began))  # what changes while it is compiled is newer
        linked.replace(program)


def is_current(program: Path) -> bool:
    """Whether a program is newer than all that it is made of, and than how that is done."""
    if not program.exists():
        return False
    made_of = [
        p for folder in (FOLDER, FOR_C, HARNESS, INCLUDE) for p in folder.rglob("*") if p.suffix in SUFFIXES
    ]
    made = program.stat().st_mtime
    return all(p.stat().st_mtime < made for p in (*made_of, Path(__file__)))


def counted(dumps: str) -> Iterator[Counted]:
    """Yield the rows of a callgrind file, in the order in which they were written."""
    for told, instructions, system_calls in DUMP.findall(dumps):
        try:
            scenario, allocator, way, live, operations, more = told.split("|")
            yield Counted(Key(scenario, allocator, way, int(live)), int(operations), int(instructions))
            if more == SYSTEM_CALLS:
                key = Key(f"{scenario}, {more}", allocator, way, int(live))
                yield Counted(key, 1, int(bool(system_calls)))
        except ValueError as error:
            raise CountError(f"callgrind told a row that is none: {told}") from error


def run(*command: str, **environment: str) -> str:
    """Run a command and return what it prints; what it complains of is shown when it fails."""
    try:
        done = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            env=ENVIRONMENT | environment,
        )
    except FileNotFoundError as error:
        raise CountError(f"{command[0]} is not there: apt-get install {command[0]}") from error
    except subprocess.TimeoutExpired as error:
        raise CountError(f"{command[0]} took more than {TIMEOUT} s") from error
    except subprocess.CalledProcessError as error:
        raise CountError(f"{command[0]} failed:\n{error.stderr}") from error
    return done.stdout


REPLAY = ROOT / ".venv" / "bin" / "mallard-replay"
FIXTURES = ROOT / "tests" / "fixtures"
JOURNALS = ("sqlite3", "cc1plus")
STRATEGIES = ("best_fit", "boost.dlmalloc")

SCENARIO = "replay of {}"


def replayed() -> dict[Key, float]:
    """Return instructions of an allocation and a deallocation, net of the harness, in each journal."""
    if not REPLAY.exists():
        raise CountError(f"{REPLAY} is not there: it comes with ./dev instructions")
    return {key: figure for name in JOURNALS for key, figure in pairs(name, measured(name))}


def measured(name: str) -> dict[str, Any]:
    """Replay a journal; times are not of interest."""
    chosen = [argument for strategy in STRATEGIES for argument in ("--strategy", strategy)]
    journal = FIXTURES / f"{name}.txt.xz"
    told = run(str(REPLAY), str(journal), *chosen, "--warm-time", "0", "--instructions", "--json")
    found: dict[str, Any] = json.loads(told)
    return found


def pairs(name: str, found: dict[str, Any]) -> Iterator[tuple[Key, float]]:
    """Yield the figures of our strategies: two events are a pair. What was not counted has none."""
    for row in found["rows"]:
        instructions = row["instructions_per_event"]
        if row["strategy"] in STRATEGIES and instructions is not None:
            yield Key(SCENARIO.format(name), row["strategy"], row["binding"], 1), round(2 * instructions, 2)
