"""The change in the source that a candidate needs: as a diff where the place is clear, else in words.

    site  places.cpp:25   known_.try_emplace(key, ...)      the container is looked up that is called there
             `--> places.cpp:52   std::map<...> known_;     its declaration: local, member, or somewhere else
                                  - std::map<...> known_;
                                  + mallard::resource<mallard::multipool> known_heap_;
                                  + std::pmr::map<...> known_{&known_heap_};

          churn.cpp:126   std::make_unique<thing<Words>>()  the class gets operators of its own

An edit is proposed where a pattern has one meaning only: a declaration that ends on its line and has no
initializer; a class that is defined in the same file. A diff is for `patch -p1` in the file's folder. The
source is read as text, so the compiler has to judge the result.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from mallard.advise.advice_model import SourceChange
from mallard.advise.growth import Saving
from mallard.analysis.function_names import own_name
from mallard.analysis.model import Frame

LARGEST_FILE = 4 << 20
NEAR = (0, 1, -1, 2)  # lines from the reported one
MOST_BLOCKS = 0.5  # of a part, that containers allocate which get its heap
KEYWORDS = {"return", "delete", "new", "throw", "case", "goto", "using", "typedef", "else", "co_return"}
CALL = re.compile(
    r"(?P<name>[A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?(?:\.|->)\s*(?:push_back|emplace_back|push_front|emplace_front|"
    r"emplace|emplace_hint|try_emplace|insert|insert_or_assign|append|assign|resize|push)\s*\("
    r"|(?P<grown>[A-Za-z_]\w*)\s*\+="
)
ALLOCATES = re.compile(r"\bnew\b|\b(?:malloc|calloc|realloc|aligned_alloc|strdup|make_unique|make_shared)\b")
MADE = re.compile(r"\bnew\s+(?P<plain>[\w:]+)|\bmake_unique\s*<\s*(?P<unique>[\w:]+)")
NODES = r"std::(?:(?:unordered_)?(?:multi)?(?:map|set)|(?:forward_)?list|vector|deque)"

# The type of this library for each strategy, and the one for several threads; and where it is declared.
TYPES = {
    "pool": ("pool", "synchronized_pool"),
    "adaptive_pool": ("adaptive_pool", "synchronized_adaptive_pool"),
    "multipool": ("multipool", "synchronized_multipool"),
    "instances": ("multipool", "multipool"),
    "best_fit": ("best_fit", "synchronized_best_fit"),
    "region": ("region", "region"),
    "reap": ("reap", "reap"),
    "monotonic": ("monotonic", "monotonic"),
    "stack": ("stack_pattern", "stack_pattern"),
    "thread-pool": ("thread_multipool", "thread_multipool"),
}
OF_CLASSES = ("pool", "adaptive_pool", "multipool", "best_fit", "thread-pool")  # which may last forever
# Where blocks of one heap have several sizes, a pool for one of them does not do.
OF_MANY_SIZES = {"pool": "multipool", "synchronized_pool": "synchronized_multipool"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """Where a variable is declared."""

    line: int  # from 0
    indent: str
    type: str
    name: str
    kind: str  # local, member or other
    is_plain: bool  # it ends on its line and has no initializer


class Source:
    """A source file as lines."""

    def __init__(self, path: Path, text: str) -> None:
        """Take its text."""
        self.path, self.lines = path, text.splitlines()

    @classmethod
    def read(cls, file: str | None) -> "Source | None":
        """Read a file; None where there is none, or none that is text."""
        if not file or not Path(file).is_file() or Path(file).stat().st_size > LARGEST_FILE:
            return None
        try:
            return cls(Path(file), Path(file).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            return None

    def at(self, line: int | None) -> str:
        """Return a line, from 1 on; empty if there is none."""
        return self.lines[line - 1] if line and 0 < line <= len(self.lines) else ""

    def near(self, line: int | None, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return what is found on a line or next to it: optimised code is not always on its own line."""
        found = (pattern.search(bare(self.at(line + step))) for step in NEAR) if line else ()
        return next(filter(None, found), None)

    def declaration(self, name: str, line: int) -> Declaration | None:
        """Return where a name is declared that is used on a line: the nearest above it, else below."""
        pattern = re.compile(
            r"^(?P<indent>\s*)(?P<type>(?:static |const |mutable )*[\w:]+(?:\s*<.*>)?)"
            r"(?P<way>\s*[&*]*\s+|\s+[&*]+)"
            rf"{re.escape(name)}\s*(?P<end>;|\{{\}};|=.*|\(.*|\{{.*|\[.*)"
        )
        above, below = range(line - 2, -1, -1), range(line, len(self.lines))
        for number in (*above, *below):
            found = pattern.match(self.lines[number])
            if found is None or found["type"].split()[0] in KEYWORDS:
                continue
            if found["end"][0] == "(" and ")" in found["end"] and "{" in self.lines[number]:
                continue  # a function of that name
            kind = self.kind_at(number)
            if kind == "local" and not self.reaches(number, line - 1):
                continue
            plain = (
                found["end"] in (";", "{};")
                and not found["way"].strip()
                and "const" not in found["type"].split()
            )
            return Declaration(number, found["indent"], found["type"].strip(), name, kind, plain)
        return None

    def opener(self, line: int) -> int | None:
        """Return the line that opens the block around a line; None outside of all."""
        depth = 0
        for number in range(line - 1, -1, -1):
            for one in reversed(bare(self.lines[number])):
                depth += (one == "}") - (one == "{")
                if depth < 0:
                    return number
        return None

    def kind_at(self, line: int) -> str:
        """Return whether what is declared on a line is local, a member or neither."""
        opened = self.opener(line)
        if opened is None:
            return "other"
        head = bare(self.lines[opened])
        if head.strip() == "{" and opened:
            head = bare(self.lines[opened - 1]) + head
        if re.search(r"\b(?:class|struct)\b", head) and not re.search(r"\)\s*(?:const\s*)?\{", head):
            return "member"
        return "other" if re.search(r"\b(?:namespace|extern|union|enum)\b", head) else "local"

    def reaches(self, line: int, other: int) -> bool:
        """Return whether the block of a line still lasts at another below it."""
        depth = 0
        for number in range(line, other):
            for one in bare(self.lines[number]):
                depth += (one == "{") - (one == "}")
                if depth < 0:
                    return False
        return line < other

    def class_head(self, name: str) -> int | None:
        """Return the line that opens the definition of a class, by its own name or by an alias."""
        name = name.rpartition("::")[2]
        for text in self.lines:
            if alias := re.match(rf"\s*using\s+{re.escape(name)}\s*=\s*(?:[\w]+::)*(\w+)", text):
                name = alias[1]
                break
        heads = [
            number
            for number, text in enumerate(self.lines)
            if re.match(rf"\s*(?:class|struct)\s+{re.escape(name)}\b[^;(]*\{{\s*$", text)
        ]
        return heads[0] if len(heads) == 1 else None

    def diff(self, inserted: dict[int, list[str]], replaced: dict[int, str], includes: Sequence[str]) -> str:
        """Return a diff: lines inserted in front of others, and others replaced."""
        inserted = {line: list(texts) for line, texts in inserted.items()}
        missing = [f"#include {one}" for one in includes if f"#include {one}" not in self.lines]
        if missing:
            known = [number for number, text in enumerate(self.lines) if text.startswith("#include <")]
            inserted[known[0] if known else 0] = missing
        changed: list[str] = []
        for number, text in enumerate(self.lines):
            changed += inserted.get(number, [])
            changed.append(replaced.get(number, text))
        name = self.path.name
        return "\n".join(unified_diff(self.lines, changed, f"a/{name}", f"b/{name}", lineterm="")) + "\n"


