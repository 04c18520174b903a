"""What `mallard doctor` adds to the page of a journal: the verdict, the trial, and what advice has measured.

    headline      Use this plan: -31 % CPU, +2 % memory         cards: plan, malloc, source, noise
    trial         plan    -- o o|ooo o --                       a dot a round, the interval that decides
    predictions   what the replay has promised beside what the program has kept
    subsystems    pool    [=======|--]                          a bar a candidate, with its spread
    again         the two commands that make it again

All of it is static, marks too (marks.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.advise.advice_model import LEAVE, NOT_MEASURED
from mallard.advise.doctor_findings import ranked
from mallard.analysis.function_names import short_name
from mallard.compare.choice import DROPPED
from mallard.html.element import Child, scrolled, tag
from mallard.report.marks import (
    Axis,
    Json,
    bar_mark,
    bytes_of,
    change,
    dot_mark,
    head,
    interval_marks,
    less_one,
    percent,
    picture,
    promise_mark,
    spread_of,
)

SECTIONS = (
    ("trial", "The trial"),
    ("predictions", "Predicted and tried"),
    ("advice", "Subsystems and candidates"),
    ("again", "To make it again"),
)


def sections(of: Json) -> list[tuple[str, str, list[Element]]]:
    """Return name, heading and content of each section, those that there is something for."""
    content = {
        "trial": trial(of),
        "predictions": predictions(of["predictions"]),
        "advice": advice(of["advice"]) if of["advice"] else [],
        "again": again(of),
    }
    return [(name, heading, content[name]) for name, heading in SECTIONS if content[name]]


# --- the verdict ---


def verdict(of: Json) -> Element:
    """Return the answer, how it is used, and what else was found, a card each."""
    found = of["verdict"]
    worthwhile = found["kind"] in ("plan", "malloc")
    made = tag(
        "section",
        tag("h2", "Verdict"),
        tag("p", found["headline"] + ".", class_="headline"),
        class_=f"card verdict {'gain' if worthwhile else 'none'}",
        id="doctor-verdict",
    )
    if worthwhile:
        made.append(tag("p", "Confirmed by runs of the program itself, unmodified. To use it:"))
        made.append(tag("pre", tag("code", found["command"] or ""), class_="shell"))
    made.append(tag("div", *cards(of), class_="cards"))
    for remark in of["remarks"]:
        made.append(tag("p", f"Note: {remark}.", class_="note"))
    if waiting := [one["name"] for one in of["stages"] if one["state"] in ("waiting", "running")]:
        made.append(tag("p", f"Not at its end yet: {', '.join(waiting)}.", class_="notice"))
    return made


def cards(of: Json) -> Iterator[Element]:
    """Yield the best plan, the best malloc, the best change of the source, and how large noise is."""
    rows = of["trial"]["rows"] if of["trial"] else []
    for kind, heading in (("plan", "Best plan"), ("malloc", "Best malloc")):
        tried = [row for row in rows if row["kind"] == kind and row["ratios"]["cpu_s"]]
        if tried:
            best = min(tried, key=lambda row: preference(row, of["verdict"]["use"]))
            yield of_row(heading, best, of["verdict"]["use"] == best["name"])
    if sources := changes_of_source(of["advice"]):
        part, one = sources[0]
        yield card(
            "In the source",
            change(one["cpu"]["median"]),
            f"{one['strategy']} in {part['name']}",
            "measured in the replay, not tried" if one["measured"] else "estimated, not tried",
        )
    if noise := next((row["ratios"]["cpu_s"] for row in rows if row["kind"] == "twin"), None):
        around = f"{change(noise['low'] - 1)} to {change(noise['high'] - 1)}"
        yield card("Noise", change(noise["median"] - 1), f"glibc against itself, {around}", "the A/A row")


def preference(row: Json, use: str | None) -> tuple[bool, bool, float]:
    """Return what rows are sorted by: the one to use, then what the last stage has judged, then CPU time."""
    return row["name"] != use, row["verdict"] == DROPPED, row["ratios"]["cpu_s"]["median"]


def of_row(heading: str, row: Json, is_used: bool) -> Element:
    """Return the card of what was tried."""
    ratio, memory = row["ratios"]["cpu_s"], row["ratios"]["max_rss_bytes"]
    more = f", {change(memory['median'] - 1)} memory" if memory else ""
    around = f"{change(ratio['low'] - 1)} to {change(ratio['high'] - 1)}"
    name = PurePath(row["plan"]).name if row["plan"] else row["name"]
    says = "confirmed: use it" if is_used else row["verdict"] or "not judged"
    return card(heading, change(ratio["median"] - 1), f"CPU ({around}){more}", f"{name}: {says}", is_used)


def card(heading: str, figure: str, what: str, more: str, chosen: bool = False) -> Element:
    """Return one card."""
    return tag(
        "div",
        tag("h3", heading),
        tag("p", figure, class_="figure"),
        tag("p", what),
        tag("p", more, class_="detail"),
        class_="answer chosen" if chosen else "answer",
    )


def changes_of_source(advice: Json | None) -> list[tuple[Json, Json]]:
    """Return which changes of the source would pay, the best first, each with its subsystem.

    None does in a part that is best left alone. Strategies that come down to one change of one part count
    once, as the best of them.
    """
    found = [
        (part, one)
        for part in (advice["subsystems"] if advice else ())
        if part["pick"] != LEAVE
        for one in part["candidates"]
        if one["runs_as"] == "source" and one["change"] and one["cpu"] and not one["refused"]
        if one["is_clear"]
    ]
    changes: dict[str, tuple[Json, Json]] = {}
    for part, one in sorted(found, key=lambda each: float(each[1]["cpu"]["median"])):
        where = [one["change"][of] for of in ("type", "function", "file", "line")]
        changes.setdefault(f"{part['name']} {where}", (part, one))
    return list(changes.values())


# --- the trial ---


def trial(of: Json) -> list[Element]:
    """Return a row for each candidate, its rounds as dots."""
    rows = of["trial"]["rows"] if of["trial"] else []
    if not rows:
        return failed(of["trial"]["left_out"]) if of["trial"] else []
    base, *others = ranked(rows)
    dots: Mapping[str, Sequence[Json]] = of["rounds"]
    known = [one["change"] for row in others for one in dots.get(row["name"], ())]
    axis = Axis.over(known)
    headings = ("Tried", "CPU", "", "Between", "CPU time", "Max RSS", "Change", "Verdict")
    body = tag(
        "tbody", *(tried_row(row, axis, dots.get(row["name"], ()), of["verdict"]["use"]) for row in others)
    )
    made = [
        tag("p", *lead(of, base), class_="summary"),
        scrolled(tag("table", head(headings, axis), body, class_="marked"), "What was tried"),
    ]
    made += failed(of["trial"]["left_out"])
    made += [tag("p", f"Note: {note}.", class_="note") for note in of["trial"]["notes"]]
    made.append(
        tag(
            "details",
            tag("summary", "How to read this"),
            tag(
                "p",
                "A dot is a round: what the candidate takes more or less than glibc, of which each round has "
                "two runs. Full dots are of the last stage, which decides; pale ones of those before, which "
                "only choose. The line is the interval of the last stage's median, the upright mark that "
                "median.",
            ),
            class_="help",
        )
    )
    return made


def failed(left_out: Sequence[Json]) -> list[Element]:
    """Say what could not be measured, and why."""
    return [
        tag("p", tag("strong", f"Not measured: {one['name']}: "), one["reason"], class_="note")
        for one in left_out
    ]


def lead(of: Json, base: Json) -> list[Child]:
    """Return what the verdict says of the figures."""
    cpu = figures.time(1e9 * base["cpu_s"]["median"])
    memory = figures.size(base["max_rss_bytes"]["median"])
    told = [one for one in of["trial"]["verdict"]["sentences"] if not one.startswith("To use it: ")]
    return [" ".join([*told, f"{base['name']} itself takes {cpu} and {memory}."])]


def tried_row(row: Json, axis: Axis, rounds: Sequence[Json], use: str | None) -> Element:
    """Return one candidate."""
    ratio, memory = less_one(row["ratios"]["cpu_s"]), less_one(row["ratios"]["max_rss_bytes"])
    marks = [dot_mark(axis, one) for one in rounds]
    if ratio:
        marks += interval_marks(axis, ratio)
    label = f"{row['name']}: {len(rounds)} rounds, {percent(ratio['median']) if ratio else 'no ratio'}"
    name = PurePath(row["plan"]).name if row["plan"] else row["name"]
    says = {"twin": "noise", "control": f"{row['verdict'] or '-'} (control)"}.get(
        row["kind"], row["verdict"] or "-"
    )
    return tag(
        "tr",
        tag("th", name, scope="row"),
        tag("td", change(ratio["median"]) if ratio else figures.UNKNOWN, class_="number strong"),
        tag("td", picture(label, *axis.grid(), *marks)),
        tag("td", spread_of(ratio), class_="number"),
        tag("td", figures.time(1e9 * row["cpu_s"]["median"]), class_="number"),
        tag("td", figures.size(row["max_rss_bytes"]["median"]), class_="number"),
        tag("td", change(memory["median"]) if memory else "", class_="number"),
        tag("td", says),
        class_="chosen" if row["name"] == use else None,
    )


# --- predictions ---


def predictions(found: Sequence[Json]) -> list[Element]:
    """Return what was predicted beside what was tried."""
    if not found:
        return []
    tries = [
        {"median": one["tried_cpu"], "low": one["interval"][0], "high": one["interval"][1]} for one in found
    ]
    axis = Axis.over(
        [*(one["predicted_cpu"] for one in found), *(bound for one in tries for bound in one.values())]
    )
    body = tag("tbody")
    for one, tried in zip(found, tries, strict=True):
        promise = promise_mark(axis, one["predicted_cpu"])
        label = f"{one['name']}: predicted {percent(one['predicted_cpu'])}, tried {percent(one['tried_cpu'])}"
        body.append(
            tag(
                "tr",
                tag("th", one["name"], scope="row"),
                tag("td", change(one["predicted_cpu"]), class_="number"),
                tag("td", change(one["tried_cpu"]), class_="number strong"),
                tag("td", picture(label, *axis.grid(), *interval_marks(axis, tried), promise)),
                tag("td", spread_of(tried), class_="number"),
                tag("td", figures.size(one["predicted_peak_bytes"]), class_="number"),
                tag("td", figures.size(one["tried_peak_bytes"]), class_="number"),
            )
        )
    headings = ("Tried", "Predicted CPU", "Tried CPU", "", "Between", "Predicted peak", "Tried peak")
    note = (
        "The diamond is what the replay of the journal and the start of a malloc have promised, the line "
        "what runs of the program have shown. A replay knows what allocation costs, and not what the "
        "program's own work gains or loses by where its blocks lie."
    )
    table = tag("table", head(headings, axis), body, class_="marked")
    return [scrolled(table, "Predicted and tried"), tag("p", note, class_="note")]


# --- subsystems ---


def advice(of: Json) -> list[Element]:
    """Return all subsystems, and what limits the statements about them."""
    notes = (tag("p", f"Note: {remark}.", class_="note") for remark in of["remarks"])
    return [*(subsystem(number, part) for number, part in enumerate(of["subsystems"])), *notes]


def subsystem(number: int, part: Json) -> Element:
    """Return one subsystem: what it does, and a bar for each candidate."""
    known = [one for one in part["candidates"] if one["cpu"]]
    axis = Axis.over(bound for one in known for bound in one["cpu"].values())
    best = best_of(part)
    rows = (candidate_row(one, axis, one is best) for one in part["candidates"])
    headings = ("Candidate", "CPU", "", "Between", "Peak", "Held", "Known by", "Why")
    made = tag(
        "article",
        tag("h3", f"{number + 1} ", tag("span", part["name"], class_="function")),
        facts(part),
        class_="subsystem",
        id=f"advice-{number}",
    )
    if part.get("does"):
        made.append(tag("p", f"It {part['does']}."))
    made.append(tag("p", picked(part), class_="pick"))
    if any(one["strategy"] != LEAVE for one in part["candidates"]):
        table = tag("table", head(headings, axis), tag("tbody", *rows), class_="marked")
        made.append(scrolled(table, f"Candidates of {part['name']}"))
    made.extend(element for one in part["candidates"] if (element := source(one)) is not None)
    return made


def facts(part: Json) -> Element:
    """Return the subsystem's figures."""
    site, owners = part["site"], part["owners"]
    place = f"{site['file']}:{site['line']}" if site and site["file"] else None
    texts = (
        f"{figures.count(part['blocks'])} blocks, {figures.share(part['share_of_blocks'])} of all",
        figures.size(part["bytes"]),
        f"{figures.share(part['share_of_cpu'])} of CPU time" if part["share_of_cpu"] is not None else None,
        " ".join(dimensions(part["dvluc"])),
        f"{part['threads']} threads" if part["threads"] > 1 else None,
        f"{figures.count(owners['instances'])} owners, told apart by {owners['place']}" if owners else None,
        place,
    )
    return tag("p", *(tag("span", text) for text in texts if text), class_="facts")


