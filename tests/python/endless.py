"""A journal without an end, for what must stop while it reads."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def endless_journal(pipe: Path) -> Iterator[None]:
    """Have a named pipe give lines for as long as somebody reads, whoever opens it how often."""
    os.mkfifo(pipe)
    script = 'exec yes "a 8 10 1 1" 1<> "$0"'
    with subprocess.Popen(["/bin/sh", "-c", script, str(pipe)]) as lines:
        yield
        lines.kill()


def wait_until_read(process: int, pipe: Path) -> None:
    """Wait until a process has the pipe open, and a moment more."""
    while all(not link.exists() or not link.samefile(pipe) for link in Path(f"/proc/{process}/fd").iterdir()):
        time.sleep(0.01)
    time.sleep(0.5)
