// reallocate: another size for a block and its contents, as C's realloc, over any heap.
//
//     [ contents | free ]                    shrunk, or grown forward: they stay
//     [ contents | ... ] <-- [ contents ]    grown backward: they move down within it
//     [ contents | ... ]     [ contents ]    a new block: copied, then the old one ends
//
// The heap says what can be had in place, in one call (resize_by_address). What it cannot cut, as blocks that
// pass through it, moves to a smaller block where that saves more than half of it, and a page. Blocks have at
// least the size asked for; on failure the old block is as it was.
// Cost: a look at the block's size, a resize, and where it moves a copy and a deallocation. Seed 001,
// chapter 1 (realloc, and backward expansion where a new block would need as many copies).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/layer/resize_by_address.hpp"

namespace mallard {

namespace detail {

// Whether a block of `usable` bytes, of which `size` are needed, is worth a copy of these.
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

// Where the block at `p` is now; null where there is no memory. A null `p` is no block yet. A block that
// moves is aligned to `align`.
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
