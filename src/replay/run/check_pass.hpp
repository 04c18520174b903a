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

#include "harness/mapping.hpp"
#include "mallard/core/align.hpp"
#include "replay/run/byte_shadow.hpp"
#include "replay/run/pass.hpp"

namespace mallard::replay {

enum class check_verdict { passed, exhausted, broken };

struct check_result {
  check_verdict verdict = check_verdict::passed;
  const char* what = "";
  std::uint64_t stopped_at = 0;  // index of the op
};

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

template <block_allocator C>
class checker {
 public:
  checker(C& c, std::size_t slots)
      : allocator_(c),
        memory_(slots * sizeof(live_block), harness::fill::at_first_touch),
        live_(static_cast<live_block*>(memory_.data())) {}

  check_result replay(std::span<const op> ops) {
    std::uint64_t i = 0;
    try {
      for (; i < ops.size(); ++i) {
        if (const char* violation = step(&ops[i], i + 1))
          return {exhausted_ ? check_verdict::exhausted : check_verdict::broken, violation, i};
      }
      allocator_.end_pass();
    } catch (const std::bad_alloc&) {
      return {check_verdict::exhausted, "std::bad_alloc", i};
    }
    return {};
  }

 private:
  struct live_block {
    void* data;
    std::uint64_t seed;  // 0: no live block in this slot
  };

  // What is wrong after this op, or null.
  const char* step(const op* o, std::uint64_t seed) {
    switch (o->kind) {
      case op_kind::allocate:
        return allocated(allocator_.allocate(*o), *o, seed);
      case op_kind::allocate_aligned:
        return allocated(allocator_.allocate_aligned(*o), *o, seed);
      case op_kind::deallocate:
        return freed(*o);
      case op_kind::reallocate:
        return resized(o[0], o[1], seed);
      case op_kind::resized_from:
        return nullptr;
      case op_kind::allocate_zeroed:
        return zeroed(allocate_zeroed(allocator_, *o), *o, seed);
    }
    return "unknown operation";
  }

  const char* allocated(void* p, const op& o, std::uint64_t seed) {
    if (p == nullptr) {
      exhausted_ = true;
      return "an allocation was refused";
    }
    live_block& b = live_[o.slot];
    if (b.seed != 0) return "an allocation into a slot that is taken";
    if (!is_aligned(p, o.align())) return "a block is not aligned as asked";
    if (!shadow_.claim(p, o.size)) return "two live blocks overlap";
    write_pattern(p, o.size, seed);
    b = {p, seed};
    return nullptr;
  }

  // Looked at before the pattern is written.
  const char* zeroed(void* p, const op& o, std::uint64_t seed) {
    const bool all_zero = p == nullptr || is_zero(p, o.size);
    const char* const violation = allocated(p, o, seed);
    return violation == nullptr && !all_zero ? "a block of calloc is not zero" : violation;
  }

  const char* freed(const op& o) {
    live_block& b = live_[o.slot];
    if (b.seed == 0) return "a free without its allocation";
    if (!has_pattern(b.data, o.size, b.seed))
      return "contents written at the allocation are damaged at the free";
    if (!shadow_.leave(b.data, o.size)) return "a free of bytes that are not allocated";
    allocator_.deallocate(b.data, o);
    b.seed = 0;
    return nullptr;
  }

  const char* resized(const op& to, const op& from, std::uint64_t seed) {
    live_block& b = live_[to.slot];
    if (b.seed == 0) return "a reallocation without its allocation";
    if (!has_pattern(b.data, from.size, b.seed))
      return "contents written at the allocation are damaged at a resize";
    if (!shadow_.leave(b.data, from.size)) return "a reallocation of bytes that are not allocated";
    void* const moved = allocator_.reallocate(b.data, to, from);
    if (moved != nullptr && !has_pattern(moved, std::min(to.size, from.size), b.seed))
      return "contents are damaged by a resize";
    b.seed = 0;
    return allocated(moved, to, seed);
  }

  C& allocator_;
  harness::scratch memory_;
  live_block* live_;
  byte_shadow shadow_;
  bool exhausted_ = false;
};

template <block_allocator C>
check_result check_pass(C& c, std::span<const op> ops, std::size_t slots) {
  return checker<C>(c, slots).replay(ops);
}

}  // namespace mallard::replay