def bare(text: str) -> str:
    """Return a line of code without comments and what stands in quotes."""
    return re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'|//.*|/\*.*?\*/', "", text)


def heap_type(strategy: str, threads: int, one_size: bool) -> str:
    """Return the type of this library for a strategy."""
    name = TYPES[strategy][threads > 1]
    return f"mallard::{name if one_size else OF_MANY_SIZES.get(name, name)}"


def header_of(heap: str) -> str:
    """Return the header of a heap of this library."""
    return f"<mallard/heap/{heap.removeprefix('mallard::')}.hpp>"


def of_strategy(
    strategy: str, sites: Mapping[Frame, int], threads: int, one_size: bool, until: str | None
) -> SourceChange | None:
    """Return the change for a heap; `sites` are those of the part with their blocks, the largest first."""
    site = next(iter(sites), None)
    if site is None:
        return None
    heap = heap_type(strategy, threads, one_size)
    edit = None
    if source := Source.read(site.file):
        edit = containers_of(source, sites, heap, threads)
        if edit is None and strategy in OF_CLASSES and (made := classes_of(source, sites, strategy, threads)):
            heap, edit = made
    return SourceChange(
        heap, site.function, site.file, site.line, in_words(strategy, heap, site, until), edit
    )


def in_words(strategy: str, heap: str, site: Frame, until: str | None) -> str:
    """Say what to do."""
    who, pmr = own_name(site.function), f"mallard::resource<{heap}>"
    of_std = {
        "monotonic": " (or std::pmr::monotonic_buffer_resource)",
        "region": " (or std::pmr::monotonic_buffer_resource)",
        "pool": " (or boost::pool)",
        "multipool": " (or std::pmr::unsynchronized_pool_resource)",
    }.get(strategy, "")
    if strategy == "instances":
        return f"Give each owner whose blocks {who} allocates a {pmr}, in front of its std::pmr containers."
    if strategy in ("region", "reap", "stack", "monotonic"):
        ends = f" when {own_name(until)} returns" if until else " where the last of its blocks ends"
        life = "for the whole program" if strategy == "monotonic" and not until else f"that ends{ends}"
        return f"Allocate in {who} from one {heap}{of_std} {life}; containers take it as a {pmr}."
    return f"Allocate in {who} from one {heap}{of_std}; containers take it as a {pmr}."


