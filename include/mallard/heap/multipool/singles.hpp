// singles: new blocks of one size, cut one at a time from the memory that all sizes share.
//
//     chunk  [576][run of 48s][144][992][144][640].... untouched ....
//                                                 ^ cursor
//
// Consecutive blocks follow each other in memory whatever their sizes, as in a monotonic: a page is filled
// before the next one is touched, so the processor prefetches what will be written next. No block is carved
// before it is requested, and none has a header. For blocks so large that few of them would fit into a batch;
// smaller ones use `runs`.
// Only the number of blocks is recorded, not their places. A block freed with the wrong size is therefore
// detected only when two blocks overlap, or when more blocks of a size are freed than exist. Plain state, one
// number: the caller passes size, alignment and source. Cost: O(1), a dozen instructions. Seed 001, chapter 3
// ("Simple segregated storage").
#pragma once

#include <cstddef>

#include "mallard/core/attributes.hpp"
#include "mallard/layer/shared_chunks.hpp"

namespace mallard {

class singles {
 public:
  // Size of the smallest block that is cut singly: two cache lines, so that a block shares lines with
  // neighbours of other sizes only at its ends.
  static constexpr std::size_t least = 128;

  // A new block of `size` bytes at a multiple of `align` behind the last one of any size; null if it does not
  // fit there.
  template <class Chunks>
  [[nodiscard]] MALLARD_INLINE void* carve(Chunks& from, std::size_t size, std::size_t align) noexcept {
    void* const taken = from.take(size, align);
    carved_ += static_cast<std::size_t>(taken != nullptr);
    return taken;
  }

  // The same from any place; null when `from` is exhausted.
  template <class Chunks>
  [[nodiscard]] void* carve_slow(Chunks& from, std::size_t size, std::size_t align) noexcept {
    void* const taken = from.take_slow(size, align);
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
