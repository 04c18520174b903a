"""plan.toml: what is read, what is refused and where, and what is written back."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from mallard import MallardError
from mallard.plan import Context, Frame, Module, Plan, Rule, Witness, plan_text, read_plan
from mallard.plan.plan_file import parse_plan

HAND = """\
# an own plan
format = 1
title = "mine"
[program]
path = "/opt/prog"
build_id = "00ff"

[default]
heap = "glibc"
[limits]
max_rss = 1.5
[[module]]
name = "prog"
build_id = "00ff"
[[module]]
name = "lib.so.1"
build_id = "abcd"

[[rule]]
strategy = "pool"
pool = "nodes"
contexts = [
    "prog+0x12f3 @48 < prog+0x1401",  # insert(int)
    "lib.so.1+0x10 @16 < prog+0x1500 @32 < prog+0x1600",
]
[rule.witness]
place = "rbx"
instances = 60

[[rule]]
strategy = "region"
contexts = ["prog+0x2000 @64 < prog+0x2100"]
[rule.until]
frame = "prog+0x2100"
"""


def read(text: str) -> Plan:
    """Read a plan of that text."""
    return parse_plan(text.encode(), "plan.toml")


def refused(text: str) -> str:
    """Return why it is no plan."""
    with pytest.raises(MallardError) as error:
        read(text)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_plan_by_hand_is_read() -> None:
    plan = read(HAND)
    assert (plan.title, plan.default_heap, plan.max_rss) == ("mine", "glibc", 1.5)
    assert plan.modules == (Module("prog", "00ff"), Module("lib.so.1", "abcd"))
    nodes, region = plan.rules
    assert nodes.witness == Witness("rbx", 60, 256)
    assert nodes.pools == 256
    assert nodes.contexts[0].frames == (Frame("prog", 0x12F3, 48), Frame("prog", 0x1401))
    assert region.until == Frame("prog", 0x2100)
    assert plan.pool_numbers == [0, 256]
    assert plan.pools == 257


def test_what_is_written_is_read_as_the_same_plan(tmp_path: Path) -> None:
    plan = replace(
        read(HAND), recorded="2026-11-26", journal='a "b"\\\t.mlrd', predicted_peak=12345678, huge_pages=True
    )
    file = tmp_path / "plan.toml"
    file.write_text(plan_text(plan))
    again = read_plan(file)
    assert again == replace(plan, path=str(file))
    assert plan_text(again) == plan_text(plan)


def test_the_example_of_the_page_is_a_plan() -> None:
    page = (Path(__file__).parents[2] / "docs/plan.md").read_text()
    plan = read(page.partition("```toml\n")[2].partition("```")[0])
    assert plan.rules[0].witness == Witness("rbx", 60, 256)
    assert [len(context.frames) for context in plan.rules[0].contexts] == [2, 1]


def test_a_plan_without_a_title_is_called_as_its_file(tmp_path: Path) -> None:
    file = tmp_path / "groups.toml"
    file.write_text(HAND.replace('title = "mine"\n', ""))
    assert read_plan(file).title == "groups"


def test_rules_that_share_a_pool_have_the_same_one() -> None:
    rule = Rule("pool", (Context((Frame("p", 1),)),), "a")
    other = Rule("pool", (Context((Frame("p", 2),)),), "b")
    third = Rule("multipool", (Context((Frame("p", 3),)),), "a")
    plan = Plan("t", (Module("p", "aa"),), (rule, other, third))
    assert plan.pool_numbers == [0, 1, 0]
    assert read(plan_text(plan)).rules == plan.rules


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("format = 1", "format = 2", "2: format must be 1"),
        ("format = 1\n", "", "1: format must be 1"),
        ('title = "mine"', "title = 3", "3: title must be a text"),
        ('title = "mine"', 'titel = "mine"', "3: unknown key 'titel' in the plan; known are format, title"),
        ('path = "/opt/prog"\n', "", "4: path must be a text in [program]"),
        ('build_id = "00ff"', 'build_id = "xyz"', "6: build_id must be"),
        ('heap = "glibc"', 'heap = "tcmalloc"', "9: heap must be one of mallard, glibc"),
        ("max_rss = 1.5", "max_rss = 0.5", "11: max_rss must be a number from 1 to 100"),
        ('title = "mine"', 'title = "mine"\nhuge_pages = 1', "4: huge_pages must be true or false"),
        ("max_rss = 1.5", "max_rss = nan", "11: max_rss must be a number from 1 to 100"),
        ('name = "lib.so.1"', 'name = "prog"', "13: two modules are called prog"),
        ('strategy = "pool"', 'strategy = "slab"', "20: strategy must be one of default, pool"),
        ('pool = "nodes"', 'pool = "nodes"\nlargest = 4096', "22: largest must be a whole number from 1"),
        ("prog+0x1401", "prog+1401", "23: 'prog+1401' is no frame"),
        ("prog+0x1401", "prog+0x800000000000", "23: 0x800000000000 lies in no module"),
        ("prog+0x1401", "libz+0x1401", "23: no [[module]] is called 'libz'"),
        ("lib.so.1+0x10 @16", "lib.so.1+0x10", "24: lib.so.1+0x10 needs the bytes to the next frame"),
        ("@16", "@17", "24: @17 must be a multiple of 8"),
        ('place = "rbx"', 'place = "rax"', "27: place must be one of rbx"),
        ("instances = 60", "instances = 1", "28: instances must be a whole number from 2"),
        ("instances = 60", "instances = true", "28: instances must be a whole number from 2"),
        ("instances = 60", "instances = 60\npools = 48", "29: pools must be a power of two, not 48"),
        ("instances = 60", "count = 60", "26: instances must be a whole number"),
        ('frame = "prog+0x2100"', 'frame = "prog+0x2000"', "34: each context must have the frame"),
        ('strategy = "region"', 'strategy = "pool"', "33: only region and reap end with a function"),
        ("prog+0x2100", "prog+0x2100\\u0000", "32: 'prog+0x2100\\x00' is no frame"),
        ('name = "lib.so.1"', 'name = "lib\\nso"', "16: 'lib\\nso' cannot be a module's name"),
        ("@16", "@\u0661\u0666", "24: 'lib.so.1+0x10 @\u0661\u0666' is no frame"),
        ('"abcd"', '"00ff"', "14: two modules have the build id 00ff"),
        ("max_rss = 1.5", "max_rss = ", "11: Invalid value"),
        ("[[module]]", "[module]", "15: Cannot mutate immutable namespace"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_line(old: str, new: str, says: str) -> None:
    changed = HAND.replace(old, new, 1)
    assert changed != HAND
    found = refused(changed)
    assert found.startswith(f"plan.toml:{says}") or (old == "[[module]]" and found.startswith("plan.toml:"))


def test_huge_pages_are_asked_for_where_the_file_says_so() -> None:
    assert not read(HAND).huge_pages
    for said in ("true", "false"):
        changed = HAND.replace('title = "mine"', f'title = "mine"\nhuge_pages = {said}', 1)
        assert read(changed).huge_pages == (said == "true")


def test_a_context_has_one_rule_and_a_frame_one_distance() -> None:
    rule = '[[rule]]\nstrategy = "pool"\ncontexts = ["prog+0x12f3 @{} < prog+0x1{}"]\n'
    assert "39: the rule in line 19 has this context, in line 23" in refused(
        HAND + "\n\n" + rule.format(48, 401)
    )
    found = refused(HAND + "\n\n" + rule.format(56, 402))
    assert "39: prog+0x12f3 @56 has another distance in line 23, where it is @48" in found


def test_contexts_can_be_expected() -> None:
    text = HAND + '[expected]\ncontexts = ["prog+0x12f3 @48 < lib.so.1+0x99"]\n'
    plan = read(text)
    assert plan.expected == (Context((Frame("prog", 0x12F3, 48), Frame("lib.so.1", 0x99))),)
    assert read(plan_text(plan)) == plan
    assert read(HAND).expected == ()


@pytest.mark.parametrize(
    ("expected", "says"),
    [
        ('contexts = ["prog+0x12f3 @56 < prog+0x1"]', "36: prog+0x12f3 @56 has another distance in line 23"),
        ('contexts = ["prog+0x12f3"]', "36: the first frame is looked up always: expect also the next one"),
        ('contexts = ["prog+0x12f3 < prog+0x1"]', "36: prog+0x12f3 needs the bytes to the next frame"),
        ('contexts = ["libz+0x1"]', "36: no [[module]] is called 'libz'"),
        ("contexts = []", "36: contexts must be texts"),
        ('contexts = ["prog+0x1"]\nblocks = 3', "37: unknown key 'blocks' in [expected]; known are contexts"),
    ],
)
def test_what_is_expected_is_checked_as_rules_are(expected: str, says: str) -> None:
    assert says in refused(f"{HAND}[expected]\n{expected}\n")


def test_rules_that_disagree_about_a_pool_are_refused() -> None:
    more = '[[rule]]\nstrategy = "reap"\npool = "nodes"\ncontexts = ["prog+0x1"]\n'
    assert "has another strategy, or other instances, in line 19" in refused(HAND + more)


def test_there_are_no_more_pools_than_an_image_can_have() -> None:
    witness = 'witness = {place = "rbx", instances = 9999}'
    rules = (f'[[rule]]\nstrategy = "pool"\ncontexts = ["prog+0x{n}"]\n{witness}\n' for n in range(17))
    many = HAND + "".join(rules)
    assert "the rules need 69,889 pools, and there can be 65,536" in refused(many)


def test_there_are_no_more_modules_than_an_image_can_have() -> None:
    module = '[[module]]\nname = "m{0}"\nbuild_id = "{0:04x}"\n'
    many = HAND + "".join(module.format(number + 4096) for number in range(300))
    assert "a plan names at most 255 modules" in refused(many)


def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MallardError, match=r"cannot read .*: No such file"):
        read_plan(tmp_path / "missing.toml")
    with pytest.raises(MallardError, match=r"cannot read .*: Is a directory"):
        read_plan(tmp_path)
    with pytest.raises(MallardError, match=r"plan.toml:2: this is not UTF-8"):
        parse_plan(b"a = 1\n\xff", "plan.toml")
    with pytest.raises(MallardError, match=r"plan.toml:1: it cannot be read as TOML"):
        parse_plan(b"a = " + b"[" * 100_000, "plan.toml")
    with pytest.raises(MallardError, match=r"plan.toml:1: "):
        parse_plan(b"a = " + b"1" * 5000, "plan.toml")


def test_a_damaged_plan_is_read_or_refused_in_a_line() -> None:
    chance = random.Random(24)
    pieces = [
        *HAND.split(),
        "[",
        "]",
        '"',
        "'''",
        "\n",
        "=",
        "[[",
        "{",
        "}",
        "-1",
        "1e99",
        "inf",
        "\\",
        "@",
        "<",
        "#",
    ]
    for _ in range(2000):
        text = HAND
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(text))
            until = at + chance.choice((0, 1, 1, 5, 40))
            text = (
                text[:at]
                + chance.choice(("", chance.choice(pieces), chr(chance.randrange(1, 300))))
                + text[until:]
            )
        try:
            plan = read(text)
        except MallardError as error:
            said = str(error)
        else:
            assert read(plan_text(plan)).rules == plan.rules
            continue
        name, line, *_ = said.split(":")
        assert (name, "\n" in said) == ("plan.toml", False)
        assert 1 <= int(line) <= text.count("\n") + 1
