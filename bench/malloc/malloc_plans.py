"""Whether programs print under the planner's own plans what they print without them, and whether plans hold.

    recorded     $RUN is mallard record --witness      plan of the process that allocates most
    plain        $RUN is env
    counted      $RUN is env with the malloc and plan  output, exit code: the same? each rule's hits
    launched     the same, without counters, which     output, exit code: the same? median of max RSS: as
                 take other ways; five times           predicted?
    plain        once more, where they differ

    preloaded    $RUN is env with the malloc           |
    recognised   the same, with the plan, each of      |  CPU time, in turn: what recognising contexts
                 whose rules has the default heap      |  costs by itself
    preloaded    once more                             |

Jobs are those of malloc_outputs.py, and some whose process is a child, or forks.
"""

import json
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import workloads
from limits import Limit, number
from mallard.analysis.store import Store
from mallard.plan import Plan, read_plan
from mallard.plan.plan_image import HEADER, RULE, rule_for, trie_of
from mallard.plan.plan_model import LARGEST
from mallard.plan.stacks_of_plan import Stacks
from malloc_outputs import DIFFERENT, SAME, VARIES, Job, Ran, first_difference, of_program, run
from malloc_programs import ARTICLES_XML, SHEET_XSL, compared_programs
from programs import shell_file

# What plans are held to. Others of malloc_outputs.py can be asked for by name.
USUAL = (
    *("jq", "xmllint", "xsltproc", "perl", "python3", "sqlite3", "g++", "lua", "z3", "git", "php", "serve"),
    *("forks", "chain", "serve by four"),
)

# Children that build and change what the parent has built, and print in their order.
FORKS = """
my %town = map { $_ => [map { "$_ street" } 1 .. $_ % 9] } 1 .. 4000;
for my $child (1 .. 6) {
  defined(my $process = fork) or die;
  if (!$process) {
    my %own = map { $_ => [@{$town{$_}}, $child] } grep { $_ % $child == 0 } keys %town;
    delete $town{$_} for keys %own;
    print "$child: ", scalar(keys %own), " ", scalar(keys %town), "\\n";
    exit 0;
  }
  waitpid $process, 0;
}
print scalar(keys %town), "\\n";
"""

CHAIN = """
#include <map>
#include <regex>
#include <string>
std::map<std::string, std::regex> all;
bool match(const std::string& s) { return std::regex_match(s, all[s]); }
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a job under its plan."""

    name: str
    verdict: str
    codes: tuple[int, int] = (0, 0)  # exit codes, plain and planned
    processes: int = 0  # that the plan was in force in
    title: str = ""
    rules: int = 0
    pools: int = 0
    routed: float = 0.0  # share of the calls, in the process that is most like the recorded one
    astray: float = 0.0  # share of the calls that rules have more or fewer of than in the recording
    mistaken: float = 0.0  # share of the small blocks whose context is taken for another, as predicted
    predicted: int = 0  # bytes
    max_rss: tuple[int, ...] = ()  # bytes, of each run
    first_difference: str = ""

    @property
    def parts(self) -> tuple[float, ...]:
        """Return the prediction over the median, the most and the least max RSS, if all are known."""
        if not self.max_rss or 0 in self.max_rss:
            return ()
        measured = (statistics.median(self.max_rss), max(self.max_rss), min(self.max_rss))
        return tuple(self.predicted / one for one in measured)


@dataclass(frozen=True)
class Cost:
    """What a job pays for recognising each call's context, and doing nothing about it."""

    name: str
    rules: int = 0  # 0: there is no plan
    preloaded: tuple[float, ...] = ()  # s of CPU time of each round, of all processes
    recognised: tuple[float, ...] = ()
    again: tuple[float, ...] = ()  # preloaded, for the noise

    def change(self, times: Sequence[float]) -> float | None:
        """Return how much more the median of some times is than that of the preloaded runs."""
        if not times:
            return None
        return statistics.median(times) / statistics.median(self.preloaded) - 1


MOST_COST = 0.03  # of the CPU time, for recognising contexts
MOST_MISTAKEN = 0.002  # of the blocks and of the calls
MOST_OFF = 0.1  # of the median of the measured peaks
LAUNCHED = 5  # runs

