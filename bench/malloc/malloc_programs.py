"""The programs that mallocs are compared under: Debian's, each with an ordinary job, and three of our own.

Those that have pools of their own for small blocks have them turned off, so that their malloc is seen.
None of them was used to choose a constant of our malloc.
"""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import contest_journals
import inputs
import workloads
from contest_journals import ROADS
from programs import PHP
from workloads import SetUpError

SOURCES = Path(__file__).resolve().parent / "programs"
OWN = ("factor", "minimise", "serve")
CHURN = "churn"  # of two threads; replayed only
THREADED = ("serve", CHURN)
DRIFT = "drift"
FLAGS = ("-std=c++20", "-O2", "-pthread")

# Products of primes of 10 to 13 digits.
NUMBERS = (
    "210000000056600000000693",
    "45000000027745000003770950000023541",
    "340282366920938463463374607431768211455",
)

# What is recorded to be replayed does less: tens of millions of events take minutes under each malloc.
SMALLER = {"factor": NUMBERS[2:], "minimise": ("13", "300", "4"), "serve": ("100000",)}

SHEET_XSL, ARTICLES_XML = "sheet.xsl", "articles.xml"
SHEET = """
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:key name="by-name" match="*" use="name()"/>
<xsl:template match="/">
  <names><xsl:for-each select="//*[generate-id() = generate-id(key('by-name', name())[1])]">
    <xsl:sort select="name()"/>
    <name of="{name()}" count="{count(key('by-name', name()))}"/>
  </xsl:for-each></names>
  <all><xsl:apply-templates select="/*/*[position() mod 7 = 0]"/></all>
</xsl:template>
<xsl:template match="*">
  <xsl:copy><xsl:copy-of select="@*"/><xsl:apply-templates select="*|text()"/></xsl:copy>
</xsl:template>
</xsl:stylesheet>
"""


@dataclass(frozen=True)
class Program:
    """A program at work: its command line, run in the folder of the inputs."""

    name: str
    does: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


def programs() -> list[Program]:
    """Return all of them."""
    known = {each.name: each for each in workloads.workloads(1)}

    def job(name: str, called: str = "", environment: dict[str, str] | None = None) -> Program:
        return Program(called or name, known[name].does, known[name].command, environment or {})

    git = ("git", f"--git-dir={workloads.REPOSITORY}", "log", "-p", "-2000", "main")
    return [
        Program(
            "python3",
            "makes, changes and searches a map of roads, without Python's own pools",
            ("/usr/bin/python3", "-c", ROADS),
            {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "1"},
        ),
        job("sqlite3"),
        job("jq"),
        job("xmllint"),
        job("perl", environment={"PERL_HASH_SEED": "1"}),
        job("cc1plus", "g++"),
        job("z3"),
        job("lua"),
        Program(
            "php", "writes and reads JSON, sorts, compresses", ("php", "-r", PHP), {"USE_ZEND_ALLOC": "0"}
        ),
        Program("git", "git log -p of 2,000 commits", git),
        Program("factor", "factors three numbers of 24 to 39 digits", ("./factor", *NUMBERS)),
        Program(
            "minimise", "minimises six Boolean functions of 14 variables", ("./minimise", "14", "400", "6")
        ),
        Program("serve", "400,000 requests, freed by another thread than allocated them", ("./serve",)),
    ]


def compared_programs() -> list[Program]:
    """Return all that are compared: those above, and one of four threads, which is in no mean."""
    of_four = Program(
        "serve by four", "200,000 requests in each of two pairs of threads", ("./serve", "200000", "2")
    )
    return [*programs(), of_four]


def prepare(folder: Path) -> None:
    """Make the inputs in `folder`, and compile what is ours."""
    inputs.make(folder, 1)
    workloads.import_history(folder)
    compile_own(folder, *OWN, CHURN)


def write_sheet(folder: Path) -> None:
    """Write a style sheet for xsltproc, and 4,000 articles: it takes time by the square of their number."""
    (folder / SHEET_XSL).write_text(SHEET.lstrip(), encoding="utf-8")
    (folder / ARTICLES_XML).write_text("".join(inputs.catalog(4000)), encoding="utf-8")


def compile_own(folder: Path, *names: str) -> None:
    """Compile programs of ours into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        source = (workloads.PROGRAMS if name == CHURN else SOURCES) / f"{name}.cpp"
        command = (workloads.COMPILER, *FLAGS, "-o", str(folder / name), str(source))
        compiled = subprocess.run(command, capture_output=True, text=True, check=False)
        if compiled.returncode != 0:
            raise SetUpError(
                f"{workloads.COMPILER} does not compile {source.name}: {compiled.stderr.strip()}"
            )


def pages_in(folder: Path) -> Path:
    """Return where the pages of comparisons are, one a program."""
    return folder / "pages"


def compared(mallard: str, program: Program, folder: Path, options: list[str]) -> dict[str, Any]:
    """Return what `mallard compare` finds, which shows its own progress; make its page."""
    pages_in(folder).mkdir(exist_ok=True)
    page = pages_in(folder) / f"{program.name.replace(' ', '_')}.html"
    ran = subprocess.run(
        [mallard, "compare", "--json", "--html", str(page), *options, "--", *program.command],
        cwd=folder,
        env=os.environ | program.environment,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if ran.returncode == 130:
        raise KeyboardInterrupt
    if not ran.stdout:
        raise SetUpError(f"{program.name}: mallard compare ended with {ran.returncode}")
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


# How the journal of a program is replayed: in a fresh heap, in one full of holes, on its threads.
FRESH, LITTERED, ON_THREADS = "fresh", "littered", "threads"
WAYS = {FRESH: (), LITTERED: ("--litter", "10"), ON_THREADS: ("--threads",)}


def replayed_programs() -> list[Program]:
    """Return all whose journals are replayed."""
    return [
        *(
            replace(one, command=(one.command[0], *SMALLER.get(one.name, one.command[1:])))
            for one in programs()
        ),
        *(Program(w.name, w.does, w.command) for w in workloads.workloads(1) if w.name == CHURN),
    ]


def replayed(
    mallard: str, program: Program, folder: Path, strategies: Sequence[str]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each way that a program's journal is replayed, and the rows; recorded unless it is there."""
    journal = folder / "replayed" / f"{program.name}.mlrd"
    if not journal.exists():
        journal.parent.mkdir(exist_ok=True)
        contest_journals.record(
            contest_journals.Program(program.name, program.does, program.command, program.environment),
            mallard,
            journal,
            folder,
        )
    wanted = [word for name in strategies for word in ("--strategy", name)]
    for way, options in WAYS.items():
        if way == ON_THREADS and program.name not in THREADED:
            continue
        command = (mallard, "replay", "--json", *options, *wanted, str(journal))
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if ran.returncode == 130:
            raise KeyboardInterrupt
        if not ran.stdout:
            raise SetUpError(f"{program.name}: mallard replay ended with {ran.returncode}")
        rows: list[dict[str, Any]] = json.loads(ran.stdout)["rows"]
        yield way, rows
