"""The outcome of a trial: a row for each candidate, what to use and why in sentences, JSON.

A row's figures are of the last stage that it was in: the stage that judged it, or the one after which others
went on.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mallard.compare.choice import (
    ALIKE,
    DRAWS,
    DROPPED,
    FASTER,
    LEAST,
    NOTHING,
    OF_NOISE,
    Choice,
    Judged,
    chosen_of,
    judged_parts,
)
from mallard.compare.halving import Goal, Trial
from mallard.compare.intervals import OF_ALL, OF_ONE, Interval, middle
from mallard.compare.mallocs import BASE, IN_HUGE_PAGES
from mallard.compare.outcome import (
    FIGURES,
    LEAST_DIFFERENCE,
    Line,
    Outcome,
    as_dict,
    listed,
    method,
    outputs_of,
    prints_the_same,
)
from mallard.compare.rounds import Row

LOUD = 0.05  # an A/A row that lies further apart than this hides gains that people look for


@dataclass(frozen=True, slots=True)
class Tried(Outcome):
    """The outcome of a trial."""

    choice: Choice
    kinds: dict[str, str]  # of each row by its name: baseline, twin, control, plan or malloc
    plans: dict[str, str]  # the file of each plan
    goal: Goal


def tried(trial: Trial, machine: dict[str, Any]) -> Tried:
    """Return what a trial's rounds say."""
    parts = judged_parts(trial)
    measured = [
        row
        for row in trial.rows
        if row.runs and not row.reason and any(row in one.part.rows for one in parts)
    ]
    outputs = outputs_of(measured) if trial.schedule.same_output else None
    deciding = parts[-1] if parts and parts[-1].rounds >= LEAST else None
    lines = [
        line_of(row, last_of(row, parts), outputs, deciding) for row in measured if last_of(row, parts).rounds
    ]
    rows = {row.malloc.name: row for row in trial.rows}
    choice = chosen_of(deciding, trial)
    left_out = {row.malloc.name: row.reason or "interrupted before it was measured"
                for row in trial.rows
                if row not in measured and not is_needless(row, trial)}  # fmt: skip
    stopped = [f"no further rounds: {trial.stopped}"] if trial.stopped else []
    return Tried(
        program=list(trial.program.arguments),
        lines=lines,
        left_out=left_out,
        notes=[
            *stopped,
            *trial.notes,
            *noted(outputs, deciding),
            *uncontrolled(choice, rows),
            *beyond_their_limits(lines, rows),
        ],
        verdict=sentences(choice, trial, deciding),
        method=method_of(trial, lines, parts),
        machine=machine,
        interrupted=trial.interrupted,
        stopped=trial.stopped,
        choice=choice,
        kinds={line.name: kind_of(rows[line.name], trial) for line in lines},
        plans={line.name: plan for line in lines if (plan := rows[line.name].malloc.plan)},
        goal=trial.goal,
    )


def is_needless(row: Row, trial: Trial) -> bool:
    """Return whether a row is a control that no stage so far has had a use for."""
    return row.malloc.control and not row.reason and not any(row in part.rows for part in trial.parts)


def last_of(row: Row, parts: Sequence[Judged]) -> Judged:
    """Return the last stage that a row was in."""
    return next(one for one in reversed(parts) if row in one.part.rows)


def line_of(row: Row, judged: Judged, outputs: set[str] | None, deciding: Judged | None) -> Line:
    """Return the figures of a row, in the last stage that it was in."""
    found = {name: [*judged.figures(row, name).values()] for name in FIGURES}
    doubt = 1 - OF_ONE
    says = ""
    if row is not judged.base and not row.malloc.repeated and deciding:
        says = judged.kind(judged.over(row, judged.base)) if judged is deciding else DROPPED
    return Line(
        name=row.malloc.name,
        repeated=row.malloc.repeated,
        loaded=row.loaded,
        environment=row.malloc.environment(),
        same_output=prints_the_same(row, outputs),
        figures={name: middle(figures) if figures else None for name, figures in found.items()},
        ratios={
            name: None if row is judged.base
            else judged.over(row, judged.base) if name == judged.goal.name and not row.malloc.repeated
            else judged.ratio(row, judged.base, name, doubt)
            for name in FIGURES
        },
        rounds={name: figures for name, figures in found.items() if figures},
        says=says,
    )  # fmt: skip


