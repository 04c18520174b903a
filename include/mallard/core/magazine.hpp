// magazine: free blocks of one size class, as an array of pointers to them.
//
//     [0][ p ][ p ][ p ][   ][   ][full]
//         oldest        ^top
//
// A free list of links in the blocks writes each block that is freed, and reads each that is reused, whether
// it is in a cache or not. A magazine touches neither. The marks at both ends take the place of bounds: a pop
// finds 0 where there is no block, a push finds `full` where there is no room. So the fast paths need one
// pointer a class, and magazines may have any number of slots. The newest block is reused first.
// The caller provides the slots, and remembers where they are. Before that a magazine stands between two
// marks of its owner, where there is neither a block nor room. All magazines cannot share such marks: a
// program and a library may each have some, and a library may be unloaded before a heap that it has used.
// Cost: a push and a pop 6 instructions each, and two for a prefetch. Not synchronised. Magazines of mallocs:
// seed 003, chapter 3 (tcmalloc's and tbbmalloc's caches).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"

namespace mallard {

class magazine {
 public:
  // The address of a free block, 0, or `full`.
  using slot = std::uintptr_t;

  // Slots beside those for blocks: one below and one above.
  static constexpr std::size_t below = 1;
  static constexpr std::size_t marks = below + 1;

  // The marks of an owner for its magazines that are not open; nothing writes there.
  class no_slots {
   public:
    no_slots() = default;
    no_slots(const no_slots&) = delete;
    no_slots& operator=(const no_slots&) = delete;

   private:
    friend class magazine;
    std::array<slot, marks> marks_{0, full};
  };

  // Not open; `from` lives as long.
  explicit magazine(no_slots& from) noexcept : top_(from.marks_.data() + below) {}

  // Many of them, written one after the other without a loop.
  template <std::size_t... I>
  [[nodiscard]] static std::array<magazine, sizeof...(I)> closed(no_slots& from,
                                                                 std::index_sequence<I...>) noexcept {
    return {((void)I, magazine(from))...};
  }

  // Makes `slots` slots from `base` on, and the marks around them, an empty magazine. Inlined, as gcc would
  // leave it out where it has inlined much else, and a heap's life would take 45 instructions more.
  MALLARD_INLINE void open(slot* base, std::size_t slots) noexcept {
    std::fill_n(base - below, below + slots, slot{0});  // as what is there may look like a mark
    base[slots] = full;
    top_ = base;
  }

  [[nodiscard]] bool is_open(const no_slots& unless_in) const noexcept {
    return top_ != unless_in.marks_.data() + below;
  }

  // Whether the newest block, if any, is at a multiple of `align`.
  [[nodiscard]] MALLARD_INLINE bool newest_is_aligned(std::size_t align) const noexcept {
    return (top_[-1] & (align - 1)) == 0;
  }

  // The newest block; null if there is none.
  [[nodiscard]] MALLARD_INLINE void* pop() noexcept {
    const slot newest = top_[-1];
    if (newest == 0) [[unlikely]]
      return nullptr;
    --top_;
    __builtin_prefetch(reinterpret_cast<void*>(top_[-1]));  // the user of the next block writes it
    return reinterpret_cast<void*>(newest);
  }

  // Whether there was room.
  [[nodiscard]] MALLARD_INLINE bool push(void* p) noexcept {
    if (*top_ == full) [[unlikely]]
      return false;
    *top_++ = address_of(p);
    return true;
  }

  // Blocks, if the slots start at `base`.
  [[nodiscard]] std::size_t count(const slot* base) const noexcept {
    return static_cast<std::size_t>(top_ - base);
  }

  // Moves the blocks from the `gone` oldest on down to `base`; those are the caller's.
  void drop_oldest(slot* base, std::size_t gone) noexcept {
    if (gone != 0) top_ = std::copy(base + gone, top_, base);
  }

  // Drops the `gone` newest blocks, which are the caller's.
  void drop_newest(std::size_t gone) noexcept { top_ -= gone; }

  // Ends the room at a slot above all blocks, or lets it reach to the next mark again.
  static void end_at(slot& above) noexcept { above = full; }
  static void reach_beyond(slot& above) noexcept { above = 0; }

  // Of an empty magazine: the blocks in the slots from `from` to `end` are its own, the last one the newest.
  void fill(slot* base, slot* from, slot* end) noexcept {
    top_ = from == base ? end : std::copy(from, end, base);
  }

  // Whether the marks are there, and blocks between them.
  [[nodiscard]] bool is_intact(const slot* base, std::size_t slots) const noexcept {
    if (top_ < base || top_ > base + slots || base[slots] != full) return false;
    return std::all_of(base - below, base, [](slot s) { return s == 0; }) &&
           std::all_of(base, static_cast<const slot*>(top_), [](slot s) { return s > full; });
  }

 private:
  static constexpr slot full = 1;

  slot* top_;
};

}  // namespace mallard
