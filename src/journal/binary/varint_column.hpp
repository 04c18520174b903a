// varint_column: a column of varints that grows by one a row.
//
// Whether a number takes one byte or two cannot be predicted, so those below 2^14 are written without a
// branch on it: two bytes are stored, and the end moves by as many as count. Longer ones are rare, or come
// in runs. It reserves address space for the longest column; the system commits only the pages that were
// written.
#pragma once

#include <memory>

#include "journal/bytes/wire.hpp"

namespace mallard::journal {

class varint_column {
 public:
  explicit varint_column(std::size_t max_values)
      : bytes_(std::make_unique_for_overwrite<unsigned char[]>(max_values * max_varint_size + slack)),
        end_(bytes_.get()) {}

  void clear() noexcept { end_ = bytes_.get(); }

  void put(std::uint64_t value) noexcept { end_ += put_at(end_, value); }

  // The same, where nearly all take one byte.
  void put_short(std::uint64_t value) noexcept {
    if (value < 0x80) [[likely]]
      *end_++ = static_cast<unsigned char>(value);
    else
      put(value);
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

  // Writes the number, and returns how many bytes it takes.
  static std::size_t put_at(unsigned char* to, std::uint64_t value) noexcept {
    if (value >> 14 != 0) [[unlikely]]
      return put_long(to, value);
    const auto low = static_cast<std::uint32_t>(value);
    const auto more = static_cast<std::uint32_t>(low > 0x7f);
    store(to, static_cast<std::uint16_t>(low + (low & ~0x7fU) + (more << 7)));
    return 1 + more;
  }

  static std::size_t put_long(unsigned char* to, std::uint64_t value) noexcept {
    if (value >> 28 != 0) return static_cast<std::size_t>(put_varint(to, value) - to);
    auto word = static_cast<std::uint32_t>(value);
    const auto more = static_cast<std::uint32_t>(word >> 21 != 0);
    word = (word & 0x00003fffU) | ((word & 0x0fffc000U) << 2);
    word = (word & 0x007f007fU) | ((word & 0x3f803f80U) << 1);
    store(to, word | 0x00008080U | more << 23);
    return 3 + more;
  }

  std::unique_ptr<unsigned char[]> bytes_;
  unsigned char* end_;
};

}  // namespace mallard::journal