USABLE_SIZES = """
import ctypes, json, sys
c = ctypes.CDLL(None)
c.malloc.restype, c.malloc_usable_size.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
print(json.dumps([c.malloc_usable_size(c.malloc(size)) for size in range(int(sys.argv[1]) + 1)]))
"""


def further_jobs(folder: Path) -> list[Job]:
    """Return the jobs that only plans have, on what malloc_programs.write_sheet has written into `folder`."""
    sheet = shlex.join(str(folder.absolute() / name) for name in (SHEET_XSL, ARTICLES_XML))
    by_four = next(one for one in compared_programs() if one.name == "serve by four")
    compiler = workloads.COMPILER
    return [
        of_program(replace(by_four, command=("./serve", "50000", "2")), folder),
        Job("xsltproc", "/usr/bin/xsltproc", "xsltproc", f"$RUN /usr/bin/xsltproc {sheet}\n"),
        Job(
            "forks",
            "/usr/bin/perl",
            "perl",
            shell_file("forks.pl", FORKS) + "$RUN PERL_HASH_SEED=1 /usr/bin/perl forks.pl\n",
        ),
        Job(
            "chain",
            shutil.which(compiler) or compiler,
            "g++",
            shell_file("chain.cpp", CHAIN)
            + f"$RUN {compiler} -std=c++20 -O1 -c chain.cpp -o chain.o\nsha256sum chain.o\n",
        ),
    ]


def compare(job: Job, mallard: str, library: str, folder: Path) -> Outcome:
    """Record a job, plan it, and run it under its plan."""
    kept = folder / "plan"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    plan = plan_of(job, mallard, folder)
    if plan is None:
        return Outcome(job.name, "no plan")
    counters = kept / "counters"
    settings = [f"LD_PRELOAD={library}", f"MALLARD_MALLOC_PLAN={kept / 'plan.image'}"]
    plain = run(job, "env", folder)
    counted = run(job, shlex.join(["env", *settings, f"MALLARD_MALLOC_PLAN_COUNTERS={counters}"]), folder)
    launched = [launched_run(job, mallard, settings, folder) for _ in range(LAUNCHED)]
    other = next((one for one in (*(ran for ran, _ in launched), counted) if one != plain), plain)
    verdict = SAME
    if other is not plain:
        verdict = DIFFERENT if run(job, "env", folder) == plain else VARIES
    told = [json.loads(line) for line in counters.read_text().splitlines()] if counters.exists() else []
    expected = Counter({number: rule["blocks"] for number, rule in enumerate(plan["rules"], 1)})
    store = Store.read(str(largest_journal(kept)), lambda _done: None)
    expected.subtract(by_rule(kept_in_place(store, library), store, read_plan(kept / "plan.toml")))
    hits, missed = hits_of_recorded(told, expected)
    calls = max(hits.total(), 1)
    return Outcome(
        job.name,
        verdict,
        (plain.code, other.code),
        len({one["process"] for one in told}),
        plan["title"],
        len(plan["rules"]),
        plan["pools"],
        sum(hits[one] for one in expected) / calls,
        missed / calls,
        plan["mistaken"],
        plan["predicted_peak_bytes"],
        tuple(max_rss for _, max_rss in launched),
        first_difference(plain.output, other.output),
    )


