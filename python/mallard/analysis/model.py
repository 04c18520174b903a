"""What `mallard profile` finds: the shape of its JSON, of its tables, and of the report's data.

Sizes are bytes, times ns since recording began, events are numbers of events. None is what the journal
cannot tell. All of it is of the malloc family, but for `Profile.regions`.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Spread:
    """Quantiles of a figure over objects."""

    min: float
    p50: float
    p90: float
    p99: float
    max: float
    mean: float


@dataclass(frozen=True, slots=True)
class Temporaries:
    """Objects that hardly lived before a call freed them, by three definitions; each a number of objects."""

    last: int  # no other allocation of its thread came between allocation and free
    few: int  # at most `few_limit` others did
    short: int  # it lived less than `short_ns`


@dataclass(frozen=True, slots=True)
class FreeOrder:
    """How objects were freed: each is counted once (src/profile/group_statistics.hpp)."""

    one_by_one: int
    lifo: int
    together: int
    reallocated: int
    never: int


@dataclass(frozen=True, slots=True)
class Reallocations:
    """What reallocations did."""

    in_place: int
    moved: int
    longest_chain: int  # reallocations of one block, one after the other


@dataclass(frozen=True, slots=True)
class Density:
    """D: what allocation operations cost over the CPU time of the run without the recording's share."""

    value: float | None  # 0..1; 1 for the whole program: no more than an upper bound (costs.busy_ns)
    cost_ns: float | None  # estimated from the timed calls
    timed: int  # operations that were timed
    operations: int  # allocations, and frees by a call


@dataclass(frozen=True, slots=True)
class Variation:
    """V: normalised entropy of the requested size classes."""

    value: float  # 0: one class; 1: all 64 equally often
    entropy: float  # bits
    classes: int  # that occur


@dataclass(frozen=True, slots=True)
class Locality:
    """L: the paper's needs accesses, which a journal does not have; compactness over time is what it has."""

    value: None  # not measured
    lines: float | None  # mean over moments: live bytes over bytes of the 64-byte lines that hold them
    pages: float | None  # the same with 4096-byte pages
    pages_first: float | None  # mean over the first quarter of the moments ...
    pages_last: float | None  # ... and over the last: diffusion is the decay from one to the other


@dataclass(frozen=True, slots=True)
class Utilization:
    """U: the most live bytes over all allocated bytes."""

    value: float  # 0..1
    max_live_bytes: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Contention:
    """C: expected operations of different threads at the same time over active threads."""

    value: float | None  # 0..1
    overlaps: float | None  # expected pairs of overlapping operations, in all
    active_threads: int


@dataclass(frozen=True, slots=True)
class Dvluc:
    """The five dimensions of a subsystem."""

    density: Density
    variation: Variation
    locality: Locality
    utilization: Utilization
    contention: Contention


