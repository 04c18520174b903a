"""Mutations as they are written, and those that a run is about.

HEAP.mutations has the name of a model test (tests/*/HEAP_model_test.cpp) and holds its mutations:

    === given_back_but_held                             (the mutation's name)
    file: mallard/layer/chunk_list.hpp
    why: a chunk that is given back stays in what is held
    model: multipool_over_os_pages                      (which of the test's models sees it; else the first)
    property: release_leaves_the_heap_as_new            (which property of the suite does; else random traces)
    test: thread/returned_batches_test.cpp              (which test sees it, where the model test cannot)
    ends: timeout                                       (only where the broken heap may run forever)
    --- find
    exact text, once in the file
    --- replace
    what stands there instead; an empty line before the next mutation is no part of it
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROOTS = (ROOT / "include", ROOT / "src")
MOST_SAMPLED = 12  # mutations, of some seconds each

MOST_SEE = "random_traces_over_an_exact_source"


class ControlError(Exception):
    """A control that proves nothing: rotten, or it does not compile."""


@dataclass(frozen=True)
class Section:
    """One mutation as it is written."""

    heap: str
    name: str
    text: str

    @property
    def full_name(self) -> str:
        """As it is named to users."""
        return f"{self.heap}/{self.name}"


@dataclass(frozen=True)
class Mutation:
    """One deliberate breakage, and the text of its file without and with it."""

    name: str
    file: str
    why: str
    model: str | None
    property: str
    test: Path | None
    may_hang: bool
    sound: str
    broken: str

    @classmethod
    def read(cls, section: Section) -> Mutation:
        """Parses the text form, and finds its text in the file."""
        head, separator, rest = section.text.partition("--- find\n")
        find, second, replace = (part.rstrip("\n") for part in rest.partition("--- replace\n"))
        if not separator or not second:
            raise ControlError("has no '--- find' followed by '--- replace'")
        lines = [line.partition(": ") for line in head.splitlines() if line.strip()]
        fields = {key: value.strip() for key, _, value in lines}
        if not {"file", "why"} <= fields.keys() <= {"file", "why", "model", "property", "test", "ends"}:
            raise ControlError(
                "needs 'file:' and 'why:'; may have 'model:', 'property:', 'test:' and 'ends:'"
            )
        if fields.get("ends", "timeout") != "timeout":
            raise ControlError("'ends:' can only say timeout")
        file = fields["file"]
        target = next((found for root in ROOTS if (found := root / file).is_file()), None)
        if target is None:
            raise ControlError(f"rotten: there is no {file}")
        sound = target.read_text(encoding="utf-8")
        if sound.count(find) != 1:
            raise ControlError(f"rotten: its text is found {sound.count(find)} times in {file}")
        test = ROOT / "tests" / fields["test"] if "test" in fields else None
        if test is not None and not test.is_file():
            raise ControlError(f"rotten: there is no tests/{fields['test']}")
        return cls(
            section.full_name, file, fields["why"], fields.get("model"), fields.get("property", MOST_SEE),
            test, "ends" in fields, sound, sound.replace(find, replace),
        )  # fmt: skip


def sections(file: Path) -> Iterator[Section]:
    """Yield the mutations of a heap."""
    _, *texts = re.split(r"^=== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name, _, text in (t.partition("\n") for t in texts):
        yield Section(file.stem, name, text)


def collect(folder: Path, wanted: list[str]) -> list[Section]:
    """The mutations of the heaps and HEAP/NAMEs that are wanted; all, if none is."""
    all_of_them = [s for file in sorted(folder.glob("*.mutations")) for s in sections(file)]
    known = {name for s in all_of_them for name in (s.heap, s.full_name)}
    for name in wanted:
        if name not in known:
            raise LookupError(f"there is no {name}")
    return [s for s in all_of_them if not wanted or {s.heap, s.full_name} & {*wanted}]


def git(root: Path, *arguments: str) -> str:
    """What git says of a checkout; nothing where it has nothing to say, or there is no git."""
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def changed_files(root: Path) -> tuple[str, set[str]]:
    """The commit that files are compared with, and those that differ from it.

    It is where this branch left the remote's main, or, where there is none, the commit before this one.
    """
    base = git(root, "merge-base", "HEAD", "origin/main") or git(root, "rev-parse", "--verify", "HEAD~1")
    if not base:
        return "", set()
    changed = git(root, "diff", "--name-only", base), git(root, "ls-files", "--others", "--exclude-standard")
    return base, {name for names in changed for name in names.splitlines()}


def touched(section: Section, changed: set[str]) -> bool:
    """Whether what a mutation breaks has changed, or the test that sees it, or the file it is written in."""
    named = dict(re.findall(r"^(file|test): (.*)$", section.text, re.MULTILINE))
    seen = {f"{root.name}/{named.get('file')}" for root in ROOTS} | {f"tests/{named.get('test')}"}
    test = re.compile(rf"tests/(mutation/{section.heap}\.mutations|[^/]*/{section.heap}_model_test\.cpp)")
    return bool(seen & changed) or any(test.fullmatch(name) for name in changed)


def drawn_first(commit: str, name: str) -> bytes:
    """What names are ordered by where a commit draws some of them."""
    return hashlib.sha256(f"{commit} {name}".encode()).digest()


def sampled(heaps: set[str], commit: str, one_in: int) -> set[str]:
    """The heaps that a commit draws, one in `one_in`: the mutations of one share a program."""
    order = sorted(heaps, key=lambda heap: drawn_first(commit, heap))
    return {*order[: round(len(order) / one_in)]}


def changed_and_sample(all_of_them: list[Section], one_in: int) -> tuple[list[Section], str]:
    """What has changed and a sample of heaps, which each commit draws anew; and a line that says so."""
    base, changed = changed_files(ROOT)
    commit = git(ROOT, "rev-parse", "HEAD")
    drawn = sampled({s.heap for s in all_of_them}, commit, one_in)
    fresh = [s for s in all_of_them if touched(s, changed)]
    few = sorted(
        (s for s in all_of_them if s.heap in drawn and s not in fresh),
        key=lambda s: drawn_first(commit, s.full_name),
    )[:MOST_SAMPLED]
    told = (
        f"{len(fresh)} mutations of what changed since {base[:12] or 'no commit that is known'}, "
        f"and {len(few)} of those of one heap in {one_in} as commit {commit[:12] or 'unknown'} draws: "
        f"{', '.join(sorted(drawn)) or 'none'}"
    )
    return [s for s in all_of_them if s in fresh or s in few], told
