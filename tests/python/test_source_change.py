"""Changes of the source: what is proposed for which place, and that it applies and compiles."""

import subprocess
from pathlib import Path

from mallard.advise import source_change
from mallard.advise.advice_model import SourceChange
from mallard.analysis.model import Frame

INCLUDE = Path(__file__).parents[2] / "include"

MEMBERS = """\
#include <cstdint>
#include <map>

class registry {
 public:
  void add(std::uint64_t key) {
    known_.try_emplace(key, key);
  }

 private:
  std::map<std::uint64_t, std::uint64_t> known_;
};

struct thing {
  long value[4];
};

thing* make(long value) { return new thing{{value}}; }

int main() {
  registry one;
  one.add(1);
  delete make(1);
}
"""


def applied(change: SourceChange | None, file: Path) -> str:
    """Apply a diff as it is written; return the source."""
    assert change
    assert change.diff
    subprocess.run(["patch", "-p1", "-s"], input=change.diff, text=True, cwd=file.parent, check=True)
    return file.read_text()


def compiles(file: Path) -> bool:
    """Return whether a source compiles."""
    command = ("g++", "-std=c++20", "-fsyntax-only", f"-I{INCLUDE}", file)
    return subprocess.run(command, check=False).returncode == 0


def test_changes_compile_as_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "members.cpp"
    file.write_text(MEMBERS)
    add, make = Frame("registry::add", "", str(file), 7), Frame("make", "", str(file), 18)
    members = source_change.of_strategy("instances", {add: 9}, 1, True, None)
    text = applied(members, file)
    assert "std::pmr::map<std::uint64_t, std::uint64_t> known_{&heap_};" in text
    make = Frame("make", "", str(file), 1 + text.splitlines().index(MEMBERS.splitlines()[17]))
    operators = source_change.of_strategy("pool", {make: 9}, 2, True, None)
    assert operators
    assert operators.type == "mallard::synchronized_pool"
    assert "static void* operator new(std::size_t size)" in applied(operators, file)
    assert compiles(file)


def test_without_a_plain_place_the_change_is_told_in_words(tmp_path: Path) -> None:
    file = tmp_path / "words.cpp"
    file.write_text("void fill(std::map<int, int>& all) { all.emplace(1, 2); }\n")
    told = source_change.of_strategy("multipool", {Frame("fill", "", str(file), 1): 9}, 1, False, None)
    assert told
    assert told.diff is None
    assert told.text.startswith("Allocate in fill from one mallard::multipool")
    gone = source_change.of_strategy("region", {Frame("fill", "", "/nowhere.cpp", 1): 9}, 1, False, "parse")
    assert gone
    assert "when parse returns" in gone.text


QUEUE = """\
#include <cstddef>
#include <deque>

char* write_message(std::size_t size) {
  return new char[size];
}

int main() {
  std::deque<char*> queue;
  for (int i = 0; i < 100; ++i)
    queue.push_back(write_message(64));
  for (; !queue.empty(); queue.pop_front())
    delete[] queue.front();
}
"""


def test_the_change_is_where_most_blocks_of_the_part_are_allocated(tmp_path: Path) -> None:
    file = tmp_path / "queue.cpp"
    file.write_text(QUEUE)
    message, node = Frame("write_message", "", str(file), 5), Frame("main", "", str(file), 11)
    of_messages = source_change.of_strategy("region", {message: 100, node: 5}, 1, False, None)
    assert of_messages
    assert (of_messages.function, of_messages.line, of_messages.diff) == ("write_message", 5, None)
    assert of_messages.text.startswith("Allocate in write_message from one mallard::region")
    of_nodes = source_change.of_strategy("region", {node: 100, message: 5}, 1, False, None)
    assert of_nodes
    assert "std::pmr::deque<char*> queue(&heap);" in (of_nodes.diff or "")
    of_few = source_change.of_strategy(
        "region", {node: 40, message: 30, Frame("other", ""): 30}, 1, False, None
    )
    assert of_few
    assert of_few.diff is None, "most of the blocks are not its"


SHAPES = """\
#include <cstddef>
#include <memory>

struct shape {
  virtual ~shape() = default;
};

struct circle final : shape {
  long radius = 0;
};

struct square final : shape {
  long edge[4] = {};
};

std::unique_ptr<shape> make(int kind) {
  if (kind == 0)
    return std::make_unique<circle>();
  if (kind == 1)
    return std::make_unique<square>();
  return std::unique_ptr<shape>(static_cast<shape*>(nullptr));
}

int main() {
  make(0);
  make(1);
}
"""


def test_each_class_that_is_made_gets_a_heap(tmp_path: Path) -> None:
    file = tmp_path / "shapes.cpp"
    file.write_text(SHAPES)
    circle, square = Frame("make", "", str(file), 18), Frame("make", "", str(file), 20)
    both = source_change.of_strategy("pool", {circle: 60, square: 40}, 1, False, None)
    text = applied(both, file)
    assert text.count("static void* operator new(std::size_t size)") == 2
    assert text.count("mallard::pool& own_heap()") == 2, "of one size each, whatever the sizes of the part"
    assert compiles(file)
    file.write_text(SHAPES)
    few = source_change.of_strategy("pool", {circle: 40, Frame("other", ""): 60}, 1, False, None)
    assert few
    assert few.diff is None, "most of the blocks are no such objects"
    largest = source_change.of_strategy("pool", {Frame("other", ""): 50, circle: 50}, 1, False, None)
    assert largest
    assert largest.diff is None
