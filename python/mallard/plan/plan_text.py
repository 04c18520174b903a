"""Writes plan.toml as a file for people; plan_file.py reads it."""

from collections.abc import Iterable, Iterator

from mallard.figures import size
from mallard.plan.plan_model import FORMAT, LARGEST, Context, Plan


def quoted(text: str) -> str:
    """Return a text of TOML."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return (
        '"'
        + "".join(escapes.get(c, c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in text)
        + '"'
    )


def plan_text(plan: Plan) -> str:
    """Return the plan as a file for people: read again, it is the same plan."""
    rules = (line for number in range(len(plan.rules)) for line in rule_of(plan, number))
    return "\n".join([*head(plan), *rules, *expected_of(plan)])


def head(plan: Plan) -> Iterator[str]:
    """Yield the lines in front of the rules."""
    program = plan.program
    yield "# A plan: which calling contexts of a program get which heap. docs/plan.md has the format."
    yield "# Try it:  mallard try PLAN -- PROGRAM ARGUMENTS"
    yield f"format = {FORMAT}"
    yield f"title = {quoted(plan.title)}"
    if plan.huge_pages:
        yield "huge_pages = true  # the malloc asks the system for them"
    yield ""
    yield "# The plan holds for this build only; another one runs without it."
    yield "[program]"
    yield f"path = {quoted(program.path)}"
    yield f"build_id = {quoted(program.build_id)}"
    for key in ("recorded", "journal"):
        if value := getattr(plan, key):
            yield f"{key} = {quoted(value)}"
    yield ""
    yield "[default]"
    yield f"heap = {quoted(plan.default_heap)}  # of all that no rule names: mallard's, or glibc's"
    yield ""
    yield "[limits]"
    yield f"max_rss = {plan.max_rss:g}  # of the recorded peak, what the plan was made to stay below"
    for which in ("recorded", "predicted"):
        if peak := getattr(plan, f"{which}_peak"):
            yield f"{which}_peak = {peak}  # {size(peak)}"
    for module in plan.modules:
        yield ""
        yield "[[module]]"
        yield f"name = {quoted(module.name)}"
        yield f"build_id = {quoted(module.build_id)}"
        if module.path:
            yield f"path = {quoted(module.path)}"


def rule_of(plan: Plan, number: int) -> Iterator[str]:
    """Yield the lines of a rule."""
    rule = plan.rules[number]
    yield ""
    yield f"[[rule]]  # {number + 1}"
    yield f"strategy = {quoted(rule.strategy)}"
    for key in ("pool", "reason"):
        if value := getattr(rule, key):
            yield f"{key} = {quoted(value)}"
    if rule.largest != LARGEST:
        yield f"largest = {rule.largest}"
    yield from listed(rule.contexts)
    if rule.witness:
        yield "[rule.witness]"
        yield f"place = {quoted(rule.witness.place)}"
        yield f"instances = {rule.witness.instances}"
        yield f"pools = {rule.witness.pools}"
    if rule.until:
        yield "[rule.until]"
        yield f"frame = {quoted(str(rule.until))}"
    if number + 1 == len(plan.rules):
        yield ""


def expected_of(plan: Plan) -> Iterator[str]:
    """Yield the lines of the contexts that are expected."""
    if plan.expected:
        yield "# The malloc compares callers with these first, to save look-ups. No heap depends on them."
        yield "[expected]"
        yield from listed(plan.expected)
        yield ""


def listed(contexts: Iterable[Context]) -> Iterator[str]:
    """Yield the lines of the key `contexts`."""
    yield "contexts = ["
    for context in contexts:
        yield f"    {quoted(str(context))}," + (f"  # {comment(context.note)}" if context.note else "")
    yield "]"


def comment(text: str) -> str:
    """Return a text that can stand in a comment."""
    return "".join(c if c >= " " and c != "\x7f" else " " for c in text)
