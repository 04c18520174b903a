"""How the numbers of the page were made: words, formulas, and the replay's and the recording's machine."""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.html.element import tag
from mallard.report.data import JournalReport

# The five dimensions as docs/profile.md defines them: what headings explain when they are pointed at.


@dataclass(frozen=True, slots=True)
class Dimension:
    """One of D V L U C."""

    letter: str
    name: str
    formula: str
    range: str


DIMENSIONS = (
    Dimension(
        "D",
        "density",
        "cost / CPU time, both estimated from the calls that were timed",
        "0..1",
    ),
    Dimension(
        "V",
        "variation",
        "H / 6, with H = - sum p(c) log2 p(c) over 64 size classes c: four for each doubling, from 8 "
        "bytes to 384 KiB; larger sizes are one class",
        "0: one class, 1: all 64 classes equally frequent",
    ),
    Dimension(
        "L",
        "locality",
        "not measured: I / (M x T) needs instructions and transitions, and a journal has no accesses. "
        "Instead: compactness, the live bytes over the bytes of the 64-byte lines, and of the 4096-byte "
        "pages, that hold them",
        "0..1",
    ),
    Dimension(
        "U",
        "utilization",
        "max live bytes / all allocated bytes",
        "0..1",
    ),
    Dimension(
        "C",
        "contention",
        "the mean over time of (sum over threads i of b_i x (1 - product over j != i of (1 - b_j))) / W. "
        "b_i is the share of an interval of 1 ms that thread i spends in operations of the subsystem (its "
        "operations there x the mean duration). W is the number of threads active in that interval. "
        "Intervals without an operation do not count",
        "0: one thread",
    ),
)


def method(report: JournalReport) -> list[Element]:
    """Return definitions, formulas, and how the replay was measured."""
    profile = report.profile
    words = (
        (
            "object",
            "one allocation with its end; a reallocation that moves ends one object and begins another",
        ),
        ("site", "a calling context: the whole stack of a call, whatever is innermost"),
        ("subsystem", f"a set of sites, here by {profile.by}"),
        ("live", "bytes that are allocated and not freed yet"),
        ("held", "bytes of the pages that hold anything alive: what no heap could give back"),
        (
            "temporary",
            f"freed before more than {profile.few_limit} others of its thread were allocated; where a row is "
            f"opened, also: before any other was, and within {figures.time(profile.short_ns)}",
        ),
        ("lifetime", "of objects that ended, from the call that made it to the call that ended it"),
        ("times", "as recorded: the recording slows the program, its own share is given where it is known"),
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
