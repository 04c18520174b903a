"""Made-up replays with all that `mallard replay` can add: what the charts of it are tested with.

    timed_replay()    --latency --curve: percentiles, dots, the worst, curves, sizes asked for
    threads_replay()  --threads --scale

They are the same at each call. Times are multiples of the clock's quantum, and many of them 0.
"""

import math
import random
from typing import Any

from report_sample import replay_row, sample_replay

QUANTUM = 10.0
CALLS = ("alloc", "free", "realloc", "calloc")
SHARES = (47, 45, 5, 3)  # of the calls, in percent
SPEEDS = {
    ("none", "typed"): 1.4,
    ("glibc", "malloc"): 5.5,
    ("glibc-notrim", "malloc"): 5.4,
    ("jemalloc", "malloc"): 3.6,
    ("tcmalloc", "malloc"): 2.9,
    ("mimalloc", "malloc"): 2.3,
    ("boost.pool", "pmr"): 2.8,
    ("std.pool", "pmr"): 8.9,
    ("monotonic", "typed"): 0.5,
    ("multipool", "typed"): 0.9,
    ("multipool", "pmr"): 1.6,
    ("best_fit", "typed"): 6.2,
}
Operations = dict[str, list[Any]]


def speeds(strategies: int) -> dict[tuple[str, str], float]:
    """Return this many strategies with their ns an event; `none` and glibc are the first."""
    more = {(f"heap_{number}", ("typed", "pmr")[number % 2]): 1 + number / 9 for number in range(strategies)}
    return dict(list((SPEEDS | more).items())[:strategies])


def durations(chance: random.Random, speed: float, count: int) -> list[float]:
    """Return this many times: most within a step of the clock, a few thousand times as long."""
    drawn = (speed * math.exp(chance.gauss(0, 0.7)) * chance.paretovariate(1.1) for _ in range(count))
    return [QUANTUM * int(ns / QUANTUM) * 1.0013 for ns in drawn]


def sizes(chance: random.Random, count: int) -> list[int]:
    """Return this many sizes of blocks."""
    return [max(1, round(24 * math.exp(chance.gauss(0.4, 1.3)))) for _ in range(count)]


def operations(chance: random.Random, speed: float, dots: int, events: int) -> Operations:
    """Return dots as `mallard replay --latency` leaves them: as many slow ones as fast ones."""
    ns = [QUANTUM * round(speed * 10 ** (chance.random() ** 2 * 3) / QUANTUM) * 1.0013 for _ in range(dots)]
    return {
        "event": sorted(chance.sample(range(events), dots)),
        "ns": ns,
        "size": sizes(chance, dots),
        "call": chance.choices(range(4), SHARES, k=dots),
    }


def percentiles(times: list[float], count: int) -> dict[str, Any]:
    """Return the percentiles of such times, as if there were `count` of them."""
    ordered = sorted(times)

    def at(part: float) -> float:
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]

    named = {"p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p99": 0.99, "p999": 0.999, "p9999": 0.9999}
    steps = math.ceil(4 * math.log2(max(1, count)))
    tail = [at(1 - 2 ** (-step / 4)) for step in range(steps)]
    return {
        "min": ordered[0],
        **{name: at(part) for name, part in named.items()},
        "max": ordered[-1],
        "tail": [*tail, ordered[-1]],
    }


def latencies(chance: random.Random, speed: float, count: int) -> dict[str, Any]:
    """Return what `count` calls of one kind took: as they came, at their fastest, and in the first pass."""
    fastest = durations(chance, speed, 4000)
    came = [ns * (1 + (chance.random() < 0.01) * chance.randrange(400)) for ns in fastest]
    first = [ns + QUANTUM * chance.randrange(30) for ns in fastest]
    return {
        "count": count,
        **percentiles(came, count),
        "minimum": percentiles(fastest, count),
        "cold": percentiles(first, count),
    }


def worst(dots: Operations) -> list[dict[str, Any]]:
    """Return the ten slowest of the dots, the slowest first."""
    rows = zip(dots["event"], dots["ns"], dots["size"], dots["call"], strict=True)
    return [
        {
            "ns": ns,
            "event": event,
            "operation": event,
            "call": CALLS[call],
            "size": size,
            "old_size": size // 2 if CALLS[call] == "realloc" else None,
            "live_blocks": event // 9,
            "live": event * 5,
            "page_faults": rank % 3,
        }
        for rank, (event, ns, size, call) in enumerate(sorted(rows, key=lambda row: -row[1])[:10])
    ]


def live_bytes(points: int) -> list[int]:
    """Return what is live at each point, the most of it 5,000,000."""
    return [
        round(5_000_000 * math.sin(math.pi * at / points) * (0.8 + 0.2 * math.sin(at / 17)))
        for at in range(1, points + 1)
    ]


