// varint_column: a column of varints that grows by one a row.
//
// Numbers below 2^28 are written without a branch on their length, which is not to be guessed: the
// seven-bit groups are spread over four bytes, all are stored, and the end moves by as many as
// count. The room is as large as it can become, and memory only where it was written.
#pragma once

#include <memory>

#include "journal/wire.hpp"

namespace mallard::journal {

class varint_column {
 public:
  explicit varint_column(std::size_t max_values)
      : bytes_(std::make_unique_for_overwrite<unsigned char[]>(max_values * max_varint_size + slack)),
        end_(bytes_.get()) {}

  void clear() noexcept { end_ = bytes_.get(); }

  void put(std::uint64_t value) noexcept { end_ = put_behind(value); }

  // Puts nothing unless `wanted`, in the same time.
  void put_if(bool wanted, std::uint64_t value) noexcept {
    unsigned char* const behind = put_behind(value);
    end_ = wanted ? behind : end_;
  }

  // Puts the bytes of another column.
  void put_all(const varint_column& other) noexcept {
    const byte_span more = other.bytes();
    std::memcpy(end_, more.data(), more.size());
    end_ += more.size();
  }

  [[nodiscard]] byte_span bytes() const noexcept { return {bytes_.get(), end_}; }

 private:
  static constexpr std::size_t slack = 8;

  // Writes at the end, and returns the place behind.
  unsigned char* put_behind(std::uint64_t value) noexcept {
    if (value >> 28 != 0) [[unlikely]]
      return put_varint(end_, value);
    auto word = static_cast<std::uint32_t>(value);
    const std::size_t size = (static_cast<std::size_t>(std::bit_width(word | 1)) * 9 + 64) >> 6;
    word = (word & 0x00003fffU) | ((word & 0x0fffc000U) << 2);
    word = (word & 0x007f007fU) | ((word & 0x3f803f80U) << 1);
    store(end_, word | 0x00808080U >> (8 * (4 - size)));
    return end_ + size;
  }

  std::unique_ptr<unsigned char[]> bytes_;
  unsigned char* end_;
};

}  // namespace mallard::journal
