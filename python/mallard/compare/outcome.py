"""The outcome: a row for each malloc that was measured, ratios to glibc, and what they say.

A difference counts if three things hold: the interval of its ratio does not contain 1, it is larger than that
of glibc measured a second time, and it is at least a hundredth. Below that, where the linker and the kernel
put things decides.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, log
from pathlib import Path
from typing import Any

from mallard.compare.intervals import OF_ALL, OF_ONE, Interval, enough_rounds, middle, ratio
from mallard.compare.rounds import Row, Session

# By member of a row, what it is called.
FIGURES = {
    "cpu_s": "CPU time",
    "elapsed_s": "elapsed time",
    "max_rss_bytes": "max RSS",
    "minor_faults": "minor faults",
    "major_faults": "major faults",
    "voluntary_switches": "voluntary switches",
    "involuntary_switches": "involuntary switches",
    "figure": "the program's own figure",
}
LEAST_DIFFERENCE = 0.01
# From how far apart on CPU and elapsed time are two things.
WAITS_OR_THREADS = 0.1

Intervals = dict[str, Interval | None]


@dataclass(frozen=True, slots=True)
class Line:
    """One malloc's figures, and how many times glibc's they are; by the names of FIGURES."""

    name: str
    repeated: bool
    loaded: str
    environment: dict[str, str]
    same_output: bool | None  # None: not compared
    figures: Intervals
    ratios: Intervals
    rounds: dict[str, list[float]]  # each round's figure, in their order
    says: str = ""  # what a trial says of it


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that is shown, printed and saved."""

    program: list[str]
    lines: list[Line]  # the base first
    left_out: dict[str, str]  # by name, why
    notes: list[str]
    verdict: list[str]
    method: dict[str, str]
    machine: dict[str, Any]
    interrupted: bool
    stopped: str  # what ended the rounds before their time; empty if nothing has

    @property
    def base(self) -> Line:
        """Return what the others are compared with."""
        return self.lines[0]

    @property
    def again(self) -> Line | None:
        """Return the base's second measurement, if there is one."""
        return next((line for line in self.lines if line.repeated), None)

    @property
    def complete(self) -> bool:
        """Return whether every malloc was measured to the end, and left the program's output as it is."""
        return not (self.left_out or self.stopped) and all(
            line.same_output is not False for line in self.lines
        )


def outcome(session: Session, machine: dict[str, Any], higher_is_better: bool = True) -> Outcome:
    """Return what a session's rounds say."""
    measured = [row for row in session.rows if row.runs and not row.reason]
    compared = max(1, len(measured) - 1)
    outputs = outputs_of(measured) if session.schedule.same_output else None
    lines = [line_of(row, session.base, compared, outputs) for row in measured]
    again = next((line for line in lines if line.repeated), None)
    names = worth_a_sentence(lines[0], session.program.figure is not None)
    others = [line for line in lines[1:] if not line.repeated]
    verdict = [sentence(name, lines[0], others, again, higher_is_better) for name in names if others]
    if others:
        verdict.insert(0, headline(names[0], lines[0], others, again, higher_is_better))
    left_out = [row for row in session.rows if row not in measured]
    stopped = [f"no further rounds: {session.stopped}"] if session.stopped else []
    return Outcome(
        program=list(session.program.arguments),
        lines=lines,
        left_out={row.malloc.name: row.reason or "interrupted before it was measured" for row in left_out},
        notes=[*stopped, *session.notes, *notes(lines, outputs)],
        verdict=[*verdict, *([of_noise(again, lines[0])] if again else [])],
        method=method(session, lines),
        machine=machine,
        interrupted=session.interrupted,
        stopped=session.stopped,
    )


def outputs_of(measured: Sequence[Row]) -> set[str]:
    """Return what the program prints under the base; more than one digest if that differs from run to run."""
    base = [row for row in measured if row is measured[0] or row.malloc.repeated]
    return {taken.output for row in base for taken in row.runs.values()}


def line_of(row: Row, base: Row, compared: int, outputs: set[str] | None) -> Line:
    """Return the figures of a row."""
    rounds = {name: found for name in FIGURES if (found := rounds_of(row, name))}
    return Line(
        name=row.malloc.name,
        repeated=row.malloc.repeated,
        loaded=row.loaded,
        environment=row.malloc.environment(),
        same_output=prints_the_same(row, outputs),
        figures={name: middle([*rounds[name].values()]) if name in rounds else None for name in FIGURES},
        ratios={name: None if row is base else beside(row, base, name, compared) for name in FIGURES},
        rounds={name: [*found.values()] for name, found in rounds.items()},
    )


