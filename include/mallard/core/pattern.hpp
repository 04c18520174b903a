// pattern: bytes filled with one value, and the first that is another.
//
//     fill         [ 7f 7f 7f 7f 7f 7f 7f 7f ]
//     first_other  [ 7f 7f 7f 00 7f 7f 7f 7f ]
//                             ^
//
// How heaps for debugging see that memory was written to that belongs to nobody. A write of the very value
// that stood there is not seen. Cost: a memset, a memcmp.
#pragma once

#include <cstddef>
#include <cstring>

namespace mallard {

// Odd values, unlikely as text, small numbers or addresses, and different, so that a debugger's view tells
// what one looks at.
enum class pattern : unsigned char {
  canary = 0xb7,  // around a block
  fresh = 0xc5,   // in a block that nobody has written to
  freed = 0xdf,   // in a block that was given back
};

inline void fill(void* begin, std::size_t size, pattern with) noexcept {
  std::memset(begin, static_cast<int>(with), size);
}

// The first of `size` bytes that is no longer what it was filled with; null if all are.
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
