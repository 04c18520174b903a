"""Benchmark III: a group is a line of the paper, (T, A, S): bytes in all, alive at once, and of a block."""

from itertools import product

from mallard import MallardError
from mallard_bench.options import Group, Level, Options

TOTALS = {Level.SMOKE: [20], Level.QUICK: [27, 30], Level.DEFAULT: range(30, 36), Level.FULL: range(30, 36)}
LINES = [*((active, 10) for active in range(15, 21)), *((20, block) for block in range(11, 16))]
SMOKE_LINES = [(15, 10), (18, 13)]

MONOTONIC = 0.2  # the share of strategies that never use memory again
START_SECONDS = 0.008  # of a process
BLOCK_NS = 20  # on average, where memory is used again
BYTE_NS = 0.3  # where none is
MOST = 33  # with more, memory runs out and they are tried once


def groups(options: Options) -> list[Group]:
    """Return the lines of a level; what is asked for of A or S narrows them, of both makes others."""
    wanted = options.narrowed
    usual = SMOKE_LINES if options.level == Level.SMOKE else LINES
    actives, blocks = wanted.get("active", []), wanted.get("block", [])
    if actives and blocks:
        lines = list(product(actives, blocks))
    else:
        lines = [
            (active, block)
            for active, block in usual
            if active in (actives or [active]) and block in (blocks or [block])
        ]
    totals = wanted.get("total", TOTALS[options.level])
    for total, (active, block) in product(totals, lines):
        check(total, active, block)
    return [group(total, active, block, options.turns) for total in totals for active, block in lines]


def check(total: int, active: int, block: int) -> None:
    """Refuse a line that cannot be."""
    of = f"T 2^{total}, A 2^{active}, S 2^{block} cannot be measured"
    if active < block:
        raise MallardError(f"{of}: A must be at least S, one block")
    if total <= active:
        raise MallardError(f"{of}: T must be more than A, else no block is replaced")


def probes(options: Options) -> list[Group]:
    """Return a short line."""
    return [group(28, 15, 10, options.turns)]


def group(total: int, active: int, block: int, turns: int) -> Group:
    """Return one line."""
    again = (1 - MONOTONIC) * 2 ** (total - block) * BLOCK_NS
    never = MONOTONIC * 2 ** min(total, MOST) * BYTE_NS
    return Group(
        f"T 2^{total}, A 2^{active}, S 2^{block}",
        {"total": total, "active": active, "block": block},
        turns * (START_SECONDS + (again + never) * 1e-9),
    )