def receiver(source: Source, site: Frame) -> Declaration | None:
    """Return the declaration of what is called at a site, if that can grow."""
    call = source.near(site.line, CALL)
    if call is None or site.line is None:
        return None
    return source.declaration(call["name"] or call["grown"], site.line + 1)


def container_at(source: Source, site: Frame) -> Declaration | None:
    """Return the declaration of the container of the standard's that is called at a site."""
    found = receiver(source, site)
    return found if found and re.match(NODES, found.type) else None


def containers_of(source: Source, sites: Mapping[Frame, int], heap: str, threads: int) -> str | None:
    """Return a diff that gives the containers which are called at the sites a heap.

    They have to be what allocates: at the largest site, and for most of the blocks. What a line allocates by
    itself, as by `new`, is no container's, though one may be called beside it.
    """
    calling = [
        one
        for one in sites
        if one.file and Path(one.file) == source.path and not ALLOCATES.search(bare(source.at(one.line)))
    ]
    served = {one: container for one in calling if (container := container_at(source, one))}
    blocks = sum(sites[one] for one in served)
    if threads > 1 or next(iter(sites)) not in served or blocks < MOST_BLOCKS * sum(sites.values()):
        return None
    found = list({one.line: one for one in served.values()}.values())
    if not all(one.is_plain and one.kind != "other" for one in found):
        return None
    first = min(found, key=lambda one: one.line)
    if len({source.opener(one.line) for one in found}) > 1:
        return None
    name = "heap_" if first.kind == "member" else "heap"
    if any(re.search(rf"\b{name}\b", text) for text in source.lines):
        name = f"{first.name.rstrip('_')}_{name}"
    inserted = {
        first.line: [f"{first.indent}mallard::resource<{heap}> {name};  // in front of what it holds"]
    }
    replaced = {
        one.line: f"{one.indent}{one.type.replace('std::', 'std::pmr::', 1)} {one.name}"
        + (f"{{&{name}}};" if one.kind == "member" else f"(&{name});")
        for one in found
    }
    kinds = dict.fromkeys(re.match(r"std::(?:multi)?(\w+)", one.type)[1] for one in found)  # type: ignore[index]
    standard = [f"<{kind}>" for kind in kinds]
    return source.diff(
        inserted,
        replaced,
        [header_of(heap), "<mallard/resource/resource.hpp>", *standard, "<memory_resource>"],
    )


