"""Colours of a heat map: green for little, yellow, red for much.

least                middle                most       over a whole chart, on a logarithmic scale
green --- yellowish --- yellow --- orange --- red
"""

import math
from collections.abc import Iterable

from rich.color import Color
from rich.style import Style

Rgb = tuple[int, int, int]
STOPS: tuple[Rgb, Rgb, Rgb] = ((104, 190, 128), (252, 231, 140), (240, 112, 104))
INK = Color.from_rgb(24, 24, 24)

MOST_RATIO = 4.0  # from which on a ratio is as red as can be, and its inverse as green


class Heat:
    """Which colour a value has among others."""

    def __init__(self, best: float, worst: float) -> None:
        """Colour from `best`, green, to `worst`, red."""
        self.best = math.log(best)
        self.span = math.log(worst) - self.best

    def style(self, value: float) -> Style:
        """Return the style of a cell."""
        return Style(color=INK, bgcolor=Color.from_rgb(*colour(self.place(value))))

    def place(self, value: float) -> float:
        """Return where a value lies, in 0..1."""
        place = (math.log(value) - self.best) / self.span if self.span and value > 0 else 0.0
        return min(max(place, 0.0), 1.0)


def over_chart(values: Iterable[float]) -> Heat:
    """Return the colours of a chart: its least is green, its most red."""
    known = [value for value in values if value > 0] or [1.0]
    return Heat(min(known), max(known))


def around_one(more_is_better: bool = False) -> Heat:
    """Return the colours of ratios: yellow is 1, green is less, red is more, or the other way round."""
    best = MOST_RATIO if more_is_better else 1 / MOST_RATIO
    return Heat(best, 1 / best)


def colour(place: float) -> Rgb:
    """Return the colour at a place in 0..1."""
    first, second = (STOPS[0], STOPS[1]) if place < 0.5 else (STOPS[1], STOPS[2])
    part = place * 2 - (0 if place < 0.5 else 1)
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(first, second, strict=True))
    return red, green, blue
