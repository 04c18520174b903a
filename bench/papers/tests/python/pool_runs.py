"""Made-up runs of pools, in which all that is said of them holds."""

from collections.abc import Mapping

from allocator_runs import FLOOR_NS, Row, document, row

# Beyond the floor, in ns.
INSERT = {
    "pool.V1": 3.0,
    "boost.V1": 10.0,
    "boost.align_only.V1": 6.0,
    "boost.two_percent.V1": 6.1,
    "boost.node.V1": 4.0,
    "boost.V2": 2.1,
    "boost.align_only.V2": 2.0,
    "boost.two_percent.V2": 2.0,
    "boost.node.V2": 2.05,
}
ERASE = {
    **INSERT,
    "boost.align_only.V2": 2.0,
    "boost.two_percent.V2": 2.2,
    "boost.node.V2": 2.5,
}
NODES = {"pool.V1": 4.0, "boost.V1": 12.0, "boost.fast_pool.null": 4.2, "pool.V2": 4.1}
for version in ("V1", "V2"):
    NODES |= {f"adaptive.{version}": 5.0, f"locked_adaptive.{version}": 8.0, f"sync_adaptive.{version}": 6.0}
    NODES |= {f"boost.private.{version}": 14.0, f"boost.align_only.{version}": 20.0}
    NODES |= {f"boost.two_percent.{version}": 21.0}
TURNED_OVER = {**NODES, "adaptive.V1": 0.5, "adaptive.V2": 0.5}
WALKS = {label: 80.0 + ns for label, ns in NODES.items()} | {"adaptive.V1": 0.05}
WALKED = ("walk_turned_over", "walk_added", "walk_renewed")
TIMES = {"turn_over": TURNED_OVER, "renew": TURNED_OVER} | dict.fromkeys(WALKED, WALKS)
PARTS = (
    *("first", "allocate", "walk", "free", "hot", "turn_over", "renew", *WALKED),
    *("free_at_random", "end_at_random", "erase_at_random"),
)
NEEDED = 240_000
BLOCK = 0.0003


def memory(label: str, part: str) -> Mapping[str, int | None]:
    """Return what an allocator has of the system; of single nodes Boost's pools have more."""
    alive, left, in_use = 1.01, 1.0, 1.0
    if label in ("boost.V1", "boost.V2"):
        alive, left, in_use = 1.33, 0.1, 0.0
    elif label.startswith("adaptive"):
        alive, left, in_use = 1.01, 0.2, 0.2
    elif "align_only" in label or "two_percent" in label:
        alive, left, in_use = 1.2 if part in PARTS else 1.015, 0.2, BLOCK
    found = {
        "needed": 1.0,
        "alive": alive,
        "freed": left,
        "freed_again": 1.0,
        "trimmed": 0.0,
        "in_use": in_use,
        "cached": 0.05,
    }
    return {name: int(share * NEEDED) for name, share in found.items()}


def rows(times: Mapping[str, float], part: str) -> list[Row]:
    """Return the first, the floor, every allocator, a malloc that tells nothing, and the first once more."""
    made = [
        row(label, label.rpartition(".")[0], "typed", FLOOR_NS + ns, part=part, counts=memory(label, part))
        for label, ns in times.items()
    ]
    made.insert(1, row("none", "none", "typed", FLOOR_NS, part=part, counts=memory("none", part)))
    untold = dict(memory("jemalloc", part), in_use=None, cached=None)
    made.append(row("jemalloc", "jemalloc", "malloc", FLOOR_NS + 7, part=part, counts=untold))
    return [*made, {**made[0], "repeated": True}]


def pools() -> list[Row]:
    """Return ranges, single nodes and threads."""
    made = [
        document(
            "pools",
            {"work": "ranges", "elements": elements, "iterations": 10},
            [*rows(INSERT, "insert"), *rows(ERASE, "erase")],
        )
        for elements in (10_000, 1_000, 100, 10)
    ]
    of_nodes = [one for part in PARTS for one in rows(TIMES.get(part, NODES), part)]
    made.append(document("pools", {"work": "nodes", "elements": 10_000, "iterations": 1}, of_nodes))
    of_threads = rows(NODES, "threads")
    for one in of_threads:
        one |= {"wall_ns_per_event": one["ns_per_event"] / 2, "counts": None}
        one |= {"wall_spread": [0.49 * one["ns_per_event"], 0.51 * one["ns_per_event"]]}
        one |= {"wall_rounds_ns": [one["wall_ns_per_event"]] * 5}
        if one["label"] == "boost.fast_pool.null":
            one |= dict.fromkeys(("ns_per_event", "spread", "wall_ns_per_event", "wall_spread"))
            one |= {"status": "skipped", "reason": "one for the process", "cold_ns_per_event": None}
    made.append(document("pools", {"work": "threads", "elements": 100, "iterations": 5}, of_threads))
    return made