def dimensions(of: Json) -> Iterator[str]:
    """Yield the dimensions that are known."""
    for name, value in of.items():
        if value is not None:
            yield f"{name[0].upper()} {figures.unit(value)}"


def best_of(part: Json) -> Json | None:
    """Return the candidate that is picked."""
    found: Iterator[Json] = (one for one in part["candidates"] if one["strategy"] == part["pick"])
    return next(found, None)


def picked(part: Json) -> str:
    """Say what is best for it."""
    best = best_of(part)
    if best is None or part["pick"] == LEAVE:
        is_measured = any(one["measured"] for one in part["candidates"] if one["strategy"] != LEAVE)
        return "Leave it alone." if is_measured else NOT_MEASURED
    gain = f": {change(best['cpu']['median'])} of the program's CPU time" if best["cpu"] else ""
    how = "measured in the replay" if best["measured"] else "estimated"
    return f"Best, {how}: {best['strategy']}{gain}."


def candidate_row(one: Json, axis: Axis, is_picked: bool) -> Element:
    """Return one candidate with its bar."""
    of = one["cpu"]
    marks = [bar_mark(axis, of), *interval_marks(axis, of)] if of else []
    label = f"{one['strategy']}: {percent(of['median']) if of else 'unknown'}"
    how = "replay" if one["measured"] else "estimate" if of else figures.UNKNOWN
    kind = "in a plan" if one["runs_as"] == "plan" else "in the source"
    words = [f"Wrong if {one['wrong_if']}."] if one["wrong_if"] else []
    words += [f"Not picked: {one['refused']}."] if one["refused"] else []
    return tag(
        "tr",
        tag("th", one["strategy"], scope="row"),
        tag("td", change(of["median"]) if of else figures.UNKNOWN, class_="number strong"),
        tag("td", picture(label, *axis.grid(), *marks)),
        tag("td", spread_of(of), class_="number"),
        tag("td", bytes_of(one["peak_bytes"]), class_="number"),
        tag("td", bytes_of(one["held_bytes"]), class_="number"),
        tag("td", f"{how}, {kind}"),
        tag("td", f"{one['reason']}. ", tag("span", " ".join(words), class_="detail"), class_="words"),
        class_="chosen" if is_picked else None,
    )


