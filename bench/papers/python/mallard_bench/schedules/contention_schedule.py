"""Benchmark IV: a group is a line of the paper's, (N, S, W): pairs of each thread, a block, and threads."""

import os
from itertools import product

from mallard import MallardError
from mallard_bench.options import Group, Level, Options

TABLES = [(15, 6), (15, 7), (15, 8), (16, 8), (17, 8), (18, 8), (19, 8)]
QUICK_TABLES = [(15, 6), (15, 8), (19, 8)]
SMOKE_TABLES = [(10, 6)]
THREADS = {Level.SMOKE: [1, 2], Level.QUICK: [1, 2, 4, 8]}
ALL_THREADS = range(1, 9)

START_SECONDS = 0.008  # of a process
PAIR_NS = 30
CLOCK_SECONDS = 0.035  # CPU time of a thread that no pair of the passes takes
PASSES = 3
WAITING = 3  # threads without a core of their own spread their times, so that all rounds are needed


def groups(options: Options) -> list[Group]:
    """Return the lines of a level; what is asked for of N or S narrows its tables, of both makes others."""
    if options.litter:
        raise MallardError("--litter does not reach what threads allocate")
    wanted = options.narrowed
    usual = {Level.SMOKE: SMOKE_TABLES, Level.QUICK: QUICK_TABLES}.get(options.level, TABLES)
    iterations, blocks = wanted.get("iterations", []), wanted.get("block", [])
    if iterations and blocks:
        tables = list(product(iterations, blocks))
    else:
        tables = [
            (number, block)
            for number, block in usual
            if number in (iterations or [number]) and block in (blocks or [block])
        ]
    threads = wanted.get("threads", THREADS.get(options.level, ALL_THREADS))
    return [group(number, block, count, options.turns) for number, block in tables for count in threads]


def probes(options: Options) -> list[Group]:
    """Return a short line."""
    return [group(15, 6, 1, options.turns)]


def group(iterations: int, block: int, threads: int, turns: int) -> Group:
    """Return one line: threads that have no core of their own wait for one."""
    waves = max(threads / (os.cpu_count() or 1), 1)
    seconds = START_SECONDS + CLOCK_SECONDS + waves * PASSES * 2**iterations * PAIR_NS * 1e-9
    return Group(
        f"N 2^{iterations}, S 2^{block}, W {threads}",
        {"iterations": iterations, "block": block, "threads": threads},
        turns * seconds * (WAITING if waves > 1 else 1),
    )
