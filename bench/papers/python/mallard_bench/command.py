"""What the subcommands of `mallard bench` that measure share: their options, and what they do.

`runs` gives a subcommand that only says which groups it wants the options of all of them:

    @runs(Benchmark.DENSITY)                      def density(size=..., smoke=..., quick=..., ...) -> None
    def density(size: ...) -> Asked:         -->     measures the groups of those sizes, prints tables
"""

import inspect
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from mallard import MallardError
from mallard_bench.options import LATENCY, Benchmark, Level, Options

if TYPE_CHECKING:
    from mallard_bench.bench_run import Outcome
    from mallard_bench.results_file import ResultsFile, Run

ROUNDS = 5
# What is measured without a level and with --full, and how long that takes on two cores.
LEVELS = {
    Benchmark.DENSITY: "By default all structures of all sizes, about 5 h; --full writes the paper's "
    "2^27 leaves a cell, days.",
    Benchmark.LOCALITY: "By default 2^21 links in every list, 2^25 in one, about 2 h; --full "
    "measures every list with the paper's accesses, a year.",
    Benchmark.UTILIZATION: "By default the paper's 66 lines, about 35 min; --full is the same.",
    Benchmark.CONTENTION: "By default the paper's 56 lines, about 25 min; --full is the same.",
    Benchmark.EXPANSION: "By default a fifth of the article's iterations, about 1 min; --full has all.",
    Benchmark.SHRINK: "By default a fifth of the article's iterations, seconds; --full has all.",
    Benchmark.BURST: "By default a fifth of the article's iterations, about 1 min; --full has all.",
    Benchmark.POOLS: "By default a million single nodes and a fifth of the article's ranges, about 10 min; "
    "--full has all ranges, and fewer nodes, too.",
}
BROKEN = 1
INTERRUPTED = 130


@dataclass(frozen=True)
class Asked:
    """What a benchmark's own options say: settings of groups, or one run in the paper's notation."""

    narrowed: dict[str, list[int]]
    run: str | None = None


@dataclass(frozen=True)
class Shared:
    """The options that every benchmark has, as typer wants them."""

    smoke: Annotated[bool, typer.Option("--smoke", help="One tiny group of each kind: does it work?")] = False
    quick: Annotated[
        bool, typer.Option("--quick", help="The most telling groups; it says first how long they take.")
    ] = False
    full: Annotated[bool, typer.Option("--full", help="As much work as in the paper; see above.")] = False
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only these beside the first, as AS7, multipool or V2. Repeatable."
        ),
    ] = None
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Rounds at least, in a fresh process for each strategy (5; --smoke: 1)."
        ),
    ] = None
    litter: Annotated[
        int,
        typer.Option(
            metavar="K", min=0, max=100, help="Litter heaps beforehand with K times the live objects."
        ),
    ] = 0
    memory_limit: Annotated[
        str | None,
        typer.Option(metavar="BYTES", help="A strategy may take this much, as 4G (half of the available)."),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option("-o", metavar="FILE", help="Keep results here (mallard-bench-BENCHMARK.jsonl)."),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue the results that are there.")] = False
    paper: Annotated[bool, typer.Option("--paper", help="The paper's own tables below ours.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, no tables.")] = False
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page of heat maps and surfaces, too."),
    ] = None
    native: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help="The mallard-bench to run, if not the usual one.")
    ] = None

    @property
    def level(self) -> Level:
        """The one level that was asked for."""
        asked = [level for level in Level if getattr(self, level, False)]
        if len(asked) > 1:
            raise MallardError(f"--{asked[0]} and --{asked[1]} exclude each other")
        return asked[0] if asked else Level.DEFAULT


def runs(benchmark: Benchmark) -> Callable[[Callable[..., Asked]], Callable[..., None]]:
    """Make a subcommand of a function that says what is measured."""

    def decorate(narrow: Callable[..., Asked]) -> Callable[..., None]:
        @wraps(narrow)
        def subcommand(**given: Any) -> None:
            shared = Shared(**{field.name: given.pop(field.name) for field in fields(Shared)})
            measure(benchmark, narrow(**given), shared)

        subcommand.__doc__ = f"{narrow.__doc__}\n\n{LEVELS[benchmark]}"
        hints = get_type_hints(Shared, include_extras=True)
        options = [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )
            for field in fields(Shared)
        ]
        own = inspect.signature(narrow)
        subcommand.__signature__ = own.replace(  # type: ignore[attr-defined]
            parameters=[*own.parameters.values(), *options], return_annotation=None
        )
        return subcommand

    return decorate


