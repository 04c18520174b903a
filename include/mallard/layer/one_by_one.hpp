// one_by_one: a burst as so many single requests, for heaps to which each of them is cheap, or all there is.
//
// All or none: where one fails, those before it are given back. The blocks can carry the links of a chain.
// Cost: O(count).
#pragma once

#include <algorithm>
#include <cstddef>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

// Bytes of a block of a burst with `length` units of `unit` bytes: a pointer's at the least, more than any
// heap considers where the product overflows.
[[nodiscard]] constexpr std::size_t linkable_size(std::size_t length, std::size_t unit) noexcept {
  const bool overflows = unit != 0 && length > max_request / unit;
  return overflows ? max_request + 1 : std::max(length * unit, sizeof(void*));
}

// Ends all blocks of the chain, which is empty afterwards. They were asked for with size_of(i) bytes, counted
// from the first one.
template <heap Heap, class SizeOf>
void deallocate_one_by_one(Heap& from, chain& blocks, std::size_t align, SizeOf size_of) noexcept {
  for (std::size_t i = 0; !blocks.empty(); ++i) from.deallocate(blocks.pop_front(), size_of(i), align);
}

// Appends `count` blocks to `out`, the i-th of size_of(i) bytes, a pointer's at the least; false, and nothing
// done, where the heap is exhausted.
template <heap Heap, class SizeOf>
[[nodiscard]] bool allocate_one_by_one_of(Heap& from, chain& out, std::size_t count, std::size_t align,
                                          SizeOf size_of) noexcept {
  chain taken;
  while (taken.size() < count) {
    const block b = from.allocate(size_of(taken.size()), align);
    if (!b) {
      deallocate_one_by_one(from, taken, align, size_of);
      return false;
    }
    taken.push_back(b.data);
  }
  out.splice_back(taken);
  return true;
}

// Appends `count` blocks of at least max(size, sizeof(void*)) bytes at `align` to `out`; false, and nothing
// done, where the heap is exhausted.
template <heap Heap>
[[nodiscard]] bool allocate_one_by_one(Heap& from, chain& out, std::size_t count, std::size_t size,
                                       std::size_t align) noexcept {
  const std::size_t linkable = std::max(size, sizeof(void*));
  return allocate_one_by_one_of(from, out, count, align, [linkable](std::size_t) { return linkable; });
}

// The same, the i-th block of at least lengths[i] * unit bytes; false, too, where a product overflows.
template <heap Heap>
[[nodiscard]] bool allocate_one_by_one(Heap& from, chain& out, const std::size_t* lengths, std::size_t count,
                                       std::size_t unit, std::size_t align) noexcept {
  return allocate_one_by_one_of(from, out, count, align,
                                [lengths, unit](std::size_t i) { return linkable_size(lengths[i], unit); });
}

}  // namespace mallard
