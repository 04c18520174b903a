// resize_objects: a command of seed 001 over any heap, with sizes in objects.
//
//     allocation_command(command, limit, preferred, reuse) --> resize_by_address, in bytes
//         growing      limit <= preferred     forward, backward by whole objects, anew
//         shrinking    preferred <= limit     at the end; what is behind the last whole object does not count
//
// Blocks are at least a pointer large, so that each can be linked in a chain. Cost: the heap's, and a
// division by the objects' size where that is no constant. Seed 001, "New functions for expansion
// capabilities".
#pragma once

#include <algorithm>
#include <cstddef>

#include "mallard/allocator/allocation_type.hpp"
#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/resize.hpp"
#include "mallard/layer/resize_by_address.hpp"

namespace mallard {

namespace commands {

inline constexpr allocation_type growing = allocate_new | expand_fwd | expand_bwd;
inline constexpr allocation_type shrinking = shrink_in_place | try_shrink_in_place;

}  // namespace commands

// What a command must know of the objects in a block, all in bytes.
struct object_layout {
  std::size_t size;   // of one; not 0
  std::size_t align;  // as the block was allocated
  std::size_t step;   // the least common multiple of both

  // Of a block of `count` objects; precondition: the product does not overflow.
  [[nodiscard]] constexpr std::size_t bytes(std::size_t count) const noexcept {
    return std::max(count * size, sizeof(void*));
  }
};

namespace detail {

// The ways of a heap that a command names: the same bits.
[[nodiscard]] constexpr resize_way ways_of_command(allocation_type command) noexcept {
  return static_cast<resize_way>(command & (commands::growing | commands::shrinking));
}
static_assert(ways_of_command(commands::allocate_new) == resize_way::allocate_new &&
              ways_of_command(commands::expand_fwd) == resize_way::expand_forward &&
              ways_of_command(commands::expand_bwd) == resize_way::expand_backward &&
              ways_of_command(commands::shrink_in_place) == resize_way::shrink &&
              ways_of_command(commands::try_shrink_in_place) == resize_way::try_shrink);

}  // namespace detail

// What resize_by_address gives. `command` names ways to grow or ways to shrink, not both.
template <heap Heap>
[[nodiscard]] MALLARD_INLINE resize_result resize_objects(Heap& heap, allocation_type command,
                                                          std::size_t limit, std::size_t preferred,
                                                          void* reuse,
                                                          const object_layout& objects) noexcept {
  const std::size_t max_objects = max_request / objects.size;
  const resize_way ways = detail::ways_of_command(command);
  if ((command & commands::shrinking) != 0) {
    limit = std::min(limit, max_objects);
    const std::size_t least = objects.bytes(std::min(preferred, limit));
    const std::size_t most = std::max(limit * objects.size + (objects.size - 1), least);
    return resize_by_address(heap, {reuse, 0, objects.align, most, least, ways});
  }
  if (limit > max_objects) [[unlikely]]
    return {};
  preferred = std::clamp(preferred, limit, max_objects);
  return resize_by_address(
      heap, {reuse, 0, objects.align, objects.bytes(limit), objects.bytes(preferred), ways, objects.step});
}

}  // namespace mallard
