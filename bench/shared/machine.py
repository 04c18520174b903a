"""What a table of times must say about where it was measured."""

import os
import platform
import re
import subprocess
from pathlib import Path


def first_line(*command: str) -> str:
    """Return the first line that a command prints, on either of its outputs."""
    told = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return told.stdout.strip().split("\n")[0]


def cpu_model() -> str:
    """Return the processor's name."""
    found = re.search(
        r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE
    )
    return found[1] if found else "unknown"


def huge_page_policy() -> str:
    """Return the word in brackets of `always [madvise] never`."""
    policy = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    found = re.search(r"\[(\w+)\]", policy.read_text(encoding="utf-8")) if policy.exists() else None
    return found[1] if found else "unknown"


def machine() -> dict[str, str | int]:
    """Return what every table names."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count() or 0,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "transparent_huge_pages": huge_page_policy(),
        "c_library": " ".join(platform.libc_ver()),
    }


def machine_line() -> str:
    """Return the same as one line."""
    return ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in machine().items())
