// Bursts, i.e. batches of blocks in one call, over any heap.
//
//     allocate_burst_any      the heap's own burst if it has one: one call, one lock, adjacent blocks
//     allocate_each           a loop of single allocations, for heaps without a faster way
//
// All or none: if one allocation fails, the blocks before it are freed again. The blocks of a burst are
// ordinary blocks: each may be freed alone, with the requested size and alignment but at least a pointer's,
// and any chain of them together. Without a burst of the heap's own, that is what the heap is asked for and
// what it is told at the end, as a chain links its blocks through their first words. Cost: the heap's own
// burst, or one allocate or deallocate per block. Seed 001, "Burst allocation infrastructure".
#pragma once

#include <algorithm>
#include <cstddef>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/chain.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

// Size of a block of a burst with `length` units of `unit` bytes: at least a pointer's; more than max_request
// if the product overflows.
[[nodiscard]] constexpr std::size_t linkable_size(std::size_t length, std::size_t unit) noexcept {
  const bool overflows = unit != 0 && length > max_request / unit;
  return overflows ? max_request + 1 : std::max(length * unit, sizeof(void*));
}

// Its alignment.
[[nodiscard]] constexpr std::size_t linkable_align(std::size_t align) noexcept {
  return std::max(align, alignof(void*));
}

// Frees all blocks of the chain, which is empty afterwards. The i-th block, counted from the first, was
// requested with size_of(i) bytes, at least a pointer's.
template <heap Heap, class SizeOf>
void deallocate_each(Heap& from, chain& blocks, std::size_t align, SizeOf size_of) noexcept {
  align = linkable_align(align);
  for (std::size_t i = 0; !blocks.empty(); ++i) from.deallocate(blocks.pop_front(), size_of(i), align);
}

// Appends `count` blocks to `out`, the i-th of size_of(i) bytes, at least a pointer's. If the heap is
// exhausted, returns false and changes nothing.
template <heap Heap, class SizeOf>
[[nodiscard]] bool allocate_each_of(Heap& from, chain& out, std::size_t count, std::size_t align,
                                    SizeOf size_of) noexcept {
  chain taken;
  while (taken.size() < count) {
    const block b = from.allocate(size_of(taken.size()), linkable_align(align));
    if (!b) {
      deallocate_each(from, taken, align, size_of);
      return false;
    }
    taken.push_back(b.data);
  }
  out.splice_back(taken);
  return true;
}

// Appends `count` blocks of at least max(size, sizeof(void*)) bytes at `align` to `out`. If the heap is
// exhausted, returns false and changes nothing.
template <heap Heap>
[[nodiscard]] bool allocate_each(Heap& from, chain& out, std::size_t count, std::size_t size,
                                 std::size_t align) noexcept {
  const std::size_t linkable = std::max(size, sizeof(void*));
  return allocate_each_of(from, out, count, align, [linkable](std::size_t) { return linkable; });
}

// The same for blocks of different sizes, the i-th of at least lengths[i] * unit bytes; also false if a
// product overflows.
template <heap Heap>
[[nodiscard]] bool allocate_each(Heap& from, chain& out, const std::size_t* lengths, std::size_t count,
                                 std::size_t unit, std::size_t align) noexcept {
  return allocate_each_of(from, out, count, align,
                          [lengths, unit](std::size_t i) { return linkable_size(lengths[i], unit); });
}

// A heap that can free blocks of any size by their addresses alone.
template <class Heap>
concept ends_by_address = freeable<Heap> || measurable<Heap>;

// Appends `count` blocks of at least max(size, sizeof(void*)) bytes to `out`. If the heap is exhausted,
// returns false and changes nothing.
template <heap Heap>
[[nodiscard]] bool allocate_burst_any(Heap& from, chain& out, std::size_t count, std::size_t size,
                                      std::size_t align) noexcept {
  if constexpr (burst<Heap>)
    return from.allocate_burst(out, count, size, align, 0);
  else
    return allocate_each(from, out, count, size, align);
}

// Appends `count` blocks to `out`, the i-th of at least max(lengths[i] * unit, sizeof(void*)) bytes. If the
// heap is exhausted or a product overflows, returns false and changes nothing.
template <heap Heap>
[[nodiscard]] bool allocate_burst_any(Heap& from, chain& out, const std::size_t* lengths, std::size_t count,
                                      std::size_t unit, std::size_t align) noexcept {
  if constexpr (burst_of_sizes<Heap>)
    return from.allocate_burst(out, lengths, count, unit, align, 0);
  else
    return allocate_each(from, out, lengths, count, unit, align);
}

// Frees all blocks of the chain, which were requested with `size` bytes each; it is empty afterwards.
template <heap Heap>
void deallocate_burst_any(Heap& from, chain& blocks, std::size_t size, std::size_t align) noexcept {
  if constexpr (burst<Heap>)
    from.deallocate_burst(blocks, size, align);
  else
    deallocate_each(from, blocks, align, [size](std::size_t) { return linkable_size(size, 1); });
}

// Frees all blocks of the chain, of any sizes; it is empty afterwards.
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
        from.deallocate(p, from.usable_size(p), linkable_align(align));
    }
  }
}

}  // namespace mallard
