"""`mallard advise`: which strategy would pay in which part of a program, measured by replaying that part."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from mallard.advise.advice_model import Advice, Candidate, SubsystemAdvice, WholeMalloc

SHOWN = 4  # candidates of a subsystem, beside the one that is picked


def advise(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="A journal of one program.")],
    output: Annotated[
        str | None, typer.Option("-o", metavar="FILE", help="Write the best plan to a file.")
    ] = None,
    max_rss: Annotated[
        float, typer.Option(min=1.0, max=100.0, help="How far memory may grow, times the recorded peak.")
    ] = 1.25,
    top: Annotated[
        int, typer.Option(min=1, max=64, help="How many subsystems are measured, those that cost most first.")
    ] = 8,
    budget: Annotated[
        float, typer.Option(metavar="MINUTES", min=0.05, max=1440.0, help="Minutes for all replays.")
    ] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find out which strategy would pay, where and how much.

    Each part of the program is replayed in heaps of its own, everything around it in glibc's. Ctrl-C keeps
    what is measured. `mallard try` then tries the plan on the program itself. docs/advice.md explains.
    """
    import json

    from mallard.advise import Options, advised, as_document
    from mallard.analysis.progress import progress_bar
    from mallard.compare.rounds import noted_interrupts
    from mallard.output import drawn, expect_writable, spare, writing
    from mallard.plan import plan_text

    spare([journal], output)
    expect_writable(output)
    with progress_bar(f"advise {journal}") as progress, noted_interrupts():
        found = advised(journal, Options(max_rss, top, budget), progress)
    if output and found.offers:
        with writing(Path(output)) as file:
            file.write(plan_text(found.offers[0].plan).encode())
    with writing(None) as file:
        if as_json:
            text = json.dumps(as_document(found), ensure_ascii=False, allow_nan=False) + "\n"
            file.write(text.encode())
        else:
            file.write(drawn(lambda console: show(found, output, console), False))
    for remark in found.remarks:
        print(f"mallard: {remark}", file=sys.stderr)
    if output and not found.offers:
        print(f"mallard: {output} is not written: no plan would pay", file=sys.stderr)


def show(found: "Advice", output: str | None, console: "Console") -> None:
    """Print the answer, then what it rests on."""
    from mallard.commands.stacks import say

    say(console, found.verdict.headline, style="bold")
    if found.subsystems:
        console.print()
        overview(found, console)
    for one in found.subsystems:
        console.print()
        subsystem(one, console)
    if found.mallocs:
        console.print()
        mallocs(found.mallocs, console)
    if found.offers:
        console.print()
        plans(found, output, console)


def overview(found: "Advice", console: "Console") -> None:
    """Print a row for each subsystem, the largest gain first."""
    from rich.text import Text

    from mallard import figures
    from mallard.advise.advice_model import SubsystemAdvice
    from mallard.commands.tables import Figure, table_of

    columns: list[Figure[SubsystemAdvice]] = [
        ("blocks", lambda one: figures.count(one.blocks), True),
        ("D", lambda one: figures.share(one.dvluc.density.value), True),
        ("pick", lambda one: one.pick, True),
        ("CPU", lambda one: change(one.picked), True),
        ("peak", lambda one: memory(one.picked.peak_bytes) if one.picked else "", True),
        ("runs as", lambda one: one.picked.runs_as if one.picked else "", True),
    ]
    rows = [(Text(one.name), one) for one in found.subsystems]
    console.print(table_of("subsystem", rows, columns, console.width))


def change(of: "Candidate | None") -> str:
    """Return the change of CPU time of a candidate, or of one block where the program's is not known."""
    if of is None or of.ns_per_block is None:
        return ""
    if of.cpu is None:
        return f"{of.ns_per_block.median:+.1f} ns/block"
    return f"{100 * of.cpu.median:+.1f} %" + ("" if of.measured else " est.")