def prints_the_same(row: Row, outputs: set[str] | None) -> bool | None:
    """Return whether a row printed what the base did; None where the base itself differs."""
    if outputs is None or len(outputs) != 1:
        return None
    return all(taken.output in outputs for taken in row.runs.values())


def rounds_of(row: Row, name: str) -> dict[int, float]:
    """Return one figure of all rounds, by their numbers; a program may have no figure of its own."""
    found = {number: getattr(taken, name) for number, taken in row.runs.items()}
    return {number: figure for number, figure in found.items() if figure is not None}


def beside(row: Row, base: Row, name: str, compared: int) -> Interval | None:
    """Return how many times the base's one figure of a row is."""
    above, below = rounds_of(row, name), rounds_of(base, name)
    common = [number for number in above if number in below]
    return ratio([above[number] for number in common], [below[number] for number in common], compared)


def counts(of: Interval | None, again: Interval | None) -> bool:
    """Return whether a ratio is a difference."""
    if of is None or of.holds_one or abs(of.median - 1) < LEAST_DIFFERENCE:
        return False
    return again is None or from_one(of.median) > from_one(again.median)


def from_one(ratio: float) -> float:
    """Return how far a ratio is from 1, as far for a half as for the double."""
    return abs(log(ratio)) if ratio > 0 else inf


def worth_a_sentence(base: Line, has_figure: bool) -> list[str]:
    """Return the figures that the verdict speaks of."""
    cpu, elapsed = base.figures["cpu_s"], base.figures["elapsed_s"]
    apart = cpu and elapsed and abs(elapsed.median - cpu.median) > WAITS_OR_THREADS * elapsed.median
    names = {"figure": has_figure, "cpu_s": True, "elapsed_s": bool(apart), "max_rss_bytes": True}
    return [name for name, wanted in names.items() if wanted]


def headline(
    name: str, base: Line, others: Sequence[Line], again: Line | None, higher_is_better: bool
) -> str:
    """Say which malloc is the best, by CPU time or the program's own figure, and what memory it takes."""
    noise = again.ratios[name] if again else None
    upwards = name == "figure" and higher_is_better
    better = [
        (of, line)
        for line in others
        if (of := line.ratios[name]) is not None and counts(of, noise) and (of.median > 1) == upwards
    ]
    if all(line.ratios[name] is None for line in others):
        return f"No verdict: {FIGURES[name]} is not above 0 under {base.name} in every round."
    if not better:
        return f"Nothing to gain: no malloc is better than {base.name} in {FIGURES[name]}, beyond noise."
    of, best = (max if upwards else min)(better, key=lambda one: one[0].median)
    memory = best.ratios["max_rss_bytes"]
    takes = f" and {memory.median:.2f} of its max RSS" if memory else ""
    return f"{best.name} is the best in {FIGURES[name]}: {of.median:.2f} of {base.name}'s{takes}."


def sentence(
    name: str, base: Line, others: Sequence[Line], again: Line | None, higher_is_better: bool
) -> str:
    """Say which mallocs differ from the base in one figure."""
    ratios = {line.name: line.ratios[name] for line in others}
    noise = again.ratios[name] if again else None
    real = sorted(
        ((of.median, of, who) for who, of in ratios.items() if of is not None and counts(of, noise)),
        key=lambda one: one[0],
    )
    less, more = ("less", "more") if name != "figure" else ("lower", "higher")
    parts = [
        f"{word} than {base.name}'s with {listed([f'{who} ({times(of)})' for _, of, who in those])}"
        for word, those in (
            (less, [one for one in real if one[0] < 1]),
            (more, [one for one in reversed(real) if one[0] > 1]),
        )
        if those
    ]
    unknown = [who for who, of in ratios.items() if of is None]
    alike = [who for who in ratios if who not in {*unknown, *(one[2] for one in real)}]
    if alike:
        parts.append("no difference beyond noise" + (f" with {listed(alike)}" if parts or unknown else ""))
    if unknown:
        parts.append(f"no ratio, since it is not above 0 under {base.name} in every round")
    if name == "figure":
        parts[-1] += f"; {'higher' if higher_is_better else 'lower'} is better"
    heading = FIGURES[name][0].upper() + FIGURES[name][1:]
    return f"{heading}: {'; '.join(parts)}."


