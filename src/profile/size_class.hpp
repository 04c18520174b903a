// size_class: requested sizes, sorted into 64 classes, the scale of V and of every size histogram.
//
//     class     0        1  2  3  4      5 ...            62              63
//     sizes   0..8   9,10 11,12 ... 15,16  17..20 ...  .. 393216     all larger ones
//
// Four classes to a doubling, from 8 bytes to 384 KiB, so that a class is at most a quarter wide. The
// scale is fixed: V of two programs can be compared.
#pragma once

#include <bit>
#include <cstdint>

namespace mallard::profile {

inline constexpr unsigned size_classes = 64;

// The class of a request of `size` bytes.
[[nodiscard]] constexpr unsigned size_class(std::uint64_t size) noexcept {
  if (size <= 8) return 0;
  const std::uint64_t last = size - 1;  // so that a power of two ends its doubling
  const auto doubling = static_cast<unsigned>(std::bit_width(last)) - 1;  // at least 3
  const auto quarter = static_cast<unsigned>(last >> (doubling - 2)) & 3;
  const unsigned found = 1 + 4 * (doubling - 3) + quarter;
  return found < size_classes ? found : size_classes - 1;
}

// The largest size of a class in bytes; of the last class, the largest that is its own scale's.
[[nodiscard]] constexpr std::uint64_t largest_of_class(unsigned number) noexcept {
  if (number == 0) return 8;
  const unsigned doubling = 3 + (number - 1) / 4;
  return (std::uint64_t{5} + (number - 1) % 4) << (doubling - 2);
}

}  // namespace mallard::profile
