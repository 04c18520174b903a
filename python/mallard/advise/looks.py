"""The questions about the parts of a program, and the order in which replays answer: worth most first.

    Look   a part, its proposals      found: by route, what the replay has measured
           the whole, other mallocs

    first replays   part A, its best route | all mallocs | part B, its | ... | part A, another | part B ...

A route divides a part over heaps, and is one replay. Each part that matters is measured once before any is
measured a second time, so that a short budget says something about all of them. Other mallocs get more time
than others where they need it for the whole journal: they are candidates for every program, and what is
expected of a plan rests on one of them. Then comes the memory of what may be picked, then small parts, then
what was measured already: with more of the journal, and turn by turn where it differs by route.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from mallard.advise.advice_model import LEAST, Candidate, SubsystemAdvice, WholeMalloc
from mallard.advise.candidates import Proposal, by_worth, route_of
from mallard.advise.judging import Judge, as_plans, gain, may_be_in_the_source, of
from mallard.advise.measure import ALWAYS, ROUNDS, Measured, Replay, Replays
from mallard.advise.parts import Part
from mallard.advise.stretches import Row

ALL = "all"  # the route of another malloc: all blocks
OWN = "mallard"  # the malloc that is the default heap of plans
SECOND_LOOKS, SECOND_ROWS, SECOND_SHARE = 3, 3, 0.5  # how often memory is looked at; of how many; of the time
LONGER = 2  # times the blocks of the first replay, for a second one to tell more
RIVAL, TURNS = 0.5, 2  # of the best gain, that makes a rival; how often each is replayed again
WHOLE_SHARE = 0.4  # of the time that is left, that other mallocs may take for the whole journal
RELEVANT = 0.05  # of the allocations or their time: a part that matters

Rivals = Mapping[str, Sequence[str]]  # rows of replays, by route


@dataclass(slots=True)
class Look:
    """A part, the question about it, and what replays have found; without a part, the whole with mallocs."""

    part: Part | None
    asked: list[Proposal]
    found: dict[str, Replay] = field(default_factory=dict)  # by route

    def rows(self, route: str) -> list[str]:
        """Return the rows of the replay of a route."""
        return list(dict.fromkeys(one.row for one in self.asked if one.route == route))

    @property
    def worth(self) -> float:
        """Return the part's share of the allocations, or of their time if that is more."""
        if self.part is None:
            return 1.0
        subsystem, program = self.part.subsystem, self.part.program
        of_blocks = subsystem.behaviour.allocations / max(program.profile.totals.allocations, 1)
        whole, own = program.profile.dvluc.density.cost_ns, subsystem.dvluc.density.cost_ns
        return max(of_blocks, own / whole if own and whole else 0.0)


def in_order_of_worth(looks: Sequence[Look], whole: Look) -> Iterator[tuple[Look, str]]:
    """Yield the first replays: the best way to divide each part, with all mallocs second, then other ways.

    The first one tells how fast the machine is.
    """
    routes = {id(one): by_worth(one.asked) for one in looks}
    levels = range(max([0, *map(len, routes.values())]))
    order = [
        (one, routes[id(one)][level]) for level in levels for one in looks if level < len(routes[id(one)])
    ]
    yield from order[:1]
    if whole.asked:
        yield whole, ALL
    yield from order[1:]


def may_pay(one: Candidate) -> bool:
    """Return whether a candidate is faster, beyond noise or not: then a second look can tell."""
    gains = one.is_clear or (one.cpu is not None and one.cpu.median <= -LEAST)
    return gains and one.measured and not one.refused


