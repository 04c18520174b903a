// event_kind: everything a journal can say about memory.
//
// The values are part of the file format (FORMAT.md, section "events") and never change their
// meaning; new kinds get new values. Kinds tell which entry point was called, so that a reader can
// count them as an independent counter would; the predicates below say what they mean.
#pragma once

#include <cstdint>
#include <string_view>

#include "mallard/core/version.hpp"

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
  region_create = 40,    // region, parent; of a living region: it moves there
  region_allocate = 41,  // region, size, address
  region_free = 42,      // region, address
  region_clear = 43,     // region: all its blocks and its children end, it lives on
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

// The kind's name in tables and JSON; empty for a kind that this version does not know.
[[nodiscard]] constexpr std::string_view name_of(event_kind k) noexcept {
  switch (k) {
    case event_kind::none:
      return "none";
    case event_kind::malloc:
      return "malloc";
    case event_kind::calloc:
      return "calloc";
    case event_kind::posix_memalign:
      return "posix_memalign";
    case event_kind::aligned_alloc:
      return "aligned_alloc";
    case event_kind::memalign:
      return "memalign";
    case event_kind::valloc:
      return "valloc";
    case event_kind::pvalloc:
      return "pvalloc";
    case event_kind::new_:
      return "new";
    case event_kind::new_array:
      return "new_array";
    case event_kind::allocate:
      return "allocate";
    case event_kind::realloc:
      return "realloc";
    case event_kind::reallocarray:
      return "reallocarray";
    case event_kind::free:
      return "free";
    case event_kind::free_sized:
      return "free_sized";
    case event_kind::free_aligned_sized:
      return "free_aligned_sized";
    case event_kind::delete_:
      return "delete";
    case event_kind::delete_array:
      return "delete_array";
    case event_kind::deallocate:
      return "deallocate";
    case event_kind::region_create:
      return "region_create";
    case event_kind::region_allocate:
      return "region_allocate";
    case event_kind::region_free:
      return "region_free";
    case event_kind::region_clear:
      return "region_clear";
    case event_kind::region_destroy:
      return "region_destroy";
  }
  return {};
}

}  // namespace mallard::journal
