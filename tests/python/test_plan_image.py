"""The image of a plan: a trie that leads each context to its rule, in as few frames as that takes."""

import random
import struct
import zlib
from collections.abc import Sequence

from mallard.plan import Context, Frame, Module, Plan, Rule, Witness, image_of
from mallard.plan.plan_image import Claim, Node, decision_trie, put_first, rule_for

MODULES = (Module("prog", "0102030405"), Module("lib", "aa" * 20))


def context(*offsets: int, module: str = "prog") -> Context:
    """Return a context of frames 16 bytes apart."""
    last = len(offsets) - 1
    return Context(
        tuple(Frame(module, at, 16 * (at % 7 + 1) if n < last else 0) for n, at in enumerate(offsets))
    )


def trie(contexts: dict[tuple[int, ...], int]) -> list[Node]:
    """Return the trie of contexts of one module."""
    return decision_trie(Claim(tuple(((0, at), 16) for at in path), rule) for path, rule in contexts.items())


def found(nodes: Sequence[Node], *path: int) -> int:
    """Return the rule of a stack."""
    return rule_for(nodes, ((0, at) for at in path))


def test_one_frame_is_enough_where_rules_do_not_differ() -> None:
    nodes = trie({(1, 2, 3): 1, (1, 2, 4): 1, (5, 6): 2})
    assert len(nodes) == 1
    assert found(nodes, 1) == 1
    assert found(nodes, 5, 9) == 2
    assert found(nodes, 7) == 0


def test_the_trie_descends_only_where_rules_differ() -> None:
    nodes = trie({(1, 2, 3): 1, (1, 2, 4): 2, (1, 5, 3): 1, (1, 5, 4): 1, (6, 7): 2})
    assert len(nodes) == 3  # the root, 1, and 1 < 2
    assert found(nodes, 1, 2, 3) == 1
    assert found(nodes, 1, 2, 4) == 2
    assert found(nodes, 1, 5, 99) == 1
    assert found(nodes, 1, 99) == 0
    assert found(nodes, 6) == 2


def test_a_context_that_others_go_on_from_is_for_all_other_callers() -> None:
    nodes = trie({(1,): 1, (1, 2): 2, (1, 3): 1, (4, 5): 3, (4, 6): 0})
    assert found(nodes, 1, 2) == 2
    assert found(nodes, 1, 3) == found(nodes, 1, 99) == 1
    assert list(nodes[1 if (0, 2) in nodes[1].entries else 2].entries) == [(0, 2)]
    assert found(nodes, 4, 5) == 3
    assert found(nodes, 4, 6) == found(nodes, 4) == 0


def test_each_context_of_any_plan_is_led_to_its_rule() -> None:
    chance = random.Random(7)
    for _ in range(200):
        contexts = {
            tuple(chance.randrange(4) for _ in range(chance.randint(1, 6))): chance.randrange(4)
            for _ in range(chance.randint(1, 40))
        }
        nodes = trie(contexts)
        for path, rule in contexts.items():
            assert found(nodes, *path) == rule, (path, contexts)
        stacks = [tuple(chance.randrange(5) for _ in range(7)) for _ in range(30)]
        rules = [found(nodes, *stack) for stack in (*contexts, *stacks)]
        put_first(nodes, [tuple(((0, at), 16) for at in stack) for stack in stacks[:9]])
        assert rules == [found(nodes, *stack) for stack in (*contexts, *stacks)]


def test_a_stack_has_the_rule_of_the_longest_context_that_it_begins_with() -> None:
    nodes = trie({(1,): 1, (1, 2, 3): 2, (1, 2, 4): 3, (5,): 1, (5, 6, 7): 2})
    assert found(nodes, 1, 2, 9) == found(nodes, 1, 2) == found(nodes, 5, 6, 9) == 1
    assert found(nodes, 5, 6, 7) == 2
    chance = random.Random(11)
    for _ in range(200):
        contexts = {
            tuple(chance.randrange(3) for _ in range(chance.randint(1, 5))): chance.randrange(3)
            for _ in range(chance.randint(1, 20))
        }
        nodes = trie(contexts)
        for _ in range(50):
            stack = tuple(chance.randrange(3) for _ in range(6))
            claimed = [rule for depth in range(1, 6) if (rule := contexts.get(stack[:depth])) is not None]
            assert found(nodes, *stack) in claimed[-1:] or not claimed, (stack, contexts)


