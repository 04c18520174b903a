// Resizing blocks of any heap by their address alone.
//
//     resize_by_address    {data, limit, preferred, ways} --> resize, or else allocate
//     reallocate           C's realloc: resizes, and moves the contents if the block moves
//
// allocation_command of seed 001 names a block by its address alone. Heaps that are `measurable` and
// `resizable` resize in place; for other heaps, growing allocates a new block and shrinking returns no
// memory. Either way the heap is called once and locks once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"

namespace mallard {

// As Heap::resize, except that `request.size` is not read, and that `request.data` may be null if
// allocate_new is allowed. If the block stays as it is, a shrink succeeds if the block is small enough, and a
// try_shrink always, if the heap knows its size. Shrinking a null pointer fails.
template <heap Heap>
[[nodiscard]] MALLARD_INLINE resize_result resize_by_address(Heap& heap, resize_request request) noexcept {
  using enum resize_way;
  const bool shrinks = has_way(request.ways, shrink | try_shrink);
  if constexpr (resizable<Heap> && measurable<Heap>) {
    const resize_way in_place = shrinks ? shrink | try_shrink : expand_forward | expand_backward;
    if (request.data != nullptr && has_way(request.ways & Heap::ways, in_place)) {
      request.size = unknown_size;
      if constexpr (has_way(Heap::ways, allocate_new)) {
        return heap.resize(request);  // a variable would be copied, and that waits for its parts' stores
      } else {
        const resize_result result = heap.resize(request);
        if (result.memory || shrinks) return result;
      }
    }
  }
  if (shrinks) {
    if (request.data == nullptr) return {};
    if constexpr (measurable<Heap>) {
      const std::size_t size = heap.usable_size(request.data);
      if (size <= request.limit || has_way(request.ways, try_shrink)) return {{request.data, size}, true};
    }
    return {};
  }
  if (!has_way(request.ways, allocate_new)) return {};
  block fresh = heap.allocate(request.preferred, request.align);
  if (!fresh && request.limit < request.preferred) fresh = heap.allocate(request.limit, request.align);
  return {fresh, false};
}

// reallocate: changes the size of a block and keeps its contents, like C's realloc.
//
//     [ contents | free ]                    shrunk, or grown forward: they stay
//     [ contents | ... ] <-- [ contents ]    grown backward: they move down within it
//     [ contents | ... ]     [ contents ]    a new block: copied, then the old one ends
//
// resize_by_address asks the heap for everything that is possible in place, in one call. A block that the
// heap cannot shrink, such as one that passed through to the upstream, moves to a smaller block if that saves
// more than half of it and at least a page. Blocks have at least the requested size; on failure the old block
// is unchanged. Cost: a look at the block's size, a resize, and for a move a copy and a deallocation. Seed
// 001, chapter 1 (realloc, and backward expansion where a new block would need as many copies).
namespace detail {

// Whether it is worth copying `size` bytes out of a block of `usable` bytes.
[[nodiscard]] constexpr bool is_worth_moving(std::size_t usable, std::size_t size) noexcept {
  constexpr std::size_t page = 4096;
  return usable / 2 > size && usable - size >= page;
}

template <class Heap>
void* move_block(Heap& heap, void* p, block to, std::size_t contents) noexcept {
  std::memcpy(to.data, p, contents);
  heap.deallocate(p);
  return to.data;
}

}  // namespace detail

// Returns the address of the block afterwards; null if memory is exhausted. A null `p` allocates. A block
// that moves is aligned to `align`.
template <heap Heap>
  requires freeable<Heap> && measurable<Heap>
[[nodiscard]] void* reallocate(Heap& heap, void* p, std::size_t size, std::size_t align) noexcept {
  using enum resize_way;
  if (p == nullptr) return heap.allocate(size, align).data;
  const std::size_t usable = heap.usable_size(p);
  if (size <= usable) {
    const block kept = resize_by_address(heap, {p, usable, align, size, size, try_shrink}).memory;
    if (!detail::is_worth_moving(kept.size, size)) return p;
    const block smaller = heap.allocate(size, align);
    return smaller ? detail::move_block(heap, p, smaller, size) : p;
  }
  const resize_result grown = resize_by_address(
      heap, {p, usable, align, size, size, expand_forward | expand_backward | allocate_new, align});
  if (!grown.memory) return nullptr;
  if (!grown.reused) return detail::move_block(heap, p, grown.memory, usable);
  if (grown.memory.data != p) std::memmove(grown.memory.data, p, usable);
  return grown.memory.data;
}

}  // namespace mallard
