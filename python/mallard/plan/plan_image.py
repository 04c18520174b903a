"""Compiles a plan to the image that libmallard-malloc.so reads: a decision trie, rules and modules.

    contexts            trie                                   one frame more only where rules differ
    a < b < x   1       root  a --> node  b --> rule 1
    a < b < y   1                         c --> rule 2
    a < c < x   2             d --> rule 2
    d < e       2

A context that ends where others go on is the rule of the node: for all callers that are not named there, and
for theirs. So a call has the rule of the longest context that is the beginning of its stack, and only where
none is, the rule of those that begin like it. At each node the malloc compares the first entry: that of the
first context in [expected] that leads through the node, or else of the first in the rules. An expected caller
without a rule gets an entry with the node's rule, unless the node has a single entry: comparing that one
costs the same.
src/malloc/ reads the image, which is little-endian; its layout is below, in the order of the file.
"""

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mallard import MallardError
from mallard.plan.plan_file import depth_of
from mallard.plan.plan_model import (
    HEAPS,
    MOST_NODES,
    PLACES,
    STRATEGIES,
    Context,
    Plan,
    Rule,
)

MAGIC = b"\x89MLP\r\n\x1a\n"
VERSION = 1
LARGEST_IMAGE = 64 << 20
HUGE_PAGES = 1  # a flag

HEADER = struct.Struct(
    "<8sIIIIIIIIIIIIII"
)  # magic; version, size, crc32, heap; 4 x (count, offset); pools, flags
MODULE = struct.Struct("<B31s")  # length of the build id, the id
NODE = struct.Struct("<IIII")  # first entry, entries, rule if none fits, 0
ENTRY = struct.Struct("<QIIIIQ")  # offset, module, child node, rule, bytes to the next frame, 0
RULE = struct.Struct("<IIIIIIIIQQ")  # strategy, first pool, pools, place, largest, frame, number, 0, 0, 0

Place = tuple[int, int]  # module and offset
Path = tuple[tuple[Place, int], ...]  # frames, each with its bytes to the next one


@dataclass(slots=True)
class Entry:
    """What a return address leads to: a node, or a rule other than its own node's."""

    step: int = 0
    child: int = 0
    rule: int = 0


@dataclass(slots=True)
class Node:
    """Which rule a return address decides for, and which frames need a look further out."""

    rule: int = 0  # if no entry fits
    entries: dict[Place, Entry] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claim:
    """A context and its rule; at least `least` frames are looked at."""

    frames: Path
    rule: int
    least: int = 1


def decision_trie(claims: Iterable[Claim]) -> list[Node]:
    """Return the nodes, the root first, each in front of its children.

    O(frames that are looked at). A context may be the beginning of another, but is in no two rules.
    """
    nodes = [Node()]
    waiting = [(0, 0, list(claims), False)]  # node, depth, those that pass through it, is its rule claimed
    while waiting:
        number, depth, passing, is_claimed = waiting.pop()
        node = nodes[number]
        by_place: dict[Place, list[Claim]] = {}
        for claim in passing:
            if len(claim.frames) == depth:
                node.rule, is_claimed = claim.rule, True
            else:
                by_place.setdefault(claim.frames[depth][0], []).append(claim)
        for place, same in by_place.items():
            rule = same[0].rule
            are_others = is_claimed and rule != node.rule and all(len(one.frames) > depth + 1 for one in same)
            if not are_others and all(one.rule == rule and one.least <= depth + 1 for one in same):
                if rule != node.rule:
                    node.entries[place] = Entry(rule=rule)
                continue
            step = max(claim.frames[depth][1] for claim in same)
            node.entries[place] = Entry(step=step, child=len(nodes))
            waiting.append((len(nodes), depth + 1, same, is_claimed))
            nodes.append(Node(node.rule))
    return nodes


