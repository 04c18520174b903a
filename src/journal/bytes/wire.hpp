// wire: little-endian numbers and varints, as they lie in a journal.
//
//     300 as a varint:  [1|0101100] [0|0000010]     seven bits a byte, lowest first
//
// Reading checks every bound and throws `malformed`. It never reaches the user, who gets a warning about the
// section.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

namespace mallard::journal {

static_assert(std::endian::native == std::endian::little, "journals are little-endian, and read as they lie");

// Nothing can be read or written: one line for the user. what() is the reason alone, as in "cannot read FILE:
// reason"; the caller that prints it names the file.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A section cannot be used.
class malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using byte_vector = std::vector<unsigned char>;
using byte_span = std::span<const unsigned char>;

inline constexpr std::size_t max_varint_size = 10;  // bytes of a 64-bit number

template <class T>
[[nodiscard]] T load(const unsigned char* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void store(unsigned char* to, T value) noexcept {
  std::memcpy(to, &value, sizeof(T));
}

// Small differences of either sign become small numbers: 0, -1, 1, -2 ... -> 0, 1, 2, 3 ...
[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t difference) noexcept {
  return (difference << 1) ^ (0 - (difference >> 63));
}
[[nodiscard]] constexpr std::uint64_t unzigzag(std::uint64_t code) noexcept {
  return (code >> 1) ^ (0 - (code & 1));
}

[[nodiscard]] constexpr std::size_t varint_size(std::uint64_t value) noexcept {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Writes `value` at `to`, which has room for max_varint_size bytes; returns the place behind it.
inline unsigned char* put_varint(unsigned char* to, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    *to++ = static_cast<unsigned char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<unsigned char>(value);
  return to;
}

// Writes each value as the varint of its zigzag difference to the one before, the first one's to 0.
inline unsigned char* put_deltas(unsigned char* to, std::span<const std::uint64_t> values) noexcept {
  std::uint64_t before = 0;
  for (const std::uint64_t value : values) {
    to = put_varint(to, zigzag(value - before));
    before = value;
  }
  return to;
}

// A place in a run of bytes that moves forward as values are taken.
class byte_reader {
 public:
  explicit byte_reader(byte_span bytes) noexcept : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  [[nodiscard]] byte_span take(std::size_t count) {
    if (count > left()) throw malformed("its data is too short");
    const byte_span taken(at_, count);
    at_ += count;
    return taken;
  }

  template <class T>
  [[nodiscard]] T number() {
    return load<T>(take(sizeof(T)).data());
  }

  // Bytes of varints differ in number from value to value, so the common case, up to eight of them,
  // goes without a branch on it: find the last byte, cut behind it, close the gaps of one bit.
  [[nodiscard]] std::uint64_t varint() {
    if (left() >= 8) {
      auto word = load<std::uint64_t>(at_);
      const std::uint64_t last = ~word & 0x8080808080808080U;
      if (last != 0) {
        at_ += (std::countr_zero(last) >> 3) + 1;
        word &= (last ^ (last - 1)) & 0x7f7f7f7f7f7f7f7fU;
        word = (word & 0x007f007f007f007fU) | ((word & 0x7f007f007f007f00U) >> 1);
        word = (word & 0x00003fff00003fffU) | ((word & 0x3fff00003fff0000U) >> 2);
        return (word & 0x000000000fffffffU) | ((word & 0x0fffffff00000000U) >> 4);
      }
    }
    return long_varint();
  }

 private:
  [[nodiscard]] std::uint64_t long_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = take(1)[0];
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw malformed("a number in it has more than 64 bits");
  }

  const unsigned char* at_;
  const unsigned char* end_;
};

}  // namespace mallard::journal
