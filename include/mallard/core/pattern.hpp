// pattern: fills memory with one byte value and finds the first byte that differs.
//
//     fill         [ 7f 7f 7f 7f 7f 7f 7f 7f ]
//     first_other  [ 7f 7f 7f 00 7f 7f 7f 7f ]
//                             ^
//
// Debugging heaps use it to detect writes to memory that no caller owns. A write of the same value goes
// unnoticed. Cost: a memset, a memcmp.
#pragma once

#include <cstddef>
#include <cstring>

#include "mallard/core/version.hpp"

namespace mallard {

// Values that are odd, unlikely as text, small numbers or addresses, and distinct, so that a debugger's view
// shows what kind of memory it is.
enum class pattern : unsigned char {
  canary = 0xb7,  // around a block
  fresh = 0xc5,   // in a new block
  freed = 0xdf,   // in a freed block
};

inline void fill(void* begin, std::size_t size, pattern with) noexcept {
  std::memset(begin, static_cast<int>(with), size);
}

// The first of `size` bytes that no longer has the value it was filled with; null if all have.
[[nodiscard]] inline const std::byte* first_other(const void* begin, std::size_t size,
                                                  pattern with) noexcept {
  const auto* const bytes = static_cast<const std::byte*>(begin);
  const auto expected = static_cast<std::byte>(with);
  // All are equal if the first is, and each to its neighbour.
  if (size == 0 || (bytes[0] == expected && std::memcmp(bytes, bytes + 1, size - 1) == 0)) return nullptr;
  const std::byte* p = bytes;
  while (*p == expected) ++p;
  return p;
}

}  // namespace mallard