def spread(of: "Candidate | WholeMalloc") -> str:
    """Return the bounds of a change."""
    if of.cpu is None:
        return f"{of.ns_per_block.low:+.1f} to {of.ns_per_block.high:+.1f} ns" if of.ns_per_block else ""
    return f"{100 * of.cpu.low:+.1f} to {100 * of.cpu.high:+.1f} %"


def memory(change: int | None) -> str:
    """Return a change of bytes with its sign."""
    from mallard import figures

    if change is None:
        return figures.UNKNOWN
    return "same" if abs(change) < 4096 else f"{'+' if change > 0 else '-'}{figures.size(abs(change))}"


def subsystem(one: "SubsystemAdvice", console: "Console") -> None:
    """Print what was found for a subsystem."""
    from rich.text import Text

    from mallard.advise.advice_model import LEAVE, NOT_MEASURED, Candidate
    from mallard.commands.stacks import place, say
    from mallard.commands.tables import Figure, table_of

    where = place(one.site) if one.site else ""
    say(console, f"{one.name}{where}", style="bold")
    say(console, f"  {one.sentence}.")
    told = [c for c in one.candidates if c.strategy != LEAVE][: SHOWN + 1]
    columns: list[Figure[Candidate]] = [
        ("CPU", change, True),
        ("spread", spread, True),
        ("peak", lambda c: memory(c.peak_bytes), True),
        ("at end", lambda c: memory(c.held_bytes), True),
        ("runs as", lambda c: c.runs_as, True),
    ]
    if told:
        rows = [(Text(f"  {c.strategy}" + (" (refused)" if c.refused else "")), c) for c in told]
        console.print(table_of("  strategy", rows, columns, console.width))
    if one.picked is None:
        refused = any(c.is_clear and c.refused for c in one.candidates)
        reason = "what beats glibc is refused" if refused else "nothing beats glibc beyond noise"
        say(console, f"  Leave it alone: {reason}." if one.is_measured else f"  {NOT_MEASURED}")
        return
    best = one.picked
    say(console, f"  Why {best.strategy}: {best.reason}.")
    if best.until:
        say(console, f"  It ends when {best.until} returns.")
    say(console, f"  Wrong if {best.wrong_if}.")
    if best.change:
        say(console, f"  In the source: {best.change.text}")
        for line in (best.change.diff or "").splitlines():
            say(console, f"    {line}", style="dim")


def mallocs(found: "tuple[WholeMalloc, ...]", console: "Console") -> None:
    """Print other mallocs for the whole program."""
    from rich.text import Text

    from mallard.advise.advice_model import WholeMalloc
    from mallard.commands.tables import Figure, table_of

    columns: list[Figure[WholeMalloc]] = [
        (
            "CPU",
            lambda one: f"{100 * one.cpu.median:+.1f} %" if one.cpu else f"{one.ns_per_block.median:+.1f} ns",
            True,
        ),
        ("spread", spread, True),
        ("peak", lambda one: memory(one.peak_bytes), True),
    ]
    rows = [(Text(one.name), one) for one in found]
    console.print(table_of("malloc for all", rows, columns, console.width))


def plans(found: "Advice", output: str | None, console: "Console") -> None:
    """Print the plans that can be tried."""
    import shlex

    from mallard.advise.advisor import signed, told
    from mallard.commands.stacks import counted, say

    for number, offer in enumerate(found.offers):
        plan = offer.plan
        peak = signed(plan.predicted_peak / max(plan.recorded_peak, 1) - 1)
        pages = " in huge pages" if plan.huge_pages else ""
        rules = f"{counted(len(plan.rules), 'rule')}, {counted(plan.pools, 'pool')}"
        say(
            console,
            f"plan {offer.name}: {rules}; {told(offer.cpu)}, peak {peak}{pages}",
            style="" if number else "bold",
        )
    if output:
        say(console, f"Try it: {shlex.join(['mallard', 'try', output, '--', *found.program])}")
    else:
        say(console, "Nothing is written: -o FILE keeps the first plan.")
