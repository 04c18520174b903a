"""The allocators of the benchmark of pools, by whose they are: labels and words, here alone.

    ours      pool adaptive best_fit ..., with a lock locked_pool locked_adaptive, with caches sync_pool ...
    Boost     boost.V1            its own allocator, over its dlmalloc         the article's AllocatorPlus
              boost.align_only    adaptive_pool, blocks aligned whole          AdPoolAlignOnly
              boost.two_percent   adaptive_pool, sub-blocks, 2 % overhead      AdPool2Percent
              boost.node          node_allocator                               SimpleSegregatedStorage
    others    std.pool, and std::allocator over mallocs

V1 is the plain protocol, V2 has bursts; an allocator without a version has the plain one.
"""

FLOOR = "none"
BASE = "pool.V1"

ADAPTIVE = ("align_only", "two_percent")
POOLS_OF_ARTICLE = (*ADAPTIVE, "node")
ARTICLES = {
    "boost": "AllocatorPlus",
    "boost.align_only": "AdPoolAlignOnly",
    "boost.two_percent": "AdPool2Percent",
    "boost.node": "SimpleSegregatedStorage",
}


def boosts(pool: str, version: int) -> str:
    """Return the label of a pool of Boost's that the article has."""
    return f"boost.{pool}.V{version}"
