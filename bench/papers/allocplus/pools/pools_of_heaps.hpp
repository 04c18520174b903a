// pool_binding<Version, Heap>: a heap of ours behind allocator<T, Heap> or v2_allocator<T, Heap>, and what it
// holds when all is freed.
#pragma once

#include <cstddef>
#include <type_traits>

#include "allocplus/allocplus_bindings.hpp"
#include "allocplus/pools/memory_book.hpp"
#include "allocplus/pools/pool_node.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard::bench {

template <unsigned Version, heap Heap>
class pool_binding : public std::conditional_t<Version == 2, v2_binding<Heap>, v1_binding<Heap>> {
  using base = std::conditional_t<Version == 2, v2_binding<Heap>, v1_binding<Heap>>;

 public:
  static constexpr sharing shared = concurrent<Heap> ? sharing::all : sharing::own;

  using base::base;

  // Of floors nothing is known.
  [[nodiscard]] heap_figures figures() {
    if constexpr (inspectable<Heap>) return heap_figures{this->heap().usage().held, chunks_beneath::cached()};
    return untold;
  }

  // Precondition: nothing is alive.
  void begin_anew()
    requires requires(Heap& h) { h.begin_anew(); }
  {
    this->heap().begin_anew();
  }

  // Precondition: nothing is alive. What cannot trim is released.
  template <class Allocator>
  void trim(Allocator&) {
    if constexpr (trimmable<Heap>)
      this->heap().trim(0);
    else if constexpr (releasable<Heap>)
      this->heap().release();
    chunks_beneath::trim();
  }
};

}  // namespace mallard::bench