@dataclass(frozen=True, slots=True)
class ThreadCount:
    """A number of objects for one thread."""

    thread: int  # index into Profile.threads
    objects: int


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What is known of any set of objects."""

    allocations: int
    bytes: int
    max_live_bytes: int
    max_live_objects: int
    live_at_peak_bytes: int  # when the whole program has its most live bytes
    live_at_peak_objects: int
    leaked_bytes: int  # never freed; free_order.never are the objects
    sizes: Spread  # bytes
    size_histogram: dict[int, int]  # objects by the largest size of their class
    lifetime_events: Spread | None  # of those that ended; None: none did
    lifetime_ns: Spread | None
    temporaries: Temporaries
    free_order: FreeOrder
    reallocations: Reallocations
    allocating_threads: list[ThreadCount]  # most objects first, of 32 threads at most
    freeing_threads: list[ThreadCount]  # the same
    foreign_frees: int  # by another thread than the one that allocated


@dataclass(frozen=True, slots=True)
class Frame:
    """One place in the code; an inlined call is a frame of its own."""

    function: str  # demangled; `module+0xoffset` where there is no symbol
    module: str  # file name of the mapped file; empty: unknown
    file: str | None = None  # of the source
    line: int | None = None
    inlined: bool = False


@dataclass(frozen=True, slots=True)
class Site:
    """A calling context and what it allocates."""

    context: int  # index into the journal's contexts
    name: str  # the innermost function that is no allocator's wrapper
    stack: list[Frame]  # innermost first
    subsystem: int  # index into Profile.subsystems
    behaviour: Behaviour
    frame: int = 0  # index into stack: the one that the name is of


@dataclass(frozen=True, slots=True)
class Subsystem:
    """A set of sites (or of threads) and its five dimensions."""

    name: str
    path: list[Frame]  # of its root in the call tree, outermost first; empty where it is no subtree
    sites: int
    behaviour: Behaviour
    dvluc: Dvluc
    live_bytes: list[int]  # the most in each bucket of Timeline


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread of the program."""

    name: str
    system_id: int
    start_ns: int
    end_ns: int | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The whole program over time, in buckets of equal length."""

    bucket_ns: int
    live_bytes: list[int]  # the most in the bucket
    live_objects: list[int]
    held_bytes: list[int]  # pages that hold anything alive: what no heap could give back
    allocations: list[int]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Objects by size class and lifetime."""

    sizes: list[int]  # largest size of each row's class
    lifetimes_ns: list[int]  # upper end of each column, powers of two; the last column: never freed (0)
    objects: list[list[int]]  # [size][lifetime]
    bytes: list[list[int]]


@dataclass(frozen=True, slots=True)
class ThreadMatrix:
    """Objects by allocating thread (rows) and freeing thread (columns); the last column: never freed."""

    threads: list[int]  # of each row, index into Profile.threads: those with most objects, 32 at most
    objects: list[list[int]]  # if there are other threads, one more row and column are all of them
    allocating: int  # threads that allocate


@dataclass(frozen=True, slots=True)
class Regions:
    """Regions that the program itself uses: annotated, APR, talloc, obstacks."""

    instances: int
    objects: int
    bytes: int
    freed_one_by_one: int
    cleared: int  # objects that ended with their region, or by its clearing
    max_live_bytes: int  # of one instance


@dataclass(frozen=True, slots=True)
class Totals:
    """The whole program."""

    events: int
    events_by_kind: dict[str, int]
    duration_ns: int
    cpu_ns: int | None
    recording_ns: int | None  # the recording's share of cpu_ns
    allocations: int
    bytes: int
    peak_live_bytes: int
    peak_live_objects: int
    peak_event: int
    peak_ns: int
    end_live_bytes: int
    end_live_objects: int
    unmatched_frees: int
    inversions: int
    failed: int
    contexts: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the journal shows, worth a line; the largest comes first."""

    title: str  # a short sentence
    detail: str  # why, with the figures
    suggestion: str  # what to try, or that nothing is worth it; starts with "Suggested:"
    share: float | None  # of the program's CPU time that it could concern at most, 0..1
    subsystem: int | None  # index into Profile.subsystems


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in a sentence, and what it stands on."""

    headline: str
    worthwhile: bool
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class Profile:
    """All that is known of one journal."""

    journal: str
    program: str
    arguments: list[str]
    process: int
    by: str  # subtree, module, thread or annotation
    complete: bool
    warnings: list[str]
    machine: dict[str, str]
    few_limit: int
    short_ns: int
    totals: Totals
    verdict: Verdict
    whole: Behaviour
    dvluc: Dvluc  # of the whole program
    subsystems: list[Subsystem]  # largest density first
    sites: list[Site]  # largest first, at most as many as were asked for
    sites_total: int
    threads: list[Thread]
    timeline: Timeline
    heat_map: HeatMap
    thread_matrix: ThreadMatrix
    regions: Regions | None  # None: the journal has none


@dataclass(frozen=True, slots=True)
class CallTree:
    """The symbolised call tree as columns: what flame graphs are made of. Node 0 is the program.

    A parent's index is lower than its child's. Metrics are of the node itself, without its children.
    """

    parent: list[int]
    name: list[int]  # index into names
    names: list[str]
    module: list[int]  # index into modules
    modules: list[str]
    metrics: dict[str, list[int]] = field(default_factory=dict)  # those of call_tree.py
