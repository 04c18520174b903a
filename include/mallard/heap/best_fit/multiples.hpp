// multiples: the multiples of an object's size that an address may move by, found without a division.
//
//     step 12, granule 16:   common 48     down(100) = 96     up(100) = 144
//
// A block that grows backward moves its begin by a multiple of its objects' size and of the heap's granule,
// of the least common multiple of both. The granule is a power of two, so that is a shift; what is left of
// the size is odd, and for the odd factors of most sizes, up to 15, the compiler divides by a constant.
// Cost: about 10 instructions, with a division for other sizes. Seed 001, "Testing backwards expansion".
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "mallard/core/check.hpp"

namespace mallard {

class multiples {
 public:
  // Of both `step` and `granule`, a power of two; precondition: step > 0, and step * granule does not
  // overflow.
  multiples(std::size_t step, std::size_t granule) noexcept
      : shift_(std::max(std::countr_zero(step), std::countr_zero(granule))),
        odd_(step >> std::countr_zero(step)) {
    MALLARD_CHECK(step != 0 && std::has_single_bit(granule));
  }

  // The least of them above 0.
  [[nodiscard]] std::size_t least() const noexcept { return odd_ << shift_; }

  // The largest that is not above `bytes`.
  [[nodiscard]] std::size_t down(std::size_t bytes) const noexcept {
    return quotient(bytes >> shift_) * odd_ << shift_;
  }

  // The least that is not below `bytes`; precondition: it does not overflow.
  [[nodiscard]] std::size_t up(std::size_t bytes) const noexcept { return down(bytes + least() - 1); }

 private:
  [[nodiscard]] std::size_t quotient(std::size_t units) const noexcept {
    switch (odd_) {
      case 1:
        return units;
      case 3:
        return units / 3;
      case 5:
        return units / 5;
      case 7:
        return units / 7;
      case 9:
        return units / 9;
      case 11:
        return units / 11;
      case 13:
        return units / 13;
      case 15:
        return units / 15;
      default:
        return units / odd_;
    }
  }

  int shift_;
  std::size_t odd_;
};

}  // namespace mallard
