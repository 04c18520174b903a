"""The table that people read and the JSON that machines read, made of the same figures."""

from dataclasses import asdict
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cost_figures import Measured, Row
from limits import Limit, number, verdict

WIDTH = 120


def method(rounds: int, scale: float) -> dict[str, str]:
    """Say how the figures are made."""
    return {
        "cpu": "user and system time of the program, the writer and every other process that was started",
        "order": f"all variants alternate within a round, a fresh process each, whole rounds: {rounds};"
        " a round begins with another variant than the one before",
        "figures": "median and [10 %, 90 %] over the rounds; added is the median of the differences to native"
        " of the same round; of --raw is that over what heaptrack --raw adds; over full is CPU time over that"
        " of full stacks; events are the journal's;"
        " depth is the median of the frames of the recorded stacks, full",
        "inputs": "full size"
        if scale == 1
        else f"{scale:g} of the full size: too short to judge the limits by",
    }


def whole(
    measured: list[Measured],
    rows: list[Row],
    judged: list[Limit],
    facts: dict[str, Any],
    method: dict[str, str],
) -> dict[str, Any]:
    """Return everything as one JSON object."""
    return {
        "benchmark": "recorder cost",
        "machine": facts,
        "method": method,
        "programs": [
            {
                "program": m.program,
                "does": m.does,
                "events": m.events(),
                "stack_depth_median": m.stack_depth,
            }
            for m in measured
        ],
        "rows": [asdict(row) for row in rows],
        "limits": [asdict(limit) | {"held": limit.held} for limit in judged],
    }


def show(
    measured: list[Measured],
    rows: list[Row],
    judged: list[Limit],
    facts: dict[str, Any],
    method: dict[str, str],
    out: TextIO,
) -> None:
    """Print the tables, the machine, the method, and last a line a limit."""
    console = Console(file=out, width=WIDTH, highlight=False)
    table = Table(box=None, header_style="bold")
    for name in ("program", "variant"):
        table.add_column(name)
    for name in ("depth", "CPU s", "spread", "added s", "ns/event", "of --raw", "over full", "bytes/event"):
        table.add_column(name, justify="right")
    for program in measured:
        for row in rows:
            if row.program == program.program:
                table.add_row(*(Text(cell) for cell in cells(row, program.stack_depth)))
        table.add_section()
    console.print(table)

    programs = Table(box=None, header_style="bold")
    for name in ("program", "events", "what it does"):
        programs.add_column(name, justify="right" if name == "events" else "left")
    for program in measured:
        programs.add_row(program.program, number(program.events(), ","), program.does)
    console.print(programs)

    for program in measured:
        if program.no_depth is not None:
            console.print(Text(f"unknown depth: {program.program}: {program.no_depth}"), soft_wrap=True)
    for row in rows:
        if row.status == "failed":
            console.print(Text(f"failed: {row.program}, {row.variant}: {row.reason}"), soft_wrap=True)
    for group in (facts, method):
        console.print()
        for name, value in group.items():
            console.print(Text(f"{name.replace('_', ' ')}: {value}"), soft_wrap=True)
    console.print()
    for limit in judged:
        console.print(Text(verdict(limit)), soft_wrap=True)


def cells(row: Row, depth: float | None) -> list[str]:
    """Return a row as the table shows it; "-" is what was not measured or cannot be known."""
    if row.status != "ok":
        return [row.program, row.variant, number(depth, "g"), row.status]
    around = "-" if row.spread is None else f"[{row.spread[0]:.3f}, {row.spread[1]:.3f}]"
    return [
        row.program,
        row.variant,
        number(depth, "g"),
        number(row.cpu_s, ".3f"),
        around,
        number(row.added_s, ".3f"),
        number(row.added_ns_per_event, ".1f"),
        number(row.of_raw, ".3f"),
        number(row.of_full, ".2f"),
        number(row.bytes_per_event, ".2f"),
    ]