def curve(chance: random.Random, points: int, events: int, walked: bool) -> dict[str, Any]:
    """Return what is held over the events; `walked` heaps know what they granted."""
    live = live_bytes(points)
    overhead = chance.uniform(1.02, 1.4)
    held, most = [], 0
    for bytes_ in live:
        most = max(most - most // 400, round(bytes_ * overhead) + chance.randrange(40_000))
        held.append(most)
    return {
        "event": [events * at // points for at in range(1, points + 1)],
        "live": live,
        "granted": [round(bytes_ * 1.02) + 7 if walked else None for bytes_ in live],
        "held_min": [round(bytes_ * chance.uniform(0.94, 1)) for bytes_ in held],
        "held_max": held,
        "walks_left_out": 0,
    }


def asked_for(chance: random.Random) -> list[dict[str, int]]:
    """Return allocations by size: exact up to 16 bytes, then four buckets to a doubling."""
    edges = [*range(17), *(2**power * quarter // 4 for power in range(4, 21) for quarter in (5, 6, 7, 8))]
    counts = [round(90_000 * math.exp(-((math.log2(edge + 1) - 5) ** 2) / 4)) for edge in edges]
    return [
        {"from": (edges[at - 1] + 1) if at else 0, "to": edge, "allocations": count + chance.randrange(40)}
        for at, (edge, count) in enumerate(zip(edges, counts, strict=True))
        if count > 0
    ]


def timed_row(
    chance: random.Random, who: tuple[str, str], speed: float, dots: int, points: int, events: int
) -> dict[str, Any]:
    """Return a row of a replay with --latency and --curve."""
    strategy, binding = who
    shown = operations(chance, speed, dots, events)
    times = {
        f"{call}_ns": latencies(chance, speed * (1 + kind / 3), events * share // 100)
        for kind, (call, share) in enumerate(zip(CALLS, SHARES, strict=True))
    }
    row = replay_row(chance, strategy, binding, speed) | times
    row |= {"operations": shown | {"steps_per_doubling": 4}, "worst": worst(shown)}
    if strategy == "monotonic":
        row |= {"max_held": 40_000_000, "fragmentation": 8.0}
    if strategy == "none":
        return row | {"curve": None, "fragmentation_measures": None}
    drawn = curve(chance, points, events, binding != "malloc")
    ratio = max(drawn["held_max"]) / max(drawn["live"])
    measures = {"mean": ratio * 1.1, "at_max_live": ratio, "at_max_held": ratio * 1.2, "max_to_max": ratio}
    parts = {"internal": 100_000, "header": 20_000, "external": 300_000} if binding != "malloc" else {}
    return row | parts | {"curve": drawn, "fragmentation_measures": measures}


def timed_replay(
    strategies: int = 12, dots: int = 4000, points: int = 1000, events: int = 1_000_000
) -> dict[str, Any]:
    """Return what `mallard replay --latency --curve --json` would print."""
    chance = random.Random(strategies)
    replay = sample_replay()
    replay["journal"] |= {"replayed": "blocks", "events": events, "sizes": asked_for(chance)}
    replay["latency"] = {
        "passes": 10,
        "clock": "tsc",
        "ns_per_tick": 0.4,
        "quantum_ns": QUANTUM,
        "overhead_ns": 12.0,
    }
    rows = [timed_row(chance, who, speed, dots, points, events) for who, speed in speeds(strategies).items()]
    return replay | {"rows": rows}


def threads_replay(copies: int = 4) -> dict[str, Any]:
    """Return what `mallard replay --threads --scale --json` would print."""
    chance = random.Random(copies)
    replay = sample_replay()
    schedule = {"threads": 24, "at_once": 5, "window": 4096, "remote_frees": 24_000, "copies": copies}
    replay["journal"] |= {
        "replayed": "threads",
        "deallocations": 200_000,
        "never_freed": 8_000,
        "sizes": asked_for(chance),
        "schedule": schedule | {"crossing_frees": 0.0, "times_known": True},
    }
    replay["latency"] = None
    names = {**speeds(5), ("threads/multipool", "typed"): 1.1, ("synchronized_multipool", "typed"): 4.0}
    replay["rows"] = [threads_row(chance, who, speed, copies) for who, speed in names.items()]
    return replay


def threads_row(chance: random.Random, who: tuple[str, str], speed: float, copies: int) -> dict[str, Any]:
    """Return a row of a replay on the recorded threads."""
    strategy, binding = who
    locks = strategy.startswith("synchronized")
    scale = []
    for number in range(1, copies + 1):
        speedup = number / (1 + (0.6 if locks else 0.04) * (number - 1))
        rounds = [
            1e9 / (speed + (0 if strategy == "none" else 1.4)) * speedup * chance.uniform(0.95, 1.05)
            for _ in range(5)
        ]
        scale.append(
            {
                "copies": number,
                "events_per_second": sorted(rounds)[2],
                "rounds": rounds,
                "cpu_ns_per_event": speed * (1 + (number - 1) * 0.1),
                "voluntary_switches": number * 200 if locks else 3,
                "involuntary_switches": number * 4,
                "contention": 0.04 * number if locks else None,
            }
        )
    return replay_row(chance, strategy, binding, speed) | {
        "threads": {
            "wall_ns_per_event": speed / 2,
            "cold_wall_ns_per_event": speed,
            "waiting_ns_per_event": 0.8,
            "voluntary_switches": 120.0,
            "involuntary_switches": 7.0,
            "max_live_strayed": 0.011,
        },
        "scale": scale,
        "curve": None,
        "fragmentation_measures": None,
        "operations": None,
    }
