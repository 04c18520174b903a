// check_pass: replays a trace once, untimed, and proves that the allocator serves it rightly.
//
//     allocate   aligned as asked; no byte of it in another live block; filled with the block's pattern
//     calloc     every byte 0 before that
//     resize     what both sizes have in common is still there; then as at an allocation
//     free       the slot holds a live block; every byte of its pattern is still there
//
// The pattern depends on the block and on the place inside it, so that moved, swapped and
// overwritten contents show. Blocks of size 0 have no bytes and only need an address. Records are
// kept in memory of the harness's own. O(bytes allocated).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

#include "replay/run/block_calls.hpp"
#include "replay/trace/op.hpp"

namespace mallard::replay {

enum class check_verdict { passed, exhausted, broken };

struct check_result {
  check_verdict verdict = check_verdict::passed;
  const char* what = "";
  std::uint64_t stopped_at = 0;  // index of the op
};

// Performs ops [0, ops) and ends the pass; step(i) is what is wrong after an op, or null. `exhausted` says,
// once something is wrong, whether it is that the allocator had no memory.
template <class C, class Step>
check_result check_ops(C& c, std::uint64_t ops, Step step, const bool& exhausted) {
  std::uint64_t i = 0;
  try {
    for (; i < ops; ++i) {
      if (const char* violation = step(i))
        return {exhausted ? check_verdict::exhausted : check_verdict::broken, violation, i};
    }
    c.end_pass();
  } catch (const std::bad_alloc&) {
    return {check_verdict::exhausted, "std::bad_alloc", i};
  }
  return {};
}

// The word at a place of a block: odd multipliers, so that neither neighbours nor blocks agree.
constexpr std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t place) {
  return (seed * 0x9E3779B97F4A7C15u) ^ (place * 0xC2B2AE3D27D4EB4Fu + 0x165667B19E3779F9u);
}

// Fills `size` bytes at `p` with the pattern of block `seed`.
inline void write_pattern(void* p, std::size_t size, std::uint64_t seed) {
  auto* at = static_cast<std::byte*>(p);
  std::uint64_t place = 0;
  for (; size >= sizeof place; size -= sizeof place, at += sizeof place) {
    const std::uint64_t word = pattern_word(seed, place++);
    std::memcpy(at, &word, sizeof word);
  }
  const std::uint64_t word = pattern_word(seed, place);
  std::memcpy(at, &word, size);
}

[[nodiscard]] inline bool is_zero(const void* p, std::size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(p);
  return std::all_of(bytes, bytes + size, [](std::byte b) { return b == std::byte{0}; });
}

// Whether the first `size` bytes at `p` are the pattern of block `seed`.
[[nodiscard]] inline bool has_pattern(const void* p, std::size_t size, std::uint64_t seed) {
  const auto* at = static_cast<const std::byte*>(p);
  std::uint64_t place = 0;
  for (; size >= sizeof place; size -= sizeof place, at += sizeof place) {
    const std::uint64_t word = pattern_word(seed, place++);
    if (std::memcmp(at, &word, sizeof word) != 0) return false;
  }
  const std::uint64_t word = pattern_word(seed, place);
  return std::memcmp(at, &word, size) == 0;
}

[[nodiscard]] check_result check_pass(block_calls c, std::span<const op> ops, std::size_t slots);

}  // namespace mallard::replay
