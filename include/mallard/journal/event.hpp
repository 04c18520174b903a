// event_kind: everything a journal can say about memory.
//
// The values are part of the file format (FORMAT.md, section "events") and never change their
// meaning; new kinds get new values. Kinds tell which entry point was called, so that a reader can
// count them as an independent counter would; the predicates below tell what they mean.
#pragma once

#include <cstdint>

namespace mallard::journal {

enum class event_kind : std::uint8_t {
  none = 0,

  // Allocations: size, address (0: failed), alignment where the call has one.
  malloc = 1,
  calloc = 2,  // size is the product
  posix_memalign = 3,
  aligned_alloc = 4,
  memalign = 5,
  valloc = 6,
  pvalloc = 7,
  new_ = 8,
  new_array = 9,
  allocate = 10,  // entry point unknown: an imported journal

  // Reallocations: old_address, size, address (0: failed, the old block lives on).
  realloc = 16,
  reallocarray = 17,  // size is the product

  // Frees: address, never null.
  free = 24,
  free_sized = 25,
  free_aligned_sized = 26,
  delete_ = 27,
  delete_array = 28,
  deallocate = 29,  // entry point unknown: an imported journal

  // Regions (mallard/annotate.h, APR pools, talloc, obstacks).
  region_create = 40,    // region, parent
  region_allocate = 41,  // region, size, address
  region_free = 42,      // region, address
  region_clear = 43,     // region: all its blocks end, it lives on
  region_destroy = 44,   // region: ends with its blocks and its children
};

[[nodiscard]] constexpr bool is_allocation(event_kind k) noexcept {
  return k >= event_kind::malloc && k <= event_kind::allocate;
}
[[nodiscard]] constexpr bool is_reallocation(event_kind k) noexcept {
  return k == event_kind::realloc || k == event_kind::reallocarray;
}
[[nodiscard]] constexpr bool is_free(event_kind k) noexcept {
  return k >= event_kind::free && k <= event_kind::deallocate;
}
[[nodiscard]] constexpr bool is_region(event_kind k) noexcept {
  return k >= event_kind::region_create && k <= event_kind::region_destroy;
}

}  // namespace mallard::journal
