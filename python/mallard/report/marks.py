"""Marks in the cells of tables: dots, bars and intervals on one axis a table, as SVG that needs no script.

           -30 %   -20 %   -10 %     0
    plan     |   -- o o|ooo o --     :      a dot a round, the interval and its middle
    pool     |       [=======|=======]      a bar from 0 to the middle, the interval on it

Colours are the page's, by class (page/report.css). A change is a share: -0.25 is a quarter less.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any
from xml.etree.ElementTree import Element

from mallard import figures
from mallard.html.element import tag

Json = Mapping[str, Any]

WIDTH, HEIGHT, EDGE = 300, 22, 14  # pixels of a picture; what it keeps free at both sides
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)  # between the ticks of an axis
MOST_TICKS = 6
OF_WORDS = ("Tried", "Verdict", "Candidate", "Known by", "Why")  # columns without figures
FARTHEST = 1.0  # a change above is drawn at the edge


@dataclass(frozen=True, slots=True)
class Axis:
    """Changes from left to right; 0 is always on it."""

    low: float
    high: float
    step: float

    @classmethod
    def over(cls, values: Iterable[float]) -> "Axis":
        """Return the axis that holds these, from tick to tick."""
        known = [max(-1.0, min(FARTHEST, value)) for value in values]
        low, high = min([0.0, *known]), max([0.0, *known])
        step = next((one for one in STEPS if (high - low) / one <= MOST_TICKS - 1), STEPS[-1])
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        return cls(first * step, max(last, first + 1) * step, step)

    def at(self, value: float) -> str:
        """Return where a change lies, in pixels; at an edge, if it is beyond."""
        share = (value - self.low) / (self.high - self.low)
        return f"{EDGE + (WIDTH - 2 * EDGE) * max(0.0, min(1.0, share)):.1f}"

    def ticks(self) -> list[float]:
        """Return the changes that have a tick."""
        return [
            self.low + number * self.step for number in range(round((self.high - self.low) / self.step) + 1)
        ]

    def heading(self) -> Element:
        """Return the numbers along the axis."""
        texts = (tag("text", percent(one), x=self.at(one), y="14") for one in self.ticks())
        return picture("", *texts)

    def grid(self) -> Iterator[Element]:
        """Yield the lines behind the marks."""
        for one in self.ticks():
            yield line(self.at(one), self.at(one), "0", str(HEIGHT), "zero" if abs(one) < 1e-9 else "tick")


def picture(label: str, *marks: Element) -> Element:
    """Return a picture of a row."""
    return tag(
        "svg", *marks, class_="marks", width=str(WIDTH), height=str(HEIGHT), viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img" if label else None, aria_label=label or None, aria_hidden=None if label else "true",
    )  # fmt: skip


def line(x1: str, x2: str, y1: str, y2: str, kind: str) -> Element:
    """Return a line."""
    return tag("line", x1=x1, x2=x2, y1=y1, y2=y2, class_=kind)


def interval_marks(axis: Axis, of: Json) -> list[Element]:
    """Return an interval and its middle."""
    y = HEIGHT / 2
    middle = axis.at(of["median"])
    return [
        line(axis.at(of["low"]), axis.at(of["high"]), f"{y}", f"{y}", "spread"),
        line(middle, middle, f"{y - 7}", f"{y + 7}", "middle"),
    ]


def bar_mark(axis: Axis, of: Json) -> Element:
    """Return a bar from 0 to the middle."""
    ends = sorted((float(axis.at(0.0)), float(axis.at(of["median"]))))
    kind = "less" if of["median"] < 0 else "more"
    return tag(
        "rect", x=f"{ends[0]}", y="4", width=f"{max(1.0, ends[1] - ends[0]):.1f}", height="14", class_=kind
    )


def dot_mark(axis: Axis, of: Json) -> Element:
    """Return the dot of a round, a pale one if it does not decide."""
    kind = "dot" if of["decides"] else "dot pale"
    return tag("circle", cx=axis.at(of["change"]), cy=f"{HEIGHT / 2}", r="3", class_=kind)


def promise_mark(axis: Axis, value: float) -> Element:
    """Return the diamond of what was predicted."""
    return tag("path", d=f"M{axis.at(value)} {HEIGHT / 2 - 5} l5 5 l-5 5 l-5 -5 z", class_="promise")


def less_one(of: Json | None) -> Json | None:
    """Return the interval of a ratio as that of a change."""
    return {name: of[name] - 1 for name in ("median", "low", "high")} if of else None


def head(headings: Sequence[str], axis: Axis) -> Element:
    """Return headings; that without words is the axis, and those of figures stand to the right."""
    kinds = (None if not text or text in OF_WORDS else "number" for text in headings)
    cells = (
        tag("th", text or axis.heading(), scope="col", class_=kind)
        for text, kind in zip(headings, kinds, strict=True)
    )
    return tag("thead", tag("tr", *cells))


def change(value: float) -> str:
    """Return a change in per cent; one below 10 % has a digit more."""
    text = f"{100 * value:+.1f}" if abs(value) < 0.0995 else f"{100 * value:+.0f}"
    return f"{text} %" if text.strip("+-0.") else "0 %"


def percent(value: float) -> str:
    """Return a change as an axis has it."""
    return f"{round(100 * value):+d} %" if round(100 * value) else "0"


def spread_of(of: Json | None) -> str:
    """Return the bounds of a change; a single round has none."""
    if of is None or of["low"] == of["high"]:
        return figures.UNKNOWN
    return f"{change(of['low'])} to {change(of['high'])}"


def bytes_of(value: float | None) -> str:
    """Return a change of memory."""
    if value is None:
        return figures.UNKNOWN
    return f"{'+' if value > 0 else '-' if value < 0 else ''}{figures.size(abs(value))}"
