// recall_index: where a number stood last, for any numbers.
//
//     row      3    8   20
//     number   a    b    a       at row 31, a stood 11 rows ago, b 23, c never
//
// Open addressing, at most half full, so a probe is short. A slot belongs to the present chunk if
// its stamp does, so starting a new one costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mallard::journal {

class recall_index {
 public:
  // Starts a chunk: nothing was noted yet.
  void forget() {
    count_ = 0;
    if (++stamp_ == 0) *this = {};
  }

  // How many rows before `row` the value was noted last; 0 if it was not.
  [[nodiscard]] std::size_t distance(std::uint64_t value, std::size_t row) const noexcept {
    if (count_ == 0) return 0;
    const slot& found = slots_[find(value)];
    return found.stamp == stamp_ ? row - found.row : 0;
  }

  void note(std::uint64_t value, std::size_t row) {
    if (count_ * 2 >= slots_.size()) grow();
    slot& found = slots_[find(value)];
    count_ += static_cast<std::size_t>(found.stamp != stamp_);
    found = {.value = value, .row = static_cast<std::uint32_t>(row), .stamp = stamp_};
  }

 private:
  struct slot {
    std::uint64_t value = 0;
    std::uint32_t row = 0;
    std::uint32_t stamp = 0;
  };

  // The slot that holds `value`, or the free one where it belongs.
  [[nodiscard]] std::size_t find(std::uint64_t value) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>((value * 0x9e3779b97f4a7c15U) >> 32) & mask;
    while (slots_[at].stamp == stamp_ && slots_[at].value != value) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    const std::vector<slot> before =
        std::exchange(slots_, std::vector<slot>(slots_.empty() ? 64 : slots_.size() * 2));
    for (const slot& s : before)
      if (s.stamp == stamp_) slots_[find(s.value)] = s;
  }

  std::vector<slot> slots_;
  std::size_t count_ = 0;    // of the present chunk
  std::uint32_t stamp_ = 1;  // of the present chunk
};

}  // namespace mallard::journal
