// burst_any: bursts over any heap: its own where it has them, else block by block.
//
//     burst             one call of the heap, one lock, neighbours in memory
//     everything else   one_by_one
//
// Blocks of a burst are blocks like others: each may be ended alone, with the size it was asked for, a
// pointer's at the least, and any chain of them together. Cost: the heap's, or its allocate and deallocate a
// block. Seed 001, "Burst allocation infrastructure".
#pragma once

#include <cstddef>

#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/layer/one_by_one.hpp"

namespace mallard {

// A heap that can end blocks of any sizes, knowing their addresses only.
template <class Heap>
concept ends_by_address = freeable<Heap> || measurable<Heap>;

// Appends `count` blocks of at least max(size, sizeof(void*)) bytes to `out`; false, and nothing done, where
// the heap is exhausted.
template <heap Heap>
[[nodiscard]] bool allocate_burst_any(Heap& from, chain& out, std::size_t count, std::size_t size,
                                      std::size_t align) noexcept {
  if constexpr (burst<Heap>)
    return from.allocate_burst(out, count, size, align, 0);
  else
    return allocate_one_by_one(from, out, count, size, align);
}

// Appends `count` blocks to `out`, the i-th of at least max(lengths[i] * unit, sizeof(void*)) bytes; false,
// and nothing done, where the heap is exhausted or a product overflows.
template <heap Heap>
[[nodiscard]] bool allocate_burst_any(Heap& from, chain& out, const std::size_t* lengths, std::size_t count,
                                      std::size_t unit, std::size_t align) noexcept {
  if constexpr (burst_of_sizes<Heap>)
    return from.allocate_burst(out, lengths, count, unit, align, 0);
  else
    return allocate_one_by_one(from, out, lengths, count, unit, align);
}

// Ends all blocks of the chain, which were asked for with `size` bytes each; it is empty afterwards.
template <heap Heap>
void deallocate_burst_any(Heap& from, chain& blocks, std::size_t size, std::size_t align) noexcept {
  if constexpr (burst<Heap>)
    from.deallocate_burst(blocks, size, align);
  else
    deallocate_one_by_one(from, blocks, align, [size](std::size_t) { return size; });
}

// Ends all blocks of the chain, of any sizes; it is empty afterwards.
template <ends_by_address Heap>
void deallocate_burst_any(Heap& from, chain& blocks, std::size_t align) noexcept {
  if constexpr (burst_of_sizes<Heap>) {
    from.deallocate_burst(blocks);
  } else {
    while (!blocks.empty()) {
      void* const p = blocks.pop_front();
      if constexpr (freeable<Heap>)
        from.deallocate(p);
      else
        from.deallocate(p, from.usable_size(p), align);
    }
  }
}

}  // namespace mallard
