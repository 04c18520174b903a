// What inspection reports about a heap: heap_usage, pool_statistics and violation.
//
//     held      +-------------------------------------------------+  bytes obtained from the upstream
//     carved    +------------------------------+                     of these, taken by live blocks
//     granted   +-------------------------+                          of these, usable by the caller
//     (live     +------------------+                                 of these, really asked for)
//
//     internal = granted - live     header = carved - granted     external = held - carved
//
// held >= carved >= granted. The `held` of a heap is what it has from its own upstream; the source's held()
// is what the whole stack has from the system. Only the caller, or a counting layer, knows `live`: heaps do
// not count on hot paths. They compute these figures by walking their structures.
#pragma once

#include <cstddef>

#include "mallard/core/version.hpp"

namespace mallard {

// pool_statistics: the blocks of one pool of a heap.
//
//     carved  [ live | live | free | live | free ]  untouched ......
//
// Computed by walking the pool's free list; nothing is counted on the hot paths.
struct pool_statistics {
  std::size_t block_size = 0;  // bytes of each block: the received size
  std::size_t carved = 0;      // blocks that have ever been handed out since the last clear or release
  std::size_t free = 0;        // of these, blocks that were freed and wait for the next request

  [[nodiscard]] constexpr std::size_t live() const noexcept { return carved - free; }

  friend constexpr bool operator==(const pool_statistics&, const pool_statistics&) = default;
};

struct heap_usage {
  std::size_t held = 0;     // bytes the heap has from its upstream, or from its constructor's buffer
  std::size_t carved = 0;   // bytes of those inside live blocks, with their headers and padding
  std::size_t granted = 0;  // bytes of those that callers may use: the received sizes

  friend constexpr bool operator==(const heap_usage&, const heap_usage&) = default;
};

// The first broken invariant found by validate(); false if there is none:
//     if (violation v = heap.validate()) report(v.what);
struct [[nodiscard]] violation {
  const char* what = nullptr;  // static text, null when nothing is wrong

  [[nodiscard]] explicit constexpr operator bool() const noexcept { return what != nullptr; }
};

}  // namespace mallard
