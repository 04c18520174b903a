// slab_pages: the pages of a slab that no block in use touches, given back to the system and used again.
//
//     pages of a slab    [ b . . . ][ . . . . ][ . . b . ][ . . . . ]     b: in use, .: free
//                                    '--------'            '--------'     given back
//
// A slab that only a few blocks keep holds 64 KiB for them. A free block needs memory only for its link to
// the next one, so blocks that begin in a given page are in no list. The slab's entry has a bit for each such
// page that blocks begin in; take() says which blocks there are when the slab needs them. Invariant: of the
// carved blocks, each is in use, in the free list, or begins in a given page. Plain state of one entry: the
// caller guards it. Cost: give() visits each block of the slab, and makes a system call for a run of pages.
// Seed 002, section 4.2 (memory that stays with a heap).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mallard/core/attributes.hpp"
#include "mallard/source/segment_spans.hpp"

namespace mallard {

// `Segments` has the size of a slab, and gives pages back.
template <class Segments>
class slab_pages {
 public:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t count = Segments::segment_bytes / page;

  // Numbers of blocks: the first one, and the one behind the last.
  struct range {
    std::size_t first;
    std::size_t end;
    [[nodiscard]] std::size_t size() const noexcept { return end - first; }
  };

  // A slab that is carved from its begin on.
  static void reset(segment& s) noexcept { s.stamp = 0; }

  // Whether give() is worth its time with `used` blocks in use: if they are scattered, a third of the pages
  // are free then. Next time at most half as many may be in use, unless the slab was in use again.
  [[nodiscard]] static bool is_sparse(const segment& s, std::size_t used) noexcept {
    return used <= std::min<std::size_t>(count, s.capacity / 2u) &&
           (used_then(s) == 0 || used <= used_then(s) / 2);
  }
  static void look_again(segment& s) noexcept { s.stamp = static_cast<std::uint32_t>(given(s)); }

  [[nodiscard]] static bool any(const segment& s) noexcept { return given(s) != 0; }

  // The blocks of a given page, which is in use again. Precondition: any().
  [[nodiscard]] static range take(segment& s) noexcept {
    const range blocks = begin_in(s, static_cast<std::size_t>(std::countr_zero(given(s))));
    s.stamp &= s.stamp - 1;
    return blocks;
  }

  // Blocks of all given pages.
  [[nodiscard]] static std::size_t blocks(const segment& s) noexcept {
    std::size_t sum = 0;
    for_each_block(s, [&sum](std::size_t) { ++sum; });
    return sum;
  }

  // Gives all pages back that can be, of the slab at `start`, with `used` blocks in use. O(blocks).
  MALLARD_NOINLINE static void give(segment& s, std::byte* start, std::size_t used) noexcept {
    const std::size_t empty = empty_pages(s, start) & ~given(s);
    std::size_t with_blocks = 0;
    for (std::size_t n = 0; n != count; ++n)
      if (begin_in(s, n).size() != 0) with_blocks |= std::size_t{1} << n;
    unlink(s, start, empty & with_blocks);
    s.stamp = static_cast<std::uint32_t>(used << count | given(s) | (empty & with_blocks));
    for (std::size_t n = 0; empty >> n != 0;) {
      n += static_cast<std::size_t>(std::countr_zero(empty >> n));
      const auto run = static_cast<std::size_t>(std::countr_one(empty >> n));
      Segments::purge_pages(start + n * page, run * page);
      n += run;
    }
  }

 private:
  static_assert(count <= 16, "the entry has room for a bit for each page, and for a number of blocks");

  // Blocks in use when pages were given last; 0: not since.
  static std::size_t used_then(const segment& s) noexcept { return s.stamp >> count; }
  static std::size_t given(const segment& s) noexcept { return s.stamp & ((std::size_t{1} << count) - 1); }

  // The carved blocks that begin in page `n`.
  static range begin_in(const segment& s, std::size_t n) noexcept {
    const auto first_from = [&s](std::size_t at) {
      return std::min<std::size_t>((at + s.size - 1) / s.size, s.carved);
    };
    return {first_from(n * page), first_from((n + 1) * page)};
  }

  template <class F>
  static void for_each_block(const segment& s, F f) noexcept {
    for (std::size_t left = given(s); left != 0; left &= left - 1) {
      const range blocks = begin_in(s, static_cast<std::size_t>(std::countr_zero(left)));
      for (std::size_t b = blocks.first; b != blocks.end; ++b) f(b);
    }
  }

  // A bit for each page that carved blocks touch, and none in use.
  static std::size_t empty_pages(const segment& s, const std::byte* start) noexcept {
    std::array<std::uint32_t, count> touched{};
    std::array<std::uint32_t, count> used{};
    const auto add = [&s](std::array<std::uint32_t, count>& to, std::size_t b, std::uint32_t by) {
      for (std::size_t n = b * s.size / page; n <= ((b + 1) * s.size - 1) / page; ++n) to[n] += by;
    };
    const auto take_off = [&](std::size_t b) { add(used, b, static_cast<std::uint32_t>(-1)); };
    for (std::size_t b = 0; b != s.carved; ++b) add(touched, b, 1);
    used = touched;
    for (const void* p = s.free; p != nullptr; p = *static_cast<void* const*>(p))
      take_off(offset(start, p) / s.size);
    for_each_block(s, take_off);
    std::size_t empty = 0;
    for (std::size_t n = 0; n != count; ++n)
      empty |= static_cast<std::size_t>(touched[n] != 0 && used[n] == 0) << n;
    return empty;
  }

  // Takes the free blocks that begin in these pages out of the list.
  static void unlink(segment& s, const std::byte* start, std::size_t pages) noexcept {
    void** link = &s.free;
    for (void* p = s.free; p != nullptr;) {
      void* const next = *static_cast<void**>(p);
      if ((pages >> offset(start, p) / page & 1) == 0) {
        *link = p;
        link = static_cast<void**>(p);
      }
      p = next;
    }
    *link = nullptr;
  }

  static std::size_t offset(const std::byte* start, const void* p) noexcept {
    return static_cast<std::size_t>(static_cast<const std::byte*>(p) - start);
  }
};

}  // namespace mallard
