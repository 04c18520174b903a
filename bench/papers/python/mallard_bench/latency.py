"""`mallard bench latency`: what single calls take with each strategy, after section 4 of seed 004.

journals, or the usual ones: fixtures, and what is recorded now, which stays in FILE.d
--> mallard-replay --latency --curve, and --threads where several threads allocate: a group each
--> results, a line each --> one table (tables/latency_tables.py), one page (page/latency_page.py)
"""

import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import Any

from mallard import MallardError
from mallard.analysis.progress import waiting
from mallard.native import tool
from mallard.processes import summary_of
from mallard_bench.bench_run import run
from mallard_bench.command import finish, installed_version, say
from mallard_bench.options import LATENCY, Group
from mallard_bench.program import Program
from mallard_bench.results_file import Header, ResultsFile, check_writable

REPLAY = "mallard-replay"
# How a journal is replayed, and the options that say so.
HOW: dict[str, list[str]] = {"blocks": [], "threads": ["--threads"]}

# The usual journals: in a checkout fixtures are where tests have them.
INSTALLED = Path(__file__).parent / "programs"
FIXTURES = Path(__file__).parents[4] / "tests" / "fixtures"
RECORDED = {
    "orders": [str(INSTALLED / "mallard-bench-orders"), "malloc"],  # examples/08_synchronized_pools.cpp
    "xz": ["xz", "-T4", "-0", "--block-size=256KiB", "--stdout"],
}
XZ_BYTES = 6 << 20  # that nothing makes smaller

# What a replay takes, about: seconds of all processes of a strategy, ns of a timed call.
ROWS, ROW_SECONDS, CALL_NS = 36, 4.0, 80.0


@dataclass(frozen=True)
class Asked:
    """What the command line says."""

    journals: Sequence[Path]
    strategies: Sequence[str]
    passes: int
    output: Path
    resume: bool
    native: str | None


def measure(asked: Asked, as_json: bool, html: Path | None) -> None:
    """Replay journals, keep and print what comes of it."""
    if html is not None:
        check_writable(html)
    goes_on = asked.resume and asked.output.exists()
    if not goes_on:
        ResultsFile.check_new(asked.output)
    replayer = Replayer(asked.native or tool(REPLAY), asked.strategies, asked.passes)
    journals = list(asked.journals or usual(Path(f"{asked.output}.d"), goes_on))
    groups = [group for journal in journals for group in replayer.groups(journal)]
    options = {
        "journals": [str(journal) for journal in journals],
        "strategies": list(asked.strategies),
        "passes": asked.passes,
    }
    header = Header(
        *(installed_version(), LATENCY, "default", options, 0, len(groups)),
        *(datetime.now(UTC).isoformat(timespec="seconds"), replayer.digest()),
    )
    if goes_on:
        file = ResultsFile.resume(asked.output, header, replayer.machine())
    else:
        file = ResultsFile.create(asked.output, header)
    finish(file, lambda: run(groups, replayer, file), as_json=as_json, html=html)


class Replayer(Program):
    """A mallard-replay."""

    name = REPLAY

    def __init__(self, path: str, strategies: Sequence[str], passes: int) -> None:
        """Time each call in a number of passes, with all strategies if none is named."""
        super().__init__(path)
        self.passes = passes
        self.chosen = {
            how: [f"--strategy={name}" for name in strategies if name in self.known(words)]
            for how, words in HOW.items()
        }
        self.all = not strategies
        known = [name for words in HOW.values() for name in self.known(words)]
        if wrong := [name for name in strategies if name not in known]:
            raise MallardError(
                f"--strategy {wrong[0]}: is unknown; there are {', '.join(dict.fromkeys(known))}"
            )

    def known(self, words: Sequence[str]) -> list[str]:
        """Return the names of the strategies of a way to replay."""
        asked = ["--list-strategies", "--json", *words]
        listed = self.answer(
            asked, lambda said: all("strategy" in one for one in said), "it lists no strategies"
        )
        return [one["strategy"] for one in listed]

    def machine(self) -> dict[str, Any]:
        """Return what the machine is: of a replay of next to nothing."""
        with NamedTemporaryFile("w", suffix=".txt") as journal:
            journal.write("a 8 10 1 1\nf 10 1 2\n")
            journal.flush()
            asked = [journal.name, "--check-only", "--strategy=none", "--json"]
            told: dict[str, Any] = self.answer(
                asked, lambda said: "cpu" in said["machine"], "it tells no machine"
            )
        machine: dict[str, Any] = told["machine"]
        return machine

    def groups(self, journal: Path) -> Iterator[Group]:
        """Yield the replays of a journal."""
        summary = summary_of(str(journal))
        rows = len(self.chosen["blocks"]) + 3 if not self.all else ROWS
        seconds = rows * (ROW_SECONDS + self.passes * summary["events"] * CALL_NS / 1e9)
        yield Group(journal.name, {"journal": str(journal), "replayed": "blocks"}, seconds)
        if summary["threads"] > 1 and (self.all or self.chosen["threads"]):
            settings: dict[str, int | str] = {"journal": str(journal), "replayed": "threads"}
            yield Group(f"{journal.name} on its threads", settings, seconds / 2)

    def measure(self, group: Group, tick: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Return a replay, with what `mallard bench` keeps beside it."""
        how = str(group.settings["replayed"])
        timed = ["--latency", f"--passes={self.passes}", "--curve"] if how == "blocks" else []
        words = [str(group.settings["journal"]), "--json", *HOW[how], *timed, *self.chosen[how]]
        replay = self.document(group, words, tick)
        named = {"journal": Path(replay["journal"]["file"]).name, "replayed": how}
        return {"benchmark": LATENCY, "group": named, **replay}


def usual(folder: Path, kept: bool) -> Iterator[Path]:
    """Yield the journals that are there, and those that are recorded into a folder now or were before."""
    journals = INSTALLED if INSTALLED.is_dir() else FIXTURES
    yield from sorted(journals.glob("*.txt.xz"))
    folder.mkdir(exist_ok=True)
    for name, command in RECORDED.items():
        journal = folder / f"{name}.mlrd"
        if (kept and journal.exists()) or record(journal, command):
            yield journal


def record(journal: Path, command: Sequence[str]) -> bool:
    """Record a program that reads some MiB; say why it is left out if that cannot be."""
    if shutil.which(command[0]) is None:
        say(f"warning: {journal.stem} is left out: {Path(command[0]).name} is not installed")
        return False
    with waiting(f"recording {journal.stem}"), TemporaryFile() as text:
        text.write(b64encode(Random(1).randbytes(XZ_BYTES)))
        text.seek(0)
        asked = [tool("mallard-record"), "-o", str(journal), "--", *command]
        done = subprocess.run(
            asked, stdin=text, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
        )
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        say(f"warning: {journal.stem} is left out: {last}")
    return done.returncode == 0
