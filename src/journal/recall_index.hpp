// recall_index: where a number stood last, for the encoder of `recall` columns.
//
// Open addressing over a power of two of slots, at least twice as many as rows, so a probe is short.
// A slot belongs to the present chunk if its stamp does, so starting a new one costs nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mallard::journal {

class recall_index {
 public:
  // Forgets everything; then up to `rows` numbers may be noted.
  void start(std::size_t rows) {
    const std::size_t slots = std::bit_ceil(rows * 2 + 1);
    if (slots > slots_.size() || ++stamp_ == 0) {
      slots_.assign(slots > slots_.size() ? slots : slots_.size(), slot{});
      stamp_ = 1;
    }
  }

  // How many rows before `row` the value was noted last; 0 if it was not.
  [[nodiscard]] std::size_t distance(std::uint64_t value, std::size_t row) const noexcept {
    const slot& found = slots_[find(value)];
    return found.stamp == stamp_ ? row - found.row : 0;
  }

  void note(std::uint64_t value, std::size_t row) noexcept {
    slots_[find(value)] = {.value = value, .row = static_cast<std::uint32_t>(row), .stamp = stamp_};
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

  std::vector<slot> slots_;
  std::uint32_t stamp_ = 0;
};

}  // namespace mallard::journal