class Image:
    """An image, read back."""

    def __init__(self, content: bytes) -> None:
        """Check and split it."""
        fields = struct.unpack_from("<8s14I", content)
        assert fields[0] == b"\x89MLP\r\n\x1a\n"
        self.version, self.size, crc, self.heap = fields[1:5]
        assert self.size == len(content)
        assert crc == zlib.crc32(content[64:])
        self.pools, self.flags = fields[13:]
        sections = [(fields[5 + 2 * n], fields[6 + 2 * n]) for n in range(4)]
        self.modules, self.nodes, self.entries, self.rules = (
            [struct.unpack_from(form, content, offset + struct.calcsize(form) * row) for row in range(rows)]
            for (rows, offset), form in zip(sections, ("<B31s", "<4I", "<QIIIIQ", "<8IQQ"), strict=True)
        )

    def rule(self, context: Context) -> int:
        """Find a context as the malloc does."""
        node = 0
        for frame in context.frames:
            first, count, otherwise, _ = self.nodes[node]
            key = [name for name, *_ in (("prog",), ("lib",))].index(frame.module), frame.offset
            for offset, module, child, rule, step, _ in self.entries[first : first + count]:
                if (module, offset) == key:
                    if child == 0:
                        return int(rule)
                    assert step == frame.step
                    node = child
                    break
            else:
                return int(otherwise)
        return int(self.nodes[node][2])


def test_the_image_says_what_the_plan_says() -> None:
    shared = Rule("pool", (context(1, 2), context(1, 3)), "shared", largest=512)
    instances = Rule("pool", (context(1, 4, 5),), "own", witness=Witness("stack+16", 60, 256))
    untouched = Rule("default", (context(1, 4, 6),))
    reaped = Rule(
        "reap", (context(9, 8, 7, module="lib"), context(9, 8, 6, module="lib")), until=Frame("lib", 8)
    )
    again = Rule("pool", (context(5),), "shared")
    plan = Plan("t", MODULES, (shared, instances, untouched, reaped, again), default_heap="glibc")
    image = Image(image_of(plan))
    assert (image.version, image.heap, image.pools, image.flags) == (1, 1, 258, 0)
    assert [row[1][: row[0]] for row in image.modules] == [bytes((1, 2, 3, 4, 5)), b"\xaa" * 20]
    assert [row[:7] for row in image.rules] == [
        (0, 0, 1, 0, 0, 0, 0),
        (1, 0, 1, 0, 512, 0, 1),
        (1, 1, 256, 18, 1024, 0, 2),
        (0, 0, 1, 0, 1024, 0, 3),
        (4, 257, 1, 0, 1024, 1, 4),
        (1, 0, 1, 0, 1024, 0, 5),
    ]
    for number, rule in enumerate(plan.rules, 1):
        for one in rule.contexts:
            assert image.rule(one) == (0 if rule is untouched else number)
    assert image.rule(context(77)) == 0


def test_a_node_has_its_entries_as_the_plan_names_them() -> None:
    rules = (Rule("pool", (context(1, 4), context(1, 2))), Rule("pool", (context(1, 3),)))
    image = Image(image_of(Plan("t", MODULES, rules)))
    first, count, *_ = image.nodes[1]
    assert [entry[0] for entry in image.entries[first : first + count]] == [4, 2, 3]


def test_what_is_expected_comes_first_at_each_node() -> None:
    rules = (
        Rule("pool", (context(1, 2), context(1, 3, 5), context(6, 2))),
        Rule("pool", (context(1, 3, 4),)),
    )
    expected = (context(1, 3, 9), context(1, 2), context(6, 9), context(8, 9))
    image = Image(image_of(Plan("t", MODULES, rules, expected=expected)))
    nodes = [[entry[0] for entry in image.entries[first : first + count]] for first, count, *_ in image.nodes]
    assert nodes == [[1, 6], [3, 2], [9, 5, 4]]
    assert [image.rule(context(*path)) for path in ((1, 3, 9), (1, 3, 5), (1, 3, 4), (1, 2))] == [0, 1, 2, 1]


def test_what_is_expected_beside_a_single_entry_needs_none() -> None:
    rules = (Rule("pool", (context(1, 2),)), Rule("default", (context(1, 3),)))
    plans = [Plan("t", MODULES, rules, expected=expected) for expected in ((), (context(1, 9),))]
    assert image_of(plans[0]) == image_of(plans[1])


def test_a_region_s_frame_is_reached_though_one_would_be_enough() -> None:
    rule = Rule("region", (context(1, 2, 3),), until=Frame("prog", 2))
    image = Image(image_of(Plan("t", MODULES, (rule,))))
    assert len(image.nodes) == 2
    assert image.rule(context(1, 2)) == 1


def test_an_image_asks_for_huge_pages_where_the_plan_does() -> None:
    images = (image_of(Plan("t", MODULES, huge_pages=wanted)) for wanted in (True, False))
    assert [Image(image).flags for image in images] == [1, 0]


def test_a_plan_without_rules_has_an_image() -> None:
    image = Image(image_of(Plan("empty", MODULES)))
    assert (image.pools, image.nodes, image.entries) == (0, [(0, 0, 0, 0)], [])
    assert len(image.rules) == 1
