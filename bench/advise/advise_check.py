"""Whether `mallard advise` finds what is known to be best, and its changes of the source work.

    truth program --record, advise--> advice  beside  truths.py       right or wrong, near the best or not
                  --patch, compile--> changed beside  the original    --apply

Exit code 0 when every promise is held, 1 when one is not or nothing is known of it, 2 when something could
not be run, 130 when it was interrupted; what has been measured is printed then, too.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import truth_runs
from advise_judged import (
    Applied,
    Judged,
    applied_limits,
    change_of,
    judged,
    limits,
)
from limits import Limit, as_command, exit_code
from marked_page import NoMarksError, Rows, around, change, page_options, publish, spread
from truth_runs import Bench, CannotRunError
from truths import INPUTS, TRUTHS, Truth

METHOD = (
    "pick: the strategy of the subsystem that is known; CPU: its change of the program's CPU time by"
    " replay, beside that of the best measured candidate."
)
APPLY_METHOD = (
    "advised: what the change of the source is to bring in allocation itself; measured: the changed program"
    " beside the original."
)

Result = Judged | Applied


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="./dev advise-check",
        description="See whether mallard advise names what is known to be best, of programs made for that.",
    )
    names = [truth.name for truth in TRUTHS]
    parser.add_argument("program", nargs="*", metavar="PROGRAM", help=f"only these: {', '.join(names)}")
    parser.add_argument("--input", choices=INPUTS, default=INPUTS[0], help="which data (%(default)s)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--apply", action="store_true", help="apply the changes of the source that advice has as a diff"
    )
    parser.add_argument(
        "--kept", action="store_true", help="judge what the last run left, and run nothing anew"
    )
    parser.add_argument(
        "--allowed", type=int, default=0, metavar="N", help="wrong picks that pass (%(default)s)"
    )
    parser.add_argument("--budget", metavar="MINUTES", help="of each mallard advise")
    page_options(parser)
    parser.add_argument("--mallard", type=Path, metavar="PATH", help="another mallard")
    wanted = parser.parse_args(given)
    if unknown := [name for name in wanted.program if name not in names]:
        parser.error(f"{unknown[0]}: no such program; there are {', '.join(names)}")
    return wanted


def command_of(wanted: argparse.Namespace) -> str:
    """Return the command whose marks a page has around the table that is asked for."""
    other_input = f" --input {wanted.input}" if wanted.input != INPUTS[0] else ""
    return f"./dev advise-check{' --apply' if wanted.apply else ''}{other_input} --table"


def results(bench: Bench, wanted: argparse.Namespace, truth: Truth) -> Result | None:
    """Run or read one program, and judge it."""
    options = ["--budget", wanted.budget] if wanted.budget else []
    if wanted.apply:
        advice = bench.kept(truth, "advice.json")
        if wanted.kept and change_of(truth, advice):
            return Applied(**bench.kept(truth, "applied.json"))
        return truth_runs.applied(bench, truth, advice)
    run = bench.kept(truth, "advice.json") if wanted.kept else truth_runs.advised(bench, truth, options)
    return judged(truth, run, run["seconds"])


# --- tables -----------------------------------------------------------------------------------------


def advice_table(all_: Sequence[Judged]) -> tuple[list[str], Rows]:
    """Return a line a program: what is right, what was picked, how near that is to the best."""
    head = ["program", "right", "pick", "", "CPU", "best", "CPU", "x best", "s"]
    rows = [
        [
            one.truth.name,
            one.truth.wanted,
            one.pick,
            "right" if one.is_right else "WRONG",
            change(one.cpu),
            one.best or "-",
            change(one.best_cpu),
            "-" if one.over_best is None else f"{one.over_best:.2f}",
            "-" if one.seconds is None else f"{one.seconds:.0f}",
        ]
        for one in all_
    ]
    return head, rows


def applied_table(all_: Sequence[Applied]) -> tuple[list[str], Rows]:
    """Return a line for each change of the source."""
    head = ["program", "change", "advised CPU", "measured CPU", ""]
    rows = [
        [
            one.program,
            one.strategy,
            change(one.advised),
            f"{change(one.measured)}{spread(one.interval)}",
            one.failure or ("holds" if one.brings else "MISS"),
        ]
        for one in all_
    ]
    return head, rows


# --- command ----------------------------------------------------------------------------------------


def kind_of(wanted: argparse.Namespace) -> tuple[Callable[[Any], Any], Callable[[Any], Iterator[Limit]], str]:
    """Return what makes the table and the limits, and how figures are made."""
    if wanted.apply:
        return applied_table, applied_limits, APPLY_METHOD
    return advice_table, lambda all_: limits(all_, wanted.allowed), METHOD


def main(given: Sequence[str]) -> int:
    """Run, judge, print."""
    wanted = arguments(given)
    bench = Bench(wanted.mallard or Bench.mallard, wanted.input)
    chosen = [truth for truth in TRUTHS if not wanted.program or truth.name in wanted.program]
    if wanted.table is not None:
        around(wanted.table, command_of(wanted))  # so that a page that cannot be written is refused at once
    found: list[Result] = []
    failed = interrupted = False
    for number, truth in enumerate(chosen, 1):
        print(f"{number} of {len(chosen)}: {truth.name}, {truth.wanted}", file=sys.stderr)
        try:
            if result := results(bench, wanted, truth):
                found.append(result)
        except CannotRunError as reason:
            print(f"advise-check: {truth.name}: {reason}", file=sys.stderr)
            failed = True
        except KeyboardInterrupt:
            interrupted = True
            break
    make_table, make_limits, method = kind_of(wanted)
    judgements, is_whole = list(make_limits(found)), not (failed or interrupted)
    publish(wanted, command_of(wanted), make_table(found), judgements, method, found, is_whole=is_whole)
    for line in reasons(found):
        print(line, file=sys.stderr)
    return exit_code(interrupted, failed, True, [one.held for one in judgements])


def reasons(found: Sequence[Result]) -> Iterator[str]:
    """Yield why a pick is wrong."""
    for one in found:
        if isinstance(one, Judged) and not one.is_right:
            yield f"{one.truth.name}: {one.why_not}. {one.truth.because}"


if __name__ == "__main__":
    as_command("advise-check", main, CannotRunError, NoMarksError)
