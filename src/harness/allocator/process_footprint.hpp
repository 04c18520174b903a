// process_footprint<Heap>: what a heap of ours costs the process that it is in.
//
//     Heap --> ... --> counting<cached_pages> --> process_chunks() --> pages
//                      of this heap, in use       in use + cached: this is what counts
//
// A chunk that a heap has given back is still the process's while it is cached, so it counts in what is
// held. A heap over another source is counted there. Made before its heap, it empties the cache and lets
// its highest mark start again: no allocator finds another's chunks, and the first pass is cold.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "mallard/core/concepts.hpp"
#include "mallard/source/default_source.hpp"

namespace mallard::harness {

// The first counted source below a heap.
template <class H>
auto& source_of(H& h) {
  if constexpr (counted<std::remove_const_t<H>>)
    return h;
  else
    return source_of(h.upstream());
}

// Whether the chunk cache of the process is where a heap's memory comes from.
template <heap H>
consteval bool over_cached_pages() {
  if constexpr (layered<H>)
    return over_cached_pages<typename H::upstream_type>();
  else
    return std::same_as<H, cached_pages>;
}

template <heap H>
class process_footprint {
 public:
  process_footprint() {
    process_chunks().trim(0);
    process_chunks().reset_max_mapped();
  }

  [[nodiscard]] static std::size_t held(const H& h) {
    if constexpr (over_cached_pages<H>())
      return process_chunks().mapped();
    else
      return source_of(h).held();
  }
  [[nodiscard]] static std::size_t max_held(const H& h) {
    if constexpr (over_cached_pages<H>())
      return process_chunks().max_mapped();
    else
      return source_of(h).max_held();
  }
  // Lets the highest mark start again from what is held now.
  static void reset_max_held(H& h) {
    if constexpr (over_cached_pages<H>())
      process_chunks().reset_max_mapped();
    else
      source_of(h).reset_max_held();
  }
};

}  // namespace mallard::harness
