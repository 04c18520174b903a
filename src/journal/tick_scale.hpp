// tick_scale: from ticks of a journal's clock to nanoseconds, rounded to the nearest.
//
// Damaged journals have any times and any rate: what does not fit becomes the largest number.
#pragma once

#include <cstdint>

namespace mallard::journal {

class tick_scale {
 public:
  explicit tick_scale(double ns_per_tick) noexcept : ns_per_tick_(ns_per_tick) {}

  [[nodiscard]] std::uint64_t ns(std::uint64_t ticks) const noexcept {
    if (ns_per_tick_ == 1) return ticks;  // exact, also beyond 2^53
    const double found = static_cast<double>(ticks) * ns_per_tick_ + 0.5;
    constexpr double too_many = 18446744073709551616.0;
    return found < too_many ? static_cast<std::uint64_t>(found) : UINT64_MAX;
  }

 private:
  double ns_per_tick_;
};

}  // namespace mallard::journal