def plan_of(job: Job, mallard: str, folder: Path) -> dict[str, Any] | None:
    """Return the plan of the process with the largest journal, as --json has it, and make plan/plan.image."""
    kept = folder / "plan"
    journal, file = kept / "run.mlrd", kept / "plan.toml"
    run(job, shlex.join([mallard, "record", "--witness", "-o", str(journal), "--", "env"]), folder)
    said = subprocess.run(
        [mallard, "plan", largest_journal(kept), "-o", file, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if said.returncode != 0:
        return None
    subprocess.run([mallard, "plan", "--compile", file, "-o", kept / "plan.image"], check=True)
    plan: dict[str, Any] = json.loads(said.stdout)
    return plan


def largest_journal(kept: Path) -> Path:
    """Return the largest journal that a job has left; one that is not there where it has left none."""
    own = kept / "run.mlrd"
    found = [one for one in (own, *(kept / "run.mlrd.d").rglob("*")) if one.is_file()]
    return max(found, key=lambda one: one.stat().st_size, default=own)


def kept_in_place(store: Store, library: str) -> Counter[int]:
    """Return how many calls of realloc the malloc leaves in their blocks, by context: they ask no rule."""
    sizes = subprocess.run(
        ["/usr/bin/python3", "-c", USABLE_SIZES, str(LARGEST)],
        env={"LD_PRELOAD": library},
        capture_output=True,
        text=True,
        check=True,
    )
    usable: list[int] = json.loads(sizes.stdout)
    grown = store.rows(
        f"SELECT now.context, now.size, now.allocation, before.size, before.allocation "
        f"FROM heap now JOIN heap before ON now.previous = before.allocation "
        f"WHERE now.size BETWEEN 1 AND {LARGEST} ORDER BY now.allocation"
    )
    kept: Counter[int] = Counter()
    room: dict[int, int] = {}  # of blocks that were left, by the last event of each
    for context, size, event, size_before, event_before in grown:
        there = room.get(event_before) or (usable[size_before] if size_before <= LARGEST else size_before)
        if there / 2 <= size <= there:
            room[event] = there
            kept[context] += 1
    return kept


def by_rule(calls: Counter[int], store: Store, plan: Plan) -> Counter[int]:
    """Return calls by context as those of the rules that a plan has for them."""
    nodes, stacks, modules = trie_of(plan), Stacks(store), plan.module_numbers
    found: Counter[int] = Counter()
    for context, count in calls.items():
        if rule := rule_for(nodes, stacks.places(context, modules)):
            found[rule] += count
    return found


def hits_of_recorded(told: Sequence[dict[str, Any]], expected: Counter[int]) -> tuple[Counter[int], int]:
    """Return each rule's hits in the process that is most like the recorded one, and how many differ."""
    of: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for one in told:
        of[one["process"]][one["rule"]] += one["hits"]
    found = [(hits, sum(abs(hits[one] - expected[one]) for one in expected)) for hits in of.values()]
    return min(found, key=lambda one: one[1], default=(Counter(), expected.total()))


def cost(job: Job, mallard: str, library: str, folder: Path, rounds: int) -> Cost:
    """Record a job, plan it, and time it in turn without the plan and where contexts are only recognised."""
    kept = folder / "plan"
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    plan = plan_of(job, mallard, folder)
    if plan is None:
        return Cost(job.name)
    image = kept / "plan.image"
    image.write_bytes(recognising(image.read_bytes()))
    preloaded = shlex.join(["env", f"LD_PRELOAD={library}"])
    ways = (preloaded, f"{preloaded} MALLARD_MALLOC_PLAN={image}", preloaded)
    times: tuple[list[float], ...] = ([], [], [])
    for turn in range(-1, rounds):  # the first one is to warm up
        for way, taken in zip(ways, times, strict=True):
            before = cpu_time()
            run(job, way, folder)
            taken += [cpu_time() - before] if turn >= 0 else []
    return Cost(job.name, len(plan["rules"]), *map(tuple, times))


def cpu_time() -> float:
    """Return the CPU time of all processes that have been waited for, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def recognising(image: bytes) -> bytes:
    """Return an image for the same contexts whose rules all have the default heap, in small pages."""
    rules, first = HEADER.unpack_from(image)[11:13]
    changed = bytearray(image)
    for at in range(first, first + rules * RULE.size, RULE.size):
        RULE.pack_into(changed, at, 0, *RULE.unpack_from(image, at)[1:])
    checksum = zlib.crc32(changed[HEADER.size :])
    HEADER.pack_into(
        changed, 0, *HEADER.unpack_from(image)[:3], checksum, *HEADER.unpack_from(image)[4:14], 0
    )
    return bytes(changed)


def cost_table(rows: Sequence[Cost], has_head: bool) -> Table:
    """Return rows of costs; those of one call stand below those of another."""
    table = Table(box=None, pad_edge=False, show_header=has_head)
    for title, width in (
        ("program", 12),
        ("rules", 5),
        ("s", 7),
        ("a/a", 8),
        ("recognised", 10),
        ("rounds", 18),
    ):
        table.add_column(title, justify="left" if title == "program" else "right", min_width=width)
    for each in rows:
        if not each.preloaded:
            table.add_row(each.name, "no plan")
            continue
        each_round = [one / other - 1 for one, other in zip(each.recognised, each.preloaded, strict=True)]
        table.add_row(
            *(each.name, str(each.rules), f"{statistics.median(each.preloaded):.3f}"),
            *(number(each.change(times), "+.1%") for times in (each.again, each.recognised)),
            f"{min(each_round):+.1%} to {max(each_round):+.1%}",
        )
    return table


def cost_limits(costs: Sequence[Cost]) -> list[Limit]:
    """Return what recognising contexts may cost each program, of its CPU time."""
    return [
        Limit(f"{each.name}: recognising contexts", MOST_COST, each.change(each.recognised), "CPU time")
        for each in costs
        if each.rules
    ]


def launched_run(job: Job, mallard: str, settings: Sequence[str], folder: Path) -> tuple[Ran, int]:
    """Run a job; return also the most memory that a process of it has, in bytes."""
    reading, writing = os.pipe()
    front = [str(Path(mallard).parent / "mallard-launch"), str(writing), "/usr/bin/env", "env", *settings]
    try:
        ran = run(job, shlex.join(front), folder, [writing])
    finally:
        os.close(writing)
    with os.fdopen(reading) as report:
        words = report.read().split()
    return ran, 1024 * int(words[3]) if len(words) > 3 else 0


def plan_limits(outcomes: Sequence[Outcome], missing: Sequence[Job] = ()) -> Iterator[Limit]:
    """Yield what plans are held to."""
    for promise, wrong in (
        ("programs that are not installed", [job.name for job in missing]),
        ("programs that do not run under a plan", [one.name for one in outcomes if not one.processes]),
        ("programs that print something else", [one.name for one in outcomes if one.verdict == DIFFERENT]),
    ):
        where = ", ".join(wrong) or f"of {len(outcomes)}"
        yield Limit(promise, 0, len(wrong) if outcomes else None, where)
    figures: tuple[tuple[str, float, Callable[[Outcome], float]], ...] = (
        ("blocks whose context is taken for another", MOST_MISTAKEN, lambda one: one.mistaken),
        ("calls that go astray", MOST_MISTAKEN, lambda one: one.astray),
        ("predicted peak is off by", MOST_OFF, lambda one: abs(one.parts[0] - 1) if one.parts else inf),
    )
    planned = [one for one in outcomes if one.processes]
    for promise, at_most, figure in figures:
        worst = max(planned, key=figure, default=None)
        yield Limit(promise, at_most, figure(worst) if worst else None, worst.name if worst else "none")


def show(console: Console, outcomes: Sequence[Outcome], missing: Sequence[Job]) -> None:
    """Print a line for each program."""
    table = Table("program", "output", "codes", "plan", box=None, pad_edge=False)
    for title in ("processes", "rules", "pools", "routed", "astray", "mistaken", "predicted", "of max RSS"):
        table.add_column(title, justify="right")
    for each in outcomes:
        table.add_row(
            *(each.name, each.verdict, "{}, {}".format(*each.codes), each.title),
            *(f"{count:,}" for count in (each.processes, each.rules, each.pools)),
            *(f"{100 * share:.{digits}f} %" for share, digits in ((each.routed, 1), (each.astray, 3))),
            f"{100 * each.mistaken:.3f} %",
            f"{each.predicted / 2**20:.1f} MiB",
            "{:.2f} {:.2f}..{:.2f}".format(*each.parts) if each.parts else "-",
        )
    for job in missing:
        table.add_row(job.name, f"not installed: apt install {job.package}")
    console.print(table)
    for each in outcomes:
        if each.verdict not in (SAME, "no plan"):
            console.print(f"{each.name}: {each.first_difference or 'the exit code'}", markup=False)
    console.print()
