"""The programs whose recording is priced, and what each of them does.

All but one are Debian's, as a user finds them: no frame pointers, no debug symbols. Each does one ordinary
job on inputs that `inputs.py` makes, takes about half a second to some seconds, and calls malloc and free
hundreds of thousands to millions of times; the depth of its stacks is printed beside its figures. Those whose
stacks are deep and seldom the same twice are marked, since a stack that is new costs more.

Each runs in several ways that are compared: as it is, recorded by us, recorded by heaptrack. `native a/a` is
`native` once more: what it seems to add is the noise of everything else in the table.
"""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import inputs

PROGRAMS = Path(__file__).parent / "programs"
COMPILER = "g++"
FLAGS = ("-std=c++20", "-O2", "-pthread")
REPOSITORY = "history.git"

# What a user asks of an export: by customer the sum and the different articles, the best customers first.
BY_CUSTOMER = """
[group_by(.customer)[]
  | {customer: .[0].customer,
     orders: length,
     total: (map(.lines[] | .count * .price) | add),
     articles: ([.[].lines[].article] | unique | length),
     last: (map(.placed) | max)}]
| sort_by(-.total)
"""


class SetUpError(Exception):
    """Something that the measurement needs is not there or does not work."""


@dataclass(frozen=True)
class Workload:
    """A program at work: its command line runs in the folder of the inputs."""

    name: str
    does: str
    command: tuple[str, ...]
    deep: bool = False


def workloads(scale: float) -> list[Workload]:
    """Return all of them; `scale` is the part of the full size that the inputs were made in."""
    parcels, steps = str(int(60_000 * scale)), str(int(600_000 * scale))
    return [
        Workload(
            "jq",
            "sums an export of 24,000 orders (9 MB of JSON) by customer",
            ("jq", BY_CUSTOMER, inputs.ORDERS_JSON),
        ),
        Workload(
            "xmllint",
            "parses a catalog of 60,000 articles (16 MB of XML), counts by an XPath with a condition",
            ("xmllint", "--xpath", "count(//item[price > 500]/tag)", inputs.CATALOG_XML),
        ),
        Workload(
            "sqlite3",
            "loads a dump of 52,000 rows, 4,000 look-ups by index, 18 joins with group by",
            ("sqlite3", ":memory:", f".read {inputs.SHOP_SQL}"),
        ),
        Workload(
            "perl",
            "builds 60,000 objects of hashes, arrays and strings, walks them with closures",
            ("perl", str(PROGRAMS / "parcels.pl"), parcels),
        ),
        Workload(
            "churn",
            "2 threads, each 600,000 look-ups, insertions and removals in a map<string, vector<string>>",
            ("./churn", steps),
        ),
        Workload(
            "lua",
            "keeps a ledger of 20,000 entries: objects, strings, closures, recursive reports",
            ("lua5.4", str(PROGRAMS / "ledger.lua"), str(int(20_000 * scale))),
        ),
        Workload(
            "git",
            "git log --stat of 10,000 commits",
            ("git", f"--git-dir={REPOSITORY}", "log", "--stat", "main"),
        ),
        Workload("z3", "checks a rota of 60 people", ("z3", inputs.ROSTER_SMT2), deep=True),
        Workload(
            "clang++",
            "checks a source file of templates",
            ("clang++-19", "-std=c++20", "-fsyntax-only", str(PROGRAMS / "catalogue.cpp")),
            deep=True,
        ),
        Workload(
            "cc1plus",
            "compiles the same, -O1",
            (*cc1plus(), "-std=c++20", "-O1", str(PROGRAMS / "catalogue.cpp"), "-o", "/dev/null"),
            deep=True,
        ),
    ]


def cc1plus() -> tuple[str, ...]:
    """Return g++'s compiler proper, as g++ calls it."""

    def told(question: str) -> str:
        asked = subprocess.run([COMPILER, question], capture_output=True, text=True, check=False)
        return asked.stdout.strip()

    return (
        told("-print-prog-name=cc1plus"),
        "-quiet",
        "-imultiarch",
        told("-print-multiarch"),
        "-D_GNU_SOURCE",
    )


def prepare(chosen: list[Workload], folder: Path, scale: float) -> None:
    """Make the inputs in `folder` and compile what is ours; every program must be there."""
    for workload in chosen:
        if shutil.which(workload.command[0]) is None and workload.name != "churn":
            raise SetUpError(f"{workload.name} is not installed")
    inputs.make(folder, scale)
    if any(workload.name == "git" for workload in chosen):
        import_history(folder)
    source = PROGRAMS / "churn.cpp"
    compiled = subprocess.run(
        [COMPILER, *FLAGS, "-o", str(folder / "churn"), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    if compiled.returncode != 0:
        raise SetUpError(f"{COMPILER} does not compile {source.name}: {compiled.stderr.strip()}")


def import_history(folder: Path) -> None:
    """Make the repository anew from its stream."""
    repository = folder / REPOSITORY
    shutil.rmtree(repository, ignore_errors=True)
    git = ("git", f"--git-dir={repository}")
    for command in ((*git, "init", "--quiet", "--bare"), (*git, "fast-import", "--quiet")):
        with (folder / inputs.HISTORY).open("rb") as stream:
            done = subprocess.run(command, stdin=stream, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SetUpError(f"git cannot make {repository}: {done.stderr.strip()}")


NATIVE = "native"
CALLER = "caller"
FULL = "full"
WITNESS = "witness"
RAW = "heaptrack --raw"  # the yardstick of the limits
COMPRESSED = "heaptrack"  # beside it, for its users; no limit reads it

Command = tuple[str, ...]


@dataclass(frozen=True)
class Variant:
    """One of the compared ways: how its command line is made, and whether a journal of ours comes of it."""

    name: str
    wrap: Callable[[Command, Path], Command]
    journal: bool = False


def variants(recorder: str) -> list[Variant]:
    """Return all of them; `recorder` is the mallard-record to measure."""

    def native(program: Command, _output: Path) -> Command:
        return program

    def recorded(*options: str) -> Callable[[Command, Path], Command]:
        return lambda program, output: (recorder, *options, "-o", str(output), "--", *program)

    def heaptrack(*options: str) -> Callable[[Command, Path], Command]:
        return lambda program, output: ("heaptrack", *options, "-o", str(output), *program)

    return [
        Variant(NATIVE, native),
        Variant("native a/a", native),
        Variant(CALLER, recorded("--stack", "caller"), journal=True),
        Variant(FULL, recorded("--stack", "full"), journal=True),
        Variant(WITNESS, recorded("--stack", "full", "--witness"), journal=True),
        Variant(RAW, heaptrack("--raw")),
        Variant(COMPRESSED, heaptrack()),
    ]