def kind_of(row: Row, trial: Trial) -> str:
    """Return what a row is in the trial."""
    of = row.malloc
    kinds = {"baseline": row is trial.base, "twin": of.repeated, "control": of.control, "plan": bool(of.plan)}
    return next((kind for kind, is_one in kinds.items() if is_one), "malloc")


def sentences(choice: Choice, trial: Trial, judged: Judged | None) -> list[str]:
    """Say what to use and why, what it takes, how to use it, and how large noise is."""
    base, figure = trial.base.malloc.name, FIGURES[trial.goal.name]
    nobody = f"Nothing to gain: keep {base}. No candidate is left."
    if judged is None:
        return [f"No verdict yet: it takes {LEAST} rounds of one stage." if choice.use is None else nobody]
    if choice.use is None:
        return [f"No verdict: {figure} is not above 0 under {base} in every round."]
    rows = {row.malloc.name: row for row in judged.part.rows}
    told = [headline(choice, rows[choice.best], judged) if choice.best else nobody]
    if choice.use != NOTHING:
        told += [cost(judged, rows[choice.use]), f"To use it: {way_to_use(rows[choice.use], trial)}"]
        if not rows[choice.use].malloc.plan and any(row.malloc.plan and row.runs for row in trial.rows):
            told.append(f"No plan is better than {choice.use}, beyond noise.")
    if noise := judged.noise(1 - OF_ONE):
        its_own = figure.removeprefix("the program's own ")
        told.append(
            f"A/A: {base} measured a second time has {times(noise)} of its own {its_own}; "
            "what is no further from 1 means nothing."
        )
    return told


def headline(choice: Choice, best: Row, judged: Judged) -> str:
    """Say what to use, and by how much the best candidate differs from what it had to beat."""
    base, figure = judged.base.malloc.name, FIGURES[judged.goal.name]
    known = f"{figure} is {times(choice.over[base])} of {base}'s"
    if choice.use != NOTHING:
        file = f" ({best.malloc.plan})" if best.malloc.plan else ""
        beaten = [f"{times(ratio)} of {name}'s" for name, ratio in choice.over.items() if name != base]
        return f"Use {choice.best}{file}: {listed([known, *beaten])}."
    nothing = f"Nothing to gain: keep {base}. With {choice.best}, the best candidate, {known}"
    if choice.kind == FASTER:
        return f"{nothing}, but no better than {listed(choice.level)}'s beyond noise."
    return f"{nothing}, {'no difference beyond noise' if choice.kind == ALIKE else 'which is worse'}."


def cost(judged: Judged, row: Row) -> str:
    """Say what else changes."""
    names = ("cpu_s", "elapsed_s", "max_rss_bytes", "minor_faults")
    ratios = {
        name: of.median
        for name in names
        if name != judged.goal.name and (of := judged.ratio(row, judged.base, name, 1 - OF_ONE))
    }
    parts = [f"{FIGURES[name]} {median:.2f}" for name, median in ratios.items()]
    return f"Beside {judged.base.malloc.name}: {listed(parts)} times as much."


def way_to_use(row: Row, trial: Trial) -> str:
    """Return the command that runs the program so, where it is run."""
    program, plan = trial.program, row.malloc.plan
    command, there = shlex.join(program.arguments), ""
    if program.is_elsewhere:
        there = f"cd {shlex.quote(str(program.folder))} && "
        plan = plan and str(Path(plan).absolute())
    if plan:
        return f"{there}mallard run --plan {shlex.quote(plan)} -- {command}"
    for name, options in (("mallard", ""), (IN_HUGE_PAGES, "--huge-pages ")):
        if row.malloc.name == name:
            return f"{there}mallard run {options}-- {command}"
    settings = (f"{name}={shlex.quote(value)}" for name, value in row.malloc.environment().items())
    return there + " ".join([*settings, command])


def times(of: Interval) -> str:
    """Return a ratio with its bounds."""
    return f"{of.median:.3f} ({of.low:.3f} to {of.high:.3f})"