def classes_of(
    source: Source, sites: Mapping[Frame, int], strategy: str, threads: int
) -> tuple[str, str] | None:
    """Return a heap, and a diff that gives the classes which are made at the sites operators of their own.

    They have to be what allocates, as in containers_of(). Each has a heap of its own.
    """
    heads: dict[int, int] = {}
    for site, blocks in sites.items():
        made = source.near(site.line, MADE) if site.file and Path(site.file) == source.path else None
        head = source.class_head(made["plain"] or made["unique"]) if made else None
        if head is None and not heads:
            return None  # nor does the largest site make one
        if head is not None:
            heads[head] = heads.get(head, 0) + blocks
    if sum(heads.values()) < MOST_BLOCKS * sum(sites.values()):
        return None
    operators = {head + 1: operators_of(source, head, strategy, threads) for head in heads}
    heaps = list(dict.fromkeys(heap for heap, _ in operators.values()))
    inserted = {line: lines for line, (_, lines) in operators.items()}
    return heaps[0], source.diff(inserted, {}, [*map(header_of, heaps), "<cstddef>", "<new>"])


def operators_of(source: Source, head: int, strategy: str, threads: int) -> tuple[str, list[str]]:
    """Return the heap of a class, and the lines of its definition that allocate from it."""
    text = source.lines[head]
    name = re.match(r"\s*(?:class|struct)\s+(\w+)", text)[1]  # type: ignore[index]
    has_heirs = any(re.search(rf":\s*(?:public\s+)?(?:\w+::)*{name}\b.*\{{", other) for other in source.lines)
    heap = heap_type(strategy, threads, not has_heirs)
    indent = re.match(r"\s*", text)[0]  # type: ignore[index]
    is_class = text.lstrip().startswith("class")
    lines = [
        *([" public:"] if is_class else []),
        "  // All of them are in one heap, which lasts as long as the program.",
        f"  static {heap}& own_heap() {{",
        f"    static {heap}& heap = *new {heap};",
        "    return heap;",
        "  }",
        "  static void* operator new(std::size_t size) {",
        f"    const mallard::block made = own_heap().allocate(size, alignof({name}));",
        "    if (made.data == nullptr) throw std::bad_alloc();",
        "    return made.data;",
        "  }",
        "  static void operator delete(void* p, std::size_t size) {",
        f"    own_heap().deallocate(p, size, alignof({name}));",
        "  }",
        *(["", " private:"] if is_class else []),
    ]
    return heap, [(indent + line).rstrip() for line in lines]


def of_estimate(strategy: str, site: Frame, saving: Saving) -> SourceChange:
    """Return the change for what only the source can do."""
    source = Source.read(site.file)
    found = receiver(source, site) if source else None
    who, n = own_name(site.function), saving.elements
    what = found.name if found else "the container"
    element = re.fullmatch(r"std::vector\s*<(.*)>", found.type) if found else None
    if strategy == "small-buffer":
        kind = f"boost::container::small_vector<{element[1] if element else 'T'}, {n}>"
        text = f"Keep {n} elements inside: make {what}, which {who} fills, a {kind}."
        diff = None
        if source and found and element and found.is_plain:
            replaced = {found.line: f"{found.indent}{kind} {found.name};"}
            diff = source.diff({}, replaced, ["<boost/container/small_vector.hpp>"])
        return SourceChange(kind, site.function, site.file, site.line, text, diff)
    if strategy == "reserve":
        grows = "realloc" if not found else found.type
        text = (
            f"Reserve before {what} is filled in {who}: {n:,} elements are enough for 9 of 10."
            if found
            else f"Allocate {saving.bytes:,} bytes at once in {who}, enough for 9 of 10, or double the size "
            "at each step."
        )
        diff = None
        if (
            source
            and found
            and found.kind == "local"
            and found.is_plain
            and re.match(r"std::(vector|string)\b", found.type)
        ):
            diff = source.diff({found.line + 1: [f"{found.indent}{found.name}.reserve({n});"]}, {}, [])
        return SourceChange(grows, site.function, site.file, site.line, text, diff)
    kept = element[1] if element else "T"
    kind = f"boost::container::vector<{kept}, mallard::v2_allocator<{kept}, mallard::best_fit>>"
    text = f"Let {what}, which {who} fills, grow in place: {kind} over one mallard::best_fit."
    return SourceChange(kind, site.function, site.file, site.line, text)
