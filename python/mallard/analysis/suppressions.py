"""Suppressions of leaks, in the forms of LeakSanitizer and of Valgrind.

    # a comment                                 {
    leak:PATTERN                                   a name
                                                   Memcheck:Leak
    anywhere in the name of any frame's            match-leak-kinds: possible
    function, source file or module;               fun:malloc
    * is any text, ^ and $ are the ends            ...
                                                   obj:*/libz.so*
                                                }
                                                frames from the innermost on; ... is any number of them

A file may have both. Valgrind's other kinds of errors are left out. Kinds of leaks are not
distinguished: a journal does not know what a program could still reach.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from mallard import MallardError, _native
from mallard.analysis.alive import AliveSite
from mallard.analysis.function_names import qualified_name
from mallard.analysis.model import Frame
from mallard.analysis.store import Reading

ANY_FRAMES = "..."
LEAK = re.compile(r"(?:[^:]*,)?\s*(?:Memcheck|\*)\s*(?:,[^:]*)?:\s*Leak\b")
KINDS = re.compile(r"match-leak-kinds\s*:")
# Names in a mangled one that ends in a wildcard: _ZN3app5shelf*
MANGLED = re.compile(r"_Z(?:N[KVrRO]*)?(?P<names>(?:St)?(?:\d+\w+)?)\*")

# What Valgrind has as the innermost frame of a block, by what the recorder calls it.
NEW = "operator new(unsigned long)", "operator new", "_Znwm", "_ZnwmSt11align_val_t", "_ZnwmRKSt9nothrow_t"
NEW_ARRAY = "operator new[](unsigned long)", "operator new[]", "_Znam", "_ZnamSt11align_val_t"
ENTRY_POINTS = {"new": NEW, "new_array": NEW_ARRAY}

# What the runtimes allocate once for themselves, when they start or when they are first used.
RUNTIME = """
{
   libstdc++: its start, above all the pool for exceptions that are thrown when memory is gone
   Memcheck:Leak
   obj:*/libstdc++.so*
   obj:*/ld-linux*
}
{
   libstdc++: the pool for exceptions, linked statically
   Memcheck:Leak
   ...
   fun:_GLOBAL__sub_I_eh_alloc.cc
}
{
   libc: buffers of standard streams
   Memcheck:Leak
   fun:_IO_file_doallocate
}
{
   libc: what a thread needs
   Memcheck:Leak
   ...
   fun:_dl_allocate_tls*
}
{
   libc: the list of functions to call at the exit
   Memcheck:Leak
   obj:*/libc.so*
   fun:__cxa_*atexit*
}
{
   libc: locales
   Memcheck:Leak
   ...
   fun:setlocale
}
{
   ld.so: libraries that are loaded
   Memcheck:Leak
   obj:*/ld-linux*
}
"""


@dataclass(frozen=True, slots=True)
class Call:
    """One frame as patterns see it: by each of its names."""

    functions: tuple[str, ...]
    places: tuple[str, ...] = ()  # file, file:line
    modules: tuple[str, ...] = ()


Matcher = Callable[[Sequence[Call]], bool]


@dataclass(slots=True)
class Suppression:
    """One rule, and what it has matched."""

    name: str
    place: str  # FILE:LINE
    matches: Matcher
    blocks: int = 0
    bytes: int = 0
    sites: int = field(default=0)

    def take(self, site: AliveSite) -> None:
        """Count a site that it matches."""
        self.sites += 1
        self.blocks += site.blocks
        self.bytes += site.bytes


class Suppressor:
    """Takes what is suppressed out of a list of sites."""

    def __init__(self, reading: Reading, rules: Sequence[Suppression]) -> None:
        """Know the paths of a journal's modules: patterns are of those."""
        self.rules = rules
        self._paths: dict[str, tuple[str, ...]] = {}
        for row in reading.modules:
            name = Path(row["path"]).name
            self._paths[name] = tuple({*self._paths.get(name, ()), row["path"]})

    def left(self, sites: Sequence[AliveSite]) -> list[AliveSite]:
        """Return the sites that no rule matches; the first that does counts what it has suppressed."""
        return [site for site in sites if not (self.rules and self._suppressed(site))]

    def _suppressed(self, site: AliveSite) -> bool:
        calls = [self._call(frame) for frame in site.stack]
        whole = [Call(ENTRY_POINTS.get(site.call, (site.call,))), *calls]
        for rule in self.rules:
            if rule.matches(whole) or rule.matches(calls):
                rule.take(site)
                return True
        return False

    def _call(self, frame: Frame) -> Call:
        file = frame.file or ""
        places = (file, f"{file}:{frame.line}", f"{Path(file).name}:{frame.line}") if file else ()
        modules = (frame.module, *self._paths.get(frame.module, ()))
        return Call((frame.function, qualified_name(frame.function)), places, modules)


def runtime_suppressions() -> list[Suppression]:
    """Return those of the C and C++ runtimes' own blocks."""
    return list(parse(RUNTIME, "the runtimes"))


