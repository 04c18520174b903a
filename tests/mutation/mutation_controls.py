"""Controls of the mutation runner: what it must not take for a killed mutation.

    mutation_controls.py --compiler COMPILER

Plants mutations that prove nothing and demands that run.py says so of each, and exits with 1; a name that
is not there is one line and exit code 2. What the property or the model that is named cannot see, the
whole test does; what does not compile is reported and does not stop others. What has rotted is reported of
mutations that are not run, too. What has changed is found in a planted repository, and what is drawn in
addition is another part with another commit.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mutations

RUN = Path(__file__).with_name("run.py")
SECONDS = 10  # of CPU, for a model test that takes one, and for one that hangs

FILE = "file: mallard/layer/live_list.hpp\nwhy: planted\n"


def change(find: str, replace: str) -> str:
    """A mutation of the file above."""
    return f"{FILE}--- find\n{find}\n--- replace\n{replace}\n"


# By name: what is planted, and what run.py must say of it.
CASES = {
    "harmless": (change("// For large blocks", "// For all blocks"), "SURVIVED  layer/harmless"),
    "absent": (change("no such text", ""), "ERROR     layer/absent: rotten: its text is found 0 times"),
    "doubtful": (change("[[nodiscard]]", ""), "ERROR     layer/doubtful: rotten: its text is found"),
    "gone": (
        "file: mallard/layer/gone.hpp\nwhy: planted\n--- find\na\n--- replace\nb\n",
        "ERROR     layer/gone: rotten: there is no mallard/layer/gone.hpp",
    ),
    "broken": (change("#pragma once", "#error planted"), "ERROR     layer/broken: does not compile"),
    "broken_body": (
        change("return n->whole - n->front;", "return n->gone;"),
        "ERROR     layer/broken_body: does not compile",
    ),
    "evaluated": (
        change("{ return std::max(sizeof(node), align); }", "{ return sizeof(node) + 0 * align; }"),
        "killed    layer/evaluated by",
    ),
    "endless": (
        change("    if (!whole) return {};", "    for (volatile bool on = true; on;) {\n    }"),
        "TIMEOUT   layer/endless",
    ),
    "unseen": (
        "model: segregate\n" + change("return n->whole - n->front;", "return n->whole;"),
        "killed    layer/unseen by",
    ),
    "misnamed": (
        "model: gone\n" + change("return n->whole - n->front;", "return n->whole;"),
        "ERROR     layer/misnamed: rotten",
    ),
    "unseen_by_its_property": (
        "property: zero_bytes_are_a_block_of_their_own\n"
        + change("return n->whole - n->front;", "return n->whole;"),
        "killed    layer/unseen_by_its_property by",
    ),
    "no_property": (
        "property: gone\n" + change("return n->whole - n->front;", "return n->whole;"),
        "ERROR     layer/no_property: rotten: there is no property gone",
    ),
    "untested": (
        "test: layer/gone_test.cpp\n" + change("return n->whole - n->front;", "return n->whole;"),
        "ERROR     layer/untested: rotten: there is no tests/layer/gone_test.cpp",
    ),
    "seen_by_its_test": (
        "test: layer/live_list_test.cpp\n" + change("return n->whole - n->front;", "return n->whole;"),
        "killed    layer/seen_by_its_test by",
    ),
    "alone_with_its_test": (
        "test: layer/live_list_test.cpp\n" + change("#pragma once", "#error planted"),
        "ERROR     layer/alone_with_its_test: does not compile",
    ),
    "unseen_by_its_test": (
        "test: core/growth_test.cpp\n" + change("return n->whole - n->front;", "return n->whole;"),
        "SURVIVED  layer/unseen_by_its_test",
    ),
    "nameless": ("why: planted\n--- find\na\n--- replace\nb\n", "ERROR     layer/nameless: needs 'file:'"),
    "formless": (FILE, "ERROR     layer/formless: has no '--- find'"),
}
# Of mutations without a test.
ORPHANED = "ERROR     gone: rotten: there is no gone_model_test.cpp"


def wrongly_drawn() -> Iterator[str]:
    """What is wrong with the samples of commits."""
    heaps = {s.heap for s in mutations.collect(mutations.HERE, [])}
    drawn = [mutations.sampled(heaps, str(commit), 8) for commit in range(80)]
    if drawn[0] == drawn[1]:
        yield "two commits draw the same heaps"
    if not all(len(heaps) / 16 < len(some) < len(heaps) / 4 for some in drawn):
        yield "a sample of one in 8 is far from that"
    if never := heaps.difference(*drawn):
        yield f"80 commits never draw {never}"


def wrongly_changed() -> Iterator[str]:
    """What is wrong with what is found to have changed in a repository."""
    section = mutations.Section("pool", "planted", change("a", "b") + "test: layer/own_test.cpp\n")
    seen = [
        "include/mallard/layer/live_list.hpp",
        "tests/model/pool_model_test.cpp",
        "tests/mutation/pool.mutations",
        "tests/layer/own_test.cpp",
    ]
    unseen = ["include/mallard/layer/locked.hpp", "tests/model/adaptive_pool_model_test.cpp"]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        if mutations.changed_files(root)[1]:
            yield "without git, something has changed"
        identity = ["-c", "user.name=planted", "-c", "user.email=planted@localhost"]
        mutations.git(root, "init", "--quiet", "--initial-branch=main")
        for path in [*seen, *unseen]:
            Path(root, path).parent.mkdir(parents=True, exist_ok=True)
            Path(root, path).write_text("as it was\n", encoding="utf-8")
        for _ in range(2):
            mutations.git(root, "add", ".")
            mutations.git(root, *identity, "commit", "--quiet", "--allow-empty", "--message=planted")
        for path in [*seen, *unseen]:
            Path(root, path).write_text("as it is\n", encoding="utf-8")
            if mutations.touched(section, mutations.changed_files(root)[1]) != (path in seen):
                yield f"{path} is {'not ' if path in seen else ''}found to have changed"
            Path(root, path).write_text("as it was\n", encoding="utf-8")
        Path(root, "include/mallard/layer/live_list.hpp").write_text("as it is\n", encoding="utf-8")
        mutations.git(root, *identity, "commit", "--quiet", "--all", "--message=planted")
        if not mutations.touched(section, mutations.changed_files(root)[1]):
            yield "the last commit is not found to have changed anything"
        mutations.git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
        if mutations.touched(section, mutations.changed_files(root)[1]):
            yield "what the remote's main has is found to have changed"


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compiler", default="c++", help="a g++ or clang++")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sections = "\n".join(f"=== {name}\n{text}" for name, (text, _) in CASES.items())
        Path(folder, "layer.mutations").write_text(sections, encoding="utf-8")
        Path(folder, "gone.mutations").write_text(f"=== planted\n{change('a', 'b')}", encoding="utf-8")
        options = ["--compiler", arguments.compiler, "--seconds", str(SECONDS), "--of", folder]
        command = [sys.executable, str(RUN), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        few = [*command, "--changed", "--sample", str(1 << 60)]
        unchosen = subprocess.run(few, capture_output=True, text=True, check=False)
        lost = [sys.executable, str(RUN), "--of", folder, "layer/lost"]
        refused = subprocess.run(lost, capture_output=True, text=True, check=False)
    for complaint in (*wrongly_drawn(), *wrongly_changed()):
        print(complaint)
        return 1
    told = [*(expected for _, expected in CASES.values()), ORPHANED, "ok        layer, unbroken"]
    missing = [expected for expected in told if expected not in done.stdout]
    missing += [expected for expected in told if "rotten" in expected and expected not in unchosen.stdout]
    for expected in missing:
        print(f"run.py does not say: {expected}")
    if done.returncode != 1 or unchosen.returncode != 1:
        print(f"run.py exits with {done.returncode} and {unchosen.returncode}, not with 1")
    if refused.returncode != 2 or refused.stderr.count("\n") != 1:
        print(f"run.py does not refuse a name that is not there: {refused.returncode}, {refused.stderr}")
        return 1
    if missing or done.returncode != 1 or unchosen.returncode != 1:
        print(done.stdout, done.stderr, unchosen.stdout, unchosen.stderr, sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
