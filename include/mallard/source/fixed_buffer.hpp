// fixed_buffer: serves blocks from one buffer that the caller provides.
//
//     buffer  [ taken | hole --next--> | taken | hole --next--> null ]
//
// Holes are kept in address order and merged with their neighbours, so blocks may return in any order, and
// when all have, the whole buffer is one hole again. First fit. Taken blocks have no headers: the received
// size is the requested size rounded up to `granule`, and deallocate rounds the same way. Cost: O(holes); it
// is meant for chunks, not for objects.
// The buffer must outlive the heap. Invariant: holes are in ascending order, granule-aligned, not adjacent.
#pragma once

#include <cstddef>
#include <new>

#include "mallard/core/align.hpp"
#include "mallard/core/block.hpp"
#include "mallard/core/check.hpp"
#include "mallard/core/usage.hpp"

namespace mallard {

class fixed_buffer {
 public:
  // Blocks begin and end at multiples of this many bytes.
  static constexpr std::size_t granule = default_align;

  fixed_buffer(void* buffer, std::size_t size) noexcept {
    const std::size_t lost = padding_for(buffer, granule);
    if (buffer == nullptr || size < lost + granule) return;
    begin_ = static_cast<std::byte*>(buffer) + lost;
    capacity_ = align_down(size - lost, granule);
    first_ = ::new (static_cast<void*>(begin_)) hole{nullptr, capacity_};
  }
  fixed_buffer(const fixed_buffer&) = delete;
  fixed_buffer& operator=(const fixed_buffer&) = delete;

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  [[nodiscard]] std::size_t received_size(std::size_t size, std::size_t align) const noexcept {
    const std::size_t before = padding_for(begin_, align);
    if (size > capacity_ || before > capacity_ || rounded(size) > capacity_ - before) return 0;
    return rounded(size);
  }

  [[nodiscard]] block allocate(std::size_t size, std::size_t align) noexcept {
    MALLARD_CHECK(is_valid_align(align));
    if (size > capacity_) return {};
    const std::size_t wanted = rounded(size);
    for (hole** link = &first_; *link != nullptr; link = &(*link)->next) {
      const std::size_t before = padding_for(*link, align);
      if (before <= (*link)->size && wanted <= (*link)->size - before) return take(link, before, wanted);
    }
    return {};
  }

  void deallocate(void* p, std::size_t size, std::size_t) noexcept {
    MALLARD_CHECK(owns(p));
    hole* before = nullptr;
    hole* after = first_;
    while (after != nullptr && address_of(after) < address_of(p)) {
      before = after;
      after = after->next;
    }
    hole* const added = ::new (p) hole{after, rounded(size)};
    if (before == nullptr)
      first_ = added;
    else
      before->next = added;
    merge_with_next(added);
    if (before != nullptr) merge_with_next(before);
  }

  [[nodiscard]] bool owns(const void* p) const noexcept {
    return address_of(p) - address_of(begin_) < capacity_;
  }

  [[nodiscard]] heap_usage usage() const noexcept {
    std::size_t free_bytes = 0;
    for (const hole* h = first_; h != nullptr; h = h->next) free_bytes += h->size;
    const std::size_t taken = capacity_ - free_bytes;
    return {capacity_, taken, taken};
  }

  [[nodiscard]] violation validate() const noexcept {
    std::uintptr_t least = address_of(begin_);
    for (const hole* h = first_; h != nullptr; h = h->next) {
      if (!owns(h)) return {"fixed_buffer: a hole lies outside the buffer"};
      if (!is_aligned(h, granule)) return {"fixed_buffer: a hole is misaligned"};
      if (address_of(h) < least) return {"fixed_buffer: holes are out of order or not merged"};
      if (h->size == 0 || h->size % granule != 0) return {"fixed_buffer: a hole has no valid size"};
      if (h->size > capacity_ - (address_of(h) - address_of(begin_)))
        return {"fixed_buffer: a hole reaches beyond the buffer"};
      least = address_of(h) + h->size + 1;
    }
    return {};
  }

 private:
  struct hole {
    hole* next;
    std::size_t size;
  };
  static_assert(sizeof(hole) <= granule);

  static constexpr std::size_t rounded(std::size_t size) noexcept {
    return align_up(size == 0 ? 1 : size, granule);
  }

  // Takes [before, before + wanted) out of the hole at *link; the rest at either end remains a hole.
  static block take(hole** link, std::size_t before, std::size_t wanted) noexcept {
    hole* const whole = *link;
    std::byte* const start = reinterpret_cast<std::byte*>(whole) + before;
    const std::size_t after = whole->size - before - wanted;
    hole* rest = whole->next;
    if (after != 0) rest = ::new (static_cast<void*>(start + wanted)) hole{rest, after};
    if (before != 0) {
      whole->size = before;
      link = &whole->next;
    }
    *link = rest;
    return {start, wanted};
  }

  static void merge_with_next(hole* h) noexcept {
    hole* const next = h->next;
    if (next == nullptr || address_of(h) + h->size != address_of(next)) return;
    h->size += next->size;
    h->next = next->next;
  }

  std::byte* begin_ = nullptr;
  std::size_t capacity_ = 0;
  hole* first_ = nullptr;
};

}  // namespace mallard
