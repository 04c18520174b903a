"""One journal's part of the page: all that can be read without scripts, and the places that they fill."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.analysis.model import Finding, Profile
from mallard.html.element import tag
from mallard.report import doctor_page
from mallard.report.data import JournalReport
from mallard.report.method import method
from mallard.report.strategies import held, single_operations, strategies
from mallard.report.subsystems import subsystems

# Sections in the order of the page: name, heading, whether a chart of that name draws in it.
SECTIONS = (
    ("timeline", "Memory over time"),
    ("dvluc", "Subsystems"),
    ("flame", "Call tree"),
    ("sites", "Sites"),
    ("heat", "Sizes and lifetimes"),
    ("requests", "Sizes asked for"),
    ("threads", "Threads"),
    ("replay", "Strategies"),
    ("operations", "Single operations"),
    ("tails", "Times of calls"),
    ("held", "Held over time"),
    ("copies", "Copies at once"),
    ("regions", "Regions"),
    ("method", "Method"),
)


def program_name(profile: Profile) -> str:
    """Return the name that a user calls the program by."""
    return figures.program_name(profile.arguments, profile.program, profile.journal)


def doctors(document: Mapping[str, Any], report: JournalReport | None) -> Element:
    """Return what `mallard doctor` shows: its own sections, below them the journal's, if there is one."""
    own = doctor_page.sections(document)
    links = [(f"doctor-{name}", heading) for name, heading, _ in own]
    made = tag("article", class_="journal" if report else "doctor", id="journal-0")
    if report is None:
        command = document["program"]
        made.append(
            tag(
                "div",
                tag("h1", PurePath(command[0]).name),
                tag("code", shlex.join(command), class_="command"),
                class_="head",
            )
        )
        made.extend([doctor_page.verdict(document), contents(links)])
    else:
        links += [("journal-0-verdict", "The recording"), *own_links(0)]
        made.extend([header(report), doctor_page.verdict(document), contents(links)])
    for name, heading, content in own:
        made.append(tag("section", tag("h2", heading), *content, class_="card", id=f"doctor-{name}"))
    if report is not None:
        made.append(recording(report.profile))
        made.extend(journal_sections(report, 0))
    return made


def panel(report: JournalReport, number: int, several: bool) -> Element:
    """Return the part of journal `number`."""
    return tag(
        "article",
        header(report),
        verdict(report.profile, number),
        contents(own_links(number)),
        *journal_sections(report, number),
        class_="journal",
        id=f"journal-{number}",
        role="tabpanel" if several else None,
        aria_labelledby=f"tab-{number}" if several else None,
    )


def journal_sections(report: JournalReport, number: int) -> list[Element]:
    """Return the sections of journal `number`."""
    profile = report.profile
    content = {
        "dvluc": [subsystems(profile, number)],
        "replay": strategies(report),
        "tails": single_operations(report),
        "held": held(report),
        "regions": [regions(profile)],
        "method": method(report),
    }
    return [section(name, heading, number, content.get(name, [])) for name, heading in SECTIONS]


def section(name: str, heading: str, number: int, content: list[Element]) -> Element:
    """Return a section: its heading, a place for its chart, and what is static."""
    identity = f"journal-{number}-{name}"
    return tag(
        "section",
        tag("h2", heading, id=f"{identity}-heading"),
        tag("div", data_part=name),
        *content,
        class_="card" if content else "card drawn",
        id=identity,
        aria_labelledby=f"{identity}-heading",
    )


def own_links(number: int) -> list[tuple[str, str]]:
    """Return where the sections of journal `number` are, and what they are called."""
    return [(f"journal-{number}-{name}", heading) for name, heading in SECTIONS]


def contents(links: Iterable[tuple[str, str]]) -> Element:
    """Return the links to all sections."""
    items = (tag("li", tag("a", heading, href=f"#{name}")) for name, heading in links)
    return tag("nav", tag("ul", *items), class_="contents", aria_label="Sections")


def header(report: JournalReport) -> Element:
    """Return what was recorded, where and when."""
    profile = report.profile
    machine = profile.machine
    facts = tag("p", class_="facts")
    for fact in (
        f"process {profile.process}" if profile.process else None,
        f"journal {PurePath(profile.journal).name}",
        started(report.started_unix_ns),
        machine.get("kernel"),
        machine.get("architecture"),
        machine.get("recorder"),
    ):
        if fact:
            facts.append(tag("span", fact))
    made = tag(
        "div",
        tag("h1", program_name(profile)),
        tag("code", shlex.join(profile.arguments) or profile.program, class_="command"),
        facts,
        class_="head",
    )
    for warning in warnings(profile):
        made.append(tag("p", tag("strong", "Warning: "), warning, class_="notice"))
    return made


def started(unix_ns: int | None) -> str | None:
    """Return when recording began."""
    if unix_ns is None:
        return None
    return datetime.fromtimestamp(unix_ns / 1e9, UTC).strftime("recorded %Y-%m-%d %H:%M:%S UTC")


