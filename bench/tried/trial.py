"""One program, run as it is and recorded, and the outcome.

prepare   run                         prepare   run under mallard-record
          exit code, output  <-- the same? -->  exit code, output, journals
                                                  info --strict   profile, timed   sites with a name
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mallard.analysis.symbol_cache import debug_information
from programs import Program

DEBUG, TABLE, EXPORTED = "debug symbols", "symbol table", "exported names"
HAVE_SYMBOLS = (DEBUG, TABLE)
PATIENCE = 600  # s, for any one command
MOST_SITES = "5000"  # whose names are looked at, the largest ones

Completed = subprocess.CompletedProcess[str]


class TrialError(Exception):
    """What kept a program from being tried."""


@dataclass(frozen=True)
class Trial:
    """What became of a program."""

    program: str
    version: str  # Debian's package and its version
    does: str
    symbols: str  # of the program's file: DEBUG, TABLE or EXPORTED
    events: int
    processes: int
    same: bool  # exit code, and output where that is the same each time
    strict: bool
    named: float  # share of the allocations whose site has a name
    named_with_symbols: float | None  # the same, of sites in files that have symbols; None: there are none
    profile_seconds: float  # wall time, nothing cached
    said: Sequence[str]  # by mallard-record and info, but for the closing lines

    @property
    def profile_seconds_per_million(self) -> float:
        """Return what a million events take, or as many as there are below that."""
        return self.profile_seconds / max(1.0, self.events / 1e6)


@dataclass(frozen=True)
class Tools:
    """What is tried, and with which inputs."""

    mallard: str
    recorder: str
    folder: Path
    inputs: Path

    @property
    def cache(self) -> Path:
        """Where names of functions are kept."""
        return self.folder / "cache"


def attempt(program: Program, tools: Tools) -> Trial:
    """Try one program; raises TrialError if it cannot be run at all."""
    if not Path(program.path).exists():
        raise TrialError(f"{program.path} is not installed")
    alone = run(program, tools, ())
    journal = tools.folder / "journals" / f"{program.name.split()[0]}.mlrd"
    recorded = run(program, tools, (tools.recorder, "-o", str(journal), "--"))
    if not journal.exists():
        raise TrialError(f"{program.name}: {recorded.stderr.strip() or 'no journal'}")
    strict = ask(tools, "info", str(journal), "--strict")
    shutil.rmtree(tools.cache, ignore_errors=True)
    profiling = ("profile", str(journal), "--process", "all", "--json")
    started = time.monotonic()
    told(tools, *profiling)
    seconds = time.monotonic() - started
    profile = told(tools, *profiling, "--sites", MOST_SITES)
    journals = journals_of(journal)
    files = {Path(path).name: symbols_of(path, build) for path, build in modules(journals, tools)}
    return Trial(
        program.name,
        package_of(program.path),
        program.does,
        files.get(Path(program.path).name) or files.get(Path(program.path).resolve().name, ""),
        profile["totals"]["events"],
        len(journals),
        alone.returncode == recorded.returncode
        and (not program.same_output or alone.stdout == recorded.stdout),
        strict.returncode == 0,
        named_share(profile["sites"], lambda _: True) or 0.0,
        named_share(profile["sites"], lambda module: files.get(module) in HAVE_SYMBOLS),
        seconds,
        [line for line in recorded.stderr.splitlines() if is_worth_telling(line)],
    )


def is_worth_telling(line: str) -> bool:
    """Whether mallard-record says it, and not as its closing line."""
    return (
        line.startswith("mallard-record: ") and " events, " not in line and " events of children" not in line
    )


def run(program: Program, tools: Tools, recorder: Sequence[str]) -> Completed:
    """Run a program in its own folder, with its clients if it has any."""
    folder = tools.folder / "work" / program.name.split()[0]
    folder.mkdir(parents=True, exist_ok=True)
    if program.user:
        for each in (folder, tools.folder / "journals"):
            each.chmod(0o777)

    def command(*words: str) -> Completed:
        try:
            return subprocess.run(
                [*program.user, *words],
                cwd=folder,
                env=os.environ | {"LC_ALL": "C.UTF-8", "INPUTS": str(tools.inputs)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired as late:
            raise TrialError(f"{program.name} does not end within {PATIENCE} s") from late

    prepared = command("sh", "-e", "-c", program.prepare)
    if prepared.returncode != 0:
        raise TrialError(f"{program.name}: cannot prepare: {prepared.stderr.strip()}")
    with ThreadPoolExecutor() as beside:
        clients = beside.submit(command, "sh", "-e", "-c", program.driver)
        done = command(*recorder, program.path, *program.arguments)
        served = clients.result()
    if served.returncode != 0:
        raise TrialError(f"{program.name}: its clients failed: {served.stderr.strip()}")
    return done


def ask(tools: Tools, *words: str) -> Completed:
    """Run `mallard` with a cache of its own."""
    return subprocess.run(
        [tools.mallard, *words],
        env=os.environ | {"XDG_CACHE_HOME": str(tools.cache)},
        capture_output=True,
        text=True,
        check=False,
    )


def told(tools: Tools, *words: str) -> Any:
    """Return the JSON that `mallard` prints; raises TrialError if it fails."""
    done = ask(tools, *words)
    if done.returncode != 0:
        raise TrialError(f"mallard {' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def journals_of(journal: Path) -> list[Path]:
    """Return a recording's journals, the program's first."""
    children = journal.with_name(f"{journal.name}.d")
    return [journal, *sorted(children.iterdir())] if children.exists() else [journal]


def modules(journals: Sequence[Path], tools: Tools) -> Iterator[tuple[str, str]]:
    """Yield path and build id of every file that was loaded in one of the processes."""
    seen = set()
    for journal in journals:
        for module in told(tools, "info", str(journal), "--json")["modules"]:
            seen.add((module["path"], module["build_id"]))
    yield from sorted(seen)


def symbols_of(path: str, build_id: str) -> str:
    """Return what there is to name the functions of a file."""
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=False).stdout
    if ".debug_info" in sections or debug_information(path, build_id):
        return DEBUG
    return TABLE if " .symtab" in sections else EXPORTED


def named_share(sites: Sequence[dict[str, Any]], counts: Callable[[str], bool]) -> float | None:
    """Return which share of the allocations comes from a site with a name, of sites in modules that count."""
    named = total = 0
    for site in sites:
        frame = site["stack"][site["frame"]]
        if counts(frame["module"]):
            allocations = site["behaviour"]["allocations"]
            total += allocations
            named += allocations if not frame["function"].startswith(f"{frame['module']}+0x") else 0
    return named / total if total else None


def package_of(path: str) -> str:
    """Return Debian's package of a file and its version."""

    def printed(*words: str) -> str:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()

    package = printed("dpkg-query", "-S", str(Path(path).resolve())).split(": ")[0]
    return (
        printed("dpkg-query", "-W", "-f", "${binary:Package} ${Version}", package)
        if package
        else "not Debian's"
    )