def read_suppressions(path: str) -> list[Suppression]:
    """Read a file of suppressions; anything else in it is an error."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise MallardError(f"cannot read {path}: {error.strerror}") from error
    return list(parse(text, path))


def parse(text: str, path: str) -> Iterator[Suppression]:
    """Yield the suppressions of leaks; `path` is where they are said to be from."""
    lines = (
        (number, line)
        for number, raw in enumerate(text.splitlines(), 1)
        if (line := raw.strip()) and not line.startswith("#")
    )
    for number, line in lines:
        place = f"{path}:{number}"
        if line == "{":
            if (rule := parse_block(lines, place)) is not None:
                yield rule
        elif line.startswith("leak:") and len(line) > len("leak:"):
            yield Suppression(line, place, anywhere(line.removeprefix("leak:")))
        else:
            raise MallardError(f"{place}: expected leak:PATTERN, or a suppression of Valgrind in braces")


def parse_block(lines: Iterator[tuple[int, str]], place: str) -> Suppression | None:
    """Read a suppression of Valgrind behind its brace; None if it is not of leaks."""
    path = place.rpartition(":")[0]
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if line == "}":
            break
        block.append((number, line))
    else:
        raise MallardError(f"{place}: the brace is never closed")
    if len(block) < 2:
        raise MallardError(f"{place}: a suppression has a name, a kind such as Memcheck:Leak, and frames")
    (_, name), (_, kind), *rest = block
    if not LEAK.match(kind):
        return None
    frames = [frame_pattern(line, f"{path}:{number}") for number, line in rest if not KINDS.match(line)]
    if not frames:
        raise MallardError(f"{place}: a suppression has a name, a kind such as Memcheck:Leak, and frames")
    return Suppression(name, place, lambda calls: follows(frames, calls))


def anywhere(pattern: str) -> Matcher:
    """Match a stack in which any name of any frame has the pattern."""
    found = re.compile("".join({"*": ".*", "^": "^", "$": "$"}.get(one) or re.escape(one) for one in pattern))
    return lambda calls: any(
        found.search(name) for call in calls for name in (*call.functions, *call.places[:1], *call.modules)
    )


FramePattern = Callable[[Call], bool] | None  # None: any number of frames


def frame_pattern(line: str, place: str) -> FramePattern:
    """Return what a line of Valgrind's form matches."""
    kind, _, pattern = line.partition(":")
    pattern = pattern.strip()
    if line == ANY_FRAMES:
        return None
    if kind == "fun" and pattern:
        return any_of(function_patterns(pattern, place), lambda call: call.functions)
    if kind == "obj" and pattern:
        return any_of([wildcard(pattern)], lambda call: call.modules)
    if kind == "src" and pattern:
        return any_of([wildcard(pattern)], lambda call: call.places)
    raise MallardError(f"{place}: expected fun:, obj: or src: with a pattern, or ...")


def any_of(
    patterns: Sequence[re.Pattern[str]], names: Callable[[Call], Sequence[str]]
) -> Callable[[Call], bool]:
    """Match a frame one of whose names is one of the patterns."""
    return lambda call: any(pattern.fullmatch(name) for name in names(call) for pattern in patterns)


@lru_cache(maxsize=1 << 12)
def wildcard(pattern: str) -> re.Pattern[str]:
    """Return a pattern of Valgrind's: * is any text, ? any character."""
    return re.compile("".join({"*": ".*", "?": "."}.get(one) or re.escape(one) for one in pattern), re.DOTALL)


def function_patterns(pattern: str, place: str) -> list[re.Pattern[str]]:
    """Return what a function can be called: Valgrind has mangled names, a journal's symbols have not."""
    if not pattern.startswith("_Z"):
        return [wildcard(pattern)]
    if "*" not in pattern and "?" not in pattern:
        return [wildcard(pattern), re.compile(re.escape(_native.demangle(pattern)))]
    if pattern.startswith(("_Znw", "_Zna")):
        return [wildcard(pattern), re.compile(r"operator new.*")]
    found = MANGLED.fullmatch(pattern)
    names = source_names(found["names"]) if found else []
    if not names:
        raise MallardError(
            f"{place}: * can stand at the end of a mangled name only, behind a whole name in it; "
            "unmangled names can have it anywhere"
        )
    return [re.compile(rf"{re.escape('::'.join(names))}\b.*", re.DOTALL)]


def source_names(mangled: str) -> list[str]:
    """Return the names that a mangled one consists of; none if there is a part that is no name."""
    names = []
    if mangled.startswith("St"):
        names, mangled = ["std"], mangled[2:]
    while mangled:
        length = re.match(r"\d+", mangled)
        if length is None or len(mangled) < length.end() + int(length[0]):
            return []
        end = length.end() + int(length[0])
        names.append(mangled[length.end() : end])
        mangled = mangled[end:]
    return names


def follows(patterns: Sequence[FramePattern], calls: Sequence[Call]) -> bool:
    """Tell whether the patterns, all of them, describe the stack from its innermost frame on."""
    at = reachable({0}, patterns)
    for call in calls:
        if len(patterns) in at:
            return True
        passed = set()
        for index in at:
            pattern = patterns[index]
            if pattern is None:
                passed.add(index)
            elif pattern(call):
                passed.add(index + 1)
        at = reachable(passed, patterns)
    return len(patterns) in at


def reachable(at: set[int], patterns: Sequence[FramePattern]) -> set[int]:
    """Return where one can be: any number of frames can be none."""
    found = set(at)
    for index in sorted(at):
        while index < len(patterns) and patterns[index] is None:
            index += 1
            found.add(index)
    return found