def of_noise(again: Line, base: Line) -> str:
    """Say what the base's second measurement shows."""
    of = again.ratios["cpu_s"]
    if of is None:
        return f"A/A: {base.name} measured a second time has no CPU time to compare."
    known = f"A/A: {base.name} measured a second time takes {times(of)}, of its own CPU time"
    if of.holds_one:
        return f"{known}; differences of that size mean nothing."
    return (
        f"{known}, which is not 1: the machine is not quiet, or the program does not do the same in each run."
    )


def times(of: Interval) -> str:
    """Return a ratio with its bounds."""
    return f"{of.median:.3f}, {of.low:.3f} to {of.high:.3f}"


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def notes(lines: Sequence[Line], outputs: set[str] | None) -> list[str]:
    """Say what is odd about outputs, and about too few rounds."""
    told = []
    if outputs is not None and len(outputs) > 1:
        told.append(
            f"what the program prints differs from run to run under {lines[0].name}: it was not compared"
        )
    told += [
        f"under {line.name} the program prints something else than under {lines[0].name}"
        for line in lines
        if line.same_output is False
    ]
    rounds, compared = least_rounds(lines), max(1, len(lines) - 1)
    if rounds < (enough := enough_rounds(compared)):
        told.append(
            f"{rounds} {'round is' if rounds == 1 else 'rounds are'} too few to be sure of {compared} "
            f"{'ratio' if compared == 1 else 'ratios'}: their intervals are all that was measured; "
            f"{enough} rounds would do"
        )
    return told


def least_rounds(lines: Sequence[Line]) -> int:
    """Return how many rounds all rows have."""
    return min((len(line.rounds["cpu_s"]) for line in lines), default=0)


def method(session: Session, lines: Sequence[Line]) -> dict[str, str]:
    """Say how the figures were made."""
    schedule, program = session.schedule, session.program
    compared = max(1, len(lines) - 1)
    surroundings = {
        "standard input": str(program.stdin) if program.stdin else "empty",
        "folder": str(program.folder),
        "set-up": program.setup,
        "clean-up": program.cleanup,
        "figure": program.figure.pattern if program.figure else None,
    }
    untimed = "1 untimed round" if schedule.warmup == 1 else f"{schedule.warmup} untimed rounds"
    return {
        "command": shlex.join(program.arguments),
        **{name: text for name, text in surroundings.items() if text is not None},
        "rounds": f"{least_rounds(lines)}, behind {untimed}; "
        f"each malloc once in each, in an order that is shuffled anew (seed {schedule.seed})",
        "figures": "of the program and its descendants that were waited for, by wait4 of mallard-launch; "
        f"elapsed time from before exec to the end; medians, with intervals of {100 * OF_ONE:.0f} % by ranks",
        "ratios": f"to {lines[0].name} in the same round; medians, with intervals by ranks that hold with "
        f"{100 * OF_ALL:.0f} % for all {compared} of a column together, or as far as the rounds allow",
        "difference": "an interval without 1, more than the A/A row shows, and at least "
        f"{100 * LEAST_DIFFERENCE:.0f} %",
        "output": "standard output and exit code are compared" if schedule.same_output else "ignored",
    }  # fmt: skip


def as_json(of: Outcome) -> dict[str, Any]:
    """Return the members of --json."""
    again = of.again
    return {
        "program": of.program,
        "verdict": of.verdict,
        "rows": [row_json(line, None if line.repeated else again) for line in of.lines],
        "a_a": None if again is None else {name: as_dict(one) for name, one in again.ratios.items()},
        "left_out": [{"name": name, "reason": reason} for name, reason in of.left_out.items()],
        "notes": of.notes,
        "interrupted": of.interrupted,
        "stopped": of.stopped or None,
        "method": of.method,
        "machine": of.machine,
    }


def row_json(line: Line, again: Line | None) -> dict[str, Any]:
    """Return one row."""
    return {
        "name": line.name,
        "repeated": line.repeated,
        "loaded": line.loaded,
        "environment": line.environment,
        "same_output": line.same_output,
        **{name: as_dict(one) for name, one in line.figures.items()},
        "ratios": {name: as_dict(one) for name, one in line.ratios.items()},
        "differs": {
            name: counts(one, again.ratios[name] if again else None) for name, one in line.ratios.items()
        },
        "rounds": line.rounds,
    }


def as_dict(of: Interval | None) -> Mapping[str, float] | None:
    """Return median, low and high."""
    return None if of is None else asdict(of)


def program_name(of: Outcome) -> str:
    """Return what the user calls the program."""
    return Path(of.program[0]).name
