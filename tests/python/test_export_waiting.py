"""`mallard export` into a pipe that nobody reads: Ctrl-C ends it all the same."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from conftest import MALLARD
from exported import SLOW_STACKS

PIPE_SIZE = 4096


def waits(exporting: subprocess.Popen[bytes], reading: int) -> bool:
    """Tell whether the process has written and sleeps; it must still be there."""
    assert exporting.poll() is None
    held = int.from_bytes(fcntl.ioctl(reading, termios.FIONREAD, bytes(4)), sys.byteorder)
    state = Path(f"/proc/{exporting.pid}/stat").read_text().rpartition(") ")[2][0]
    return held > PIPE_SIZE // 2 and state == "S"


@pytest.mark.parametrize("form", ["--text", *SLOW_STACKS])
def test_ctrl_c_ends_a_wait_for_the_reader(journal: Path, form: str) -> None:
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
    command = [MALLARD, "export", str(journal), form]
    exporting = subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    try:
        while not waits(exporting, reading):
            time.sleep(0.01)
        exporting.send_signal(signal.SIGINT)
        complaint = exporting.communicate(timeout=60)[1]
    finally:
        exporting.kill()
        os.close(reading)
    assert (exporting.returncode, complaint) == (130, b"mallard: interrupted\n")
