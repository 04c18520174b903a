// size_classes: the sizes to which a segregating heap rounds requests.
//
//     Step  2*Step ... Dense | Dense * (1 + 1/P)  Dense * (1 + 2/P) ... 2 * Dense | ...  Largest
//       every Step bytes     |  PerDoubling classes a doubling                    |
//
// A class wastes less than Step bytes of a block up to Dense, and at most 1/PerDoubling of a larger one.
// A request with alignment A is first rounded up to a multiple of A; its class is again a multiple of A. A
// block is therefore aligned to A if blocks lie at multiples of their class's natural alignment, the largest
// power of two that divides it. This holds up to `max_align`.
// A larger size never has a smaller class, so every size between the requested and the received one has the
// same class at the same alignment: deallocate may be given any of them.
// Cost: up to `small` bytes one load from a table with an entry per byte, 1 KiB, of which a program touches
// only the lines of its own sizes; above, a few shifts; for constants nothing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mallard/core/version.hpp"

namespace mallard {

// `Least` is the smallest class that requests find, for heaps that write more than a link into a freed block.
template <std::size_t Step, std::size_t Dense, std::size_t PerDoubling, std::size_t Largest,
          std::size_t Least = Step>
class size_classes {
  static_assert(std::has_single_bit(Step) && Step >= sizeof(void*), "a free block holds a link");
  static_assert(std::has_single_bit(Dense) && std::has_single_bit(PerDoubling) &&
                std::has_single_bit(Largest));
  static_assert(Step <= Dense / PerDoubling && Dense <= Largest);
  static_assert(Step <= Least && Least <= Dense);
  static_assert(std::has_single_bit(Least), "so that every alignment up to it divides it");
  static_assert(Largest <= UINT32_MAX, "the table holds 32 bits a size");

  static constexpr std::size_t dense_count = Dense / Step;

 public:
  // The template arguments, in bytes.
  static constexpr std::size_t step = Step;
  static constexpr std::size_t dense = Dense;
  static constexpr std::size_t per_doubling = PerDoubling;

  // The largest size and alignment, in bytes, that have a class.
  static constexpr std::size_t largest = Largest;
  static constexpr std::size_t max_align = std::min<std::size_t>(64, Dense);

  // Sizes up to this one are looked up in a table.
  static constexpr std::size_t small = std::min<std::size_t>(1024, Largest);

  static constexpr std::size_t count =
      dense_count + PerDoubling * static_cast<std::size_t>(std::countr_zero(Largest / Dense));
  static_assert(count <= 256, "the table holds a byte a size");

  [[nodiscard]] static constexpr bool serves(std::size_t size, std::size_t align) noexcept {
    return size <= largest && align <= max_align;
  }

  // Whether a request is looked up in the table; one for 0 bytes is not, and so costs others nothing. Both
  // are always computed: one branch takes fewer instructions than two.
  [[nodiscard]] static constexpr bool is_small(std::size_t size, std::size_t align) noexcept {
    return (size - 1 < small) & (align <= max_align);
  }

  // The class of a request; precondition for small_index: is_small; for index: serves.
  [[nodiscard]] static constexpr std::size_t small_index(std::size_t size, std::size_t align) noexcept {
    return table[(size - 1) | (align - 1)];
  }

  [[nodiscard]] static constexpr std::size_t index(std::size_t size, std::size_t align) noexcept {
    return compute((size - static_cast<std::size_t>(size != 0)) | (align - 1));
  }

  // Size of a block of class `index`: the received size.
  [[nodiscard]] static constexpr std::size_t size(std::size_t index) noexcept { return sizes[index]; }

  // The alignment of blocks of `size` bytes, the size of a class.
  [[nodiscard]] static constexpr std::size_t natural_align(std::size_t size) noexcept {
    return std::min(max_align, size & (~size + 1));
  }

 private:
  // The class of a size whose last byte is at `last`.
  static constexpr std::size_t compute(std::size_t last) noexcept {
    if constexpr (Least > Step) last = std::max(last, Least - 1);
    if (last < Dense) return last / Step;
    const auto doubling = static_cast<std::size_t>(std::bit_width(last)) - 1;  // 2^doubling <= last
    const std::size_t within = (last >> (doubling - log2(PerDoubling))) - PerDoubling;
    return dense_count + (doubling - log2(Dense)) * PerDoubling + within;
  }

  static constexpr std::size_t log2(std::size_t power) noexcept {
    return static_cast<std::size_t>(std::countr_zero(power));
  }

  static constexpr std::size_t size_of_class(std::size_t index) noexcept {
    if (index < dense_count) return (index + 1) * Step;
    const std::size_t doubling = Dense << ((index - dense_count) / PerDoubling);
    return doubling + doubling / PerDoubling * ((index - dense_count) % PerDoubling + 1);
  }

  static constexpr std::array<std::uint32_t, count> sizes = [] {
    std::array<std::uint32_t, count> filled{};
    for (std::size_t i = 0; i < count; ++i) filled[i] = static_cast<std::uint32_t>(size_of_class(i));
    return filled;
  }();

  static constexpr std::array<std::uint8_t, small> table = [] {
    std::array<std::uint8_t, small> filled{};
    for (std::size_t i = 0; i < filled.size(); ++i) filled[i] = static_cast<std::uint8_t>(compute(i));
    return filled;
  }();
};

// large_sizes: the sizes to which heaps round blocks from 1 KiB to 32 KiB that a list of their size reuses.
//
//     1040  1104  1168 ... 2064  2192 ... 4112 ... 32784        16 for each doubling
//
// Each is 16 bytes more than a size class: blocks of 4 KiB that follow each other would otherwise all begin
// in the same lines of a cache. On average a block is a 32nd larger than its request.
class large_sizes {
  using classes = size_classes<64, 1024, 16, 32768>;
  static constexpr std::size_t shift = 16;
  static constexpr std::size_t first = classes::index(1024, 1);

 public:
  static constexpr std::size_t count = classes::count - first;
  static constexpr std::size_t least = 1024 + shift;
  static constexpr std::size_t largest = classes::largest + shift;

  // The least such size for `size` bytes; precondition: at most `largest`.
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t size) noexcept {
    return classes::size(classes::index(std::max(size, least) - shift, 1)) + shift;
  }

  // The number of the size `size`.
  [[nodiscard]] static constexpr std::size_t index(std::size_t size) noexcept {
    return classes::index(size - shift, 1) - first;
  }

  // The number of the largest size that a block of `size` bytes has room for; precondition: at least `least`,
  // below the double of `largest`.
  [[nodiscard]] static constexpr std::size_t index_within(std::size_t size) noexcept {
    return std::min(classes::index(size - shift + 1, 1), classes::count) - 1 - first;
  }

  [[nodiscard]] static constexpr std::size_t size(std::size_t index) noexcept {
    return classes::size(first + index) + shift;
  }
};

}  // namespace mallard