def source(one: Json) -> Element | None:
    """Return the change of the source that a candidate is."""
    found = one["change"]
    if not found:
        return None
    function = short_name(found["function"])
    place = f"{function}, {found['file']}:{found['line']}" if found["file"] else function
    made = tag(
        "details",
        tag("summary", f"{one['strategy']} in the source: {found['type']}"),
        tag("p", found["text"]),
        tag("p", tag("span", place, class_="place"), class_="detail"),
    )
    if found["diff"]:
        made.append(tag("pre", *diff(found["diff"]), class_="diff"))
    return made


def diff(text: str) -> Iterator[Element]:
    """Yield the lines of a diff, each with what it is."""
    kinds = {"+": "added", "-": "removed", "@": "where"}
    for row in text.rstrip("\n").split("\n"):
        kind = "where" if row.startswith(("+++", "---")) else kinds.get(row[:1], "kept")
        yield tag("span", f"{row}\n", class_=kind)


# --- to make it again ---


def again(of: Json) -> list[Element]:
    """Return the commands, and what each stage took."""
    commands = tag("pre", tag("code", "\n".join(of["commands"])), class_="shell")
    rows = (
        tag(
            "tr",
            tag("th", one["name"], scope="row"),
            tag("td", one["state"]),
            tag("td", figures.time(1e9 * one["seconds"]) if one["seconds"] else "", class_="number"),
            tag("td", one["says"], class_="words"),
        )
        for one in of["stages"]
    )
    table = tag("table", tag("tbody", *rows))
    return [
        tag("p", "The first reads the journal again, the second tries what came out."),
        commands,
        scrolled(table, "Stages"),
    ]
