// pool_statistics: what one pool of a heap is made of, in blocks.
//
//     carved  [ live | live | free | live | free ]  untouched ......
//
// Found by walking the pool's free list when asked; nothing is counted while it works.
#pragma once

#include <cstddef>

namespace mallard {

struct pool_statistics {
  std::size_t block_size = 0;  // bytes of each block: the received size
  std::size_t carved = 0;      // blocks that have ever been handed out since the last clear or release
  std::size_t free = 0;        // of these, blocks that were freed and wait for the next request

  [[nodiscard]] constexpr std::size_t live() const noexcept { return carved - free; }

  friend constexpr bool operator==(const pool_statistics&, const pool_statistics&) = default;
};

}  // namespace mallard
