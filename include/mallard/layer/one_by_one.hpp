// one_by_one: a burst as so many single requests, for heaps to which each of them is cheap.
//
// All or none: where one fails, those before it are given back. The blocks can carry the links of a chain.
// Cost: O(count).
#pragma once

#include <algorithm>
#include <cstddef>

#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

// Appends `count` blocks of at least max(size, sizeof(void*)) bytes at `align` to `out`; false, and nothing
// done, where the heap is exhausted.
template <heap Heap>
[[nodiscard]] bool allocate_one_by_one(Heap& from, chain& out, std::size_t count, std::size_t size,
                                       std::size_t align) noexcept {
  const std::size_t linkable = std::max(size, sizeof(void*));
  chain taken;
  while (taken.size() < count) {
    const block b = from.allocate(linkable, align);
    if (!b) {
      while (!taken.empty()) from.deallocate(taken.pop_front(), linkable, align);
      return false;
    }
    taken.push_back(b.data);
  }
  out.splice_back(taken);
  return true;
}

}  // namespace mallard
