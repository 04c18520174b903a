"""A plan in memory: rules, each with the contexts that it is for, and what they refer to.

    Rule  pool "orders"   instances by rbx   contexts  main+0x12f3 @48 < main+0x1401     innermost first
                                                       main+0x1310 @48 < main+0x1401
    Plan  rules, and the contexts that the malloc is to expect, with any rule or none

A frame is a return address, as the file of its module has it, and the bytes on the stack from the slot that
holds it to the slot of the next frame outwards. Rules that name the same pool share it.
"""

from dataclasses import dataclass, field

FORMAT = 1  # of the file

# Each strategy's number in an image.
STRATEGIES = {
    "default": 0,
    "pool": 1,
    "multipool": 1,  # the same heap by the name that the library has for it
    "monotonic": 2,
    "region": 3,
    "reap": 4,
    "thread-pool": 5,
}
SCOPED = ("region", "reap")  # which may end when a function returns
HEAPS = ("mallard", "glibc")  # the default heap; by number in an image

# Where a witness can be, by its number in an image. They stand in the order of a snapshot's words, which
# src/profile/owner_places.hpp counts from 0.
STACK_WORDS = 20
PLACES = {
    **{name: 1 + number for number, name in enumerate(("rbx", "rbp", "r12", "r13", "r14", "r15"))},
    **{f"stack+{8 * word}": 16 + word for word in range(STACK_WORDS)},
}
WORDS = tuple(PLACES)  # the same by the number in a snapshot

Place = tuple[str, int]  # a module's name and an offset

LARGEST = 1024  # bytes; larger requests go to the default heap, whatever a rule says
MOST_POOLS = 65536
MOST_POOLS_OF_A_RULE = 4096
MANY_POOLS = 128  # of a rule; of more, slabs are small (src/malloc/routes.cpp)
MOST_MODULES = 256
MOST_NODES = 65536  # of the trie
FARTHEST = 1 << 47  # bytes into a module
MOST_FRAMES = 64  # of a context
MOST_INSTANCES = 65536
POOLS_AN_INSTANCE = 4  # so that few instances share one by chance


@dataclass(frozen=True, slots=True)
class Frame:
    """A return address: module's short name, offset in its file, bytes to the next slot (0: unknown)."""

    module: str
    offset: int
    step: int = 0

    def __str__(self) -> str:
        """Return it as a plan has it."""
        return f"{self.module}+0x{self.offset:x}" + (f" @{self.step}" if self.step else "")


@dataclass(frozen=True, slots=True)
class Context:
    """Frames, innermost first: the first is the caller of malloc or operator new."""

    frames: tuple[Frame, ...]
    note: str = field(default="", compare=False)  # for people: its functions
    line: int = field(default=0, compare=False)  # of the plan's file

    @property
    def places(self) -> tuple[Place, ...]:
        """Return the frames without their distances."""
        return tuple((frame.module, frame.offset) for frame in self.frames)

    def __str__(self) -> str:
        """Return it as a plan has it."""
        return " < ".join(str(frame) for frame in self.frames)


@dataclass(frozen=True, slots=True)
class Witness:
    """The word that tells instances apart: where it is at the call, and how many values it has."""

    place: str  # one of PLACES
    instances: int
    pools: int  # a power of two; pools_for(instances), or fewer, which instances share then

    @property
    def used(self) -> int:
        """Return how many pools have blocks, if the hash spreads the instances as chance would."""
        return max(round(self.pools * (1 - (1 - 1 / self.pools) ** self.instances)), 1)


def pools_for(instances: int) -> int:
    """Return how many pools it takes so that few instances share one by chance."""
    return int(min(1 << (POOLS_AN_INSTANCE * instances - 1).bit_length(), MOST_POOLS_OF_A_RULE))


@dataclass(frozen=True, slots=True)
class Rule:
    """What the blocks of some contexts get."""

    strategy: str
    contexts: tuple[Context, ...]
    pool: str = ""  # rules of one name share the pool; empty: it has its own
    reason: str = ""
    largest: int = LARGEST
    witness: Witness | None = None
    until: Frame | None = None  # where execution goes on when a region ends
    line: int = field(default=0, compare=False)

    @property
    def pools(self) -> int:
        """Return how many pools it uses."""
        return self.witness.pools if self.witness else 1


@dataclass(frozen=True, slots=True)
class Module:
    """A file that rules name: by its short name; a plan holds for exactly this build."""

    name: str
    build_id: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole plan. The first module is the program."""

    title: str
    modules: tuple[Module, ...]
    rules: tuple[Rule, ...] = ()
    default_heap: str = "mallard"
    max_rss: float = 1.25  # of the recorded peak
    recorded_peak: int = 0  # bytes of the process, without a plan; 0: unknown
    predicted_peak: int = 0  # likewise under this plan
    recorded: str = ""  # when
    journal: str = ""
    huge_pages: bool = False  # whether the malloc asks for them
    expected: tuple[Context, ...] = ()  # whose frames are compared first, the most frequent ones first
    path: str = ""  # of the file that it was read from

    @property
    def program(self) -> Module:
        """Return the program that it is for."""
        return self.modules[0]

    @property
    def module_numbers(self) -> dict[str, int]:
        """Return the number of each module, by its name."""
        return {module.name: number for number, module in enumerate(self.modules)}

    @property
    def pool_numbers(self) -> list[int]:
        """Return the first pool of each rule; rules of the default heap have none, which is 0."""
        first: dict[str, int] = {}
        numbers, used = [], 0
        for rule in self.rules:
            known = first.get(rule.pool) if rule.pool else None
            numbers.append(0 if rule.strategy == "default" else used if known is None else known)
            if rule.strategy == "default" or known is not None:
                continue
            if rule.pool:
                first[rule.pool] = used
            used += rule.pools
        return numbers

    @property
    def pools(self) -> int:
        """Return how many pools there are in all."""
        routed = (
            first + rule.pools
            for first, rule in zip(self.pool_numbers, self.rules, strict=True)
            if rule.strategy != "default"
        )
        return max(routed, default=0)
