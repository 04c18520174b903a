"""The programs whose journals are replayed: what each does, and how it is recorded.

Each has 100,000 blocks alive at once, or more, except for the steady churn of 20,000. None of them was used
to choose the heaps' constants. What is recorded is kept in `build/contest`, so that a second run takes less.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import inputs
from large_journals import unit
from usage import RunError

SOURCES = {
    "json_orders": Path(__file__).resolve().parents[2] / "examples" / "demo" / "json_orders.cpp",
    "steady": Path(__file__).parent / "programs" / "steady.cpp",
}
PYTHON = "/usr/bin/python3"
TREE = "tree.xml"
UNIT = "unit.cpp"

GROUPS = """
[range(60000) | {k: ("key-" + (. * 7919 % 977 | tostring)), v: [., (. | tostring)]}]
| group_by(.k) | map({k: .[0].k, n: length, s: (map(.v[0]) | add)}) | length
"""

ROADS = """
import random
draw = random.Random(11)
roads = {}
for town in range(30000):
    ways = [(f"town {draw.randrange(30000)}", draw.randrange(900) / 7) for _ in range(draw.randrange(1, 7))]
    roads[f"town {town}"] = ways
for turn in range(3):
    for town in draw.sample(sorted(roads), 8000):
        del roads[town]
    for town in range(8000):
        ways = [(f"town {draw.randrange(30000)}", draw.random()) for _ in range(draw.randrange(1, 7))]
        roads[f"suburb {turn} {town}"] = ways
best = {}
for town, ways in roads.items():
    for end, miles in ways:
        if end not in best or miles < best[end][0]:
            best[end] = (miles, town)
print(len(best))
"""

INDEX = r"""
my $state = 7;
sub below { $state = ($state * 1103515245 + 12345) & 0x7fffffff; return ($state >> 8) % $_[0] }
my %index;
for my $page (1 .. 20000) {
  for (1 .. 8) {
    my $seen = { page => $page, line => below(60), text => "x" x below(40) };
    push @{ $index{"word" . below(6000)} }, $seen;
  }
  delete $index{"word" . below(6000)} if $page % 4 == 0;
}
my $sum = 0;
for my $word (sort keys %index) { $sum += $_->{line} for grep { length $_->{text} > 9 } @{ $index{$word} } }
print scalar(keys %index), " $sum\n";
"""

TREES = """
local state = 5
local function below(limit) state = (state * 1103515245 + 12345) & 0x7fffffff return (state >> 8) % limit end
local function insert(node, key)
  if not node then return { key = key, name = "n" .. key } end
  local side = key < node.key and "left" or "right"
  node[side] = insert(node[side], key)
  return node
end
local forest = {}
for turn = 1, 240 do
  local root
  for _ = 1, 500 + below(1500) do root = insert(root, below(1 << 30)) end
  forest[1 + below(60)] = root
end
local function size(node) return node and 1 + size(node.left) + size(node.right) or 0 end
local sum = 0
for _, root in pairs(forest) do sum = sum + size(root) end
print(sum)
"""

WORDS = """
BEGIN {
  srand(3)
  for (i = 0; i < 400000; ++i) {
    key = "k" int(rand() * 150000)
    count[key]++
    last[key] = "seen in line " i
    if (i % 3 == 0) { gone = "k" int(rand() * 150000); delete count[gone]; delete last[gone] }
  }
  for (key in count) sum += count[key] + length(last[key])
  print sum
}
"""


@dataclass(frozen=True)
class Program:
    """What is recorded, in the folder of its inputs; `steady` if it never ends empty."""

    name: str
    does: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    steady: bool = False


PROGRAMS = (
    Program("jq", "groups 60,000 objects by key", ("jq", "-n", GROUPS)),
    Program("python3", "builds and rebuilds a road map", (PYTHON, "-c", ROADS), {"PYTHONMALLOC": "malloc"}),
    Program("perl", "keeps an index of words, forgets some", ("perl", "-e", INDEX)),
    Program("lua", "grows 240 trees, keeps 60", ("lua5.4", "-e", TREES)),
    Program("gawk", "counts 150,000 keys that come and go", ("gawk", WORDS)),
    Program("xmllint", "parses a catalog, counts by XPath", ("xmllint", "--xpath", "count(//tag)", TREE)),
    Program("json_orders", "parses 20,000 orders into maps of strings", ("./json_orders", "20000")),
    Program("clang", "compiles 40 maps, vectors and sorts", ("clang++-19", "-std=c++20", "-O1", "-c", UNIT)),
    Program("churn of 20,000", "random ends and births", ("./steady", "20000", "2000000"), steady=True),
    Program("churn of 200,000", "random ends and births", ("./steady", "200000", "2500000"), steady=True),
)


def recorded(mallard: str, folder: Path, chosen: list[str]) -> Iterator[tuple[Program, Path]]:
    """Yield the chosen programs, all if none is named, and their journals, recorded unless they are there."""
    programs = [each for each in PROGRAMS if not chosen or each.name in chosen]
    journals = {each.name: folder / f"{each.name.replace(' ', '_')}.mlrd" for each in programs}
    if not all(path.exists() for path in journals.values()):
        prepare(folder)
    for program in programs:
        path = journals[program.name]
        if not path.exists():
            print(f"recording {program.name}", file=sys.stderr)
            record(program, mallard, path, folder)
        yield program, path


def prepare(folder: Path) -> None:
    """Make in `folder` what the programs read, and those that are ours."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TREE).write_text("".join(inputs.catalog(45_000)), encoding="utf-8")
    (folder / UNIT).write_text(unit(40), encoding="utf-8")
    for name, source in SOURCES.items():
        run(("g++", "-std=c++20", "-O2", str(source), "-o", str(folder / name)), folder)


def record(program: Program, mallard: str, path: Path, folder: Path) -> None:
    """Record a program; what cannot be recorded whole is not kept."""
    command = (mallard, "record", "--no-children", "-o", str(path), "--", *program.command)
    try:
        run(command, folder, program.environment)
    except RunError as reason:
        path.unlink(missing_ok=True)
        raise RunError(f"{program.name}: {reason}") from reason


def run(command: tuple[str, ...], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Run a command that must succeed."""
    ran = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        raise RunError(ran.stderr.strip() or f"{command[0]}: exit code {ran.returncode}")
