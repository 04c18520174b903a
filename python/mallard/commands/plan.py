"""`mallard plan`: which calling contexts, or instances, of a program get pools of their own."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mallard import MallardError

if TYPE_CHECKING:
    from rich.console import Console

    from mallard.plan.planner import Planned


class Family(StrEnum):
    """The plans that are known."""

    POOLS = "pools"
    INSTANCES = "instances"
    GROUPS = "groups"
    BLIND = "blind"


class Heap(StrEnum):
    """What has all that no rule names."""

    MALLARD = "mallard"
    GLIBC = "glibc"


def plan(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="A journal; with --compile, a plan.")],
    output: Annotated[
        str | None, typer.Option("-o", metavar="FILE", help="Write the plan to a file.")
    ] = None,
    strategy: Annotated[
        Family | None,
        typer.Option(
            help="pools: one for each site that matters. instances: one for each instance of an owner, from "
            "a recording with --witness. groups: pools whose blocks live alike as one. blind: one for all, "
            "the control. Default: instances where they are found, else pools.",
            show_default=False,
        ),
    ] = None,
    max_rss: Annotated[
        float, typer.Option(min=1.0, max=100.0, help="How far memory may grow, times the recorded peak.")
    ] = 1.25,
    process: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="Plan for child processes instead of the first one: those of a program (its name) or one "
            "(its id).",
        ),
    ] = None,
    heap: Annotated[Heap, typer.Option(help="The heap of all that no rule names.")] = Heap.MALLARD,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    compile_it: Annotated[
        bool, typer.Option("--compile", help="Write the image of a plan, which MALLARD_MALLOC_PLAN names.")
    ] = False,
) -> None:
    """Make a plan: which calling contexts of a program get heaps of their own.

    The plan is for the recorded build, unmodified; `mallard try` measures what it brings. docs/plan.md has
    the format, which can be edited by hand.
    """
    from mallard.output import spare

    spare([journal], output)
    if compile_it:
        if process or strategy or as_json:
            raise MallardError("--compile takes a plan as it is: no --process, --strategy or --json")
        return compile_plan(journal, output)
    return make_plan(journal, process, output, (strategy, max_rss, heap), as_json)


def compile_plan(path: str, output: str | None) -> None:
    """Write the image of the plan at `path`."""
    from mallard.output import writing
    from mallard.plan import image_of, read_plan

    if output is None:
        raise MallardError("--compile needs -o FILE: an image is no text")
    image = image_of(read_plan(path))
    with writing(Path(output)) as file:
        file.write(image)


def make_plan(
    journal: str,
    process: str | None,
    output: str | None,
    chosen: tuple[Family | None, float, Heap],
    as_json: bool,
) -> None:
    """Make a plan from a journal, write it, and say what it is."""
    from dataclasses import replace

    from mallard.analysis.progress import progress_bar
    from mallard.figures import shown
    from mallard.output import drawn, writing
    from mallard.plan import plan_text
    from mallard.plan.planner import Options, planned
    from mallard.processes import children_beside, of_one_program, together

    strategy, max_rss, heap = chosen
    options = Options(strategy.value if strategy else None, max_rss, heap.value)
    if process is not None:
        of_one_program(journal, process)
    elif children := children_beside(journal):
        print(
            f"mallard: {journal}: child processes have {children:,} journals that are not in this plan; "
            "--process NAME plans for those of one program, `mallard info` lists them",
            file=sys.stderr,
        )
    with progress_bar(f"plan {journal}") as progress, together(journal, process) as taken:
        found = planned(taken, options, progress)
    if process is not None:
        named = shown(f"{journal} --process {process}")
        found = replace(found, plan=replace(found.plan, journal=named))
    if output:
        with writing(Path(output)) as file:
            file.write(plan_text(found.plan).encode())
    with writing(None) as file:
        file.write(as_text(found).encode() if as_json else drawn(lambda to: show(found, output, to), False))
    for remark in found.remarks:
        print(f"mallard: {remark}", file=sys.stderr)


def show(found: "Planned", output: str | None, console: "Console") -> None:
    """Print the rules and what they add up to."""
    from rich.text import Text

    from mallard import figures
    from mallard.commands.stacks import counted, say
    from mallard.commands.tables import Figure, table_of
    from mallard.plan.planner import Row

    plan = found.plan
    columns: list[Figure[Row]] = [
        ("strategy", lambda row: strategy_of(row), True),
        ("contexts", lambda row: f"{len(row.rule.contexts):,}", False),
        ("blocks", lambda row: figures.count(row.blocks), True),
        ("share", lambda row: figures.share(row.share), True),
        ("peak", lambda row: figures.size(row.peak), True),
    ]
    rows = [(Text(row.name), row) for row in found.rows]
    say(console, f"{plan.title}: {counted(len(rows), 'rule')}, {counted(plan.pools, 'pool')}", style="bold")
    console.print(table_of("rule", rows, columns, console.width))
    console.print()
    for row in found.rows:
        shares = f"; shares the pool {row.rule.pool}" if row.rule.pool != row.name else ""
        say(console, f"{row.name}: {row.rule.reason}{shares}", style="dim")
    console.print()
    blocks, amount = figures.share(found.share_of_blocks), figures.share(found.share_of_bytes)
    say(
        console,
        f"Routes {blocks} of all blocks, {amount} of all bytes; all else goes to {plan.default_heap}'s heap.",
    )
    more = (
        f"{plan.predicted_peak / plan.recorded_peak:.2f} of the recorded {figures.size(plan.recorded_peak)}"
    )
    pages = " in huge pages" if plan.huge_pages else ""
    say(
        console,
        f"Predicted peak: {figures.size(plan.predicted_peak)}{pages}, {more} (limit {plan.max_rss:g}).",
    )
    if output:
        say(console, f"Try it: mallard try {output} -- {plan.program.path} ...")
    else:
        say(console, "Nothing is written: -o FILE keeps the plan.")


def strategy_of(row: Any) -> str:
    """Return the strategy of a rule, and its pools if they are several."""
    return f"{row.rule.strategy} x {row.rule.pools:,}" if row.rule.pools > 1 else str(row.rule.strategy)


def as_text(found: "Planned") -> str:
    """Return it as one JSON object."""
    import json

    plan = found.plan
    whole = {
        "title": plan.title,
        "program": plan.program.path,
        "build_id": plan.program.build_id,
        "journal": plan.journal,
        "default_heap": plan.default_heap,
        "pools": plan.pools,
        "share_of_blocks": found.share_of_blocks,
        "share_of_bytes": found.share_of_bytes,
        "mistaken": found.mistaken,
        "max_rss": plan.max_rss,
        "recorded_peak_bytes": plan.recorded_peak,
        "predicted_peak_bytes": plan.predicted_peak,
        "huge_pages": plan.huge_pages,
        "rules": [
            {
                "name": row.name,
                "pool": row.rule.pool,
                "strategy": row.rule.strategy,
                "pools": row.rule.pools,
                "witness": row.rule.witness.place if row.rule.witness else None,
                "instances": row.rule.witness.instances if row.rule.witness else None,
                "contexts": len(row.rule.contexts),
                "sites": list(row.sites),
                "blocks": row.blocks,
                "bytes": row.bytes,
                "share": row.share,
                "peak_bytes": row.peak,
                "reason": row.rule.reason,
            }
            for row in found.rows
        ],
        "remarks": found.remarks,
    }
    return json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n"
