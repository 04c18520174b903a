// duration_histogram: how often each duration came, for percentiles of any number of them in 26 KB.
//
//     ticks     0 1 2 ... 255 | 256 258 ... 510 | 512 516 ... 1020 | ... 2^32 - 1
//     a bucket         1               2                 4               128 to a doubling
//
// Log-linear, as HdrHistogram: exact below 256 ticks, above that a bucket is at most 1/128 of its durations
// wide. A percentile is the nearest rank (of n durations the ceil(part * n)-th), and where its bucket is wide
// the longest duration in it: never too low, at most 0.8 % too high. The longest of all is exact.
// O(1) to add, O(buckets) to ask.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"

namespace mallard::replay {

class duration_histogram {
 public:
  MALLARD_INLINE void add(std::uint32_t ticks) noexcept {
    ++buckets_[bucket_of(ticks)];
    longest_ = std::max(longest_, ticks);
  }

  void clear() noexcept {
    buckets_.fill(0);
    longest_ = 0;
  }

  [[nodiscard]] std::uint64_t count() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : buckets_) sum += n;
    return sum;
  }

  // What this many of 10,000 durations do not exceed; 0 of an empty histogram.
  [[nodiscard]] std::uint32_t percentile(unsigned of_10000) const noexcept {
    return at_rank((count() * of_10000 + 9999) / 10'000);
  }

  // What `rank` durations do not exceed, one at least; 0 of an empty histogram.
  [[nodiscard]] std::uint32_t at_rank(std::uint64_t rank) const noexcept {
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen != 0 && seen >= rank) return std::min(longest_in(i), longest_);
    }
    return 0;
  }

  [[nodiscard]] std::uint32_t longest() const noexcept { return longest_; }

 private:
  static constexpr unsigned fine_bits = 7;  // of a duration that its bucket tells apart, below the first 1
  static constexpr std::size_t fine = std::size_t{1} << fine_bits;
  static constexpr std::size_t buckets = (32 - fine_bits + 1) * fine;

  static constexpr std::size_t bucket_of(std::uint32_t ticks) noexcept {
    if (ticks < fine) return ticks;
    const unsigned dropped = static_cast<unsigned>(std::bit_width(ticks)) - fine_bits - 1;
    return dropped * fine + (ticks >> dropped);
  }

  static constexpr std::uint32_t longest_in(std::size_t bucket) noexcept {
    if (bucket < fine) return static_cast<std::uint32_t>(bucket);
    const std::size_t dropped = bucket / fine - 1;
    return static_cast<std::uint32_t>(((bucket - dropped * fine + 1) << dropped) - 1);
  }

  std::array<std::uint64_t, buckets> buckets_{};
  std::uint32_t longest_ = 0;
};

}  // namespace mallard::replay
