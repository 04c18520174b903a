"""`mallard profile --tree`: the call tree in a terminal of any width."""

import io
import re
import subprocess
from pathlib import Path

import pytest
from conftest import MALLARD, Mallard
from rich.cells import cell_len
from rich.console import Console

from mallard.analysis.model import CallTree
from mallard.commands.tree import render_tree

# Node: parent, name, its own bytes.
NODES = (
    (0, "program", 0),
    (0, "main", 0),
    (1, "app::parse(int)", 100),
    (2, "read_value", 0),
    (3, "make_node<std::vector<int, std::allocator<int> > >", 700),
    (1, "write", 190),
    (1, "small", 6),
    (1, "smaller", 4),
)


def tree_of(nodes: tuple[tuple[int, str, int], ...]) -> CallTree:
    """Return a tree whose bytes are given, and whose nodes allocate once each."""
    return CallTree(
        parent=[parent for parent, _, _ in nodes],
        name=list(range(len(nodes))),
        names=[name for _, name, _ in nodes],
        module=[0] * len(nodes),
        modules=[""],
        metrics={"bytes": [own for _, _, own in nodes], "calls": [1] * len(nodes)},
    )


def drawn(
    tree: CallTree, metric: str = "bytes", threshold: float = 0.02, width: int = 80, encoding: str = "utf-8"
) -> list[str]:
    """Return the lines that are printed."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=file, width=width)
    render_tree(tree, metric, threshold, console)
    file.seek(0)
    return file.read().splitlines()


def test_each_line_has_share_value_and_place() -> None:
    assert drawn(tree_of(NODES)) == [
        "1,000 B allocated in all",
        "100.0 %  1,000 B  program > main",
        " 80.0 %    800 B  ├─ app::parse",
        " 70.0 %    700 B  │  ├─ read_value > make_node<std::vector<int>>",
        " 10.0 %    100 B  │  └─ (itself)",
        " 19.0 %    190 B  └─ write",
        "Callees with less than 2.0 % are left out (--threshold).",
    ]


def test_threshold_decides_what_has_a_line() -> None:
    everything = drawn(tree_of(NODES), threshold=0)
    assert [line.split()[-1] for line in everything[-4:-1]] == ["write", "small", "smaller"]
    little = drawn(tree_of(NODES), threshold=0.5)
    assert little[1:-1] == [
        "100.0 %  1,000 B  program > main",
        " 80.0 %    800 B  └─ app::parse",
        " 70.0 %    700 B     └─ read_value > make_node<std::vector<int>>",
    ]
    together = drawn(tree_of(NODES), threshold=0.008)
    assert together[-2] == "  1.0 %     10 B  └─ (the rest)", "each of the two is below, both are not"


def test_other_metrics_have_their_units() -> None:
    assert drawn(tree_of(NODES), "calls")[0] == "8 allocations"


def test_a_metric_that_nothing_has_is_told() -> None:
    assert drawn(tree_of(((0, "program", 0),))) == ["0 B allocated in all"]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    depth = 60  # each has a callee of its own beside, so that no two are one line
    nodes = [(0, "program", 0)]
    for level in range(depth):
        nodes.append((max(len(nodes) - 2, 0), f"函数_{level}" * 6, 0))
        nodes.append((len(nodes) - 1, f"leaf_{level}", 100))
    lines = drawn(tree_of(tuple(nodes)), threshold=0, width=width)
    assert max(cell_len(line) for line in lines) <= width
    assert sum("函" in line or "…" in line for line in lines) >= depth


def test_a_deep_chain_is_one_line_with_both_ends() -> None:
    nodes = ((0, "program", 0), *((n, f"f{n}", 0) for n in range(5000)), (5000, "last", 8))
    (line,) = drawn(tree_of(nodes), width=60)[1:-1]
    assert line.startswith("100.0 %  8 B  program > ")
    assert "…" in line
    assert line.endswith("last")


def test_a_terminal_without_such_lines_gets_ascii() -> None:
    lines = drawn(tree_of(NODES), encoding="ascii")
    assert " 80.0 %    800 B  |- app::parse" in lines
    assert "".join(lines).isascii()


def test_tree_of_a_journal(mallard: Mallard, journal: Path) -> None:
    done = mallard("profile", "--tree", "--metric", "calls", "--threshold", "5%", journal)
    assert (done.returncode, done.stderr) == (0, "")
    first, root, *rest = done.stdout.splitlines()
    assert re.fullmatch(r"[\d,]+ allocations", first)
    assert root.startswith("100.0 %")
    assert "main" in root
    assert all(float(line.split()[0]) >= 5 for line in rest[:-1])
    assert "\x1b" not in done.stdout, "no colours where nobody sees them"


def test_who_reads_the_tree_may_stop(journal: Path) -> None:
    command = f"{MALLARD} profile --tree --threshold 0 {journal} | head -n 2"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr == ""


@pytest.mark.parametrize("threshold", ["x", "101%", "-1%", ""])
def test_a_threshold_is_a_share(mallard: Mallard, journal: Path, threshold: str) -> None:
    done = mallard("profile", "--tree", "--threshold", threshold, journal)
    assert done.returncode == 2
    assert done.stderr.startswith("mallard: --threshold")


def test_tree_is_no_json(mallard: Mallard, journal: Path) -> None:
    assert mallard("profile", "--tree", "--json", journal).returncode == 2


def test_metrics_of_the_command_are_those_of_the_tree() -> None:
    from mallard.analysis.call_tree import METRICS
    from mallard.commands.profile import Metric
    from mallard.commands.tree import METRICS as WRITTEN

    assert {str(metric) for metric in Metric} == set(METRICS) == set(WRITTEN)