def warnings(profile: Profile) -> list[str]:
    """Return what a reader must know before believing a figure."""
    cut = [] if profile.complete else ["the journal is not complete: its end is missing"]
    return [*cut, *profile.warnings]


# Findings that are there at once; the others open.
FIRST = 3


def verdict(profile: Profile, number: int) -> Element:
    """Return the answer, what it stands on, and the main figures."""
    found = profile.verdict
    return tag(
        "section",
        tag("h2", "Verdict"),
        tag("p", found.headline, class_="headline"),
        *findings(profile, number),
        totals(profile),
        class_=f"card verdict {'gain' if found.worthwhile else 'none'}",
        id=f"journal-{number}-verdict",
    )


def recording(profile: Profile) -> Element:
    """Return what a recording alone shows: findings and figures, but no answer, which the doctor gives."""
    heading = tag("h2", "The recording")
    content = [*findings(profile, 0), totals(profile)]
    return tag("section", heading, *content, class_="card verdict none", id="journal-0-verdict")


def findings(profile: Profile, number: int) -> Iterator[Element]:
    """Yield the first findings, and the others to be opened."""
    first, rest = profile.verdict.findings[:FIRST], profile.verdict.findings[FIRST:]
    if first:
        yield tag("ol", *(finding(one, number) for one in first), class_="findings")
    if rest:
        more = tag("ol", *(finding(one, number) for one in rest), class_="findings", start=str(FIRST + 1))
        yield tag("details", tag("summary", many(len(rest), "more finding")), more)


def finding(one: Finding, number: int) -> Element:
    """Return one finding."""
    title = tag("p", tag("strong", one.title), class_="title")
    if one.share is not None:
        share = f"at most {figures.share(one.share)} of CPU time"
        title.append(tag("span", share, class_="share"))
    if one.subsystem is not None:
        where = f"journal-{number}-subsystem-{one.subsystem}"
        title.append(tag("a", f"subsystem {one.subsystem + 1}", href=f"#{where}"))
    return tag(
        "li",
        title,
        tag("p", one.detail, class_="detail"),
        tag("p", one.suggestion, class_="suggestion"),
    )


def totals(profile: Profile) -> Element:
    """Return the main figures."""
    whole = profile.totals
    own = whole.recording_ns
    facts: list[tuple[str, str, str]] = [
        ("Events", figures.count(whole.events), kinds(whole.events_by_kind)),
        (
            "Allocations",
            figures.count(whole.allocations),
            many(whole.contexts, "calling context"),
        ),
        ("Allocated", figures.size(whole.bytes), f"median size {figures.size(profile.whole.sizes.p50)}"),
        (
            "Live at peak",
            figures.size(whole.peak_live_bytes),
            f"{many(whole.peak_live_objects, 'object')}, at {figures.time(whole.peak_ns)}",
        ),
        (
            "Live at end",
            figures.size(whole.end_live_bytes),
            f"{many(whole.end_live_objects, 'object')} never freed",
        ),
        ("Duration", figures.time(whole.duration_ns), many(len(profile.threads), "thread")),
        ("CPU time", figures.time(whole.cpu_ns), f"recording's share {figures.time(own)}" if own else ""),
        (
            "Allocation's share",
            figures.share(profile.dvluc.density.value),
            "of CPU time, estimated from timed calls",
        ),
    ]
    oddities = [
        (whole.unmatched_frees, "unmatched frees"),
        (whole.inversions, "inversions repaired"),
        (whole.failed, "failed allocations"),
    ]
    odd = ", ".join(f"{figures.count(number)} {what}" for number, what in oddities if number)
    if odd:
        facts.append(("Oddities", figures.count(sum(number for number, _ in oddities)), odd))
    cells = (
        tag("div", tag("dt", name), tag("dd", value, tag("small", more) if more else None))
        for name, value, more in facts
    )
    return tag("dl", *cells, class_="totals")


def many(number: int, what: str) -> str:
    """Return how many there are of what."""
    return f"{figures.count(number)} {what}{'' if number == 1 else 's'}"


def kinds(events: dict[str, int]) -> str:
    """Return how many events of each kind there are."""
    most_first = sorted(events.items(), key=lambda item: -item[1])
    return ", ".join(f"{figures.count(number)} {kind}" for kind, number in most_first if number)


def regions(profile: Profile) -> Element:
    """Return what the program's own regions did."""
    if profile.regions is None:
        return tag(
            "p",
            "The journal has no event of a region: the program uses none that the recorder knows (APR pools, "
            "talloc, obstacks, annotated ones).",
            class_="summary",
        )
    own = profile.regions
    facts = (
        ("Regions", figures.count(own.instances)),
        ("Objects in them", figures.count(own.objects)),
        ("Allocated in them", figures.size(own.bytes)),
        ("Freed one by one", figures.count(own.freed_one_by_one)),
        ("Ended with their region", figures.count(own.cleared)),
        ("Most live in one", figures.size(own.max_live_bytes)),
    )
    cells = (tag("div", tag("dt", name), tag("dd", value)) for name, value in facts)
    return tag("dl", *cells, class_="totals")
