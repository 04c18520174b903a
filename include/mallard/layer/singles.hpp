// singles: new blocks of one size, cut one by one from where all other sizes are cut, too.
//
//     slab  [576][run of 48s][144][992][144][640].... untouched ....
//                                                ^ cursor
//
// Blocks that are asked for one after another follow each other in memory whatever their sizes, as those
// of a monotonic do: a page is filled before the next one is begun, so the processor fetches ahead what
// will be written next. None is carved before somebody wants it, and none has a header.
// For blocks so large that few of them would share a batch; smaller ones have `runs`.
// Where the blocks lie is not noted, only how many there are. So a block that is freed with another size is
// found where two then overlap, or where more of that size are freed than there are.
// It is plain state, one number: size and alignment and where blocks come from are passed in.
// Cost: O(1), a dozen instructions. Seed 001, chapter 3 ("Simple segregated storage").
#pragma once

#include <cstddef>

#include "mallard/core/attributes.hpp"
#include "mallard/layer/shared_chunks.hpp"

namespace mallard {

class singles {
 public:
  // Bytes of the smallest block that is cut singly: two lines of the processor's caches, so that a line is
  // shared with neighbours of other sizes at a block's ends only.
  static constexpr std::size_t least = 128;

  // A new block of `size` bytes at a multiple of `align` behind the last one, whatever its size; null where
  // it does not fit there.
  template <class Chunks>
  [[nodiscard]] MALLARD_INLINE void* carve(Chunks& from, std::size_t size, std::size_t align) noexcept {
    void* const taken = from.take(size, align);
    carved_ += static_cast<std::size_t>(taken != nullptr);
    return taken;
  }

  // The same, from anywhere; null when `from` is exhausted.
  template <class Chunks>
  [[nodiscard]] void* carve_elsewhere(Chunks& from, std::size_t size, std::size_t align) noexcept {
    void* const taken = from.take_elsewhere(size, align);
    carved_ += static_cast<std::size_t>(taken != nullptr);
    return taken;
  }

  // `count` new blocks that follow each other, or null with nothing changed.
  template <class Chunks>
  [[nodiscard]] std::byte* carve_adjacent(Chunks& from, std::size_t size, std::size_t align,
                                          std::size_t count) noexcept {
    std::byte* const taken = from.cut(0, align, size, count, count).begin;
    if (taken != nullptr) carved_ += count;
    return taken;
  }

  // Blocks carved so far.
  [[nodiscard]] std::size_t carved() const noexcept { return carved_; }

 private:
  std::size_t carved_ = 0;
};

}  // namespace mallard
