"""What a doctor has found, as JSON and in words: the verdict, rounds, predictions, the commands behind them.

The verdict is the trial's alone: advice by itself recommends nothing. Changes are shares: -0.25 is a
quarter less than with glibc.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from mallard.compare.choice import DROPPED, FASTER, LEAST, NOTHING, Choice, judged_parts
from mallard.compare.outcome import listed, rounds_of
from mallard.compare.trial_outcome import Tried
from mallard.compare.trial_outcome import as_document as trial_document

if TYPE_CHECKING:
    from mallard.advise.doctor_stages import Doctor

Json = dict[str, Any]


def document(of: "Doctor") -> Json:
    """Return all that is known so far, as doctor.json has it."""
    trial = trial_document(of.tried) if of.tried else None
    return {
        "program": list(of.order.program.arguments),
        "stages": [asdict(stage) for stage in of.stages],
        "advice": of.advice,
        "trial": trial,
        "rounds": rounds(of),
        "verdict": verdict(of, trial),
        "predictions": predictions(of, trial),
        "commands": commands(of),
        "remarks": of.remarks,
        "files": {
            "folder": str(of.order.folder),
            "journal": of.journal,
            "plans": list(of.plans),
            "report": str(of.order.folder / "report.html"),
        },
    }


def verdict(of: "Doctor", trial: Json | None) -> Json:
    """Return what to use, as the trial has confirmed it."""
    no_change = dict.fromkeys(("use", "cpu_change", "interval", "memory_change", "command"))
    if of.tried is None or trial is None or of.tried.choice.use is None:
        headline = f"No verdict: {why_unknown(of)}"
        return {"kind": "unknown", **no_change, "headline": headline, "confirmed": False}
    if of.tried.choice.use == NOTHING:
        headline = f"Keep what you have: {best_of_all(trial['verdict'], of.tried.choice)}"
        return {"kind": "nothing", **no_change, "headline": headline, "confirmed": True}
    changes, use = trial["verdict"]["changes"], of.tried.choice.use
    kind = of.tried.kinds[use]
    ratio = next(row["ratios"]["cpu_s"] for row in trial["rows"] if row["name"] == use)
    return {
        "kind": kind,
        "use": use,
        "headline": f"Use {'this plan' if kind == 'plan' else use}: {what_changes(of.tried, changes)}",
        "cpu_change": changes.get("cpu_s"),
        "interval": bounds(ratio) if ratio else None,
        "memory_change": changes.get("max_rss_bytes"),
        "confirmed": True,
        "command": of.way,
    }


def what_changes(tried: Tried, changes: Mapping[str, float]) -> str:
    """Say what is gained, and what for."""
    names = {"cpu_s": "CPU", "max_rss_bytes": "memory"}
    if tried.goal.name == "figure":
        names = {"figure": "of its own figure", **names}
    return ", ".join(f"{signed(changes[name])} {words}" for name, words in names.items() if name in changes)


def best_of_all(of: Mapping[str, Any], choice: Choice) -> str:
    """Say how little the best candidate would gain, or what is simpler and gains as much."""
    if of["best"] is None or of["change"] is None:
        return "no candidate is left"
    low, high = of["interval"]
    figure = "CPU time" if of["figure"] == "cpu_s" else "its own figure"
    around = f"({signed(low)} to {signed(high)})"
    but = f", but is no better than {listed(choice.level)} beyond noise" if choice.kind == FASTER else ""
    return f"{of['best']}, the best candidate, changes {figure} by {signed(of['change'])} {around}{but}"


def why_unknown(of: "Doctor") -> str:
    """Say why there is no verdict."""
    if of.interrupted:
        return "interrupted before anything was confirmed"
    if of.tried is None:
        return of.stages[-1].says or "nothing is tried yet"
    if of.tried.stopped:
        return of.tried.stopped
    if all(line.ratios[of.tried.goal.name] is None for line in of.tried.lines[1:]):
        return "the figure that decides is not above 0 in every round"
    return f"there was time for fewer than {LEAST} rounds of one stage; --budget gives more"


def rounds(of: "Doctor") -> dict[str, list[Json]]:
    """Return each round of each row: its change from glibc's two runs in it, and whether it decides."""
    trial = of.trial
    if trial is None or not trial.base.runs or not (parts := judged_parts(trial)):
        return {}
    name, last = trial.goal.name, parts[-1]
    glibc = replace(last, numbers=range(1 + max(trial.base.runs))).reference(name)
    return {
        row.malloc.name: [
            {"round": number, "change": figure / glibc[number] - 1, "decides": number in last.numbers}
            for number, figure in rounds_of(row, name).items()
            if glibc.get(number)
        ]
        for row in trial.rows[1:]
    }


