// synchronized_adaptive_pool: adaptive_pool for many threads, each with a cache of its own.
//
//     thread 1 --> cache [b] -> [b]   --batches, under a lock--+
//     thread 2 --> cache [b]          --batches, under a lock--+--> adaptive_pool --> Upstream
//
// As synchronized_pool, but batches that do not fit into a cache return to the pool, which returns free
// memory to its upstream. Cached blocks pin their slabs: at most two batches per thread, until the thread
// ends and another one frees or allocates, or until flush() or trim(). shared_adaptive_pool has no caches and
// locks each operation: as exact as the pool for one thread, and as fast as its lock. Suggested: shared for
// few threads or little use, otherwise cached. Cost of a pair on one thread: cached 33 instructions, shared
// 57 (gcc 12 -O2, callgrind, loop overhead subtracted). Seed 001, chapter 3 ("Presenting adaptive_pool").
#pragma once

#include <string_view>

#include "mallard/core/concepts.hpp"
#include "mallard/core/growth.hpp"
#include "mallard/core/light_mutex.hpp"
#include "mallard/heap/adaptive_pool.hpp"
#include "mallard/heap/adaptive_pool/slab_shape.hpp"
#include "mallard/heap/synchronized_pool.hpp"
#include "mallard/layer/locked.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard {

// A cached block pins its whole chunk, so chunks are smaller than those for one thread.
using synchronized_adaptive_pool_growth = proportional<4096, 65536, 8, 65536>;

template <heap Upstream = default_source, class Form = slab_form<>,
          growth_policy Growth = synchronized_adaptive_pool_growth, class Mutex = light_mutex>
using basic_synchronized_adaptive_pool =
    synchronized_blocks<basic_adaptive_pool<Upstream, Form, Growth>, Mutex>;

using synchronized_adaptive_pool = basic_synchronized_adaptive_pool<>;
using shared_adaptive_pool = locked<adaptive_pool>;

template <>
inline constexpr std::string_view heap_name<synchronized_adaptive_pool> = "synchronized_adaptive_pool";

}  // namespace mallard
