// typed_heap<Heap> and pmr_heap<Heap>: a heap of ours, called directly or through std::pmr.
//
//     typed   pass --inlined--> Heap --> ... --> counting<cached_pages>
//     pmr     pass --virtual call--> mallard::resource<Heap> --> the same
//
// What is held is counted at the source, the process's chunk cache included. Resizes are done in place
// where the heap can, by moving where it cannot.
#pragma once

#include <memory_resource>

#include "harness/allocator/process_footprint.hpp"
#include "mallard/core/concepts.hpp"
#include "mallard/resource/resource.hpp"
#include "replay/allocator/pmr_resource.hpp"
#include "replay/run/pass.hpp"
#include "replay/trace/trace.hpp"

namespace mallard::replay {

// Whether a heap could give a block its new size and alignment where it is.
template <heap H>
bool resized_in_place(H& h, void* p, const op& to, const op& from) {
  if constexpr (resizable<H>) {
    if (to.align_log2 != from.align_log2) return false;
    const resize_way way = to.size < from.size ? resize_way::shrink : resize_way::expand_forward;
    return static_cast<bool>(h.resize({p, from.size, from.align(), to.size, to.size, way}).memory);
  } else {
    return false;
  }
}

// Cleared: whether clear() ends a pass, where freed memory is not reused.
template <heap H, bool Cleared = false>
class typed_heap {
 public:
  static constexpr bool ends_all_at_once = Cleared;

  explicit typed_heap(const trace&) {}

  MALLARD_INLINE void* allocate(const op& o) { return heap_.allocate(o.size, o.align()).data; }
  MALLARD_INLINE void* allocate_aligned(const op& o) { return allocate(o); }
  MALLARD_INLINE void deallocate(void* p, const op& o) { heap_.deallocate(p, o.size, o.align()); }

  void* reallocate(void* p, const op& to, const op& from) {
    return resized_in_place(heap_, p, to, from) ? p : move_block(*this, p, to, from);
  }

  void end_pass() {
    if constexpr (Cleared) heap_.clear();
  }

  [[nodiscard]] std::size_t held() const { return harness::process_footprint<H>::held(heap_); }
  [[nodiscard]] std::size_t max_held() const { return harness::process_footprint<H>::max_held(heap_); }
  void reset_max_held() { harness::process_footprint<H>::reset_max_held(heap_); }
  [[nodiscard]] heap_usage usage() const
    requires inspectable<H>
  {
    return heap_.usage();
  }

 private:
  harness::process_footprint<H> footprint_;  // before the heap: the cache is empty when it begins
  H heap_;
};

template <heap H, bool Cleared = false>
class pmr_heap {
 public:
  static constexpr bool ends_all_at_once = Cleared;

  explicit pmr_heap(const trace&) : calls_(&resource_) {}
  pmr_heap(const pmr_heap&) = delete;
  pmr_heap& operator=(const pmr_heap&) = delete;

  virtual_calls<std::pmr::memory_resource>& calls() { return calls_; }
  void* allocate(const op& o) { return calls_.allocate(o); }
  void* allocate_aligned(const op& o) { return calls_.allocate(o); }
  void deallocate(void* p, const op& o) { calls_.deallocate(p, o); }
  void* reallocate(void* p, const op& to, const op& from) { return calls_.reallocate(p, to, from); }

  void end_pass() {
    if constexpr (Cleared) resource_.heap().clear();
  }

  [[nodiscard]] std::size_t held() const { return harness::process_footprint<H>::held(resource_.heap()); }
  [[nodiscard]] std::size_t max_held() const {
    return harness::process_footprint<H>::max_held(resource_.heap());
  }
  void reset_max_held() { harness::process_footprint<H>::reset_max_held(resource_.heap()); }
  [[nodiscard]] heap_usage usage() const
    requires inspectable<H>
  {
    return resource_.heap().usage();
  }

 private:
  harness::process_footprint<H> footprint_;
  resource<H> resource_;
  virtual_calls<std::pmr::memory_resource> calls_;
};

}  // namespace mallard::replay
