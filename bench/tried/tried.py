"""Real programs, recorded as a new user would record them: the table of docs/tried.md.

Exit code 0 when every program ran, 1 with --check when a promise is missed, 2 when one could not be run.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import inputs
from limits import Limit, exit_code, verdict
from machine import machine
from programs import PROGRAMS
from trial import HAVE_SYMBOLS, Tools, Trial, TrialError, attempt

TEXT = """# Programs that were tried

`./dev tried -o docs/tried.md` makes this page. It installs the programs, runs each as it is and recorded by
`mallard record`, with all its child processes, and reads the journals. No program was changed or built for
it.

- *As before*: the exit code is the same as without the recorder, and so is the output where a program
  prints the same each time.
- *Strict*: `mallard info --strict` finds nothing missing.
- *Named*: share of the allocations whose site has a function's name, among the 5,000 largest sites. Debian
  strips its programs, so what calls `malloc` in the program's own file often has no name; what a library
  exports has one. The second figure is of the allocations in files that have symbols.
- *Profile*: seconds that `mallard profile --process all --json` takes for a million events with an empty
  cache of symbols; of a journal that has fewer, seconds in all.

"""

COLUMNS = (
    "program",
    "package",
    "does",
    "symbols",
    "processes",
    "events",
    "as before",
    "strict",
    "named",
    "named, with symbols",
    "profile s",
)


def page(trials: Sequence[Trial], measured_on: Mapping[str, str | int]) -> str:
    """Return the whole page."""
    lines = [table_line(COLUMNS), table_line("---" for _ in COLUMNS)]
    lines += [table_line(cells(trial)) for trial in trials]
    said = [f"- {trial.program}: {line}" for trial in trials for line in trial.said]
    told = ["", "What `mallard record` said besides:", "", *said] if said else []
    where = [
        "",
        "Measured on "
        + ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in measured_on.items())
        + ".",
    ]
    return TEXT + "\n".join([*lines, *told, *where]) + "\n"


def table_line(words: Iterator[str] | Sequence[str]) -> str:
    """Return one line of a table."""
    return f"| {' | '.join(words)} |"


def cells(trial: Trial) -> tuple[str, ...]:
    """Return what the table says of one program."""
    return (
        trial.program,
        trial.version,
        trial.does,
        trial.symbols,
        f"{trial.processes:,}",
        f"{trial.events:,}",
        "yes" if trial.same else "NO",
        "yes" if trial.strict else "NO",
        percent(trial.named),
        percent(trial.named_with_symbols),
        f"{trial.profile_seconds_per_million:.1f}",
    )


def percent(share: float | None) -> str:
    """Return a share as one reads it."""
    return "-" if share is None else f"{100 * share:.1f} %"


def limits(trials: Sequence[Trial]) -> Iterator[Limit]:
    """Yield every promise, judged by these programs."""
    changed = [trial.program for trial in trials if not trial.same]
    loose = [trial.program for trial in trials if not trial.strict]
    yield Limit("programs that ran differently", 0, len(changed), ", ".join(changed) or "all alike")
    yield Limit("journals that lack something", 0, len(loose), ", ".join(loose) or "none")
    nameless = {
        trial.program: 1 - (trial.named_with_symbols or 0.0)
        for trial in trials
        if trial.symbols in HAVE_SYMBOLS
    }
    yield worst("allocations without a name, in files that have symbols", 0.05, nameless)
    slow = {trial.program: trial.profile_seconds_per_million for trial in trials}
    yield worst("profile, seconds a million events", 10, slow)


def worst(promise: str, at_most: float, figures: Mapping[str, float]) -> Limit:
    """Judge a promise that each program has to keep."""
    if not figures:
        return Limit(promise, at_most, None, "on each")
    name = max(figures, key=lambda name: figures[name])
    return Limit(promise, at_most, figures[name], f"on each, most on {name}")


ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "tried"


def arguments(given: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev tried", description="Record real programs, and tell what became of it."
    )
    names = [program.name for program in PROGRAMS]
    parser.add_argument("--program", action="append", choices=names, help="only this one; may be repeated")
    parser.add_argument(
        "-o",
        dest="output",
        type=Path,
        metavar="FILE",
        help="write the page to a file, if every program was tried",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON, too")
    parser.add_argument(
        "--mallard", type=Path, metavar="PATH", help="another mallard, with its recorder beside it"
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is not held")
    return parser.parse_args(given)


def main(given: list[str]) -> int:
    """Try each, print the page."""
    wanted = arguments(given)
    for fresh in ("journals", "work", "inputs"):
        shutil.rmtree(FOLDER / fresh, ignore_errors=True)
        (FOLDER / fresh).mkdir(parents=True)
    (FOLDER / "inputs" / inputs.HISTORY).write_bytes(b"".join(inputs.history(4000)))
    mallard = wanted.mallard or ROOT / ".venv/bin/mallard"
    tools = Tools(str(mallard), str(mallard.with_name("mallard-record")), FOLDER, FOLDER / "inputs")
    chosen = [program for program in PROGRAMS if wanted.program is None or program.name in wanted.program]
    trials: list[Trial] = []
    failed = interrupted = False
    for place, program in enumerate(chosen):
        print(f"{place + 1} of {len(chosen)}: {program.name} {program.does}", file=sys.stderr)
        try:
            trials.append(attempt(program, tools))
        except TrialError as reason:
            print(f"tried: {reason}", file=sys.stderr)
            failed = True
        except KeyboardInterrupt:
            interrupted = True
            break
    text = page(trials, machine())
    if wanted.output is None or len(trials) < len(PROGRAMS):
        print(text, end="")
    else:
        wanted.output.write_text(text, encoding="utf-8")
    if wanted.json is not None:
        wanted.json.write_text(
            json.dumps([asdict(trial) for trial in trials], indent=2) + "\n", encoding="utf-8"
        )
    judged = list(limits(trials))
    for limit in judged:
        print(verdict(limit), file=sys.stderr)
    return exit_code(interrupted, failed, wanted.check, [limit.held for limit in judged])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
