// address_ranges: memory ranges sorted by address, for the duration of one validation.
//
//     [begin, bytes] [begin, bytes] [begin, bytes] ...        a block's piece is found by halving
//
// A heap links its chunks and runs by age, so finding the one of a block takes a walk, and finding those of
// all blocks takes quadratic time. A validation sorts the ranges first and then looks each block up. Up to 32
// ranges lie in the object; more lie in pages from the system, which are returned at the end. If the system
// has no memory left, every address counts as inside. Cost: O(ranges log ranges) to build, O(log ranges) per
// lookup; 16 bytes per range.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/usage.hpp"
#include "mallard/source/os_pages.hpp"

namespace mallard {

class address_ranges {
 public:
  // `each(f)` calls f(begin, bytes) for every range, the same ones each time. They must not overlap, except
  // if only overlap() is used.
  template <class Each>
  explicit address_ranges(Each each) noexcept {
    std::size_t pieces = 0;
    each([&](const void*, std::size_t bytes) {
      ++pieces;
      bytes_ += bytes;
    });
    if (pieces > here_.size()) {
      pages_ = os_pages().allocate(pieces * sizeof(range), alignof(range));
      first_ = static_cast<range*>(pages_.data);
    }
    if (first_ == nullptr) return;
    each([this](const void* begin, std::size_t bytes) { first_[count_++] = {address_of(begin), bytes}; });
    std::sort(first_, first_ + count_, [](range a, range b) { return a.begin < b.begin; });
  }
  address_ranges(const address_ranges&) = delete;
  address_ranges& operator=(const address_ranges&) = delete;
  ~address_ranges() {
    if (pages_) os_pages().deallocate(pages_.data, pages_.size, alignof(range));
  }

  // Bytes of all ranges.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  // Whether `p` points into a range, at a multiple of `step` bytes from its start.
  [[nodiscard]] bool contains(const void* p, std::size_t step = 1) const noexcept {
    if (first_ == nullptr) return true;
    const range* const above = std::upper_bound(first_, first_ + count_, address_of(p),
                                                [](std::uintptr_t at, range r) { return at < r.begin; });
    if (above == first_) return false;
    const std::size_t offset = address_of(p) - above[-1].begin;
    return offset < above[-1].bytes && offset % step == 0;
  }

  // Whether two ranges overlap.
  [[nodiscard]] bool overlap() const noexcept {
    for (std::size_t i = 1; i < count_; ++i)
      if (first_[i].begin - first_[i - 1].begin < first_[i - 1].bytes) return true;
    return false;
  }

 private:
  struct range {
    std::uintptr_t begin;
    std::size_t bytes;
  };

  std::array<range, 32> here_;  // NOLINT(cppcoreguidelines-pro-type-member-init): the first count_ are read
  block pages_;
  range* first_ = here_.data();
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

// Checks that the freed blocks of a pool, `size` bytes each, were carved, and that there are not more of them
// than that. Each is looked up before its link is followed. O(blocks log ranges).
template <class FreeList>
[[nodiscard]] violation validate_freed(const FreeList& freed, const address_ranges& carved,
                                       std::size_t size) noexcept {
  std::size_t blocks = size == 0 ? 0 : carved.bytes() / size;
  for (const void* p = freed.top(); p != nullptr; p = FreeList::next(p)) {
    if (blocks-- == 0) return {"pool: more blocks are freed than were carved: a circle"};
    if (!carved.contains(p, size)) return {"pool: a freed block is none of the pool's"};
  }
  return {};
}

}  // namespace mallard
