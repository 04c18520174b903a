// median_counts: how often each number occurred, for the median of many.
//
//     0 1 2 ... 4095 | 4096 4098 ... 8190 | 8192 8196 ... |     numbers that are distinguished
//
// Exact below 4096, from there on to one part in 2048, so that memory is bounded by kinds of numbers and
// not by how many there are.
#pragma once

#include <bit>
#include <cstdint>
#include <map>

namespace mallard::profile {

class median_counts {
 public:
  void add(std::uint64_t number) {
    ++counts_[rounded(number)];
    ++total_;
  }

  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

  // The lower one of the two in the middle; 0 if there is none.
  [[nodiscard]] std::uint64_t median() const noexcept {
    std::uint64_t below = 0;
    for (const auto& [number, count] : counts_) {
      below += count;
      if (2 * below >= total_) return number;
    }
    return 0;
  }

 private:
  static constexpr int kept_bits = 12;

  [[nodiscard]] static std::uint64_t rounded(std::uint64_t number) noexcept {
    const int more = static_cast<int>(std::bit_width(number)) - kept_bits;
    return more <= 0 ? number : number >> more << more;
  }

  std::map<std::uint64_t, std::uint64_t> counts_;
  std::uint64_t total_ = 0;
};

}  // namespace mallard::profile
