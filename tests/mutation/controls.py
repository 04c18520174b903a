"""Controls of the mutation runner: what it must not take for a killed mutation.

    controls.py --compiler COMPILER [--prepared FOLDER]

Plants mutations that prove nothing and demands that run.py says so of each, and exits with 1; a name that
is not there is one line and exit code 2. What the promise or the model that is named cannot see, the
whole test does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

RUN = Path(__file__).with_name("run.py")
SECONDS = 5  # of CPU, for a model test that takes one, and for one that hangs

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
    "unpromised": (
        "promise: zero_bytes_are_a_block_of_their_own\n"
        + change("return n->whole - n->front;", "return n->whole;"),
        "killed    layer/unpromised by",
    ),
    "broken_promise": (
        "promise: gone\n" + change("return n->whole - n->front;", "return n->whole;"),
        "ERROR     layer/broken_promise: does not compile",
    ),
    "untested": (
        "test: layer/gone_test.cpp\n" + change("return n->whole - n->front;", "return n->whole;"),
        "ERROR     layer/untested: rotten: there is no tests/layer/gone_test.cpp",
    ),
    "nameless": ("why: planted\n--- find\na\n--- replace\nb\n", "ERROR     layer/nameless: needs 'file:'"),
    "formless": (FILE, "ERROR     layer/formless: has no '--- find'"),
}


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--compiler", default="c++", help="a g++ or clang++")
    parser.add_argument("--prepared", metavar="FOLDER", help="as for run.py")
    arguments = parser.parse_args()
    passed_on = ["--compiler", arguments.compiler]
    passed_on += ["--prepared", arguments.prepared] if arguments.prepared else []
    with tempfile.TemporaryDirectory() as folder:
        sections = "\n".join(f"=== {name}\n{text}" for name, (text, _) in CASES.items())
        Path(folder, "layer.mutations").write_text(sections, encoding="utf-8")
        command = [sys.executable, str(RUN), *passed_on, "--seconds", str(SECONDS), "--of", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lost = [sys.executable, str(RUN), "--of", folder, "layer/lost"]
        refused = subprocess.run(lost, capture_output=True, text=True, check=False)
    missing = [expected for _, expected in CASES.values() if expected not in done.stdout]
    missing += ["ok        layer, unbroken"] if "ok        layer, unbroken" not in done.stdout else []
    for expected in missing:
        print(f"run.py does not say: {expected}")
    if done.returncode != 1:
        print(f"run.py exits with {done.returncode}, not with 1")
    if refused.returncode != 2 or refused.stderr.count("\n") != 1:
        print(f"run.py does not refuse a name that is not there: {refused.returncode}, {refused.stderr}")
        return 1
    if missing or done.returncode != 1:
        print(done.stdout, done.stderr, sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
