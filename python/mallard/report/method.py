"""How the numbers of the page were made."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.html.element import tag
from mallard.report.data import JournalReport
from mallard.report.formulas import DIMENSIONS


def method(report: JournalReport) -> list[Element]:
    """Return definitions, formulas, and how the replay was measured."""
    profile = report.profile
    words = (
        (
            "object",
            "one allocation with its end; a reallocation that moves ends one object and begins another",
        ),
        ("site", "a calling context: the whole stack of a call, whoever is innermost"),
        ("subsystem", f"a set of sites, here by {profile.by}"),
        ("live", "bytes that are allocated and not freed yet"),
        ("held", "bytes of the pages that hold anything alive: what no heap could give back"),
        (
            "temporary",
            f"freed before more than {profile.few_limit} others of its thread were allocated; where a row is "
            f"opened, also: before any other was, and within {figures.time(profile.short_ns)}",
        ),
        ("lifetime", "of objects that ended, from the call that made it to the call that ended it"),
        ("times", "as recorded: the recording slows the program, its own share is told where it is known"),
    )
    made = [pairs(words, "Words")]
    made.append(
        pairs(
            ((f"{one.letter} {one.name}", f"{one.formula}. {one.range}.") for one in DIMENSIONS), "D V L U C"
        )
    )
    if report.replay is not None:
        made.append(pairs(report.replay["method"].items(), "Replay"))
        facts = ((key, str(value)) for key, value in report.replay["machine"].items())
        made.append(pairs(facts, "Machine of the replay"))
    if profile.machine:
        made.append(pairs(profile.machine.items(), "Machine of the recording"))
    return made


def pairs(facts: Iterable[tuple[str, str]], heading: str) -> Element:
    """Return names and what they mean, to be opened."""
    rows = (
        tag("tr", tag("th", name.replace("_", " "), scope="row"), tag("td", text)) for name, text in facts
    )
    return tag("details", tag("summary", heading), tag("table", tag("tbody", *rows), class_="pairs"))
