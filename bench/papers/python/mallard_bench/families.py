"""The strategies of the paper, by the heap that they use: labels and names, here alone.

             typed   typed, wink-out   pmr   pmr, wink-out
global       AS1                       AS2
monotonic    AS3     AS4               AS5   AS6
...
"""

BASE = "AS1"  # all others are compared with it
GLOBAL = (BASE, "AS2")
MONOTONIC = ("AS3", "AS4", "AS5", "AS6")
MULTIPOOL = ("AS7", "AS8", "AS9", "AS10")
COMPOSITE = ("AS11", "AS12", "AS13", "AS14")  # multipool over monotonic
# Benchmark II compares what shuffles cost without a local heap and with one for each subsystem.
WITHOUT, WITH, BESIDE = BASE, MULTIPOOL[0], "fifo_multipool"
LAST_SPLIT = 8
LARGEST_POOLED = 12  # of benchmark III: larger blocks the paper's multipool passes on

POOLED = (*MULTIPOOL, *COMPOSITE)
LOCAL = (*MONOTONIC, *POOLED)

FAMILIES = {"global": GLOBAL, "monotonic": MONOTONIC, "multipool": MULTIPOOL, "mono + multi": COMPOSITE}


def destroyed(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of local heaps of which each object is destroyed, not winked out."""
    return labels[::2]


def word(label: str) -> str:
    """Return in a word how a strategy differs from the first of its family."""
    family = next(labels for labels in FAMILIES.values() if label in labels)
    words = ("", "virt") if family == GLOBAL else ("", "wink", "virt", "v+w")
    return words[family.index(label)]
