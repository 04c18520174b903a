"""Reads plan.toml; plan_text.py writes it.

    plan.toml --tomllib--> tables --checked--> Plan       an error names the line: `plan.toml:12: ...`
              --lines_of-> line of each key --^

docs/plan.md has the format. A file that a hand has edited can hold anything: what this page does not know is
refused, so that a mistyped key is not taken for one left out.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from mallard import MallardError
from mallard.figures import shown, size
from mallard.plan.plan_model import (
    FARTHEST,
    FORMAT,
    HEAPS,
    LARGEST,
    MOST_FRAMES,
    MOST_INSTANCES,
    MOST_MODULES,
    MOST_POOLS,
    MOST_POOLS_OF_A_RULE,
    PLACES,
    SCOPED,
    STRATEGIES,
    Context,
    Frame,
    Module,
    Place,
    Plan,
    Rule,
    Witness,
    pools_for,
)
from mallard.plan.toml_lines import KeyPath, lines_of

LARGEST_FILE = 64 << 20
FARTHEST_STEP = 1 << 20  # bytes on the stack between two frames
MOST_RSS = 100.0
FRAME = re.compile(r"(?P<module>\S(?:.*\S)?)\+0x(?P<offset>[0-9a-fA-F]{1,16})(?:\s*@(?P<step>[0-9]{1,9}))?")
BUILD_ID = re.compile(r"(?:[0-9a-f]{2}){1,31}")


def read_plan(path: str | Path) -> Plan:
    """Read the plan at `path`; what is wrong with it is one line that names the line."""
    name = shown(str(path))
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise MallardError(f"cannot read {name}: {error.strerror}") from error
    if len(content) > LARGEST_FILE:
        raise MallardError(f"{name} has more than {size(LARGEST_FILE)}: it is no plan")
    return parse_plan(content, name)


def parse_plan(content: bytes, name: str) -> Plan:
    """Read a plan's text; `name` is what errors and the plan's title call it."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise MallardError(f"{name}:{line}: this is not UTF-8 text") from error
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MallardError(located(name, text, str(error))) from error
    except (ValueError, RecursionError) as error:
        raise MallardError(f"{name}:1: it cannot be read as TOML: {type(error).__name__}") from error
    return PlanReader(name, lines_of(text)).plan(tables)


def located(name: str, text: str, message: str) -> str:
    """Put the line that tomllib names in front."""
    found = re.fullmatch(r"(?s)(.*) \(at (?:line (\d+), column \d+|end of document)\)", message)
    if found is None:
        return f"{name}:1: {message}"
    line = found[2] or text.count("\n") + 1
    return f"{name}:{line}: {' '.join(found[1].split())}"


