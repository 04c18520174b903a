"""The two large journals: a compiler and an interpreter at work, recorded anew each time.

    cc1plus    g++ -O2 on a unit of some dozens of maps, vectors and sorts
    python3    dictionaries, lists and tuples, each object a call of malloc

Both are Debian's own. The work is the same in every run; about 5 s and 1 s.
"""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from usage import RunError

COMPILER = "g++"
PYTHON = "/usr/bin/python3"
PROGRAMS = Path(__file__).parent / "programs"

LEAST_EVENTS = 10_000_000

# Of the unit that keeps the compiler busy: each instantiates a map, a vector and a sort of its own.
PART = """
struct key_{n} {{
  int first;
  long second;
  bool operator<(const key_{n}& o) const {{
    return first < o.first || (first == o.first && second < o.second);
  }}
}};
std::map<key_{n}, std::vector<std::string>> table_{n};
int fill_{n}(int count) {{
  for (int i = 0; i < count; ++i) table_{n}[key_{n}{{i % {modulus}, i}}].push_back(std::to_string(i * {n}));
  std::vector<key_{n}> keys;
  for (const auto& [key, values] : table_{n})
    if (values.size() > {least}) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return static_cast<int>(keys.size());
}}
"""


@dataclass(frozen=True)
class Workload:
    """A program at work, and what is set in its environment."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Journal:
    """A recorded run."""

    name: str
    path: Path
    events: int


def workloads(folder: Path) -> list[Workload]:
    """Return both; what the compiler reads is in `folder` by then."""
    compiler = said_by(COMPILER, "-print-prog-name=cc1plus").strip()
    options = ("-quiet", "-std=c++20", "-O2", "-fpreprocessed")
    return [
        Workload("cc1plus", (compiler, *options, str(folder / "unit.ii"), "-o", "/dev/null")),
        Workload("python3", (PYTHON, str(PROGRAMS / "orders.py"), "13"), {"PYTHONMALLOC": "malloc"}),
    ]


def prepare(folder: Path, parts: int = 28) -> None:
    """Write the unit, of this many parts, and preprocess it."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "unit.cpp"
    source.write_text(unit(parts), encoding="utf-8")
    said_by(COMPILER, "-std=c++20", "-E", str(source), "-o", str(folder / "unit.ii"))


def unit(parts: int) -> str:
    """Return the text of the unit, the same in every run."""
    includes = "".join(f"#include <{name}>\n" for name in ("algorithm", "map", "string", "vector"))
    return includes + "".join(PART.format(n=n, modulus=7 + n % 5, least=n % 9) for n in range(parts))


def record(workload: Workload, mallard: str, folder: Path) -> Journal:
    """Record a run, and see that it is large enough to judge by."""
    path = folder / f"{workload.name}.mlrd"
    said_by(mallard, "record", "-o", str(path), "--", *workload.command, **workload.environment)
    events = json.loads(said_by(mallard, "info", "--json", str(path)))["events"]
    if events < LEAST_EVENTS:
        raise RunError(f"{workload.name} made {events:,} events only: {LEAST_EVENTS:,} are wanted")
    return Journal(workload.name, path, events)


def said_by(*command: str, **environment: str) -> str:
    """Return what a command that must succeed prints."""
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    if ran.returncode != 0:
        raise RunError(f"{command[0]}: {ran.stderr.strip()}")
    return ran.stdout
