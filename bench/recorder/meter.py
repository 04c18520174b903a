"""Runs one command and prints the CPU time of all of it, as JSON.

    meter.py ERRORS COMMAND...      the command's standard error goes to the file ERRORS, its output nowhere

A recorder leaves processes at work behind the program: a writer, a compressor at the end of a pipe. As a
subreaper this process inherits them and waits for each one, so that its children's usage at the end is that
of every descendant. Its own start is in no figure, and neither is what the kernel's threads do to write
files to the disk, for any recorder. The one thing it cannot see is the child of a process that ignores
SIGCHLD; none of the commands compared has such a one.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def inherit_orphans() -> None:
    """Make this process the one that orphaned descendants are handed to."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot become a subreaper")


def outlive(_number: int, _frame: object) -> None:
    """Let a signal to the whole group end the command, and not this process: it still has to wait."""


def wait_for_all() -> None:
    """Wait until no descendant is left."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def cpu_of_children() -> float:
    """Return user and system time of every descendant that was waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(errors: str, *command: str) -> None:
    """Run the command, wait for everything it started, print what it took."""
    inherit_orphans()
    signal.signal(signal.SIGTERM, outlive)
    before = cpu_of_children()  # a program that became this process by exec may have had some
    with Path(errors).open("wb") as sink:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=sink)
        exit_code = child.wait()
        wait_for_all()
    print(json.dumps({"exit_code": exit_code, "cpu": cpu_of_children() - before}))


if __name__ == "__main__":
    main(*sys.argv[1:])
