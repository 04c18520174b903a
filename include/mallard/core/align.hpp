// Arithmetic on sizes, addresses and alignments.
//
// Alignments are powers of two, in bytes. No request is larger than `max_request`, so a size that
// is rounded up to an alignment of at most `max_request + 1` cannot wrap.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "mallard/core/version.hpp"

namespace mallard {

// Largest request, in bytes, that any heap considers; larger ones are answered with a null block.
inline constexpr std::size_t max_request = static_cast<std::size_t>(PTRDIFF_MAX);

// Alignment, in bytes, that suits every scalar type; malloc guarantees it.
inline constexpr std::size_t default_align = alignof(std::max_align_t);

// Data that different threads write is this many bytes apart where it matters: a line of the processor's
// caches.
inline constexpr std::size_t cache_line = 64;

// `value` rounded up to a multiple of `align`; precondition: the result fits.
[[nodiscard]] constexpr std::size_t align_up(std::size_t value, std::size_t align) noexcept {
  return (value + (align - 1)) & ~(align - 1);
}

// `value` rounded down to a multiple of `align`.
[[nodiscard]] constexpr std::size_t align_down(std::size_t value, std::size_t align) noexcept {
  return value & ~(align - 1);
}

[[nodiscard]] inline std::uintptr_t address_of(const void* p) noexcept {
  return reinterpret_cast<std::uintptr_t>(p);
}

[[nodiscard]] inline bool is_aligned(const void* p, std::size_t align) noexcept {
  return (address_of(p) & (align - 1)) == 0;
}

// Bytes from `p` to the next multiple of `align`; 0 if `p` is one.
[[nodiscard]] inline std::size_t padding_for(const void* p, std::size_t align) noexcept {
  return static_cast<std::size_t>(-address_of(p)) & (align - 1);
}

[[nodiscard]] constexpr bool is_valid_align(std::size_t align) noexcept { return std::has_single_bit(align); }

}  // namespace mallard