def measure(benchmark: Benchmark, asked: Asked, shared: Shared) -> None:
    """Measure what was asked for, keep it and print it."""
    from mallard.native import tool
    from mallard_bench.bench_run import run
    from mallard_bench.options import bytes_of
    from mallard_bench.papers import count_allocators, meant, paper_of
    from mallard_bench.program import NAME, Program
    from mallard_bench.results_file import Header, ResultsFile, check_writable
    from mallard_bench.schedules import is_long, probes, schedule

    level = shared.level
    check_together(asked, shared, level)
    memory_limit = bytes_of(shared.memory_limit)
    if shared.html is not None:
        check_writable(shared.html)
    program = Program(shared.native or tool(NAME), benchmark)
    known = program.strategies()
    chosen = meant(shared.strategy or [], known)
    options = Options(
        benchmark,
        level,
        {name: values for name, values in asked.narrowed.items() if values},
        chosen,
        shared.rounds or (1 if level == Level.SMOKE else ROUNDS),
        shared.litter,
        shared.memory_limit,
        count_allocators(chosen, known, paper_of(benchmark)),
        asked.run,
    )
    groups = schedule(options)
    header = Header(
        *(installed_version(), str(benchmark), str(level), options.as_json(), memory_limit, len(groups)),
        *(datetime.now(UTC).isoformat(timespec="seconds"), program.digest()),
    )
    path = shared.output or Path(f"{NAME}-{benchmark}.jsonl")
    if shared.resume and path.exists():
        file = ResultsFile.resume(path, header, program.machine())
    else:
        file = ResultsFile.create(path, header)
    program.told(options, file.header.memory_limit)
    of = probes(options) if is_long(options) else []
    finish(file, lambda: run(groups, program, file, of), shared.paper, shared.as_json, shared.html)


def finish(
    file: "ResultsFile",
    measured: Callable[[], "Outcome"],
    paper: bool = False,
    as_json: bool = False,
    html: Path | None = None,
) -> None:
    """Have the groups of a run measured, and print what is kept of them then."""
    try:
        outcome = measured()
        done = file.run()
    finally:
        file.close()
    goes_on = f"--resume goes on with {file.path}" if done.documents else "nothing was done yet"
    if outcome.interrupted:
        # Everything is kept: another Ctrl-C ends the process wherever it is, in the midst of an import, too.
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(INTERRUPTED))
        say(f"interrupted; {goes_on}")
    try:
        if done.documents:
            print_runs([done], paper, as_json, html)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)  # it is said already
    conclude(outcome, list(done.broken()), goes_on)


def check_together(asked: Asked, shared: Shared, level: Level) -> None:
    """Refuse options that would be ignored beside a run in the paper's notation."""
    if asked.run is None:
        return
    ignored = [f"--{name}" for name, values in asked.narrowed.items() if values]
    ignored += [f"--{level}"] if level in (Level.QUICK, Level.FULL) else []
    ignored += ["--paper"] if shared.paper else []
    if ignored:
        raise MallardError(f"{ignored[0]} says nothing of the run {asked.run}: leave one of them out")


def conclude(outcome: "Outcome", broken: Sequence[str], goes_on: str) -> None:
    """Tell what went wrong, and make it the exit code."""
    for what in [*broken, *outcome.failed]:
        say(f"warning: {what}")
    if outcome.failed:
        say(f"not all could be measured; {goes_on}")
    if outcome.stopped:
        raise MallardError(f"{outcome.stopped}; {goes_on}")
    if outcome.interrupted:
        sys.exit(INTERRUPTED)  # it is said already
    if broken or outcome.failed:
        raise typer.Exit(BROKEN)


def say(what: str) -> None:
    """Tell the user at once."""
    print(f"mallard: {what}", file=sys.stderr, flush=True)


def print_runs(runs: Sequence["Run"], paper: bool, as_json: bool, html: Path | None) -> None:
    """Print runs as tables, or as an object a line; write the page of them, if there is to be one."""
    import json

    from mallard_bench.printing import printing
    from mallard_bench.ratios import with_ratios
    from mallard_bench.show import show_replays, show_run

    replays = [run for run in runs if run.header.benchmark == LATENCY]
    if html is not None:
        again = ["mallard", "bench", "table", *(str(run.path) for run in runs), "--html", str(html)]
        if replays and len(replays) < len(runs):
            raise MallardError(f"{LATENCY} has a page of its own: give its results, or the others, to --html")
        page = import_module(f"mallard_bench.page.{LATENCY if replays else 'bench'}_page")
        page.write_page(runs, html, installed_version(), again)
    with printing():
        for run in runs:
            if as_json:
                results = [with_ratios(document) for document in run.documents]
                print(json.dumps({**asdict(run.header), "results": results}))
            elif run in replays:
                show_replays(run)
            else:
                show_run(run, paper)


def print_comparison(first: "Run", second: "Run", most: int, as_json: bool) -> None:
    """Print how far two runs agree; other differences are warnings."""
    import json

    from mallard_bench.agreement import agreements, differences, lines
    from mallard_bench.printing import printing

    found = agreements(first, second)
    for difference in differences(first, second):
        say(f"warning: {difference}")
    with printing():
        if as_json:
            told = {kind: agreement.as_json() for kind, agreement in found.items()}
            print(json.dumps({"first": str(first.path), "second": str(second.path), "kinds": told}))
        else:
            print("\n".join(lines((first, second), found, most)))


def installed_version() -> str:
    """Return the version of this package."""
    from importlib.metadata import version

    return version("mallard-bench")