class Looking:
    """The replays of one program, and the questions that they answer."""

    def __init__(self, judge: Judge, replays: Replays) -> None:
        """Take what judges, and what measures."""
        self.judge, self.replays = judge, replays

    def judged(self, look: Look) -> SubsystemAdvice:
        """Return what can be said about a part so far."""
        assert look.part is not None
        return self.judge.subsystem(look.part, look.asked, look.found)

    def mallocs(self, whole: Look) -> list[WholeMalloc]:
        """Return what other mallocs change so far."""
        return self.judge.mallocs(whole.asked, whole.found.get(ALL))

    def look_at(self, looks: Sequence[Look], whole: Look) -> None:
        """Measure all that there is time for: each part once before any is measured again."""
        ranked = sorted(looks, key=lambda one: one.worth, reverse=True)
        small = [one for one in ranked if one.worth < RELEVANT]
        first = list(in_order_of_worth([one for one in ranked if one.worth >= RELEVANT], whole))
        last = [(one, route) for one in small for route in by_worth(one.asked)]
        self.replays.planned = [len(look.rows(route)) + ALWAYS for look, route in (*first, *last)]
        self.look_once(first)
        self.look_at_memory([*looks, whole])
        self.look_once(last)
        self.look_at_memory(small)
        self.look_longer([*looks, whole])
        self.look_at_memory([*looks, whole])  # of what is ahead since then

    def by_gain(self, looks: Sequence[Look]) -> Iterator[Look]:
        """Yield what has been measured, the largest gain first and the whole last, until an interruption."""
        parts = [look for look in looks if look.part and look.found and not self.replays.interrupted]
        parts.sort(key=lambda one: gain(self.judged(one)), reverse=True)
        for look in (*parts, *(look for look in looks if not look.part and look.found)):
            if not self.replays.interrupted:
                yield look

    def look_once(self, order: Sequence[tuple[Look, str]]) -> None:
        """Measure each way to divide a part once."""
        for look, route in order:
            if self.replays.interrupted:
                return
            with self.replays.noted():
                found = self.replays.first(
                    self.heaps(look, route),
                    look.rows(route),
                    self.on_threads(look, route),
                    least_share=0.0 if look.part else WHOLE_SHARE,
                )
                if found is not None:
                    look.found[route] = found

    def look_at_memory(self, looks: Sequence[Look]) -> None:
        """Replay all of the journal once under what may be picked, for its memory."""
        for look in self.by_gain(looks):
            with self.replays.noted():
                self.look_at_memory_of(look)

    def look_at_memory_of(self, look: Look) -> None:
        """Replay it once under the best candidates, until the memory of some is known."""
        for _ in range(SECOND_LOOKS):
            route, rows = self.unsure(look)
            if not rows:
                return
            held = self.replays.held(self.heaps(look, route), rows, self.on_threads(look, route))
            for row, (peak, after) in held.items():
                of = look.found[route].rows[row]
                look.found[route].rows[row] = replace(of, peak_bytes=peak, held_bytes=after)
            if all(peak is None for peak, _ in held.values()):
                return

    def look_longer(self, looks: Sequence[Look]) -> None:
        """Replay more of the journal under what may be picked, for its time."""
        for look in self.by_gain(looks):
            with self.replays.noted():
                self.look_longer_at(look)

    def look_longer_at(self, look: Look) -> None:
        """Replay more of the journal under its best candidates.

        Where they divide the part differently, each way is replayed again, turn by turn if there is time:
        what two replays say differs by what else the machine does in the meantime.
        """
        rivals = self.rivals(look)
        for number in range(len(rivals), int(len(rivals) > 1), -1):
            some = dict(islice(rivals.items(), number))
            for turns in (TURNS, 1) if number > 1 else (1,):
                seconds = SECOND_SHARE * self.replays.left / (turns * number)
                rounds = max(ROUNDS, -(-self.rounds_of(look, some) // turns))
                if self.has_room(look, some, seconds, rounds):
                    self.look_turn_by_turn(look, some, [(seconds, rounds)] * turns)
                    return

    def rounds_of(self, look: Look, rivals: Rivals) -> int:
        """Return of how many rounds what is known of them is, at most."""
        return max(look.found[route].rows[name].rounds for route, rows in rivals.items() for name in rows)

    def has_room(self, look: Look, rivals: Rivals, seconds: float, rounds: int) -> bool:
        """Return whether each way can be replayed in that time; a single one, with more of the journal."""

        def needed(route: str) -> int:
            before = look.found[route].replayed
            return LONGER * before if len(rivals) == 1 else before or len(self.replays.blocks)

        return all(
            needed(route) and self.replays.takes(needed(route), len(rows) + ALWAYS, rounds) <= seconds
            for route, rows in rivals.items()
        )

    def look_turn_by_turn(self, look: Look, rivals: Rivals, turns: Sequence[tuple[float, int]]) -> None:
        """Replay each way once a turn; none has new figures before all have, nor from fewer rounds."""
        pooled: dict[tuple[str, str], Measured] = {}
        for seconds, rounds in turns:
            found = self.turn(look, rivals, seconds, rounds)
            if not found:
                return
            pooled = {key: pooled[key].then(row) if key in pooled else row for key, row in found.items()}
            before = {(route, name): look.found[route].rows[name] for route, name in pooled}
            if all(row.rounds >= before[key].rounds for key, row in pooled.items()):
                for (route, name), row in pooled.items():
                    look.found[route].rows[name] = row.with_memory(before[route, name])

    def turn(
        self, look: Look, rivals: Rivals, seconds: float, rounds: int
    ) -> dict[tuple[str, str], Measured]:
        """Replay each way once, for that long; return nothing unless all their rows have figures."""
        if not self.has_room(look, rivals, seconds, rounds):
            return {}
        found: dict[tuple[str, str], Measured] = {}
        for route, rows in rivals.items():
            threads = self.on_threads(look, route)
            replay = self.replays.again(self.heaps(look, route), rows, threads, seconds, rounds)
            if replay is None or not replay.rows.keys() >= set(rows):
                return {}
            found |= {(route, name): row for name, row in replay.rows.items()}
        return found

    def rivals(self, look: Look) -> Rivals:
        """Return the rows of the best candidates, by how they divide a part over heaps; the best come first.

        A way of which nothing gains RIVAL of the best is none.
        """
        if look.part is None:
            good = [one.name for one in self.mallocs(look) if self.judge.is_good(one, look.found[ALL])]
            of_plans = [OWN] if good and OWN in look.found[ALL].rows else []
            rows = list(dict.fromkeys([*good[:SECOND_ROWS], *of_plans]))
            return {ALL: rows} if rows else {}
        found = self.judged(look)
        best = [one for one in (found.picked, *as_plans(found)[:1]) if one and one.measured]
        paying = [one for one in found.candidates if may_pay(one)]
        least = RIVAL * min((of(one).median for one in paying), default=0.0)
        rows_of: dict[str, list[str]] = {}
        for one in (*best, *paying):
            if not rows_of or one.route in rows_of or of(one).median <= least:
                rows_of.setdefault(one.route, []).append(one.row)
        return {route: list(dict.fromkeys(rows))[:SECOND_ROWS] for route, rows in rows_of.items()}

    def unsure(self, look: Look) -> tuple[str, list[str]]:
        """Return the best candidates whose memory is not known yet; then what lacks a plan, and it alone."""
        route, rows = next(iter(self.rivals(look).items()), ("", []))
        rows = [row for row in rows if look.found[route].rows[row].peak_bytes is None]
        if rows or look.part is None:
            return route, rows
        without_plan = [one for one in self.judged(look).candidates if may_be_in_the_source(one)]
        best = min(without_plan, key=lambda one: of(one).median, default=None)
        return (best.route, [best.row]) if best else ("", [])

    def heaps(self, look: Look, route: str) -> Row:
        """Return which heap each event allocates from."""
        events = self.judge.program.store.totals["event_numbers"]
        if look.part is not None:
            return route_of(look.part, route, events)
        found = np.zeros(events, "<u4")
        found[self.judge.program.blocks.allocation] = 1
        return found

    def on_threads(self, look: Look, route: str) -> bool:
        """Return whether it is replayed on the recorded threads."""
        if look.part is None:
            return self.judge.program.threads > 1
        return any("thread" in row or "synchronized" in row for row in look.rows(route))
