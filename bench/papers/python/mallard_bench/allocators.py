"""The allocators of the benchmarks of Gaztañaga's article, by whose they are: labels and words, here alone.

    Boost      boost.V1  boost.V2new ...      its own allocator, over its dlmalloc
    best_fit   V1        V2new ...            ours
    locked     locked.V1 locked.V2            ours, for several threads as Boost's is
    malloc     Std                            std::allocator, also over other mallocs

V1 is the plain protocol. V2 has commands and bursts; of V2new, V2bwd and V2fwd all expansions are disabled
but the one that they are named by. V2one has no bursts.
"""

FLOOR = "none"
STD = "Std"
PROTOCOLS = ("V1", "V2new", "V2bwd", "V2fwd", "V2one", "V2")
BOOST = tuple(f"boost.{protocol}" for protocol in PROTOCOLS)
LOCKED = tuple(f"locked.{protocol}" for protocol in PROTOCOLS)

FAMILIES = {"boost": BOOST, "best_fit": PROTOCOLS, "locked best_fit": LOCKED}


def word(label: str) -> str:
    """Return an allocator's protocol, which is its name below that of its family."""
    return label.rpartition(".")[2]
