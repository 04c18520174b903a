// exact_bins: free blocks of boundary tags, one list for each small size.
//
//     32  [ring] <--> block <--> block <--> back to the ring      taken in front, put in front
//     48  [ring] <--> itself                                      empty
//     ...  up to 1008
//
// The links stand in the blocks' data. A ring needs no test for its ends, so a block is put, taken or
// unlinked in four stores. A word with a bit for each size finds the next larger one that has blocks: a bit
// is set when a block is put and cleared when a search finds the ring empty, so that what takes and unlinks
// need not look. Invariant: the bit of a size that has blocks is set. Cost: O(1); 1 KiB. Not synchronised.
// Seed 001, chapter 1.
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

  exact_bins() noexcept {
#pragma GCC unroll 16
    for (links& ring : rings_) ring = {&ring, &ring};
  }
  exact_bins(const exact_bins&) = delete;
  exact_bins& operator=(const exact_bins&) = delete;

  // Drops all blocks. O(sizes that had some).
  void clear() noexcept {
    for (; present_ != 0; present_ &= present_ - 1) {
      links& ring = rings_[static_cast<std::size_t>(std::countr_zero(present_))];
      ring = {&ring, &ring};
    }
  }

  // Puts a free block of `size` bytes in.
  MALLARD_INLINE void put(boundary_tag* b, std::size_t size) noexcept {
    links& ring = ring_of(size);
    links* const added = ::new (b->data()) links{ring.next, &ring};
    ring.next->previous = added;
    ring.next = added;
    present_ |= std::uint64_t{1} << (size / boundary_tag::granule);
  }

  // Takes a block of exactly `size` bytes out; null when there is none.
  [[nodiscard]] MALLARD_INLINE boundary_tag* take(std::size_t size) noexcept {
    links& ring = ring_of(size);
    links* const taken = ring.next;
    if (taken == &ring) return nullptr;
    ring.next = taken->next;
    taken->next->previous = &ring;
    return boundary_tag::of(taken);
  }

  // The smallest block of at least `size` bytes; null when there is none.
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

  // Calls f(block, size of its list) for every block until one call returns false; returns whether none did.
  // A ring that is broken ends the walk the same way. O(blocks).
  template <class F>
  bool each(F f) const noexcept {
    for (std::size_t index = 0; index < rings_.size(); ++index) {
      const links* const ring = &rings_[index];
      const links* before = ring;
      for (const links* l = ring->next; l != ring; before = l, l = l->next) {
        if (!f(boundary_tag::of(l), index * boundary_tag::granule)) return false;
        if (l->previous != before || (present_ >> index & 1) == 0) return false;
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
