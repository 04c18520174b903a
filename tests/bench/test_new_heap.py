"""CONTRIBUTING's recipe for a heap: a toy in four files is replayed, benchmarked, counted and modelled."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODEL = "tests/model/toy_heap_model_test.cpp"
REGISTRY = "src/harness/allocator/own_heaps.hpp"
TARGETS = ("mallard-replay", "mallard-bench", "toy_heap_model_test")

NEW_FILES = {
    "include/mallard/heap/toy_heap.hpp": """\
// toy_heap: a multipool whose chunks are all of one size.
#pragma once

#include <string_view>

#include "mallard/core/growth.hpp"
#include "mallard/heap/multipool.hpp"

namespace mallard {

template <heap Upstream>
using basic_toy_heap = basic_multipool<Upstream, multipool_classes, constant<65536>>;
using toy_heap = basic_toy_heap<default_source>;

template <>
inline constexpr std::string_view heap_name<toy_heap> = "toy_heap";

}  // namespace mallard
""",
    MODEL: """\
#include "mallard/heap/toy_heap.hpp"

#include "model/every_property.hpp"

namespace mallard::model {
namespace {

struct toy_heap_model : model {
  using heap = basic_toy_heap<source>;
};
const bool held = has_every_property<toy_heap_model>("toy_heap");

}  // namespace
}  // namespace mallard::model
""",
}


def run(*command: str | Path, cwd: Path) -> str:
    """Return what a command prints; what it complains of is shown where it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def insert_behind(path: Path, pattern: str, line: str) -> None:
    """Add a line behind the last one that matches."""
    text = path.read_text(encoding="utf-8")
    end = [found.end() for found in re.finditer(pattern, text, re.MULTILINE | re.DOTALL)][-1]
    path.write_text(text[:end] + line + text[end:], encoding="utf-8")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources with a new heap by the recipe."""
    copy = tmp_path_factory.mktemp("new_heap") / "mallard"
    for name in run("git", "ls-files", "-z", "-co", "--exclude-standard", cwd=ROOT).split("\0"):
        if name and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    for name, text in NEW_FILES.items():
        (copy / name).write_text(text, encoding="utf-8")
    insert_behind(
        copy / REGISTRY, r'^#include "mallard/heap/[^\n]*\n', '#include "mallard/heap/toy_heap.hpp"\n'
    )
    insert_behind(
        copy / REGISTRY, r"^  f\(own_heap<.*?;\n", '  f(own_heap<toy_heap, freed, with::alone>{"a toy"});\n'
    )
    insert_behind(
        copy / "tests/model/CMakeLists.txt",
        r"^mallard_test\([^\n]*\n",
        "mallard_test(toy_heap_model OWN OPTIMISED)\n",
    )
    return copy


@pytest.fixture(scope="module")
def built(tree: Path) -> Path:
    """A build of what offers heaps by name."""
    build = tree / "build" / "toy"
    options = ("-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Debug", "-D", "CMAKE_CXX_FLAGS_DEBUG=-O0")
    compiler = ("-D", "CMAKE_C_COMPILER=clang-19", "-D", "CMAKE_CXX_COMPILER=clang++-19")
    parts = ("-D", "MALLARD_ROOMS=model", "-D", "MALLARD_BENCH=ON", "-D", "MALLARD_UNITY=ON")
    run("cmake", "-S", tree, "-B", build, *options, *compiler, *parts, cwd=tree)
    run("cmake", "--build", build, "--target", *TARGETS, cwd=tree)
    return build


def program(build: Path, name: str) -> Path:
    """Return the program of that name in a build."""
    return next(p for p in build.rglob(name) if p.is_file())


def test_a_new_heap_keeps_the_rules_of_the_tree(tree: Path) -> None:
    for rule in ("include_order", "name_once", "tests_complete"):
        run(sys.executable, tree / f"tests/structure/{rule}.py", cwd=tree)


@pytest.mark.slow
def test_a_new_heap_is_a_strategy_that_is_replayed(built: Path) -> None:
    replay = program(built, "mallard-replay")
    listed = json.loads(run(replay, "--list-strategies", "--json", cwd=built))
    assert {row["binding"] for row in listed if row["strategy"] == "toy_heap"} == {"typed", "pmr"}
    journal = ROOT / "tests" / "fixtures" / "sqlite3.txt.xz"
    told = json.loads(run(replay, journal, "--strategy", "toy_heap", "--check-only", "--json", cwd=built))
    assert {row["status"] for row in told["rows"] if row["strategy"] == "toy_heap"} == {"ok"}


@pytest.mark.slow
def test_a_new_heap_is_measured_by_density(built: Path) -> None:
    listed = run(program(built, "mallard-bench"), "density", "--list-strategies", cwd=built)
    assert "toy_heap" in listed


@pytest.mark.slow
def test_a_new_heap_is_held_to_every_property(built: Path) -> None:
    told = run(program(built, "toy_heap_model_test"), cwd=built)
    assert re.search(r"\[  PASSED  \] \d{2,} tests", told)


@pytest.mark.slow
def test_a_new_heap_has_its_instructions_counted(tree: Path) -> None:
    count = (
        "import callgrind, instructions\n"
        "program = callgrind.built(instructions.FOLDER)\n"
        "for row in callgrind.count_in(instructions.FOLDER, program, '0', '0', 'further_heaps'):\n"
        "    print(row.key.scenario, row.key.allocator)\n"
    )
    folders = ("bench/instructions", "bench/route", "bench/shared")
    path = f"import sys\nsys.path[:0] = {[str(tree / folder) for folder in folders]}\n"
    told = run(sys.executable, "-c", path + count, cwd=tree).splitlines()
    assert {"pair toy_heap", "life toy_heap"} <= set(told)
