"""What the first touch of memory costs on this machine, in huge pages and in small ones.

    bare metal, most machines                 small  0.5 ns a byte     huge  0.1 to 0.2
    a virtual machine that gives back what    small  0.5               huge  2 to 4
    is free, huge page by huge page

Such a machine's host takes away each huge page that has been free for a second or two (free page reporting).
Whoever touches one next waits until it is there again. Small pages are cut from pieces that the host was
never told of. A short program then loses more by huge pages than it gains, a long one does not.
"""

import mmap
from time import sleep, thread_time_ns

MOST = 256 << 20  # bytes that are touched, once in huge pages and once in small ones: up to a second
REST = 3.0  # seconds, after which such a host has taken back what is free
WORTH = 0.01  # of a program's CPU time, that the first touch may take more


def are_dear(peak: int, busy_ns: float | None) -> bool:
    """Return whether a program that holds `peak` bytes loses too much by touching huge pages first."""
    return busy_ns is not None and more_ns(peak) * peak > WORTH * busy_ns


def more_ns(size: int) -> float:
    """Return the nanoseconds that a byte's first touch takes more in huge pages, of memory of a size.

    It is 0 where there are no huge pages, or too little memory.
    """
    touched = min(size, MOST)
    try:
        return (touched_ns(touched, mmap.MADV_HUGEPAGE) - touched_ns(touched, mmap.MADV_NOHUGEPAGE)) / touched
    except (OSError, ValueError):
        return 0.0


def touched_ns(size: int, advice: int) -> int:
    """Return the CPU time of touching each page of new memory once, after a rest."""
    sleep(REST)
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(advice)
        ones = b"\x01" * -(-size // mmap.PAGESIZE)
        began = thread_time_ns()
        memory[:: mmap.PAGESIZE] = ones
        return thread_time_ns() - began
