// heap_usage and violation: what inspecting a heap tells.
//
//     held      +-------------------------------------------------+  bytes obtained from the upstream
//     carved    +------------------------------+                     of these, taken by live blocks
//     granted   +-------------------------+                          of these, usable by the caller
//     (live     +------------------+                                 of these, really asked for)
//
//     internal = granted - live     header = carved - granted     external = held - carved
//
// held >= carved >= granted. `held` of a heap is what it has from its own upstream; what a whole stack
// has from the system is the source's held(). `live` is known to the caller, or to a counting layer of
// the user's, never to the heap: no hot path carries a counter. The figures are found by walking.
#pragma once

#include <cstddef>

namespace mallard {

struct heap_usage {
  std::size_t held = 0;     // bytes the heap has: from its upstream, not given back, or lent by its maker
  std::size_t carved = 0;   // bytes of those inside live blocks, with their headers and padding
  std::size_t granted = 0;  // bytes of those that callers may use: the received sizes

  friend constexpr bool operator==(const heap_usage&, const heap_usage&) = default;
};

// The first broken invariant a validate() walk met; false when there is none:
//     if (violation v = heap.validate()) report(v.what);
struct [[nodiscard]] violation {
  const char* what = nullptr;  // static text, null when nothing is wrong

  [[nodiscard]] explicit constexpr operator bool() const noexcept { return what != nullptr; }
};

}  // namespace mallard
