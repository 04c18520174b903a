"""Controls: each structure check fails on a planted tree with one violation, and passes without it.

controls.py --compiler COMPILER

A check that cannot fail proves nothing. Every case here plants the least tree that breaks one rule and
demands the complaint; the same tree without the violation must pass.
"""

from __future__ import annotations

import argparse
import tempfile
import unittest
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import header_alone
import include_order
import name_once
import page_links
import page_snippets
import tests_complete

Tree = dict[str, str]  # text by path
Check = Callable[[Path], Iterable[str]]


class Controls(unittest.TestCase):
    """One method a check, one sub-test a violation."""

    compiler = "c++"

    def complaints(self, check: Check, tree: Tree) -> str:
        """What the check says of a planted tree."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in tree.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return "\n".join(check(root))

    def demand(self, check: Check, sound: Tree, violations: dict[str, Tree]) -> None:
        """The sound tree passes; with any of the violations planted, the check complains of that key."""
        assert self.complaints(check, sound) == ""
        for complaint, planted in violations.items():
            with self.subTest(complaint):
                found = self.complaints(check, sound | planted)
                assert complaint in found, found

    @staticmethod
    def upward_includes(room: str, order: list[list[str]]) -> Iterator[tuple[str, Tree]]:
        """Of each folder, an include of the next one beside or above it; by the complaint."""
        floors = [[*floor, *order[rank + 1][:1]] for rank, floor in enumerate(order[:-1])]
        for folder, upper in (pair for floor in floors for pair in pairwise(floor)):
            base = room.removeprefix("src/")
            yield (
                f"{room}/{folder} may not include {room}/{upper}/upper.hpp",
                {
                    f"{room}/{folder}/lower.cpp": f'#include "{base}/{upper}/upper.hpp"\n',
                    f"{room}/{upper}/upper.hpp": "",
                },
            )

    def test_include_order(self) -> None:
        """A room that includes an upper one, another library or a file of no room is found."""
        heap = "include/mallard/heap/pool.hpp"
        upper = '#include "mallard/heap/pool.hpp"\n'
        runs = '#include "mallard/heap/multipool/runs.hpp"\n'
        sound = {
            "include/mallard/core/block.hpp": "#include <cstddef>\n",
            "include/mallard/source/pages.hpp": '#include <sys/mman.h>\n#include "mallard/core/block.hpp"\n',
            "include/mallard/layer/bump.hpp": '#include "mallard/core/block.hpp"\n',
            "include/mallard/debug/call_place.hpp": "#include <dlfcn.h>\n#include <unwind.h>\n",
            "include/mallard/core/light_mutex.hpp": "#include <sys/single_threaded.h>\n",
            heap: '#include <new>\n#include "mallard/layer/bump.hpp"\n#include "mallard/source/pages.hpp"\n',
            "include/mallard/heap/multipool/runs.hpp": '#include "mallard/layer/bump.hpp"\n',
            "include/mallard/heap/multipool/segregate.hpp": runs,
            "include/mallard/heap/multipool.hpp": runs,
            "include/mallard/journal/layout.hpp": '#include "mallard/core/block.hpp"\n',
            "src/journal/reader.hpp": '#include <zstd.h>\n#include "mallard/journal/layout.hpp"\n',
            "src/harness/launcher.hpp": '#include "journal/reader.hpp"\n',
            "src/recorder/spool.hpp": '#include <atomic>\n#include "mallard/journal/layout.hpp"\n',
            "src/recorder/preload/malloc/hooks.cpp": '#include <unistd.h>\n#include "recorder/spool.hpp"\n',
            "src/recorder/launcher/main.cpp": '#include <string>\n#include "journal/reader.hpp"\n',
            "src/replay/main.cpp": '#include "harness/launcher.hpp"\n' + upper,
        }
        violations: dict[str, Tree] = {
            "layer/bump.hpp:1: ": {"include/mallard/layer/bump.hpp": upper},
            "core/block.hpp:2: ": {
                "include/mallard/core/block.hpp": '\n  #  include "mallard/layer/bump.hpp"\n'
            },
            "heap/multipool/runs.hpp:1: ": {"include/mallard/heap/multipool/runs.hpp": upper},
            "heap/pool.hpp:1: include/mallard/heap may not include include/mallard/heap/multipool/runs.hpp": {
                heap: runs
            },
            "src/replay may not include include/mallard/heap/multipool/runs.hpp": {
                "src/replay/main.cpp": runs
            },
            "journal/layout.hpp:1: ": {"include/mallard/journal/layout.hpp": upper},
            "heap/pool.hpp:1: include/mallard/heap may not include <zstd.h>": {heap: "#include <zstd.h>\n"},
            "source/pages.hpp:1: include/mallard/source may not include <unwind.h>": {
                "include/mallard/source/pages.hpp": "#include <unwind.h>\n"
            },
            "debug/call_place.hpp:1: include/mallard/debug may not include <execinfo.h>": {
                "include/mallard/debug/call_place.hpp": "#include <execinfo.h>\n"
            },
            "core/light_mutex.hpp:1: include/mallard/core may not include <sys/mman.h>": {
                "include/mallard/core/light_mutex.hpp": "#include <sys/mman.h>\n"
            },
            "may not include <sys/mman.h>": {"include/mallard/layer/bump.hpp": "#include <sys/mman.h>\n"},
            "is no file below include/ or src/": {heap: '#include "../layer/bump.hpp"\n'},
            "may not include src/journal/reader.hpp": {heap: '#include "journal/reader.hpp"\n'},
            "src/journal may not include": {"src/journal/reader.hpp": '#include "harness/launcher.hpp"\n'},
            "src/harness may not include": {
                "src/harness/launcher.hpp": '#include "replay/pass.hpp"\n',
                "src/replay/pass.hpp": "",
            },
            "src/journal/bytes may not include src/journal/events/process_tables.hpp": {
                "src/journal/bytes/file.hpp": '#include "journal/events/process_tables.hpp"\n',
                "src/journal/events/process_tables.hpp": "",
            },
            "src/journal/binary may not include src/journal/drain/spool_copy.hpp": {
                "src/journal/binary/writer.hpp": '#include "journal/drain/spool_copy.hpp"\n',
                "src/journal/drain/spool_copy.hpp": "",
            },
            "src/journal/text may not include src/journal/reader.hpp": {
                "src/journal/text/import.hpp": '#include "journal/reader.hpp"\n'
            },
            "src/replay/trace may not include src/replay/run/pass.hpp": {
                "src/replay/trace/op.hpp": '#include "replay/run/pass.hpp"\n',
                "src/replay/run/pass.hpp": "",
            },
            "src/replay/output may not include src/replay/command_line.hpp": {
                "src/replay/output/report.hpp": '#include "replay/command_line.hpp"\n',
                "src/replay/command_line.hpp": "",
            },
            "src/recorder/preload/malloc may not include <string>": {
                "src/recorder/preload/malloc/hooks.cpp": "#include <string>\n"
            },
            "src/recorder/preload/malloc may not include <zstd.h>": {
                "src/recorder/preload/malloc/hooks.cpp": "#include <zstd.h>\n"
            },
            "src/recorder/preload may not include src/recorder": {
                "src/recorder/preload/loose.cpp": '#include "recorder/spool.hpp"\n'
            },
            "src/recorder may not include src/journal": {
                "src/recorder/spool.hpp": '#include "journal/reader.hpp"\n'
            },
            "src/recorder/preload/malloc may not include include/mallard/heap": {
                "src/recorder/preload/malloc/hooks.cpp": upper
            },
            **dict(self.upward_includes("src/recorder/preload", include_order.PRELOAD_ORDER)),
            "src/replay may not include src/recorder": {
                "src/replay/main.cpp": '#include "recorder/spool.hpp"\n'
            },
            "no line in the table of rooms": {"src/attic/old.cpp": ""},
        }
        self.demand(include_order.violations, sound, violations)
        room = include_order.Rule
        assert include_order.circle({"low": room([]), "high": room(["low", "high"])}) == []
        assert "low" in include_order.circle({"low": room(["high"]), "high": room(["low", "high"])})

    def test_header_alone(self) -> None:
        """A header with a missing include, a missing guard, a warning or two definitions is found."""

        def check(root: Path) -> Iterable[str]:
            return header_alone.violations(root, self.compiler)

        name = "include/mallard/core/size.hpp"
        old = f'#if __cplusplus <= 201703L\n#error "{header_alone.NEEDS}"\n#include <none>\n#endif\n'
        guarded = f"#pragma once\n#include <cstddef>\n{old}"
        sound = {name: guarded + "inline std::size_t twice(std::size_t n) { return 2 * n; }\n"}
        violations: dict[str, Tree] = {
            "mallard/core/size.hpp does not compile alone": {name: "#pragma once\nstd::size_t size();\n"},
            "redefinition": {name: "#include <cstddef>\nstruct size {};\n"},
            "conversion": {name: guarded + "inline char narrow(std::size_t n) { return n; }\n"},
            "does not say as C++17 that it needs C++20": {name: "#pragma once\nstruct size {};\n"},
            "do not link": {name: guarded + "std::size_t twice(std::size_t n) { return 2 * n; }\n"},
        }
        self.demand(check, sound, violations)
        # What another header includes is compiled before that one alone.
        others = {"include/mallard/core/lock.hpp": "#pragma once\n#include <algorithm>\n#include <atomic>\n"}
        missing = {name: "#pragma once\n#include <algorithm>\ninline std::atomic<int> size;\n"}
        assert "size.hpp does not compile alone" in self.complaints(check, others | missing)
        assert "holds no header" in self.complaints(check, {})

    def test_header_alone_remembers(self) -> None:
        """What has passed is known by all that it includes of ours, and what has not is reported again."""
        low, high = "include/mallard/core/size.hpp", "include/mallard/core/pair.hpp"
        old = f'#if __cplusplus <= 201703L\n#error "{header_alone.NEEDS}"\n#include <none>\n#endif\n'
        guarded = f"#pragma once\n{old}"
        sound = {
            low: guarded + "using size = int;\n",
            high: guarded + '#include "mallard/core/size.hpp"\ninline size two;\n',
        }
        with tempfile.TemporaryDirectory() as folder:
            passed = Path(folder, "below", "passed")

            def check(root: Path) -> Iterable[str]:
                return header_alone.violations(root, self.compiler, passed)

            assert self.complaints(check, sound) == ""
            first = passed.read_text("utf-8")
            assert {line.split()[0] for line in first.splitlines()} == {
                "mallard/core/size.hpp",
                "mallard/core/pair.hpp",
            }
            changed = {low: guarded + "using length = int;\n"}
            for _ in range(2):
                told = self.complaints(check, sound | changed)
                assert "pair.hpp does not compile alone" in told
                assert passed.read_text("utf-8") == first
            assert self.complaints(check, sound) == ""

    def test_header_tested(self) -> None:
        """A header without a test, and an exception that has outlived its header, are found."""
        excepted = {f"include/mallard/{name}": "" for name in tests_complete.WITHOUT_BEHAVIOUR}
        sound = excepted | {"include/mallard/layer/bump.hpp": "", "tests/layer/bump_test.cpp": ""}
        sound |= {"include/mallard/heap/pool.hpp": "", "tests/model/pool_model_test.cpp": ""}
        shipped = {"include/mallard/mallard.hpp": '#include "mallard/heap/pool.hpp"'}
        self.demand(
            tests_complete.header_tested,
            sound,
            {
                "layer/list.hpp has no tests/layer/list_test.cpp": {
                    "include/mallard/layer/list.hpp": "",
                    "tests/model/list_model_test.cpp": "",
                },
                "heap/pool.hpp has no tests/heap/pool_test.cpp": shipped,
                "heap/reap.hpp has no tests/heap/reap_test.cpp or tests/model/reap_model_test.cpp": {
                    "include/mallard/heap/reap.hpp": "",
                },
            },
        )
        for name in excepted:
            missing = {path: text for path, text in sound.items() if path != name}
            assert "does not exist" in self.complaints(tests_complete.header_tested, missing)

    def test_name_once(self) -> None:
        """A second source of a name is found, in whatever room; an entry and what is built are none."""
        sound = {
            "include/mallard/layer/bump.hpp": "",
            "tests/layer/bump_test.cpp": "",
            "src/bump.cpp": "",
            "src/replay/main.cpp": "",
            "bench/main.cpp": "",
            "python/mallard/__init__.py": "",
            "bench/__init__.py": "",
            "build/bump.cpp": "",
        }
        violations: dict[str, Tree] = {
            f"{Path(path).name} stands in several folders": {path: ""}
            for path in ("src/layer/bump.hpp", "bench/bump.cpp", "tests/heap/bump_test.cpp")
        }
        self.demand(name_once.violations, sound, violations)

    def test_test_built(self) -> None:
        """A test or a fuzz target that the CMake file above it does not name is found."""
        sound = {
            "tests/layer/CMakeLists.txt": "foreach(name\n    bump\n    chunk_list\n  )\nendforeach()\n",
            "tests/layer/bump_test.cpp": "",
            "tests/layer/chunk_list_test.cpp": "",
            "tests/fuzz/CMakeLists.txt": "add_executable(journal_fuzz journal_fuzz.cpp)\n",
            "tests/fuzz/journal_fuzz.cpp": "",
            "bench/papers/tests/CMakeLists.txt": "mallard_test(race SOURCE common/race)\n",
            "bench/papers/tests/common/race_test.cpp": "",
        }
        violations: dict[str, Tree] = {
            "tests/layer/list_test.cpp is not named in tests/layer/CMakeLists.txt": {
                "tests/layer/list_test.cpp": ""
            },
            "tests/layer/bump_test.cpp is": {
                "tests/layer/CMakeLists.txt": "# bump\nmallard_test(chunk_list)\n"
            },
            "tests/fuzz/journal_fuzz.cpp is": {"tests/fuzz/CMakeLists.txt": "foreach(name spool)\n"},
            "tests/heap/pool_test.cpp is": {"tests/heap/pool_test.cpp": ""},
            "common/meter_test.cpp is": {"bench/papers/tests/common/meter_test.cpp": ""},
        }
        self.demand(tests_complete.test_built, sound, violations)

    def test_room_built(self) -> None:
        """A room that no step builds by default is found."""
        sound = {
            "tests/CMakeLists.txt": "set(rooms replay bench)\nlist(APPEND rooms core\n  model)\n",
            "tests/steps.sh": 'both="core;replay;examples"\nsanitized="model"\n',
        }
        violations: dict[str, Tree] = {
            "tests/core is no room": {"tests/steps.sh": 'both="replay"\nsanitized="model"\n'},
            "tests/malloc is no room": {"tests/CMakeLists.txt": "set(rooms replay malloc)\n"},
        }
        self.demand(tests_complete.room_built, sound, violations)

    def test_threads_watched(self) -> None:
        """A test that includes <thread>, itself or by a header, and is not marked is found."""
        sound = {
            "tests/layer/CMakeLists.txt": "mallard_test(bump)\nmallard_test(locked THREADS)\n",
            "tests/layer/bump_test.cpp": '#include "layer/things.hpp"\n',
            "tests/layer/things.hpp": "#include <vector>\n",
            "tests/layer/locked_test.cpp": "#include <thread>\n",
            "tests/layer/threads.hpp": "#include <thread>\n",
            "tests/recorder/exec_test.cpp": "#include <thread>\n",
            "tests/heap/CMakeLists.txt": "mallard_test(pool/list THREADS)\nmallard_test(pool/slab)\n",
            "tests/heap/pool/list_test.cpp": "#include <thread>\n",
            "tests/heap/pool/slab_test.cpp": "",
        }
        violations: dict[str, Tree] = {
            "tests/layer/bump_test.cpp has threads": {"tests/layer/bump_test.cpp": "# include <thread>\n"},
            "tests/layer/new_test.cpp has threads": {
                "tests/layer/new_test.cpp": '#include "layer/threads.hpp"\n'
            },
            "tests/heap/pool_test.cpp has threads": {"tests/heap/pool_test.cpp": "#include <thread>\n"},
            "tests/heap/pool/slab_test.cpp has threads": {
                "tests/heap/pool/slab_test.cpp": "#include <thread>\n"
            },
            "tests/layer/locked_test.cpp has threads": {
                "tests/layer/CMakeLists.txt": "mallard_test(locked mallard_threads)\n"
            },
        }
        self.demand(tests_complete.threads_watched, sound, violations)

    def test_page_snippets(self) -> None:
        """An example that does not compile, as statements or as declarations, is found; so is none at all."""

        def check(root: Path) -> Iterable[str]:
            return page_snippets.violations(root, self.compiler)

        page = "docs/strategies/pool.md"
        sound = {
            "include/mallard/mallard.hpp": "#pragma once\nnamespace mallard { struct pool {}; }\n",
            page: "# pool\n\n```cpp\n#include <list>\nmallard::pool heap;\nstd::list<int> l;\n```\n",
            "docs/strategies/own.md": "```cpp\ntemplate <>\nstruct std::hash<mallard::pool> {};\n```\n",
            "include/mallard.h": "#include <stddef.h>\ntypedef struct mallard_heap mallard_heap;\n",
            "docs/c-interface.md": "```c\n#include <mallard.h>\nint* class = (void*)heap;\n```\n",
            "README.md": "```sh\nf();\n```\n## Use the library\n```cpp\nmallard::pool p;\n```\n## X\n",
        }
        broken = {
            page: "# pool\n\n```cpp\nmallard::pool heap(48);\n```\n",
            "docs/c-interface.md": "```c\nmallard_heap heap;\n```\n",
            "docs/strategies/own.md": "```cpp\nmallard::pool heap;\nheap.allocate(1);\n```\n",
            "README.md": "## Use the library\n```cpp\nmallard::pools p;\n```\n",
        }
        assert self.complaints(check, sound) == ""
        found = self.complaints(check, sound | broken)  # at once, for each tree takes a compilation
        for place in (f"{page}:3", "docs/c-interface.md:1", "docs/strategies/own.md:1", "README.md:2"):
            assert f"{place} does not compile" in found, found
        assert "has no example" in self.complaints(check, {})

    def test_page_links(self) -> None:
        """A link to a file that is not there, or to a heading that is not, is found."""
        sound = {
            "README.md": "[a](docs/a.md) [b](docs/a.md#the-second-part) [c](https://c) `[d](e)`\n".replace(
                "`[d](e)`", "\n```\n[d](e)\n```"
            ),
            "docs/a.md": "# A\n## The `second` part\n[up](../README.md) ![p](p.svg) [here](#a)\n",
            "docs/p.svg": "",
            "build/b.md": "[gone](gone)",
        }
        violations: dict[str, Tree] = {
            "README.md: docs/b.md leads to no file": {"README.md": "[b](docs/b.md)\n"},
            "docs/a.md: ../docs/q.svg leads to no file": {
                "docs/a.md": "## The second part\n![q](../docs/q.svg)\n"
            },
            "README.md: docs/a.md#the-second-part leads to no heading": {"docs/a.md": "# A\n"},
        }
        self.demand(page_links.violations, sound, violations)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    arguments, rest = parser.parse_known_args()
    Controls.compiler = arguments.compiler
    unittest.main(argv=["controls.py", *rest])


if __name__ == "__main__":
    main()
