"""A run of benchmark II in the paper's notation: |G| |S| af sf rf, as -21 18 8 +3 32.

|G| < 0 makes both sizes binary exponents; sf < 0 lets the accesses come before the shuffle. mallard-bench
reads it, too; here it is told which number is wrong, before anything is made.
"""

import re
from collections.abc import Sequence

from mallard import MallardError

NAMES = ("G", "S", "AF", "SF", "RF")
LARGEST = 40  # exponent
MOST = 1 << 40  # links
MOST_TIMES = 1 << 20


def checked(words: Sequence[str]) -> str:
    """Return a run as it is handed on; refuse what is none."""
    if len(words) != len(NAMES):
        raise refused(words, f"it takes five numbers, {' '.join(NAMES)}, not {len(words)}")
    for name, word in zip(NAMES, words, strict=True):
        if re.fullmatch(r"[+-]?[0-9]+", word) is None:
            raise refused(words, f"{name} is {word}, no whole number")
    links, lists, access, shuffles, repeat = map(int, words)
    largest = -links if links < 0 else links
    if links == 0 or (links < 0 and largest > LARGEST) or links > MOST:
        raise refused(
            words, f"G is {links}: not from 1 to 2^{LARGEST}, nor an exponent from -{LARGEST} to -1"
        )
    if not (0 if links < 0 else 1) <= lists <= largest:
        raise refused(
            words, f"S is {lists}: a list has {'2^0' if links < 0 else 1} links at least, and at most all"
        )
    for name, number in (("AF", access), ("RF", repeat)):
        if number not in range(MOST_TIMES + 1):
            raise refused(words, f"{name} is {number}: not from 0 to 2^20")
    if abs(shuffles) > MOST_TIMES:
        raise refused(words, f"SF is {shuffles}: not from -2^20 to 2^20")
    return " ".join(words)


def refused(words: Sequence[str], why: str) -> MallardError:
    """Return what is wrong with a run."""
    return MallardError(f"{' '.join(words)} is no run: {why}")