class Table:
    """One table of the file, whose keys are taken out; what is left at the end is unknown."""

    def __init__(self, reader: "PlanReader", path: KeyPath, values: Mapping[str, Any]) -> None:
        """Take the keys of the table at `path`."""
        self.reader, self.path, self.values = reader, path, dict(values)
        self.known: list[str] = []

    def fail(self, key: str, what: str) -> NoReturn:
        """Refuse the value of a key."""
        self.reader.fail((*self.path, key) if key else self.path, what)

    def take(self, key: str) -> Any:
        """Return a value and mark its key as known; None if it is not there."""
        self.known.append(key)
        return self.values.pop(key, None)

    def text(self, key: str, required: bool = False) -> str:
        """Return a text, empty if there is none."""
        value = self.take(key)
        if value is None and not required:
            return ""
        if not isinstance(value, str):
            self.fail(key, f"{key} must be a text" + (f" in {self.title}" if value is None else ""))
        return value

    def one_of(self, key: str, allowed: Iterator[str] | tuple[str, ...], otherwise: str | None) -> str:
        """Return one of the allowed texts."""
        choices = tuple(allowed)
        value = self.take(key)
        if value is None and otherwise is not None:
            return otherwise
        if value not in choices or not isinstance(value, str):
            self.fail(key, f"{key} must be one of {', '.join(choices)}")
        return value

    def number(self, key: str, least: int, most: int, otherwise: int | None) -> int:
        """Return a whole number in a range."""
        value = self.take(key)
        if value is None and otherwise is not None:
            return otherwise
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.fail(key, f"{key} must be a whole number from {least:,} to {most:,}")
        return value

    def flag(self, key: str) -> bool:
        """Return a truth value, false if the key is not there."""
        value = self.take(key)
        if value is not None and not isinstance(value, bool):
            self.fail(key, f"{key} must be true or false")
        return bool(value)

    def ratio(self, key: str, least: float, most: float, otherwise: float) -> float:
        """Return a number in a range."""
        value = self.take(key)
        if value is None:
            return otherwise
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
            self.fail(key, f"{key} must be a number from {least:g} to {most:g}")
        return float(value)

    def table(self, key: str) -> "Table":
        """Return a table inside, empty if there is none."""
        value = self.take(key)
        if value is not None and not isinstance(value, dict):
            self.fail(key, f"{key} must be a table")
        return Table(self.reader, (*self.path, key), value or {})

    def tables(self, key: str) -> "list[Table]":
        """Return an array of tables."""
        value = self.take(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.fail(key, f"each {key} must be a table [[{key}]]")
        return [Table(self.reader, (*self.path, key, number), one) for number, one in enumerate(value)]

    def end(self) -> None:
        """Refuse what is left."""
        for key in self.values:
            self.fail(key, f"unknown key {key!r} in {self.title}; known are {', '.join(self.known)}")

    @property
    def title(self) -> str:
        """Return what the table is called."""
        names = [part for part in self.path if isinstance(part, str)]
        is_row = bool(self.path) and isinstance(self.path[-1], int)
        inside = ".".join(names)
        return (f"[[{inside}]]" if is_row else f"[{inside}]") if inside else "the plan"


class PlanReader:
    """From tables to a plan, checked."""

    def __init__(self, name: str, lines: Mapping[KeyPath, int]) -> None:
        """Take the file's name and where its keys are."""
        self.name, self.lines = name, lines

    def line(self, path: KeyPath) -> int:
        """Return the line of a key, or of what it is in."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def fail(self, path: KeyPath, what: str) -> NoReturn:
        """Refuse the file."""
        self.fail_in(self.line(path), what)

    def fail_in(self, line: int, what: str) -> NoReturn:
        """Refuse the file for what a line says."""
        raise MallardError(f"{self.name}:{line}: {what}")

    def plan(self, tables: Mapping[str, Any]) -> Plan:
        """Read the whole."""
        top = Table(self, (), tables)
        if (version := top.take("format")) != FORMAT or isinstance(version, bool):
            top.fail("format", f"format must be {FORMAT}: this mallard reads no other plans")
        title = top.text("title") or Path(self.name).stem
        huge_pages = top.flag("huge_pages")
        program, default, limits = top.table("program"), top.table("default"), top.table("limits")
        modules = tuple(self.module(table) for table in top.tables("module"))
        rules = top.tables("rule")
        has_expected = "expected" in top.values
        expected = top.table("expected")
        top.end()
        path, build_id = program.text("path", required=True), self.build_id(program)
        recorded, journal = program.text("recorded"), program.text("journal")
        program.end()
        modules = self.program_first(modules, path, build_id)
        heap = default.one_of("heap", HEAPS, "mallard")
        default.end()
        max_rss = limits.ratio("max_rss", 1.0, MOST_RSS, 1.25)
        peaks = [limits.number(f"{which}_peak", 0, 1 << 47, 0) for which in ("recorded", "predicted")]
        limits.end()
        known = {module.name for module in modules}
        plan = Plan(
            title=title,
            modules=modules,
            rules=tuple(self.rule(table, known) for table in rules),
            default_heap=heap,
            max_rss=max_rss,
            recorded_peak=peaks[0],
            predicted_peak=peaks[1],
            recorded=recorded,
            journal=journal,
            huge_pages=huge_pages,
            expected=self.contexts(expected, known) if has_expected else (),
            path=self.name,
        )
        expected.end()
        self.check_pools(plan)
        self.check_claims(plan)
        self.check_distances(plan)
        self.check_expected(plan)
        return plan

    def module(self, table: Table) -> Module:
        """Read a [[module]]."""
        name, build_id, path = table.text("name", required=True), self.build_id(table), table.text("path")
        if not name or "<" in name or name != name.strip() or not name.isprintable():
            table.fail("name", f"{name!r} cannot be a module's name: frames would not be read again")
        table.end()
        return Module(name, build_id, path)

    def build_id(self, table: Table) -> str:
        """Read a build id."""
        found = table.text("build_id", required=True)
        if not BUILD_ID.fullmatch(found):
            table.fail("build_id", "build_id must be 2 to 62 lower-case hexadecimal digits, an even number")
        return found

    def program_first(self, modules: tuple[Module, ...], path: str, build_id: str) -> tuple[Module, ...]:
        """Return the modules with the program in front; it need not be among those that are named."""
        if len(modules) >= MOST_MODULES:
            self.fail(("module", MOST_MODULES - 1), f"a plan names at most {MOST_MODULES - 1} modules")
        names, builds = (Counter(getattr(one, key) for one in modules) for key in ("name", "build_id"))
        for number, module in enumerate(modules):
            if names[module.name] > 1:
                self.fail(("module", number, "name"), f"two modules are called {module.name}")
            if builds[module.build_id] > 1:
                self.fail(("module", number, "build_id"), f"two modules have the build id {module.build_id}")
        own = [module for module in modules if module.build_id == build_id]
        others = [module for module in modules if module.build_id != build_id]
        if not own:
            name = Path(path).name or "program"
            own = [Module(name if name not in names else f"{name} (program)", build_id, path)]
        return (*own, *others)

    def rule(self, table: Table, modules: set[str]) -> Rule:
        """Read a [[rule]]."""
        strategy = table.one_of("strategy", tuple(STRATEGIES), None)
        pool, reason = table.text("pool"), table.text("reason")
        largest = table.number("largest", 1, LARGEST, LARGEST)
        contexts = self.contexts(table, modules)
        has_witness, has_until = "witness" in table.values, "until" in table.values
        of_witness, of_until = table.table("witness"), table.table("until")
        table.end()
        witness = self.witness(of_witness) if has_witness else None
        until = self.until(of_until, contexts, modules) if has_until else None
        if strategy == "default" and (pool or witness):
            table.fail("pool" if pool else "witness", "the default heap has neither pools nor instances")
        if until and strategy not in SCOPED:
            table.fail("until", f"only {' and '.join(SCOPED)} end with a function, {strategy} does not")
        return Rule(strategy, contexts, pool, reason, largest, witness, until, self.line(table.path))

    def contexts(self, table: Table, modules: set[str]) -> tuple[Context, ...]:
        """Read the contexts of a rule, or those that are expected."""
        rows = table.take("contexts")
        if not isinstance(rows, list) or not rows or not all(isinstance(row, str) for row in rows):
            table.fail("contexts", 'contexts must be texts such as ["prog+0x12f3 @48 < prog+0x1401"]')
        found = []
        for number, row in enumerate(rows):
            place = (*table.path, "contexts", number)
            frames = tuple(self.frame(place, part.strip(), modules) for part in row.split("<"))
            if len(frames) > MOST_FRAMES:
                self.fail(place, f"a context has at most {MOST_FRAMES} frames, this one {len(frames)}")
            for frame in frames[:-1]:
                if not frame.step:
                    self.fail(place, f"{frame} needs the bytes to the next frame, as in `{frame} @48`")
            found.append(Context(frames, line=self.line(place)))
        return tuple(found)

    def frame(self, place: KeyPath, text: str, modules: set[str]) -> Frame:
        """Read a frame: module+0x12f3 @48."""
        found = FRAME.fullmatch(text)
        if found is None:
            self.fail(place, f"{text!r} is no frame: it must look like `module+0x12f3 @48`")
        if int(found["offset"], 16) >= FARTHEST:
            self.fail(place, f"0x{found['offset']} lies in no module: offsets are below 0x{FARTHEST:x}")
        if found["module"] not in modules:
            self.fail(place, f"no [[module]] is called {found['module']!r}")
        step = int(found["step"] or 0)
        if step > FARTHEST_STEP or step % 8:
            self.fail(place, f"@{step} must be a multiple of 8, at most {FARTHEST_STEP:,}")
        return Frame(found["module"], int(found["offset"], 16), step)

    def witness(self, table: Table) -> Witness:
        """Read a [rule.witness]."""
        place = table.one_of("place", tuple(PLACES), None)
        instances = table.number("instances", 2, MOST_INSTANCES, None)
        pools = table.number("pools", 1, MOST_POOLS_OF_A_RULE, pools_for(instances))
        if pools.bit_count() != 1:
            table.fail("pools", f"pools must be a power of two, not {pools}")
        table.end()
        return Witness(place, instances, pools)

    def until(self, table: Table, contexts: tuple[Context, ...], modules: set[str]) -> Frame:
        """Read a [rule.until]: a frame outwards of the innermost one of each context."""
        place = (*table.path, "frame")
        frame = self.frame(place, table.text("frame", required=True), modules)
        table.end()
        where = {depth_of(frame, context) for context in contexts}
        if 0 in where or len(where) > 1:
            self.fail(place, "each context must have the frame, at the same depth, outwards of its first one")
        return Frame(frame.module, frame.offset)

    def check_pools(self, plan: Plan) -> None:
        """Refuse rules that share a pool and disagree about it, and too many pools."""
        first: dict[str, Rule] = {}
        for number, rule in enumerate(plan.rules):
            if rule.pool:
                other = first.setdefault(rule.pool, rule)
                if (STRATEGIES[other.strategy], other.pools) != (STRATEGIES[rule.strategy], rule.pools):
                    what = (
                        f"pool {rule.pool!r} has another strategy, or other instances, in line {other.line}"
                    )
                    self.fail(("rule", number, "pool"), what)
        if plan.pools > MOST_POOLS:
            what = f"the rules need {plan.pools:,} pools, and there can be {MOST_POOLS:,}"
            self.fail(("rule", len(plan.rules) - 1), what)

    def check_claims(self, plan: Plan) -> None:
        """Refuse a context that two rules claim."""
        claimed: dict[tuple[Place, ...], tuple[Rule, int]] = {}
        for rule in plan.rules:
            for context in rule.contexts:
                owner, line = claimed.setdefault(context.places, (rule, context.line))
                if owner is not rule:
                    self.fail_in(
                        context.line, f"the rule in line {owner.line} has this context, in line {line}"
                    )

    def check_distances(self, plan: Plan) -> None:
        """Refuse a frame that has two distances to the same next one,."""
        known: dict[tuple[Place, ...], tuple[int, int]] = {}
        for context in (*chain.from_iterable(rule.contexts for rule in plan.rules), *plan.expected):
            for depth, frame in enumerate(context.frames, 1):
                if not frame.step:
                    continue
                step, line = known.setdefault(context.places[:depth], (frame.step, context.line))
                if step != frame.step:
                    said = f"{frame} has another distance in line {line}, where it is @{step}"
                    self.fail_in(context.line, said)

    def check_expected(self, plan: Plan) -> None:
        """Refuse an expected context of one frame."""
        for context in plan.expected:
            if len(context.frames) == 1:
                self.fail_in(context.line, "the first frame is looked up always: expect also the next one")


def depth_of(frame: Frame, context: Context) -> int:
    """Return how many frames outwards a frame lies in a context, the outermost such; 0: it does not."""
    found = (number for number, place in enumerate(context.places) if place == (frame.module, frame.offset))
    return max(found, default=0)
