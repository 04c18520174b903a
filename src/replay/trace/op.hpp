// op: one thing a pass does to the allocator, 16 bytes.
//
//     allocate     slot <- block of `size` bytes; allocate_zeroed: all of them 0
//     deallocate   block in slot ends; `size` is what it has, for sized deallocation
//     reallocate   block in slot gets `size` bytes; the op behind it, `resized_from`, says what it had
//
// Slots replace addresses: a pass keeps its live blocks in an array indexed by slot. Slots are reused
// last in, first out, so that the array stays as small as the number of blocks ever alive at once.
//
// Alignment: what the event asked for, else the natural one of its size. A size says what it can hold:
// no object inside it is aligned more strictly than the largest power of two that fits, and one that
// needs 16 has a size that is a multiple of 16. So 24 bytes ask for 8, 48 for 16, 5 for 4.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mallard/core/align.hpp"

namespace mallard::replay {

enum class op_kind : std::uint8_t {
  allocate,
  allocate_aligned,  // more strictly than malloc promises for this size
  deallocate,
  allocate_zeroed,  // calloc
  reallocate,
  resized_from,  // second half of a reallocate
};

[[nodiscard]] constexpr bool is_allocation(op_kind k) noexcept {
  return k == op_kind::allocate || k == op_kind::allocate_aligned || k == op_kind::allocate_zeroed;
}

struct op {
  std::uint64_t size;  // bytes
  std::uint32_t slot;
  op_kind kind;
  std::uint8_t align_log2;
  std::uint16_t thread = 0;  // which of the recorded threads did it; where a part is replayed: heap()

  [[nodiscard]] std::size_t align() const noexcept { return std::size_t{1} << align_log2; }

  // Where a part is replayed: which of its heaps has the block, or had it; 0: none, it is the baseline's.
  [[nodiscard]] std::uint16_t heap() const noexcept { return thread; }
  void set_heap(std::uint16_t heap) noexcept { thread = heap; }
};
static_assert(sizeof(op) == 16);

[[nodiscard]] constexpr std::uint8_t natural_align_log2(std::uint64_t size) noexcept {
  if (size == 0) return 0;
  const std::size_t most = size % default_align == 0 ? default_align : default_align / 2;
  return static_cast<std::uint8_t>(std::countr_zero(std::min<std::uint64_t>(most, std::bit_floor(size))));
}

}  // namespace mallard::replay
