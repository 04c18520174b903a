// resize_objects: the allocation_command of seed 001 over any heap, with sizes in objects.
//
//     allocation_command(command, limit, preferred, reuse) --> resize_by_address, in bytes
//         growing      limit <= preferred     forward, backward by whole objects, anew
//         shrinking    preferred <= limit     at the end; what is behind the last whole object does not count
//
// Blocks have at least the size of a pointer, so that a chain can link them. Cost: the heap's, and a division
// by the object size where that is not a constant. Seed 001, "New functions for expansion capabilities".
#pragma once

#include <algorithm>
#include <cstddef>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/core/reallocate.hpp"
#include "mallard/core/resize.hpp"

namespace mallard {

// allocation_type: the set of things that an allocation_command may do, as bits.
//
//     allocate_new | expand_fwd | expand_bwd     grow: one of them, in the order forward, backward, new
//     shrink_in_place, try_shrink_in_place       return the end of a block
//     | nothrow_allocation                       return null instead of throwing
//
// The numbers are those of Boost.Container's commands, which are passed through. Seed 001, "New functions for
// expansion capabilities".
using allocation_type = unsigned;

namespace commands {

inline constexpr allocation_type allocate_new = 0x01;
inline constexpr allocation_type expand_fwd = 0x02;
inline constexpr allocation_type expand_bwd = 0x04;
inline constexpr allocation_type shrink_in_place = 0x08;
inline constexpr allocation_type nothrow_allocation = 0x10;
inline constexpr allocation_type try_shrink_in_place = 0x40;

inline constexpr allocation_type growing = allocate_new | expand_fwd | expand_bwd;
inline constexpr allocation_type shrinking = shrink_in_place | try_shrink_in_place;

}  // namespace commands

// Properties of the objects in a block, in bytes.
struct object_layout {
  std::size_t size;   // of one; not 0
  std::size_t align;  // as the block was allocated
  std::size_t step;   // the least common multiple of both

  // The size of a block of `count` objects; precondition: the product does not overflow.
  [[nodiscard]] constexpr std::size_t bytes(std::size_t count) const noexcept {
    return std::max(count * size, sizeof(void*));
  }
};

namespace detail {

// The resize ways that a command names: the same bits.
[[nodiscard]] constexpr resize_way ways_of_command(allocation_type command) noexcept {
  return static_cast<resize_way>(command & (commands::growing | commands::shrinking));
}
static_assert(ways_of_command(commands::allocate_new) == resize_way::allocate_new &&
              ways_of_command(commands::expand_fwd) == resize_way::expand_forward &&
              ways_of_command(commands::expand_bwd) == resize_way::expand_backward &&
              ways_of_command(commands::shrink_in_place) == resize_way::shrink &&
              ways_of_command(commands::try_shrink_in_place) == resize_way::try_shrink);

}  // namespace detail

// Returns the result of resize_by_address. `command` names ways to grow or ways to shrink, not both.
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