def predictions(of: "Doctor", trial: Json | None) -> list[Json]:
    """Return what advice expected of each candidate beside what the trial has found."""
    if trial is None or of.advice is None:
        return []
    expected = of.expected()
    peaks = {one["name"]: one["predicted_peak_bytes"] for one in of.advice["plans"]}
    found = []
    for row in trial["rows"]:
        ratio, rss = row["ratios"]["cpu_s"], row["max_rss_bytes"]
        if row["kind"] not in ("plan", "malloc") or row["name"] not in expected or not ratio:
            continue
        found.append(
            {
                "name": row["name"],
                "predicted_cpu": expected[row["name"]],
                "tried_cpu": ratio["median"] - 1,
                "interval": bounds(ratio),
                "predicted_peak_bytes": peaks.get(of.plans.get(row["plan"] or "", "")),
                "tried_peak_bytes": rss["median"] if rss else None,
            }
        )
    return found


def ranked(rows: Sequence[Json]) -> list[Json]:
    """Return glibc's row, then those that were judged, then those that were dropped, each by CPU time."""
    base, *others = rows

    def place(row: Json) -> tuple[bool, float]:
        ratio = row["ratios"]["cpu_s"]
        return row["verdict"] == DROPPED, ratio["median"] if ratio else float("inf")

    return [base, *sorted(others, key=place)]


def commands(of: "Doctor") -> list[str]:
    """Return the commands that make advice and trial again, by hand."""
    order, program = of.order, of.order.program
    own = program.figure.pattern if program.figure else None
    options = [word for malloc in order.mallocs for word in ("--malloc", malloc)]
    given = {
        "--stdin": program.stdin,
        "--cwd": program.folder if program.is_elsewhere else None,
        "--setup": program.setup,
        "--cleanup": program.cleanup,
        "--timeout": program.timeout,
        "--figure": own,
        "--better": "lower" if own and not order.goal.upwards else None,
        "--output": None if order.same_output else "ignore",
        "--max-rss": order.max_rss,
        "--seed": order.seed if order.seed != 1 else None,
    }
    for name, value in given.items():
        options += [name, str(value)] if value is not None else []
    again = ["mallard", "try", *of.plans, *options, "--", *program.arguments]
    advise = [shlex.join(["mallard", "advise", of.journal])] if of.journal else []
    return [*advise, shlex.join(again)]


def signed(change: float) -> str:
    """Return a change in per cent, with its sign."""
    rounded = round(100 * change)
    return f"{rounded:+d} %" if rounded else "0 %"


def bounds(ratio: Mapping[str, float]) -> list[float]:
    """Return between which bounds a change lies."""
    return [ratio["low"] - 1, ratio["high"] - 1]


def change_of(ratio: Mapping[str, float] | None) -> str:
    """Return what a ratio changes."""
    return signed(ratio["median"] - 1) if ratio else "-"


def between(ratio: Mapping[str, float] | None, rounds: int) -> str:
    """Return the bounds of a change; one round has none."""
    return f"{signed(ratio['low'] - 1)} to {signed(ratio['high'] - 1)}" if ratio and rounds > 1 else "-"
