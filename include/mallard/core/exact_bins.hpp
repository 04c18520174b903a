// exact_bins: free blocks with boundary tags, one list for each small size.
//
//     32  [ring] <--> block <--> block <--> back to the ring      taken in front, put in front
//     48  [ring] <--> itself                                      empty
//     64  [....]                                                  not written yet: its bit is clear
//     ...  up to 1008
//
// The links lie in the blocks' data. A list is a ring, which needs no test for its ends: inserting or
// unlinking a block takes four stores. A bitmap finds the next larger size that has blocks: inserting sets
// the bit, and a search that finds the ring empty clears it, so unlinking need not look. Invariant: the bit
// of every size with blocks is set; a ring whose bit is clear is never read. Cost: O(1); 1 KiB, of which one
// word is written before the first block comes. Not synchronised. Seed 001, chapter 1.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "mallard/core/attributes.hpp"
#include "mallard/core/boundary_tag.hpp"

namespace mallard {

class exact_bins {
 public:
  // Blocks smaller than this many bytes, tags included, have a list.
  static constexpr std::size_t limit = 64 * boundary_tag::granule;

  exact_bins() noexcept {}  // NOLINT(modernize-use-equals-default): that could write all rings
  exact_bins(const exact_bins&) = delete;
  exact_bins& operator=(const exact_bins&) = delete;

  // Drops all blocks.
  void clear() noexcept { present_ = 0; }

  // Inserts a free block of `size` bytes.
  MALLARD_INLINE void put(boundary_tag* b, std::size_t size) noexcept {
    links& ring = ring_of(size);
    const std::uint64_t bit = std::uint64_t{1} << (size / boundary_tag::granule);
    if ((present_ & bit) == 0) {
      present_ |= bit;
      ring = {&ring, &ring};
    }
    links* const added = ::new (b->data()) links{ring.next, &ring};
    ring.next->previous = added;
    ring.next = added;
  }

  // The smallest block of at least `size` bytes; null if there is none.
  [[nodiscard]] boundary_tag* at_least(std::size_t size) noexcept {
    std::uint64_t candidates = present_ >> (size / boundary_tag::granule) << (size / boundary_tag::granule);
    for (; candidates != 0; candidates &= candidates - 1) {
      const auto index = static_cast<std::size_t>(std::countr_zero(candidates));
      if (rings_[index].next != &rings_[index]) return boundary_tag::of(rings_[index].next);
      present_ &= ~(std::uint64_t{1} << index);
    }
    return nullptr;
  }

  // Takes out a block that is in.
  MALLARD_INLINE static void remove(boundary_tag* b) noexcept {
    links* const removed = static_cast<links*>(b->data());
    removed->next->previous = removed->previous;
    removed->previous->next = removed->next;
  }

  // Calls f(block, size of its list) for every block until one call returns false, or a ring is found broken;
  // returns whether neither happened. O(blocks).
  template <class F>
  bool each(F f) const noexcept {
    for (std::uint64_t left = present_; left != 0; left &= left - 1) {
      const auto index = static_cast<std::size_t>(std::countr_zero(left));
      const links* const ring = &rings_[index];
      const links* before = ring;
      for (const links* l = ring->next; l != ring; before = l, l = l->next) {
        if (!f(boundary_tag::of(l), index * boundary_tag::granule)) return false;
        if (l->previous != before) return false;
      }
      if (ring->previous != before) return false;
    }
    return true;
  }

 private:
  struct links {
    links* next;
    links* previous;
  };
  static_assert(sizeof(links) == boundary_tag::granule);

  // A ring takes as many bytes as sizes are apart, so its place is the size itself.
  MALLARD_INLINE links& ring_of(std::size_t size) noexcept { return rings_[size / boundary_tag::granule]; }

  std::array<links, limit / boundary_tag::granule> rings_;
  std::uint64_t present_ = 0;
};

}  // namespace mallard
