// chunk_sizes: the sizes in which free chunks are kept, counted in pages.
//
//     1 2 3 ... 64 | 66 68 ... 128 | 132 136 ... 256 | ... | 2^18
//     every page   | 32 sizes a doubling
//
// A chunk serves again only requests of its own size, so the fewer sizes there are, the sooner one fits;
// and what a request is rounded up by is memory held for nothing. 32 a doubling lose nothing up to 64
// pages, where most chunks are, and less than 1/32 of the request above. The largest, 1 GiB of pages of 4
// KiB, is the largest that monotonic_growth wishes for. Invariant: index(pages(i)) == i, and pages(index(n))
// >= n is the same for every size in between. Cost: three shifts.
#pragma once

#include <bit>
#include <cstddef>

namespace mallard {

class chunk_sizes {
  static constexpr std::size_t per_doubling = 32;
  static constexpr std::size_t exact = 2 * per_doubling;  // pages: up to here every size is one

 public:
  static constexpr std::size_t largest = std::size_t{1} << 18;  // pages
  static constexpr std::size_t count =
      exact + per_doubling * static_cast<std::size_t>(std::countr_zero(largest / exact));

  // The least size that holds `pages` pages; precondition: 0 < pages <= largest.
  [[nodiscard]] static constexpr std::size_t index(std::size_t pages) noexcept {
    const std::size_t last = pages - 1;
    if (last < exact) [[likely]]
      return last;
    const auto dropped = static_cast<std::size_t>(std::bit_width(last / exact));  // bits of `last`
    return dropped * per_doubling + (last >> dropped);
  }

  // Pages of the size `index`, below count.
  [[nodiscard]] static constexpr std::size_t pages(std::size_t index) noexcept {
    if (index < exact) [[likely]]
      return index + 1;
    const std::size_t dropped = index / per_doubling - 1;
    return (index - dropped * per_doubling + 1) << dropped;
  }
};

}  // namespace mallard
