// nested_regions<Heap>: a heap of ours that nests, an object a region.
//
//     region --> Heap, a root --> ... --> its source
//        +-----> Heap, a child: chunks of its own from the root's source; it ends with the region around it
//
// A region is created by making a Heap where the program would have it, and destroyed by ending it. Clearing
// one leaves its children alone, so those that the program loses then are ended by themselves before. Single
// blocks are freed, by the pointer alone where the heap can tell the size. What is held is counted at the
// source, the process's chunk cache included; over a malloc, by the kernel. The objects are added to that.
#pragma once

#include "harness/allocator/process_footprint.hpp"
#include "mallard/core/concepts.hpp"
#include "replay/region/region_table.hpp"
#include "replay/trace/op.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

template <nestable H>
class nested_regions {
 public:
  static constexpr bool ends_all_at_once = true;
  static constexpr bool clear_ends_children = false;
  static constexpr bool destroy_ends_children = true;
  static constexpr std::size_t region_bytes = sizeof(H);

  explicit nested_regions(const trace& t) : heaps_(t) {}

  MALLARD_INLINE bool create(std::uint32_t region, std::uint32_t parent) {
    if (parent == no_region)
      heaps_.make(region);
    else
      heaps_.make(region, heaps_[parent], nesting::ends_with_parent);
    return true;
  }
  MALLARD_INLINE void* allocate(const region_op& o) {
    return heaps_[o.region()].allocate(o.size(), o.align()).data;
  }
  MALLARD_INLINE void deallocate(void* p, const region_op& o) {
    if constexpr (freeable<H>)
      heaps_[o.region()].deallocate(p);
    else
      heaps_[o.region()].deallocate(p, o.size(), o.align());
  }
  MALLARD_INLINE void clear(std::uint32_t region) {
    if constexpr (clearable<H>)
      heaps_[region].clear();
    else
      heaps_[region].release();
  }
  MALLARD_INLINE void destroy(std::uint32_t region) { heaps_.end(region); }
  void end_pass() {}

  [[nodiscard]] std::size_t held() const
    requires(harness::over_cached_pages<H>())
  {
    return process_chunks().mapped();
  }
  [[nodiscard]] std::size_t max_held() const
    requires(harness::over_cached_pages<H>())
  {
    return process_chunks().max_mapped();
  }
  void reset_max_held()
    requires(harness::over_cached_pages<H>())
  {
    process_chunks().reset_max_mapped();
  }

 private:
  harness::process_footprint<H> footprint_;  // the cache is empty when it begins
  region_table<H> heaps_;
};

}  // namespace mallard::replay
