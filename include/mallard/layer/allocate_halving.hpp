// allocate_halving: as much of what a growth policy wishes as an upstream can give.
//
//     wished  [........................]   null
//             [............]               null
//             [......]                     a block; or `least` bytes, or null
//
// A heap near its bound goes on with smaller chunks instead of none. Cost: a request, and one more for each
// time that the wish is halved.
#pragma once

#include <algorithm>
#include <cstddef>

#include "mallard/core/attributes.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/concepts.hpp"

namespace mallard {

// The same for what has been asked for in vain.
template <heap Upstream>
MALLARD_NOINLINE block allocate_half(Upstream& from, std::size_t wished, std::size_t least,
                                     std::size_t align) noexcept {
  block memory;
  while (!memory && wished != least) {
    wished = std::max(least, wished / 2);
    memory = from.allocate(wished, align);
  }
  return memory;
}

// A block of at least `least` bytes at `align`, at best of `wished`; null where even the least cannot be had.
// Precondition: least <= wished.
template <heap Upstream>
[[nodiscard]] MALLARD_INLINE block allocate_halving(Upstream& from, std::size_t wished, std::size_t least,
                                                    std::size_t align) noexcept {
  const block memory = from.allocate(wished, align);
  if (memory || wished == least) [[likely]]
    return memory;
  return allocate_half(from, wished, least, align);
}

}  // namespace mallard
