// random_source: a small generator with the same sequence everywhere (xorshift-multiply mixing of a
// counter), or what a fuzzer has written, and the draws that traces need. Cost: O(1) a draw.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mallard::model {

class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed * 0x2545f4914f6cdd1du + 1) {}

  // Reads draws from these bytes, as many for each as its bound needs; after the last byte every draw is 0.
  explicit random_source(std::span<const std::uint8_t> written) : written_(written), is_written_(true) {}

  // Whether all bytes have been read.
  [[nodiscard]] bool is_over() const { return is_written_ && written_.empty(); }

  [[nodiscard]] std::uint64_t next() {
    if (is_written_) return read(sizeof(std::uint64_t));
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
    return z ^ (z >> 32);
  }

  // Uniform in [0, bound); precondition: bound > 0.
  [[nodiscard]] std::size_t below(std::size_t bound) {
    const std::uint64_t drawn = is_written_ ? read(bytes_for(bound)) : next();
    return static_cast<std::size_t>(drawn % bound);
  }

  // Uniform in [least, most].
  [[nodiscard]] std::size_t between(std::size_t least, std::size_t most) {
    return least + below(most - least + 1);
  }

  // In [least, most], each power of two as likely as any other; precondition: least > 0.
  [[nodiscard]] std::size_t spread(std::size_t least, std::size_t most) {
    const auto width = [](std::size_t n) { return static_cast<std::size_t>(std::bit_width(n)); };
    const std::size_t power = std::size_t{1} << between(width(least) - 1, width(most) - 1);
    const std::size_t low = power > least ? power : least;
    const std::size_t high = 2 * power - 1 < most ? 2 * power - 1 : most;
    return between(low, high);
  }

 private:
  static constexpr std::size_t bytes_for(std::size_t bound) {
    if (bound <= 1 << 8) return 1;
    return bound <= 1 << 16 ? 2 : sizeof(std::uint64_t);
  }

  [[nodiscard]] std::uint64_t read(std::size_t bytes) {
    std::uint64_t value = 0;
    for (; bytes != 0 && !written_.empty(); --bytes) {
      value = value << 8 | written_.front();
      written_ = written_.subspan(1);
    }
    return value;
  }

  std::uint64_t state_ = 0;
  std::span<const std::uint8_t> written_;
  bool is_written_ = false;
};

}  // namespace mallard::model