def noted(outputs: set[str] | None, judged: Judged | None) -> list[str]:
    """Say what limits the verdict."""
    told = []
    if outputs is not None and len(outputs) > 1:
        told.append(f"what the program prints differs from run to run under {BASE}: it was not compared")
    noise = judged.noise(1 - OF_ONE) if judged else None
    if noise and max(noise.high - 1, 1 - noise.low) > LOUD:
        told.append(
            f"two measurements of {BASE} lie up to {100 * max(noise.high - 1, 1 - noise.low):.0f} % apart: "
            "no smaller difference can be resolved here now"
        )
    return told


def uncontrolled(choice: Choice, rows: Mapping[str, Row]) -> list[str]:
    """Say so if a plan is to be used whose control was left out."""
    used = rows.get(choice.use or "")
    out = [name for name, row in rows.items() if row.malloc.control and row.reason]
    without = "was not compared with its heap without routing"
    return [f"{choice.use} {without}: {name} was left out" for name in out if used and used.malloc.plan]


def beyond_their_limits(lines: Sequence[Line], rows: Mapping[str, Row]) -> list[str]:
    """Name the plans that take more memory than they were made for."""
    found = ((line.name, line.ratios["max_rss_bytes"], rows[line.name].malloc) for line in lines)
    limited = "max RSS, and its plan was made for at most"
    return [
        f"{name} takes {ratio.median:.2f} of {BASE}'s {limited} {of.most_rss:g}"
        for name, ratio, of in found
        if of.plan and ratio and ratio.median > of.most_rss
    ]


def method_of(trial: Trial, lines: Sequence[Line], parts: Sequence[Judged]) -> dict[str, str]:
    """Say how the figures were made."""
    stages = [f"{one.rounds} of {len(one.part.rows)} rows" for one in parts]
    sifted = "; a row's figures are of the last stage that it was in, whose rows earlier rounds have chosen"
    return method(trial, lines) | {
        "rounds": f"{', then '.join(stages)}{sifted if len(stages) > 1 else ''} (seed {trial.schedule.seed})",
        "ratios": f"to the geometric mean of {trial.base.malloc.name}'s two runs in the same round; medians, "
        f"with intervals by the bootstrap ({DRAWS:,} draws): in {FIGURES[trial.goal.name]} they hold with "
        f"{100 * OF_ALL:.0f} % for all candidates of a stage, elsewhere each with {100 * OF_ONE:.0f} %, "
        "or as nearly as its rounds can tell",
        "difference": "an interval without 1, further from 1 than the A/A row's "
        f"({100 * OF_NOISE:.0f} %), and at least {100 * LEAST_DIFFERENCE:.0f} %",
    }


def as_document(of: Tried) -> dict[str, Any]:
    """Return the members of --json."""
    return {
        "program": of.program,
        "verdict": verdict_json(of),
        "rows": [row_json(of, line) for line in of.lines],
        "left_out": [{"name": name, "reason": reason} for name, reason in of.left_out.items()],
        "notes": of.notes,
        "interrupted": of.interrupted,
        "stopped": of.stopped or None,
        "method": of.method,
        "machine": of.machine,
    }


def verdict_json(of: Tried) -> dict[str, Any]:
    """Return what to use; changes are parts of the baseline's figure: -0.25 is a quarter less."""
    choice = of.choice
    ratio = choice.over.get(of.base.name)
    best = next((line for line in of.lines if line.name == choice.best), None)
    beside = {name: best.ratios[name] for name in FIGURES} if best else {}
    return {
        "kind": choice.kind,
        "use": choice.use,
        "best": choice.best,
        "figure": of.goal.name,
        "change": ratio.median - 1 if ratio else None,
        "interval": [ratio.low - 1, ratio.high - 1] if ratio else None,
        "changes": {name: one.median - 1 for name, one in beside.items() if one},
        "over": {name: as_dict(one) for name, one in choice.over.items()},
        "rounds": choice.rounds,
        "sentences": of.verdict,
    }


def row_json(of: Tried, line: Line) -> dict[str, Any]:
    """Return one row."""
    return {
        "name": line.name,
        "kind": of.kinds[line.name],
        "repeated": line.repeated,
        "plan": of.plans.get(line.name),
        "loaded": line.loaded,
        "environment": line.environment,
        "same_output": line.same_output,
        **{name: as_dict(one) for name, one in line.figures.items()},
        "ratios": {name: as_dict(one) for name, one in line.ratios.items()},
        "verdict": line.says or None,
        "rounds": line.rounds,
    }
