"""The page of what was tried, in Markdown, and the promises about it."""

from collections.abc import Iterator, Mapping, Sequence

from limits import Limit
from trial import HAVE_SYMBOLS, Trial

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