def put_first(nodes: Sequence[Node], paths: Iterable[Path]) -> None:
    """Put the entry of the first path through each node in front. O(frames of the paths + entries).

    The root is left alone: all of its entries are looked up.
    """
    decided = {0}
    for path in paths:
        number = 0
        for place, _ in path:
            node = nodes[number]
            if number not in decided and (place in node.entries or len(node.entries) > 1):
                first = node.entries.pop(place, Entry(rule=node.rule))
                node.entries = {place: first, **node.entries}
                decided.add(number)
            entry = node.entries.get(place)
            if entry is None or entry.child == 0:
                break
            number = entry.child


def rule_for(nodes: Sequence[Node], places: Iterable[Place]) -> int:
    """Return the rule that the trie has for frames, innermost first; what the malloc does at a call."""
    node = nodes[0]
    for place in places:
        entry = node.entries.get(place)
        if entry is None:
            break
        if entry.child == 0:
            return entry.rule
        node = nodes[entry.child]
    return node.rule


def trie_of(plan: Plan) -> list[Node]:
    """Return the nodes of a plan, each with what it expects in front."""
    nodes, modules = decision_trie(claims_of(plan)), plan.module_numbers
    put_first(nodes, (path_of(context, modules) for context in plan.expected))
    return nodes


def path_of(context: Context, modules: Mapping[str, int]) -> Path:
    """Return a context as the trie has it."""
    return tuple(((modules[frame.module], frame.offset), frame.step) for frame in context.frames)


def claims_of(plan: Plan) -> list[Claim]:
    """Return all contexts of a plan; rules of the default heap are rule 0."""
    modules = plan.module_numbers
    found = []
    for number, rule in enumerate(plan.rules, 1):
        for context in rule.contexts:
            path = path_of(context, modules)
            least = 1 + depth_of(rule.until, context) if rule.until else 1
            found.append(Claim(path, 0 if rule.strategy == "default" else number, least))
    return found


def image_of(plan: Plan) -> bytes:
    """Return the image of a plan."""
    nodes = trie_of(plan)
    modules = [
        MODULE.pack(len(build_id), build_id)
        for build_id in (bytes.fromhex(module.build_id) for module in plan.modules)
    ]
    rows: list[bytes] = []
    entries: list[bytes] = []
    for node in nodes:
        rows.append(NODE.pack(len(entries), len(node.entries), node.rule, 0))
        for (module, offset), entry in node.entries.items():
            entries.append(ENTRY.pack(offset, module, entry.child, entry.rule, entry.step, 0))
    firsts = plan.pool_numbers
    rules = [RULE.pack(0, 0, 1, 0, 0, 0, 0, 0, 0, 0)]
    rules += [
        rule_row(rule, first, number)
        for number, (rule, first) in enumerate(zip(plan.rules, firsts, strict=True), 1)
    ]
    counts: list[int] = []
    body = b""
    for section in (modules, rows, entries, rules):
        counts += [len(section), HEADER.size + len(body)]
        body += b"".join(section)
    whole = HEADER.size + len(body)
    if whole > LARGEST_IMAGE or len(nodes) > MOST_NODES:
        what = f"{len(entries):,} entries in {len(nodes):,} nodes, where {MOST_NODES:,} nodes can be"
        raise MallardError(f"{plan.path or plan.title} has too many contexts: {what}")
    heap = HEAPS.index(plan.default_heap)
    flags = HUGE_PAGES if plan.huge_pages else 0
    return HEADER.pack(MAGIC, VERSION, whole, zlib.crc32(body), heap, *counts, plan.pools, flags) + body


def rule_row(rule: Rule, first: int, number: int) -> bytes:
    """Return the row of one rule, whose number in the file counts from 1."""
    place = PLACES[rule.witness.place] if rule.witness else 0
    frame = depth_of(rule.until, rule.contexts[0]) if rule.until else 0
    return RULE.pack(
        STRATEGIES[rule.strategy], first, rule.pools, place, rule.largest, frame, number, 0, 0, 0
    )
