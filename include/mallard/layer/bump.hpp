// bump: hands out one range of memory from its start to its end.
//
//     [ taken ........|pad|block| free ...............]
//                              ^ cursor               ^ end
//
// Blocks follow each other without headers; only alignment wastes memory. The block that ends at the cursor
// is the top one: it can grow forward and shrink in place. Invariant: cursor <= end; an empty bump has both
// null. Cost: take is a dozen instructions at most.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mallard/core/align.hpp"
#include "mallard/core/attributes.hpp"
#include "mallard/core/check.hpp"

namespace mallard {

class bump {
 public:
  bump() = default;
  bump(std::byte* begin, std::byte* end) noexcept : cursor_(address_of(begin)), end_(address_of(end)) {}

  // Bytes left, before any padding.
  [[nodiscard]] std::size_t room() const noexcept { return end_ - cursor_; }

  [[nodiscard]] std::byte* cursor() const noexcept { return reinterpret_cast<std::byte*>(cursor_); }
  [[nodiscard]] std::byte* end() const noexcept { return reinterpret_cast<std::byte*>(end_); }

  // Points `taken` to the next `size` (at least 1) bytes at a multiple of `align`; false if they do not fit.
  // No sum here can overflow: addresses of objects and `max_request` are below half the range.
  [[nodiscard]] MALLARD_INLINE bool take(std::size_t size, std::size_t align, void*& taken) noexcept {
    MALLARD_CHECK(size != 0 && is_valid_align(align));
    const std::uintptr_t start = align_up(cursor_, align);
    if (size > max_request || start + size > end_) return false;
    MALLARD_ASSUME(start != 0);
    cursor_ = start + size;
    taken = reinterpret_cast<void*>(start);
    return true;
  }

  [[nodiscard]] bool is_top(const void* p, std::size_t size) const noexcept {
    return address_of(p) + size == cursor_;
  }

  // Resizes the top block, which starts at `p`; precondition: the new size fits.
  void resize_top(const void* p, std::size_t size) noexcept {
    MALLARD_CHECK(size <= end_ - address_of(p));
    cursor_ = address_of(p) + size;
  }

  // Ends everything taken since the cursor was at `place`.
  void rewind(std::byte* place) noexcept { cursor_ = address_of(place); }

 private:
  std::uintptr_t cursor_ = 0;
  std::uintptr_t end_ = 0;
};

}  // namespace mallard
