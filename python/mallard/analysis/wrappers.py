"""Functions that allocate for others: a site is named by their caller.

    malloc < xmalloc < make_row < load_table            the site is make_row

A function is a wrapper by its name if
- it lies in a namespace of containers (std, __gnu_cxx, boost::container ...): its user is the useful name;
- it is an operator new, or a word of its name ends like one of the malloc family (xmalloc, g_strdup ...);
- its name says "alloc" and otherwise only what says nothing of the object, but for a prefix of up to three
  letters (jv_mem_alloc, ggc_internal_alloc; but not node_alloc).

And by how it is used, which finds those without a telling name, or without any:
- all that call it are allocators by their names (the second and the third of those kinds); or
- at least MIN_CALLERS functions call it, blocks of at least MIN_CLASSES size classes go through it, and it
  asks for them in at most MAX_CALLS places of its code.

What calls a wrapper is looked at in the same way, up to MAX_LAYERS times.
"""

import re

import numpy as np
from numpy.typing import NDArray

from mallard.analysis.frame_tree import FrameTree
from mallard.analysis.function_names import qualified_name

MIN_CALLERS = 16
MIN_CLASSES = 8
MAX_CALLS = 2
MAX_LAYERS = 4

CONTAINERS = re.compile(r"(?:std|__gnu_cxx|__cxxabiv1|boost::container|boost::unordered|absl|eastl)::")
OPERATOR = re.compile(r"(?:^|::)operator (?:new|delete)")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
FAMILY = re.compile(r"(?:(?:(?<!p)re|[mczptv])alloc[a-z]?|memalign|reallocarray|asprintf)$")
DUPLICATE = re.compile(r"strn?dup$")
ALLOCATES = {"alloc", "allocate", "allocated", "allocator", "reallocate"}
SAYS_NOTHING = ALLOCATES | {
    *("mem", "memory", "heap", "block", "chunk", "raw", "safe", "try", "or", "die", "fail", "null", "zero"),
    *(
        "zeroed",
        "clear",
        "cleared",
        "aligned",
        "internal",
        "impl",
        "default",
        "system",
        "sys",
        "generic",
        "gc",
    ),
    *("object", "obj", "slice", "debug", "new", "get", "do", "my", "ex", "n"),
}
LONGEST_PREFIX = 3


def is_container(function: str) -> bool:
    """Tell whether the name is one of those whose users are the useful names."""
    return CONTAINERS.match(qualified_name(function)) is not None


def is_allocator(function: str) -> bool:
    """Tell whether the name is that of a function that allocates for others."""
    name = qualified_name(function)
    if OPERATOR.search(name):
        return True
    words = [word.lower() for word in WORD.findall(name.rpartition("::")[2])]
    if any(FAMILY.search(word) for word in words) or DUPLICATE.search("".join(words)):
        return True
    if words and len(words[0]) <= LONGEST_PREFIX:
        words = words[1:]
    return not ALLOCATES.isdisjoint(words) and SAYS_NOTHING.issuperset(words)


def find_wrappers(
    tree: FrameTree, contexts: NDArray[np.int64], size_classes: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Tell of each function of the tree whether a site is looked for further out.

    Each row is a context that allocates, and a mask of the size classes that it asks for. Scopes count as
    wrappers: they are no functions.
    """
    names = [name for name, _ in tree.functions]
    allocators = np.array([is_allocator(name) for name in names])
    wraps: NDArray[np.bool_] = tree.is_scope | allocators | np.array([is_container(name) for name in names])
    wraps[0] = False  # there is nothing further out
    for _ in range(MAX_LAYERS):
        nodes = leave(tree, wraps, tree.innermost[contexts])
        found = used_like_wrappers(tree, nodes, size_classes) | serve_only(tree, nodes, allocators)
        if not found.any():
            break
        wraps |= found
    return wraps


def leave(tree: FrameTree, wraps: NDArray[np.bool_], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Go from each node outwards to the first that is no wrapper."""
    nodes = nodes.copy()
    inside = np.flatnonzero(wraps[tree.function[nodes]])
    while inside.size:
        nodes[inside] = tree.parent[nodes[inside]]
        inside = inside[wraps[tree.function[nodes[inside]]]]
    return nodes


def used_like_wrappers(
    tree: FrameTree, nodes: NDArray[np.int64], size_classes: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Tell of each function whether those of these nodes that are its own show a wrapper."""
    function = tree.function[nodes]
    masks = np.zeros(len(tree.functions), dtype=np.uint64)
    np.bitwise_or.at(masks, function, size_classes)
    callers = count_distinct(function, tree.function[tree.parent[nodes]], len(tree.functions))
    calls = count_distinct(function, tree.place[nodes], len(tree.functions))
    found = (callers >= MIN_CALLERS) & (np.bitwise_count(masks) >= MIN_CLASSES) & (calls <= MAX_CALLS)
    found[0] = False
    return found


def serve_only(tree: FrameTree, nodes: NDArray[np.int64], masters: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell of each function that these nodes are of whether all that call it there are among `masters`."""
    function = tree.function[nodes]
    strangers = function[~masters[tree.function[tree.parent[nodes]]]]
    found = np.zeros(len(tree.functions), dtype=np.bool_)
    found[function] = True
    found[strangers] = False
    return found


def count_distinct(key: NDArray[np.int64], value: NDArray[np.int64], keys: int) -> NDArray[np.int64]:
    """Return how many different values come with each key below `keys`."""
    span = int(value.max(initial=0)) + 1
    return np.bincount(np.unique(key * span + value) // span, minlength=keys)
