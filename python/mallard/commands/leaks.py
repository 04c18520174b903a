"""`mallard leaks`: what is alive at the end of a journal, by calling context."""

import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mallard import MallardError

if TYPE_CHECKING:
    from rich.console import Console

    from mallard.analysis.alive import AliveSite
    from mallard.analysis.store import Reading
    from mallard.analysis.suppressions import Suppression

UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
CONDITION = re.compile(
    r"\s*(?:(?P<what>bytes|blocks)\s*(?P<relation>>=?))?\s*(?P<number>\d+)\s*(?P<unit>|B|KiB|MiB|GiB)\s*"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """When `--fail-if` holds."""

    text: str
    what: str  # bytes or blocks
    least: int  # that holds

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Read one: bytes>4096, blocks>=1, or 1KiB, which is bytes>1KiB."""
        found = CONDITION.fullmatch(text)
        if found is None or (found["what"] == "blocks" and found["unit"]):
            raise MallardError(f"--fail-if {text}: must be like bytes>0, bytes>=4KiB, blocks>0 or 1KiB")
        number = int(found["number"]) * UNITS[found["unit"]]
        return cls(text.strip(), found["what"] or "bytes", number + (found["relation"] != ">="))

    def holds(self, size: int, blocks: int) -> bool:
        """Tell whether it holds of what is alive."""
        return (size if self.what == "bytes" else blocks) >= self.least


@dataclass(frozen=True, slots=True)
class Leaks:
    """What is alive at the exit, and what is left out of it."""

    sites: "list[AliveSite]"  # that count, most bytes first
    suppressed: "list[Suppression]"  # of the files, used or not
    runtime: tuple[int, int]  # bytes and blocks of the C and C++ runtimes, which do not count


def leaks(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="A journal, binary or text; may be .xz.")],
    suppressions: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Leave out what a file says: leak:PATTERN, or Valgrind's form."),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="Exit with 1 if it holds: bytes>0, blocks>=10, 1KiB."),
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Count blocks of the C and C++ runtimes, too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    sites: Annotated[int, typer.Option(min=0, help="Number of sites to show, largest first.")] = 20,
    frames: Annotated[int, typer.Option(min=1, help="Number of frames of each stack to show.")] = 12,
    output: Annotated[str | None, typer.Option("-o", metavar="FILE", help="Write to a file.")] = None,
) -> None:
    """Show what a program never frees, by calling context."""
    from mallard.analysis.alive import total
    from mallard.analysis.progress import progress_bar
    from mallard.analysis.store import Reading
    from mallard.analysis.suppressions import read_suppressions
    from mallard.analysis.symbols import Symbols
    from mallard.commands.stacks import amount
    from mallard.output import drawn, spare, writing

    conditions = [Condition.parse(text) for text in fail_if or []]
    rules = [rule for path in suppressions or [] for rule in read_suppressions(path)]
    spare([journal, *(suppressions or [])], output)
    with progress_bar(f"leaks {journal}") as progress:
        reading = Reading.read(journal, progress)
        symbols = Symbols(reading)
        found = find(reading, symbols, rules, show_all)
    with writing(Path(output) if output else None) as file:
        if as_json:
            file.write(as_text(reading, found, conditions, sites).encode())
        else:
            file.write(
                drawn(lambda console: show(reading, found, sites, frames, console), output is not None)
            )
    for warning in [*reading.totals["warnings"], *symbols.warnings, *remarks(reading, found)]:
        print(f"mallard: warning: {journal}: {warning}", file=sys.stderr)
    alive = total(found.sites)
    failed = [condition for condition in conditions if condition.holds(*alive)]
    for condition in failed:
        print(f"mallard: {journal}: {condition.text} holds: {amount(*alive)}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def find(reading: "Reading", symbols: Any, rules: "list[Suppression]", show_all: bool) -> Leaks:
    """Find what counts: neither suppressed nor, unless all is to be shown, the runtimes' own."""
    from mallard.analysis.alive import alive_sites, total
    from mallard.analysis.suppressions import Suppressor, runtime_suppressions

    left = Suppressor(reading, rules).left(alive_sites(reading, symbols, "leaked"))
    counted = left if show_all else Suppressor(reading, runtime_suppressions()).left(left)
    size, blocks = total(left)
    counted_size, counted_blocks = total(counted)
    return Leaks(counted, rules, (size - counted_size, blocks - counted_blocks))


def remarks(reading: "Reading", found: Leaks) -> list[str]:
    """Return what a reader must know: of unused suppressions, and of an end before the program's."""
    unused = [
        f"{rule.place}: suppression is not used: {rule.name}" for rule in found.suppressed if not rule.sites
    ]
    if reading.totals["complete"]:
        return unused
    return ["the journal ends before the program did: what is alive there is no leak yet", *unused]


def show(reading: "Reading", found: Leaks, sites: int, frames: int, console: "Console") -> None:
    """Print it."""
    from mallard.analysis.alive import total
    from mallard.commands.stacks import amount, counted, print_sites, say

    whole = reading.totals["allocations"]
    alive = total(found.sites)
    at = f", from {counted(len(found.sites), 'site')}" if found.sites else ""
    headline = f"Alive at exit: {amount(*alive)}{at}; the program allocates {whole:,} times."
    say(console, headline, style="bold")
    print_sites(found.sites, sites, frames, console)
    used = [rule for rule in found.suppressed if rule.sites]
    size, blocks = found.runtime
    if used or blocks:
        console.print()
    for rule in used:
        say(console, f"suppressed: {amount(rule.bytes, rule.blocks)} by {rule.name} ({rule.place})")
    if blocks:
        runtimes = "of the C and C++ runtimes are not counted (--all shows them)"
        say(console, f"{counted(blocks, 'block')}, {counted(size, 'byte')} {runtimes}")


def as_text(reading: "Reading", found: Leaks, conditions: list[Condition], sites: int) -> str:
    """Return it as one JSON object."""
    import json

    from mallard.analysis.alive import total
    from mallard.figures import shown

    alive = total(found.sites)
    rules = [
        {"name": r.name, "place": r.place, "sites": r.sites, "blocks": r.blocks, "bytes": r.bytes}
        for r in found.suppressed
    ]
    whole = {
        "journal": shown(reading.path),
        "program": reading.totals["program"],
        "complete": reading.totals["complete"],
        "bytes": alive[0],
        "blocks": alive[1],
        "runtime_bytes": found.runtime[0],
        "runtime_blocks": found.runtime[1],
        "sites_total": len(found.sites),
        "sites": [asdict(site) for site in found.sites[:sites]],
        "suppressions": rules,
        "failed": [condition.text for condition in conditions if condition.holds(*alive)],
    }
    return json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n"
