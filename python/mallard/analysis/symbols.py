"""Names for the places a program allocates from: functions, files and lines of each calling context."""

from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.frame_tree import FrameTree
from mallard.analysis.function_names import own_name
from mallard.analysis.model import Frame
from mallard.analysis.module_map import NO_MODULE, locate
from mallard.analysis.store import Reading
from mallard.analysis.symbol_cache import Lines, SymbolCache, SymbolSource
from mallard.analysis.wrappers import find_wrappers, leave
from mallard.figures import shown

UNKNOWN = "unknown"


class Symbols:
    """The frames of each calling context of one journal, all of them looked up at once."""

    def __init__(self, reading: Reading, cache: SymbolCache | None = None) -> None:
        """Name the return addresses of all contexts; `cache` is the user's unless another one is given."""
        self._reading = reading
        self._parents = reading.contexts["parent"]
        self._scopes = reading.contexts["name"]
        source = SymbolSource(cache or SymbolCache())
        self._place_of, self._places = name_places(reading, source)
        self.warnings = source.warnings

    def frames(self, context: int) -> list[Frame]:
        """Return the stack of a context, innermost first; annotated scopes are frames named by them."""
        stack: list[Frame] = []
        while context != 0:
            stack += self.own_frames(context)
            context = int(self._parents[context])
        return stack

    def own_frames(self, context: int) -> list[Frame]:
        """Return what a context adds to its parent's stack, innermost first."""
        return self._places[self._place_of[context]]

    def site_name(self, context: int) -> str:
        """Return the innermost function that is no allocator's wrapper, in short."""
        node = self.site_nodes[context]
        return own_name(self.tree.functions[self.tree.function[node]][0]) if node else UNKNOWN

    def site_frame(self, context: int) -> int:
        """Return which of frames() the site's name is of."""
        site, node = int(self.site_nodes[context]), int(self.tree.innermost[context])
        inside = 0
        while node != site:
            node = int(self.tree.parent[node])
            inside += 1
        return inside

    @cached_property
    def tree(self) -> FrameTree:
        """The frames of all contexts, as one tree."""
        return FrameTree.build(self._parents, self._scopes, self._place_of, self._places)

    @cached_property
    def wraps(self) -> NDArray[np.bool_]:
        """Whether a site is looked for further out, of each of the tree's functions."""
        size_classes = self._reading.by_context("size_classes")
        allocate = np.flatnonzero(size_classes[1:]) + 1
        return find_wrappers(self.tree, allocate, size_classes[allocate])

    @cached_property
    def site_nodes(self) -> NDArray[np.int64]:
        """The node in the tree of each context's site; the innermost where all of its stack are wrappers."""
        found = leave(self.tree, self.wraps, self.tree.innermost)
        return np.where(found == 0, self.tree.innermost, found)


def name_places(reading: Reading, source: SymbolSource) -> tuple[NDArray[np.int64], list[list[Frame]]]:
    """Return a number for each context, and the frames of each number, innermost first; 0 is the program."""
    module, address = locate(reading)
    scopes = reading.contexts["name"]
    file_of, files = files_of(reading)
    file = np.where(module == NO_MODULE, NO_MODULE, file_of[module])
    place_of = np.zeros(len(scopes), dtype=np.int64)
    places = [[Frame(function="program", module="")]]
    is_frame = (scopes == 0) & (np.arange(len(scopes)) > 0)
    for number in np.unique(file[is_frame]).tolist():
        chosen = np.flatnonzero(is_frame & (file == number))
        addresses, index = np.unique(address[chosen], return_inverse=True)
        place_of[chosen] = len(places) + index
        path, build_id = files[number] if number != NO_MODULE else ("", "")
        lines = source.lines(path, build_id, addresses.tolist())
        name = shown(Path(path).name)
        places += [frames_of(name, *pair) for pair in zip(addresses.tolist(), lines, strict=True)]
    chosen = np.flatnonzero(scopes)
    named, index = np.unique(scopes[chosen], return_inverse=True)
    place_of[chosen] = len(places) + index
    places += [[Frame(function=reading.names[name], module="")] for name in named]
    return place_of, places


def files_of(reading: Reading) -> tuple[NDArray[np.int64], list[tuple[str, str]]]:
    """Return the number of each module's file, and path and build id of each; a file can be mapped often."""
    files: dict[tuple[str, str], int] = {}
    numbers = [files.setdefault((row["path"], row["build_id"]), len(files)) for row in reading.modules]
    return np.array([*numbers, NO_MODULE], dtype=np.int64), list(files)


def frames_of(module: str, address: int, lines: Lines) -> list[Frame]:
    """Return the frames of one address, innermost first; `module+0xoffset` where there is no name."""
    if not lines:
        return [Frame(function=f"{module}+0x{address:x}" if module else f"0x{address:x}", module=module)]
    last = len(lines) - 1
    return [
        Frame(name_of(module, address, function), module, file or None, line or None, inlined=number < last)
        for number, (function, file, line) in enumerate(lines)
    ]


def name_of(module: str, address: int, function: str) -> str:
    """Return the function's name; one without is named by where it begins."""
    if function.startswith("0x"):
        return f"{module}+{function}"
    return function or f"{module}+0x{address:x}"
